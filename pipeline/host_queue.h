// Beside the frame's way: what streams and events are made of on devices that live in the host's memory and threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "pipeline/device.h"

namespace framelane {

/** Counts marks: the n-th new_mark() has been reached when `reached_` is at least n. Thread: any. */
class HostEvent : public TimedEvent {
 public:
  void wait() override { wait_for_mark(last_mark()); }
  TimePoint time() override;

  std::int64_t new_mark();
  std::int64_t last_mark();
  /** Blocks; returns when the mark was reached (TimePoint{} for mark 0: never recorded). Throws what failed before. */
  TimePoint wait_for_mark(std::int64_t mark);
  void reach(std::int64_t mark, TimePoint time, std::exception_ptr failure);

 private:
  std::mutex mutex_;
  std::condition_variable reached_changed_;
  std::int64_t recorded_ = 0;
  std::int64_t reached_ = 0;
  TimePoint time_{};
  std::exception_ptr failure_;
};

/** A thread that works off tasks in order. After a task has failed, later ones are skipped, and marks carry the failure
 *  to whoever waits for them.
 *  Thread: synchronize() any; the rest one at a time. Owns: the thread, until close(). */
class HostQueue {
 public:
  using Task = std::function<void()>;

  /** The thread begins with `prepare`. `thread_name`: at most 15 characters. */
  HostQueue(const std::string& thread_name, Task prepare);
  ~HostQueue() { close(); }
  HostQueue(const HostQueue&) = delete;
  HostQueue& operator=(const HostQueue&) = delete;

  void push(Task task);
  /** Marks `event`, a HostEvent, with the time that `time` gives once all earlier tasks are done. */
  void record(Event& event, std::function<TimePoint()> time);
  /** Later tasks start after `event`'s mark (as it is now); `reached` gets its time first. */
  void wait_for(Event& event, std::function<void(TimePoint)> reached);
  /** Blocks until all tasks are done; throws what failed. */
  void synchronize();
  /** Finishes what is queued, so that no event is waited for in vain, and ends the thread. No pushes after it. */
  void close();

 private:
  void push_always(Task task);
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool busy_ = false;
  std::exception_ptr failure_;  // written by the worker; read by it, and by synchronize() under the lock when idle
  std::jthread worker_;
};

}  // namespace framelane
