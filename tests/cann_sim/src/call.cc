// Counting of calls, planned failures (--fail), and the recent error message.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace sim {
namespace {

// Leaked on purpose, like every table of the simulator: MindSpore's threads may call while the process exits.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Call>> calls;
};

Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

thread_local std::string recent_message;
thread_local std::string returned_message;
thread_local std::string null_reason;

// One planned failure is CALL=STATUS or CALL=STATUS@N.
bool plan_from_text(const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  char *end = nullptr;
  const long status = std::strtol(text.c_str() + equals + 1, &end, 10);
  unsigned long nth = 1;
  if (*end == '@') nth = std::strtoul(end + 1, &end, 10);
  if (*end != '\0' || status == 0 || nth == 0) return false;
  Call::named(text.substr(0, equals)).plan_failure(nth, static_cast<int>(status));
  return true;
}

// Runs when the library is loaded, before any call can be counted.
__attribute__((constructor)) void plan_from_environment() {
  const char *plans = std::getenv("CANN_SIM_FAIL");
  if (plans == nullptr) return;
  std::string rest = plans;
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    const std::string one = rest.substr(0, end);
    if (!one.empty() && !plan_from_text(one)) {
      std::fprintf(stderr, "cann_sim: CANN_SIM_FAIL: '%s' is not CALL=STATUS[@N]\n", one.c_str());
      std::_Exit(2);
    }
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
}

}  // namespace

Call &Call::named(const std::string &name) {
  Registry &r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  auto &slot = r.calls[name];
  if (!slot) slot = std::make_unique<Call>(name);
  return *slot;
}

void Call::plan_failure(uint64_t nth_from_now, int status) {
  std::lock_guard<std::mutex> lock(mutex_);
  failures_.push_back({count_.load() + nth_from_now, status});
  armed_ = true;
}

void Call::clear_failures() {
  std::lock_guard<std::mutex> lock(mutex_);
  failures_.clear();
  armed_ = false;
}

int Call::enter() {
  const uint64_t now = count_.fetch_add(1) + 1;
  if (!armed_) return 0;
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = failures_.begin(); it != failures_.end(); ++it) {
    if (it->at != now) continue;
    const int status = it->status;
    failures_.erase(it);
    armed_ = !failures_.empty();
    return fail(name_, status, "failure injected into call %llu", static_cast<unsigned long long>(now));
  }
  return 0;
}

const char *status_name(int status) {
  switch (status) {
    case ACLNN_ERR_PARAM_NULLPTR: return "ACLNN_ERR_PARAM_NULLPTR";
    case ACLNN_ERR_PARAM_INVALID: return "ACLNN_ERR_PARAM_INVALID";
    case ACLNN_ERR_RUNTIME_ERROR: return "ACLNN_ERR_RUNTIME_ERROR";
    case ACLNN_ERR_INNER_NULLPTR: return "ACLNN_ERR_INNER_NULLPTR";
    case ACL_ERROR_OP_NOT_FOUND: return "ACL_ERROR_OP_NOT_FOUND";
    case ACL_ERROR_RT_PARAM_INVALID: return "ACL_ERROR_RT_PARAM_INVALID";
    case ACL_ERROR_RT_INVALID_DEVICEID: return "ACL_ERROR_RT_INVALID_DEVICEID";
    case ACL_ERROR_RT_STREAM_CONTEXT: return "ACL_ERROR_RT_STREAM_CONTEXT";
    case ACL_ERROR_RT_MEMORY_ALLOCATION: return "ACL_ERROR_RT_MEMORY_ALLOCATION";
    case ACL_ERROR_RT_AICORE_EXCEPTION: return "ACL_ERROR_RT_AICORE_EXCEPTION";
    default: return "status";
  }
}

void keep_null_reason() { null_reason = recent_message; }

std::string take_null_reason() {
  std::string reason;
  reason.swap(null_reason);
  return reason.empty() ? "null" : "null (" + reason + ")";
}

int fail(const std::string &call, int status, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  recent_message = call + ": " + text + ", " + status_name(status) + " (" + std::to_string(status) + ")";
  return status;
}

}  // namespace sim

extern "C" {

const char *aclGetRecentErrMsg() {
  using namespace sim;
  if (recent_message.empty()) return nullptr;
  returned_message.swap(recent_message);
  recent_message.clear();
  return returned_message.c_str();
}

// The three calls below belong to the simulator; control.py wraps them.

int cann_sim_fail(const char *plan) { return sim::plan_from_text(plan) ? 0 : -1; }

void cann_sim_clear_failures() {
  sim::Registry &r = sim::registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  for (auto &entry : r.calls) entry.second->clear_failures();
}

// Writes "NAME COUNT" lines and returns the size needed, as snprintf does.
size_t cann_sim_counts(char *buffer, size_t size) {
  std::string text;
  sim::Registry &r = sim::registry();
  {
    std::lock_guard<std::mutex> lock(r.mutex);
    for (auto &entry : r.calls) {
      if (entry.second->count() > 0) text += entry.first + " " + std::to_string(entry.second->count()) + "\n";
    }
  }
  if (size > 0) {
    const size_t copied = text.size() < size - 1 ? text.size() : size - 1;
    std::memcpy(buffer, text.data(), copied);
    buffer[copied] = '\0';
  }
  return text.size();
}

}  // extern "C"
