// Streams: a worker thread each that runs tasks in order, and events between them.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_STREAM_H_
#define CANN_SIM_STREAM_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "memory.h"

namespace sim {

struct Task {
  std::function<void()> run;
  std::vector<Range> uses;  // device memory that must stay allocated until the task is done
  std::string name;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  static std::shared_ptr<Stream> create();
  // The stream behind a handle; null means the default stream. Empty when the handle is stale or foreign.
  static std::shared_ptr<Stream> of(void *handle);

  int id() const { return id_; }
  void push(Task task);
  // Waits for what was pushed so far. Returns 0, the stream's error (once), or a timeout.
  int synchronize(const char *call, int timeout_ms = -1);
  bool idle();
  // Runs what is queued, then ends the worker.
  void finish();
  // Drops what is queued, then ends the worker after the task that runs.
  void abandon();
  bool uses(const Range &range, std::string *who);

 private:
  explicit Stream(int id) : id_(id) {}
  void work();
  void end(bool drop);

  const int id_;
  std::mutex mutex_;
  std::condition_variable todo_;
  std::condition_variable finished_;
  std::deque<Task> queue_;  // front: the task that runs
  uint64_t pushed_ = 0;
  uint64_t done_ = 0;
  bool stop_ = false;
  int error_ = 0;
  std::string error_text_;
  std::thread worker_;
};

void each_stream(const std::function<void(Stream &)> &visit);
int synchronize_all(const char *call, int timeout_ms = -1);

// Thrown by a task: what the hardware would report when the stream is synchronised.
struct TaskError {
  int status;
  std::string text;
};

}  // namespace sim

#endif
