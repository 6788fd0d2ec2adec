// Beside the frame's way: a GPU that a machine without one plays, with engines that take known times.
#include "pipeline/device_simulated.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "pipeline/host_device.h"

namespace framelane {
namespace {

/** Sleeps of the calling thread end on time: Linux lets them last 50 µs longer by default, to save power. */
void sleep_precisely() {
  constexpr unsigned long kSlackNs = 1;
  prctl(PR_SET_TIMERSLACK, kSlackNs);
}

/** Serves one job at a time, in the order in which jobs became ready. Thread: any. */
class Engine {
 public:
  /** Blocks until the engine is free and then for the job's length. `job` gets the time at which it begins and returns
   *  that at which it ended, which is what comes back. `ready` is not in the future. Throws what `job` throws. */
  template <typename Job>
  TimePoint serve(TimePoint ready, const Job& job) {
    const Turn turn(*this, ready);
    free_since_ = job(std::max(ready, free_since_));
    return free_since_;
  }

 private:
  /** The right to use the engine; the constructor waits for it. */
  class Turn {
   public:
    Turn(Engine& engine, TimePoint ready) : engine_(engine) {
      std::unique_lock lock(engine_.mutex_);
      const auto place = engine_.waiting_.emplace(ready, engine_.arrivals_++).first;
      engine_.changed_.wait(lock, [&] { return !engine_.busy_ && place == engine_.waiting_.begin(); });
      engine_.waiting_.erase(place);
      engine_.busy_ = true;
    }
    ~Turn() {
      const std::scoped_lock lock(engine_.mutex_);
      engine_.busy_ = false;
      engine_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Engine& engine_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::pair<TimePoint, std::int64_t>> waiting_;  // by time, then by arrival
  std::int64_t arrivals_ = 0;
  bool busy_ = false;
  TimePoint free_since_{};  // touched by whose turn it is
};

struct Engines {
  Engine h2d;
  Engine compute;
  Engine d2h;
};

/** A job that ends `duration` after its begin. */
auto timed(Clock::duration duration) {
  return [duration](TimePoint begin) {
    std::this_thread::sleep_until(begin + duration);
    return begin + duration;
  };
}

/** A job whose own length counts: it ends when it is done. */
template <typename Work>
auto real(const Work& work) {
  return [&work](TimePoint) {
    work();
    return Clock::now();
  };
}

auto timed_copy(std::byte* dst, const std::byte* src, std::size_t bytes, double bytes_per_s) {
  const std::chrono::duration<double> seconds(static_cast<double>(bytes) / bytes_per_s);
  return [=, duration = std::chrono::round<Clock::duration>(seconds)](TimePoint begin) {
    const TimePoint started = Clock::now();
    std::memcpy(dst, src, bytes);
    return timed(std::max(duration, Clock::now() - started))(begin);
  };
}

/** Thread: one at a time. Owns: its queue. `time_` is what the simulated clock shows at the point that the queue's
 *  thread has come to. */
class SimulatedStream : public Stream {
 public:
  SimulatedStream(Engines& engines, const SimulatedSpeed& bytes_per_s, std::shared_ptr<HostQueue> queue)
      : engines_(engines), bytes_per_s_(bytes_per_s), queue_(std::move(queue)) {}
  ~SimulatedStream() override { queue_->close(); }
  SimulatedStream(const SimulatedStream&) = delete;
  SimulatedStream& operator=(const SimulatedStream&) = delete;

  void copy_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    push_job(engines_.h2d, timed_copy(dst, src, bytes, bytes_per_s_.h2d));
  }
  void copy_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    push_job(engines_.d2h, timed_copy(dst, src, bytes, bytes_per_s_.d2h));
  }
  void copy_plane(const PlaneView& dst, const PlaneView& src, std::size_t row_bytes) override {
    push_kernel([=] { copy_rows(dst, src, row_bytes); });
  }
  void run(const CompiledFilter& filter, const FilterArguments& arguments) override {
    push_kernel([&filter, arguments] { filter.run(arguments, nullptr); });
  }
  void run_ordered(const CompiledFilter& filter, const FilterArguments& arguments) override {
    push_kernel([&filter, arguments] { filter.run_ordered(arguments, nullptr); });
  }
  void occupy(std::chrono::microseconds duration) override { push_job(engines_.compute, timed(duration)); }
  void delay(std::chrono::microseconds duration) override { push(timed(duration)); }

  void record(Event& event) override {
    queue_->record(event, [this, enqueued = Clock::now()] { return std::max(time_, enqueued); });
  }
  void wait_for(Event& event) override {
    queue_->wait_for(event, [this](TimePoint reached) { time_ = std::max(time_, reached); });
  }
  void synchronize() override { queue_->synchronize(); }

 private:
  /** `work` gets the time at which it may begin and returns that at which it ended. */
  template <typename Work>
  void push(Work work) {
    queue_->push([this, work = std::move(work), enqueued = Clock::now()] { time_ = work(std::max(time_, enqueued)); });
  }
  template <typename Job>
  void push_job(Engine& engine, Job job) {
    push([&engine, job = std::move(job)](TimePoint ready) { return engine.serve(ready, job); });
  }
  template <typename Work>
  void push_kernel(Work work) {
    push([this, work = std::move(work)](TimePoint ready) { return engines_.compute.serve(ready, real(work)); });
  }

  Engines& engines_;
  SimulatedSpeed bytes_per_s_;
  TimePoint time_{};
  std::shared_ptr<HostQueue> queue_;
};

class SimulatedDevice : public HostDevice {
 public:
  explicit SimulatedDevice(const SimulatedSpeed& bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  std::string name() const override { return fmt::format("simulated GPU on {} CPU threads", threads()); }
  bool shares_host_memory() const override { return false; }
  int copy_engines() const override { return 2; }
  /** As on a GPU: one frame in each engine, one that the decoder fills, one that the encoder reads, one of slack. */
  int default_slots() const override { return 6; }
  std::unique_ptr<Stream> create_stream(StreamRole) override {
    return std::make_unique<SimulatedStream>(engines_, bytes_per_s_, create_queue(sleep_precisely));
  }
  /** Its blocking copies sleep. */
  void use_in_this_thread() override { sleep_precisely(); }
  void copy_blocking_to_device(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    engines_.h2d.serve(Clock::now(), timed_copy(dst, src, bytes, bytes_per_s_.pageable_h2d));
  }
  void copy_blocking_to_host(std::byte* dst, const std::byte* src, std::size_t bytes) override {
    engines_.d2h.serve(Clock::now(), timed_copy(dst, src, bytes, bytes_per_s_.pageable_d2h));
  }
  /** One filter runs at a time, whatever the streams: the compute engine is one. */
  void set_concurrent_frames(bool) override { set_filter_threads(threads()); }

 private:
  SimulatedSpeed bytes_per_s_;
  Engines engines_;
};

}  // namespace

double simulated_bytes_per_s(std::size_t bytes, Clock::duration duration) {
  return static_cast<double>(bytes) / std::chrono::duration<double>(duration).count();
}

std::shared_ptr<Device> create_simulated_device(const SimulatedSpeed& bytes_per_s) {
  for (const double speed : {bytes_per_s.h2d, bytes_per_s.d2h, bytes_per_s.pageable_h2d, bytes_per_s.pageable_d2h}) {
    if (!(speed > 0)) throw std::invalid_argument(fmt::format("a copy engine of {} bytes a second", speed));
  }
  return std::make_shared<SimulatedDevice>(bytes_per_s);
}

}  // namespace framelane
