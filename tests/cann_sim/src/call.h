// Every CANN call passes here: it is counted, can be made to fail, and leaves its error message.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_CALL_H_
#define CANN_SIM_CALL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace sim {

class Call {
 public:
  explicit Call(std::string name) : name_(std::move(name)) {}
  static Call &named(const std::string &name);

  // Counts the call; returns the status that a planned failure asks for, else 0.
  int enter();
  void plan_failure(uint64_t nth_from_now, int status);
  void clear_failures();
  const std::string &name() const { return name_; }
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Failure {
    uint64_t at;
    int status;
  };
  std::string name_;
  std::atomic<uint64_t> count_{0};
  std::atomic<bool> armed_{false};
  std::mutex mutex_;
  std::deque<Failure> failures_;
};

// Stores the message that aclGetRecentErrMsg returns and returns the status, so that a check is one line.
int fail(const std::string &call, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

const char *status_name(int status);

// A failed creation returns null, which some later call in this thread complains about: it can then say why.
void keep_null_reason();
std::string take_null_reason();

}  // namespace sim

#define SIM_CALL_COUNTED() ([](const char *name) -> int { static sim::Call &call = sim::Call::named(name); return call.enter(); }(__func__))
#define SIM_CALL()                                            \
  do {                                                        \
    if (int injected = SIM_CALL_COUNTED()) return injected;   \
  } while (0)
#define SIM_CALL_POINTER()                                    \
  do {                                                        \
    if (SIM_CALL_COUNTED()) {                                 \
      sim::keep_null_reason();                                \
      return nullptr;                                         \
    }                                                         \
  } while (0)

#endif
