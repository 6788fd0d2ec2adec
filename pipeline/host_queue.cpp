// Beside the frame's way: what streams and events are made of on devices that live in the host's memory and threads.
#include "pipeline/host_queue.h"

#include <pthread.h>

#include <utility>

namespace framelane {

TimePoint HostEvent::time() {
  const std::scoped_lock lock(mutex_);
  return time_;
}

std::int64_t HostEvent::new_mark() {
  const std::scoped_lock lock(mutex_);
  return ++recorded_;
}

std::int64_t HostEvent::last_mark() {
  const std::scoped_lock lock(mutex_);
  return recorded_;
}

TimePoint HostEvent::wait_for_mark(std::int64_t mark) {
  std::unique_lock lock(mutex_);
  reached_changed_.wait(lock, [&] { return reached_ >= mark; });
  if (failure_) std::rethrow_exception(failure_);
  return time_;
}

void HostEvent::reach(std::int64_t mark, TimePoint time, std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  reached_ = mark;
  time_ = time;
  failure_ = std::move(failure);
  reached_changed_.notify_all();  // under the lock: whoever waits may destroy this event as soon as it can
}

HostQueue::HostQueue(const std::string& thread_name, Task prepare)
    : worker_([this, prepare = std::move(prepare)](const std::stop_token& stop) {
        prepare();
        work(stop);
      }) {
  pthread_setname_np(worker_.native_handle(), thread_name.c_str());
}

void HostQueue::push(Task task) {
  push_always([this, task = std::move(task)] {
    if (failure_) return;
    try {
      task();
    } catch (...) {
      failure_ = std::current_exception();
    }
  });
}

void HostQueue::record(Event& event, std::function<TimePoint()> time) {
  auto& host_event = static_cast<HostEvent&>(event);
  const std::int64_t mark = host_event.new_mark();
  push_always([this, &host_event, mark, time = std::move(time)] { host_event.reach(mark, time(), failure_); });
}

void HostQueue::wait_for(Event& event, std::function<void(TimePoint)> reached) {
  auto& host_event = static_cast<HostEvent&>(event);
  push([&host_event, mark = host_event.last_mark(), reached = std::move(reached)] {
    reached(host_event.wait_for_mark(mark));
  });
}

void HostQueue::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return tasks_.empty() && !busy_; });
  if (failure_) std::rethrow_exception(failure_);
}

void HostQueue::close() {
  if (!worker_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    worker_.request_stop();
  }
  changed_.notify_all();
  worker_.join();
}

void HostQueue::push_always(Task task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void HostQueue::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !tasks_.empty() || stop.stop_requested(); });
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    task();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace framelane
