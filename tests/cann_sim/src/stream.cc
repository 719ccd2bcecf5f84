// Streams, events and contexts: the asynchronous part of the runtime.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <cstdint>

#include "acl/acl.h"
#include "call.h"
#include "handles.h"
#include "trace.h"

namespace sim {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t recorded = 0;
  uint64_t completed = 0;
  Clock::time_point stamp;

  void wait_for(uint64_t version) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return completed >= version; });
  }
};

Handles<Stream> &streams() {
  static auto *instance = new Handles<Stream>(kStreams);
  return *instance;
}

Handles<Event> &events() {
  static auto *instance = new Handles<Event>(kEvents);
  return *instance;
}

std::shared_ptr<Stream> &default_stream() {
  static auto *instance = new std::shared_ptr<Stream>(Stream::create());
  return *instance;
}

std::atomic<bool> default_stream_used{false};

}  // namespace

std::shared_ptr<Stream> Stream::create() {
  static std::atomic<int> next{0};
  auto stream = std::shared_ptr<Stream>(new Stream(next++));
  stream->worker_ = std::thread([stream] { stream->work(); });
  return stream;
}

std::shared_ptr<Stream> Stream::of(void *handle) {
  if (handle != nullptr) return streams().find(handle);
  default_stream_used = true;
  return default_stream();
}

void Stream::push(Task task) {
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(std::move(task));
  ++pushed_;
  todo_.notify_one();
}

void Stream::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    todo_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    // The task stays in the queue while it runs: what it uses is still in use.
    Task *task = &queue_.front();
    lock.unlock();
    int status = 0;
    std::string text;
    try {
      task->run();
    } catch (const TaskError &error) {
      status = error.status;
      text = error.text;
    } catch (const std::exception &error) {
      status = ACL_ERROR_RT_AICORE_EXCEPTION;
      text = error.what();
    }
    std::function<void()> run = std::move(task->run);  // destroyed without the lock
    const std::string name = task->name;
    run = nullptr;
    lock.lock();
    if (status != 0 && error_ == 0) {
      error_ = status;
      error_text_ = name + ": " + text;
    }
    if (!queue_.empty()) queue_.pop_front();
    ++done_;
    finished_.notify_all();
  }
}

int Stream::synchronize(const char *call, int timeout_ms) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t target = pushed_;
  auto reached = [&] { return done_ >= target; };
  if (timeout_ms < 0) {
    finished_.wait(lock, reached);
  } else if (!finished_.wait_for(lock, std::chrono::milliseconds(timeout_ms), reached)) {
    return fail(call, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream %d was not done after %d ms", id_, timeout_ms);
  }
  if (error_ == 0) return 0;
  const int status = error_;
  error_ = 0;
  return fail(call, status, "stream %d: %s", id_, error_text_.c_str());
}

bool Stream::idle() {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_ >= pushed_;
}

void Stream::end(bool drop) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (drop) {
      while (queue_.size() > 1) {
        queue_.pop_back();
        ++done_;
      }
    }
    stop_ = true;
    todo_.notify_one();
  }
  if (worker_.get_id() == std::this_thread::get_id()) {  // a callback destroys its own stream
    worker_.detach();
  } else if (worker_.joinable()) {
    worker_.join();
  }
}

void Stream::finish() { end(false); }
void Stream::abandon() { end(true); }

bool Stream::uses(const Range &range, std::string *who) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Task &task : queue_) {
    for (const Range &used : task.uses) {
      if (!used.overlaps(range)) continue;
      *who = task.name;
      return true;
    }
  }
  return false;
}

void each_stream(const std::function<void(Stream &)> &visit) {
  if (default_stream_used) visit(*default_stream());
  streams().each(visit);
}

int synchronize_all(const char *call, int timeout_ms) {
  std::vector<std::shared_ptr<Stream>> all;
  each_stream([&](Stream &s) { all.push_back(s.shared_from_this()); });
  int status = 0;
  for (auto &stream : all) {
    const int one = stream->synchronize(call, timeout_ms);
    if (status == 0) status = one;
  }
  return status;
}

namespace {

int no_stream(const char *call, void *handle) {
  return fail(call, ACL_ERROR_RT_STREAM_CONTEXT, "%p is not a live stream", handle);
}

int no_event(const char *call, void *handle) {
  return fail(call, ACL_ERROR_RT_INVALID_HANDLE, "%p is not a live event", handle);
}

int create_stream(const char *call, aclrtStream *stream) {
  if (stream == nullptr) return fail(call, ACL_ERROR_RT_PARAM_INVALID, "the stream pointer is null");
  // Number 0 is the default stream, also when it is used late.
  default_stream();
  *stream = streams().add(Stream::create());
  return ACL_SUCCESS;
}

int create_event(const char *call, aclrtEvent *event) {
  if (event == nullptr) return fail(call, ACL_ERROR_RT_PARAM_INVALID, "the event pointer is null");
  *event = events().add(std::make_shared<Event>());
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace sim

using sim::fail;

extern "C" {

aclError aclrtCreateStream(aclrtStream *stream) {
  SIM_CALL();
  return sim::create_stream(__func__, stream);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) {
  SIM_CALL();
  return sim::create_stream(__func__, stream);
}

aclError aclrtDestroyStream(aclrtStream handle) {
  SIM_CALL();
  auto stream = sim::streams().remove(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  stream->finish();
  return ACL_SUCCESS;
}

aclError aclrtDestroyStreamForce(aclrtStream handle) {
  SIM_CALL();
  auto stream = sim::streams().remove(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  stream->abandon();
  return ACL_SUCCESS;
}

// A planned failure of these calls comes after the wait: what failed on a chip does not go on writing either.

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream handle, int32_t timeout) {
  const int injected = SIM_CALL_COUNTED();
  auto stream = sim::Stream::of(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  const int status = stream->synchronize(__func__, timeout);
  return injected != 0 ? injected : status;
}

aclError aclrtSynchronizeStream(aclrtStream handle) {
  const int injected = SIM_CALL_COUNTED();
  auto stream = sim::Stream::of(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  const int status = stream->synchronize(__func__);
  return injected != 0 ? injected : status;
}

aclError aclrtSynchronizeDevice() {
  const int injected = SIM_CALL_COUNTED();
  const int status = sim::synchronize_all(__func__);
  return injected != 0 ? injected : status;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  const int injected = SIM_CALL_COUNTED();
  const int status = sim::synchronize_all(__func__, timeout);
  return injected != 0 ? injected : status;
}

aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus *status) {
  SIM_CALL();
  auto stream = sim::Stream::of(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  if (status == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the status pointer is null");
  *status = stream->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream handle, aclrtEvent event_handle) {
  SIM_CALL();
  auto stream = sim::Stream::of(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  auto event = sim::events().find(event_handle);
  if (!event) return sim::no_event(__func__, event_handle);
  uint64_t version;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    version = event->recorded;
  }
  stream->push({[event, version] { event->wait_for(version); }, {}, "aclrtStreamWaitEvent"});
  return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event) {
  SIM_CALL();
  return sim::create_event(__func__, event);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) {
  SIM_CALL();
  return sim::create_event(__func__, event);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t) {
  SIM_CALL();
  return sim::create_event(__func__, event);
}

aclError aclrtDestroyEvent(aclrtEvent handle) {
  SIM_CALL();
  return sim::events().remove(handle) ? ACL_SUCCESS : sim::no_event(__func__, handle);
}

aclError aclrtRecordEvent(aclrtEvent event_handle, aclrtStream handle) {
  SIM_CALL();
  auto stream = sim::Stream::of(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  auto event = sim::events().find(event_handle);
  if (!event) return sim::no_event(__func__, event_handle);
  uint64_t version;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    version = ++event->recorded;
  }
  stream->push({[event, version] {
                  std::lock_guard<std::mutex> lock(event->mutex);
                  if (event->completed < version) event->completed = version;
                  event->stamp = sim::Clock::now();
                  event->changed.notify_all();
                },
                {},
                "aclrtRecordEvent"});
  return ACL_SUCCESS;
}

aclError aclrtResetEvent(aclrtEvent event_handle, aclrtStream handle) {
  SIM_CALL();
  if (!sim::Stream::of(handle)) return sim::no_stream(__func__, handle);
  // A wait names the recording it waits for, so there is nothing to take back.
  return sim::events().find(event_handle) ? ACL_SUCCESS : sim::no_event(__func__, event_handle);
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus *status) {
  SIM_CALL();
  auto event = sim::events().find(handle);
  if (!event) return sim::no_event(__func__, handle);
  if (status == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the status pointer is null");
  std::lock_guard<std::mutex> lock(event->mutex);
  *status = event->completed >= event->recorded ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent handle) {
  const int injected = SIM_CALL_COUNTED();
  auto event = sim::events().find(handle);
  if (!event) return sim::no_event(__func__, handle);
  uint64_t version;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    version = event->recorded;
  }
  event->wait_for(version);
  return injected;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent start_handle, aclrtEvent end_handle) {
  SIM_CALL();
  auto start = sim::events().find(start_handle);
  auto end = sim::events().find(end_handle);
  if (!start || !end) return sim::no_event(__func__, start ? end_handle : start_handle);
  if (ms == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the result pointer is null");
  std::scoped_lock lock(start->mutex, end->mutex);
  *ms = std::chrono::duration<float, std::milli>(end->stamp - start->stamp).count();
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent handle, uint64_t *microseconds) {
  SIM_CALL();
  auto event = sim::events().find(handle);
  if (!event) return sim::no_event(__func__, handle);
  if (microseconds == nullptr) return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the result pointer is null");
  std::lock_guard<std::mutex> lock(event->mutex);
  *microseconds = std::chrono::duration_cast<std::chrono::microseconds>(event->stamp.time_since_epoch()).count();
  return ACL_SUCCESS;
}

// Callbacks run on the stream's worker; a thread that processes reports has nothing left to do.
aclError aclrtLaunchCallback(aclrtCallback callback, void *data, int, aclrtStream handle) {
  SIM_CALL();
  auto stream = sim::Stream::of(handle);
  if (!stream) return sim::no_stream(__func__, handle);
  stream->push({[callback, data] { callback(data); }, {}, "aclrtLaunchCallback"});
  return ACL_SUCCESS;
}

aclError aclrtSubscribeReport(uint64_t, aclrtStream) {
  SIM_CALL();
  return ACL_SUCCESS;
}

aclError aclrtProcessReport(int32_t timeout) {
  SIM_CALL();
  std::this_thread::sleep_for(std::chrono::milliseconds(timeout > 0 && timeout < 100 ? timeout : 100));
  return ACL_SUCCESS;
}

}  // extern "C"
