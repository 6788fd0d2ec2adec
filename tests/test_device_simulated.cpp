// The simulated GPU. Its times are exact where all work was enqueued before it begins: there they are compared as they
// are, however late this machine wakes its threads; elsewhere with bounds that a busy machine keeps.
#include "pipeline/device_simulated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <latch>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/errors.h"

namespace framelane::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBytes = 1000;
constexpr double kAtOnce = std::numeric_limits<double>::infinity();

double speed(Clock::duration copy) { return simulated_bytes_per_s(kBytes, copy); }

std::shared_ptr<Device> device_with_copies_of(Clock::duration h2d, Clock::duration d2h) {
  return create_simulated_device({speed(h2d), speed(d2h), kAtOnce, kAtOnce});
}

/** Host and device memory of one frame. */
struct Buffers {
  explicit Buffers(Device& device)
      : up(device.allocate_host(kBytes, HostMemory::kPinned)),
        down(device.allocate_host(kBytes, HostMemory::kPinned)),
        memory(device.allocate(kBytes)) {
    std::memset(up.get(), 0, kBytes);
  }
  MemoryBlock up, down, memory;
};

/** Holds the compute engine until it is opened. */
class Gate : public CompiledFilter {
 public:
  void run(const FilterArguments&, CUstream_st*) const override { opened_.wait(); }
  void open() { opened_.count_down(); }

 private:
  mutable std::latch opened_{1};
};

/** Lets all streams that wait for it begin at one moment, after everything was enqueued. */
class Start {
 public:
  explicit Start(Device& device)
      : begun_(device.create_timed_event()), stream_(device.create_stream(StreamRole::kAllSlots)) {
    stream_->run(gate_, {});
    stream_->record(*begun_);
  }
  Event& event() { return *begun_; }
  TimePoint go() {
    gate_.open();
    begun_->wait();
    return begun_->time();
  }

 private:
  Gate gate_;
  std::unique_ptr<TimedEvent> begun_;
  std::unique_ptr<Stream> stream_;
};

class FailingFilter : public CompiledFilter {
 public:
  void run(const FilterArguments&, CUstream_st*) const override { throw DeviceError("the filter failed"); }
};

class CountingFilter : public CompiledFilter {
 public:
  void run(const FilterArguments&, CUstream_st*) const override { ++runs; }
  mutable std::atomic<int> runs{0};
};

/** Adds 1 to each byte of the scratch memory. */
class AddingFilter : public CompiledFilter {
 public:
  void run(const FilterArguments& arguments, CUstream_st*) const override {
    std::transform(arguments.scratch, arguments.scratch + kBytes, arguments.scratch,
                   [](std::byte value) { return static_cast<std::byte>(std::to_integer<int>(value) + 1); });
  }
};

/** One frame's way through the three engines, and when each was done with it. */
struct FrameWork {
  FrameWork(Device& device, Event& start) : buffers(device), stream(device.create_stream(StreamRole::kOneSlot)) {
    for (auto& event : done) event = device.create_timed_event();
    stream->wait_for(start);
  }
  void enqueue(std::chrono::microseconds kernels) {
    stream->copy_to_device(buffers.memory.get(), buffers.up.get(), kBytes);
    stream->record(*done[0]);
    stream->occupy(kernels);
    stream->record(*done[1]);
    stream->copy_to_host(buffers.down.get(), buffers.memory.get(), kBytes);
    stream->record(*done[2]);
  }
  Buffers buffers;
  std::array<std::unique_ptr<TimedEvent>, 3> done;  // H2D, kernels, D2H
  std::unique_ptr<Stream> stream;
};

/** Spans of one engine, in order of time, from when the jobs ended. */
std::vector<Span> spans_of_engine(const std::vector<std::unique_ptr<FrameWork>>& frames, std::size_t engine,
                                  Clock::duration duration) {
  std::vector<Span> spans;
  for (const auto& frame : frames) {
    frame->done[engine]->wait();
    const TimePoint end = frame->done[engine]->time();
    spans.push_back({end - duration, end});
  }
  std::ranges::sort(spans, {}, &Span::end);
  return spans;
}

constexpr Clock::duration kH2d = 10ms;
constexpr std::chrono::microseconds kKernels = 20ms;
constexpr Clock::duration kD2h = 10ms;

/** Four frames, each on a stream of its own, with the times above. */
struct SeveralStreams : ::testing::Test {
  SeveralStreams() {
    for (int i = 0; i < 4; ++i) frames.push_back(std::make_unique<FrameWork>(*device, start.event()));
    for (const auto& frame : frames) frame->enqueue(kKernels);
    begin = start.go();
  }
  std::shared_ptr<Device> device = device_with_copies_of(kH2d, kD2h);
  Start start{*device};
  std::vector<std::unique_ptr<FrameWork>> frames;
  TimePoint begin;
};

TEST_F(SeveralStreams, NoEngineServesTwoAtOnce) {
  const std::array<Clock::duration, 3> durations{kH2d, kKernels, kD2h};
  for (std::size_t engine = 0; engine < durations.size(); ++engine) {
    const std::vector<Span> spans = spans_of_engine(frames, engine, durations[engine]);
    for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].begin, spans[i - 1].end) << engine << " " << i;
  }
}

TEST_F(SeveralStreams, OneFrameIsCopiedWhileAnotherIsFiltered) {
  const std::vector<Span> copies = spans_of_engine(frames, 0, kH2d);
  const std::vector<Span> kernels = spans_of_engine(frames, 1, kKernels);
  const bool beside = std::ranges::any_of(copies, [&](const Span& copy) {
    return std::ranges::any_of(kernels, [&](const Span& k) { return copy.begin < k.end && k.begin < copy.end; });
  });
  EXPECT_TRUE(beside);
}

TEST_F(SeveralStreams, TakeLessThanTheSumOfTheirWork) {
  const TimePoint end = spans_of_engine(frames, 2, kD2h).back().end;
  EXPECT_GE(end - begin, kH2d + 4 * kKernels + kD2h);  // 100 ms: bound by the kernels
  EXPECT_LT(end - begin, 4 * (kH2d + kKernels + kD2h));
}

TEST(SimulatedDevice, OneStreamDoesOneThingAtATime) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  Start start(*device);
  FrameWork frame(*device, start.event());
  for (int i = 0; i < 3; ++i) frame.enqueue(kKernels);
  const TimePoint begin = start.go();
  frame.stream->synchronize();
  EXPECT_GE(frame.done[2]->time() - begin, 3 * (kH2d + kKernels + kD2h));
  EXPECT_EQ(frame.done[1]->time() - frame.done[0]->time(), kKernels);
}

TEST(SimulatedDevice, KernelsOfSeveralStreamsFollowEachOtherWithoutAGap) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  Start start(*device);
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<TimedEvent>> done;
  for (int i = 0; i < 6; ++i) {
    if (i < 3) streams.push_back(device->create_stream(StreamRole::kOneSlot));
    if (i < 3) streams.back()->wait_for(start.event());
    done.push_back(device->create_timed_event());
    streams[i % 3]->occupy(5ms);
    streams[i % 3]->record(*done.back());
  }
  const TimePoint begin = start.go();
  device->synchronize();
  std::ranges::sort(done, {}, [](const auto& event) { return event->time(); });
  for (int i = 0; i < 6; ++i) EXPECT_EQ(done[i]->time() - begin, (i + 1) * 5ms) << i;
}

TEST(SimulatedDevice, EngineServesInTheOrderInWhichJobsBecameReady) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  Start start(*device);  // holds the compute engine
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<TimedEvent>> done;
  std::vector<std::unique_ptr<Event>> ready;
  for (const auto delay : {150ms, 100ms, 50ms}) {
    streams.push_back(device->create_stream(StreamRole::kOneSlot));
    done.push_back(device->create_timed_event());
    ready.push_back(device->create_event());
    streams.back()->delay(delay);
    streams.back()->record(*ready.back());
    streams.back()->occupy(1ms);
    streams.back()->record(*done.back());
  }
  for (const auto& event : ready) event->wait();  // the last stream stands in line first
  const TimePoint begin = start.go();
  device->synchronize();
  EXPECT_EQ(done[2]->time() - begin, 1ms);
  EXPECT_EQ(done[1]->time() - begin, 2ms);
  EXPECT_EQ(done[0]->time() - begin, 3ms);
}

TEST(SimulatedDevice, DelayHoldsNoEngine) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  Start start(*device);
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<TimedEvent>> done;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(device->create_stream(StreamRole::kOneSlot));
    done.push_back(device->create_timed_event());
    streams.back()->wait_for(start.event());
    streams.back()->delay(20ms);
    streams.back()->record(*done.back());
  }
  const TimePoint begin = start.go();
  device->synchronize();
  for (const auto& event : done) EXPECT_EQ(event->time() - begin, 20ms);
}

TEST(SimulatedDevice, StreamWaitsForTheWorkBeforeAnotherStreamsMark) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  Start start(*device);
  const auto first = device->create_stream(StreamRole::kOneSlot);
  const auto second = device->create_stream(StreamRole::kOneSlot);
  const auto first_done = device->create_event();
  const auto second_done = device->create_timed_event();
  first->wait_for(start.event());
  first->occupy(20ms);
  first->record(*first_done);
  second->wait_for(*first_done);
  second->delay(5ms);
  second->record(*second_done);
  const TimePoint begin = start.go();
  second_done->wait();
  EXPECT_EQ(second_done->time() - begin, 25ms);
}

TEST(SimulatedDevice, DataGoesThroughAllEnginesInOrder) {
  const auto device = device_with_copies_of(2ms, 2ms);
  const Buffers buffers(*device);
  for (std::size_t i = 0; i < kBytes; ++i) buffers.up.get()[i] = static_cast<std::byte>(i % 200);
  const auto stream = device->create_stream(StreamRole::kAllSlots);
  const AddingFilter filter;
  FilterArguments arguments;
  arguments.scratch = buffers.memory.get();
  stream->copy_to_device(buffers.memory.get(), buffers.up.get(), kBytes);
  stream->run(filter, arguments);
  stream->copy_to_host(buffers.down.get(), buffers.memory.get(), kBytes);
  stream->synchronize();
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(std::to_integer<std::size_t>(buffers.down.get()[i]), i % 200 + 1);
}

/** Each of the four speeds alone lets a copy take 20 ms; with another of them it would take 5 s. */
TEST(SimulatedDevice, CopyTakesItsBytesOverItsSpeed) {
  constexpr double SimulatedSpeed::*kSpeeds[] = {&SimulatedSpeed::h2d, &SimulatedSpeed::d2h,
                                                 &SimulatedSpeed::pageable_h2d, &SimulatedSpeed::pageable_d2h};
  for (std::size_t i = 0; i < std::size(kSpeeds); ++i) {
    SimulatedSpeed speeds{speed(5s), speed(5s), speed(5s), speed(5s)};
    speeds.*kSpeeds[i] = speed(20ms);
    const auto device = create_simulated_device(speeds);
    const Buffers buffers(*device);
    const auto stream = device->create_stream(StreamRole::kAllSlots);
    const TimePoint before = Clock::now();
    if (i == 0) stream->copy_to_device(buffers.memory.get(), buffers.up.get(), kBytes);
    if (i == 1) stream->copy_to_host(buffers.down.get(), buffers.memory.get(), kBytes);
    if (i == 2) device->copy_blocking_to_device(buffers.memory.get(), buffers.up.get(), kBytes);
    if (i == 3) device->copy_blocking_to_host(buffers.down.get(), buffers.memory.get(), kBytes);
    stream->synchronize();
    EXPECT_GE(Clock::now() - before, 20ms) << i;
    EXPECT_LT(Clock::now() - before, 3s) << i;
  }
}

TEST(SimulatedDevice, BlockingCopySharesTheEngineWithStreams) {
  const auto device = create_simulated_device({speed(30ms), speed(30ms), speed(20ms), speed(20ms)});
  const Buffers buffers(*device);
  const auto stream = device->create_stream(StreamRole::kAllSlots);
  const TimePoint before = Clock::now();
  stream->copy_to_device(buffers.memory.get(), buffers.up.get(), kBytes);
  const MemoryBlock other = device->allocate(kBytes);
  device->copy_blocking_to_device(other.get(), buffers.up.get(), kBytes);
  stream->synchronize();
  EXPECT_GE(Clock::now() - before, 50ms);
}

TEST(SimulatedDevice, SynchronizeWaitsForAllStreams) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  const auto first = device->create_stream(StreamRole::kOneSlot);
  const auto second = device->create_stream(StreamRole::kOneSlot);
  const CountingFilter filter;
  for (Stream* stream : {first.get(), second.get()}) {
    stream->delay(20ms);
    stream->run(filter, {});
  }
  device->synchronize();
  EXPECT_EQ(filter.runs, 2);
}

TEST(SimulatedDevice, FailureReachesWhoeverWaits) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  const auto stream = device->create_stream(StreamRole::kOneSlot);
  const auto other = device->create_stream(StreamRole::kOneSlot);
  const auto event = device->create_event();
  const FailingFilter filter;
  stream->run(filter, {});
  stream->record(*event);
  other->wait_for(*event);
  EXPECT_THROW(event->wait(), DeviceError);
  EXPECT_THROW(stream->synchronize(), DeviceError);
  EXPECT_THROW(other->synchronize(), DeviceError);
  EXPECT_THROW(device->synchronize(), DeviceError);
}

TEST(SimulatedDevice, FailedFilterLeavesItsEngineToOthers) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  const auto failing = device->create_stream(StreamRole::kOneSlot);
  const auto working = device->create_stream(StreamRole::kOneSlot);
  const FailingFilter bad;
  const CountingFilter good;
  failing->run(bad, {});
  EXPECT_THROW(failing->synchronize(), DeviceError);
  working->run(good, {});
  working->synchronize();
  EXPECT_EQ(good.runs, 1);
}

TEST(SimulatedDevice, StreamFinishesItsWorkBeforeItGoes) {
  const auto device = device_with_copies_of(kH2d, kD2h);
  const auto done = device->create_event();
  const CountingFilter filter;
  {
    const auto stream = device->create_stream(StreamRole::kAllSlots);
    stream->occupy(20ms);
    stream->run(filter, {});
    stream->record(*done);
  }
  EXPECT_EQ(filter.runs, 1);
  done->wait();
}

TEST(SimulatedDevice, RefusesAnEngineThatStandsStill) {
  EXPECT_THROW(create_simulated_device({kAtOnce, 0, kAtOnce, kAtOnce}), std::invalid_argument);
  EXPECT_THROW(create_simulated_device({}), std::invalid_argument);
}

}  // namespace
}  // namespace framelane::testing
