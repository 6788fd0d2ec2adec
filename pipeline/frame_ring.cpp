// decode > [ring] > submit > [ring] > encode.  Thread: all three.
#include "pipeline/frame_ring.h"

namespace framelane {
namespace {

std::unique_ptr<Slot> make_slot(Device& device, const FilterChain& chain, int number) {
  auto slot = std::make_unique<Slot>();
  slot->number = number;
  slot->stream = device.create_stream(StreamRole::kOneSlot);
  if (!device.shares_host_memory()) slot->output = device.allocate(frame_layout(chain.output_format()).bytes);
  if (chain.uses().size() > 1) {
    for (MemoryBlock& block : slot->intermediate) block = device.allocate(chain.intermediate_bytes());
  }
  if (chain.scratch_bytes() > 0) slot->scratch = device.allocate(chain.scratch_bytes());
  for (auto* event : {&slot->h2d_end, &slot->kernels_end, &slot->done}) {
    *event = device.create_timed_event();
  }
  for (std::size_t i = 0; i < chain.state_bytes().size(); ++i) slot->state_done.push_back(device.create_event());
  return slot;
}

}  // namespace

FrameRing::FrameRing(Device& device, const FilterChain& chain, int slots) : in_flight_limit_(slots) {
  for (int number = 0; number < slots; ++number) {
    slots_.push_back(make_slot(device, chain, number));
    free_.push_back(slots_.back().get());
  }
}

FrameRing::~FrameRing() { drain(); }

void FrameRing::drain() noexcept {
  for (const auto& slot : slots_) framelane::drain(*slot->stream);
}

Slot* FrameRing::take(std::deque<Slot*>& queue) {
  if (aborted_ || queue.empty()) return nullptr;
  Slot* slot = queue.front();
  queue.pop_front();
  return slot;
}

Slot* FrameRing::acquire() {
  std::unique_lock lock(mutex_);
  decoder_wakes_.wait(lock, [&] { return !free_.empty() || aborted_; });
  return take(free_);
}

Slot* FrameRing::acquire_or_drop_oldest(bool& dropped) {
  std::unique_lock lock(mutex_);
  decoder_wakes_.wait(lock, [&] { return !free_.empty() || !decoded_.empty() || aborted_; });
  dropped = free_.empty() && !aborted_;
  return take(dropped ? decoded_ : free_);
}

Slot* FrameRing::try_acquire() {
  const std::scoped_lock lock(mutex_);
  return take(free_);
}

void FrameRing::push_decoded(Slot* slot) {
  {
    const std::scoped_lock lock(mutex_);
    decoded_.push_back(slot);
  }
  submitter_wakes_.notify_one();
}

void FrameRing::close_decoded() {
  {
    const std::scoped_lock lock(mutex_);
    decoded_closed_ = true;
  }
  submitter_wakes_.notify_one();
}

Slot* FrameRing::pop_decoded() {
  std::unique_lock lock(mutex_);
  submitter_wakes_.wait(
      lock, [&] { return (decoded_.empty() ? decoded_closed_ : in_flight_ < in_flight_limit_) || aborted_; });
  return take(decoded_);
}

void FrameRing::push_submitted(Slot* slot) {
  {
    const std::scoped_lock lock(mutex_);
    submitted_.push_back(slot);
    ++in_flight_;
  }
  encoder_wakes_.notify_one();
}

void FrameRing::close_submitted() {
  {
    const std::scoped_lock lock(mutex_);
    submitted_closed_ = true;
  }
  encoder_wakes_.notify_one();
}

Slot* FrameRing::pop_submitted() {
  std::unique_lock lock(mutex_);
  encoder_wakes_.wait(lock, [&] { return !submitted_.empty() || submitted_closed_ || aborted_; });
  return take(submitted_);
}

void FrameRing::release(Slot* slot) {
  slot->source.reset();
  slot->result.reset();
  {
    const std::scoped_lock lock(mutex_);
    free_.push_back(slot);
    --in_flight_;
    last_release_ = Clock::now();
  }
  decoder_wakes_.notify_one();
  submitter_wakes_.notify_one();  // fewer are in flight
}

TimePoint FrameRing::wait_until_empty() {
  std::unique_lock lock(mutex_);
  decoder_wakes_.wait(lock, [&] { return free_.size() == slots_.size() || aborted_; });
  return last_release_;
}

bool FrameRing::wait_until_none_in_flight() {
  std::unique_lock lock(mutex_);
  submitter_wakes_.wait(lock, [&] { return in_flight_ == 0 || aborted_; });
  return !aborted_;
}

void FrameRing::set_in_flight_limit(int frames) {
  {
    const std::scoped_lock lock(mutex_);
    in_flight_limit_ = frames;
  }
  submitter_wakes_.notify_one();
}

void FrameRing::abort() {
  {
    const std::scoped_lock lock(mutex_);
    aborted_ = true;
  }
  for (auto* thread : {&decoder_wakes_, &submitter_wakes_, &encoder_wakes_}) thread->notify_all();
}

int FrameRing::in_use() const {
  const std::scoped_lock lock(mutex_);
  return size() - static_cast<int>(free_.size());
}

}  // namespace framelane
