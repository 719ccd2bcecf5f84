// Executors: made by phase 1, run by phase 2, once or repeatedly.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

#include "acl/acl.h"
#include "handles.h"
#include "stream.h"
#include "trace.h"

namespace sim {
namespace {

struct Executor {
  std::string name;
  void *caller;
  Kernel kernel;
  std::vector<std::shared_ptr<Tensor>> tensors;
  std::vector<std::pair<size_t, size_t>> slots;
  size_t inputs;
  uint64_t workspace;
  std::atomic<bool> repeatable{false};

  // Address updates that failed and were not made good: the tensor, or the list and the position in it.
  struct Failed {
    const char *call;
    int status;
  };
  using Updated = std::pair<const void *, size_t>;
  std::mutex mutex;
  std::map<Updated, Failed> failed;

  Failed failed_update() {
    std::lock_guard<std::mutex> lock(mutex);
    return failed.empty() ? Failed{"", 0} : failed.begin()->second;
  }
};

Handles<Executor> &executors() {
  static auto *instance = new Handles<Executor>(kExecutors);
  return *instance;
}

uint64_t wanted_workspace() {
  static const uint64_t bytes = [] {
    const char *text = std::getenv("CANN_SIM_WORKSPACE");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 0ULL;
  }();
  return bytes;
}

constexpr size_t kSuffix = sizeof("GetWorkspaceSize") - 1;

Tensors snapshot(const std::vector<std::shared_ptr<Tensor>> &tensors) {
  Tensors copies;
  copies.reserve(tensors.size());
  for (const auto &tensor : tensors) copies.push_back(*tensor);
  return copies;
}

void trace_phase(const std::string &name, int phase, int status, const Tensors &tensors, size_t inputs, int stream,
                 uint64_t workspace, void *caller, const void *executor) {
  if (!tracing()) return;
  TraceLine(name)
    .number("phase", phase)
    .number("status", status)
    .raw("inputs", json_list(tensors, 0, inputs))
    .raw("outputs", json_list(tensors, inputs, tensors.size()))
    .raw("stream", stream < 0 ? "null" : std::to_string(stream))
    .number("workspace", static_cast<long long>(workspace))
    .number("executor", static_cast<long long>(reinterpret_cast<uintptr_t>(executor)))
    .text("caller", caller == nullptr ? "" : code_address(caller))
    .write();
}

}  // namespace

std::string json_list(const Tensors &tensors, size_t begin, size_t end) {
  std::string text = "[";
  for (size_t i = begin; i < end; ++i) text += (i > begin ? ", " : "") + tensors[i].json();
  return text + "]";
}

Plan::Plan(uint64_t *workspace, aclOpExecutor **executor, void *caller, const char *function)
    : name_(function, std::strlen(function) - kSuffix),
      function_(function),
      workspace_(workspace),
      executor_(executor),
      caller_(caller) {
  status_ = Call::named(function_).enter();
  if (ok() && (workspace_ == nullptr || executor_ == nullptr)) {
    reject(ACLNN_ERR_PARAM_NULLPTR, "%s is null", workspace_ == nullptr ? "workspaceSize" : "executor");
  }
}

Plan &Plan::add(std::shared_ptr<Tensor> tensor, bool input) {
  tensors_.push_back(std::move(tensor));
  if (input) inputs_ = tensors_.size();
  return *this;
}

Plan &Plan::in(const aclTensor *tensor, const char *name) {
  if (!ok()) return *this;
  auto found = find(tensor);
  if (!found) {
    reject(tensor == nullptr ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID, "%s is %s", name,
           tensor == nullptr ? take_null_reason().c_str() : "not a live tensor");
    return *this;
  }
  slots_.emplace_back(tensors_.size(), 1);
  return add(std::move(found), true);
}

Plan &Plan::out(const aclTensor *tensor, const char *name) {
  const size_t inputs = inputs_;
  in(tensor, name);
  inputs_ = inputs;
  return *this;
}

Plan &Plan::optional_in(const aclTensor *tensor, const char *name) {
  if (!ok() || tensor != nullptr) return in(tensor, name);
  slots_.emplace_back(tensors_.size(), 1);
  auto absent = std::make_shared<Tensor>();
  absent->shape = {0};
  absent->strides = {1};
  return add(std::move(absent), true);
}

Plan &Plan::in(const aclTensorList *list, const char *name) {
  if (!ok()) return *this;
  auto found = find(list);
  if (!found) {
    reject(list == nullptr ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID, "%s is %s", name,
           list == nullptr ? take_null_reason().c_str() : "not a live list");
    return *this;
  }
  slots_.emplace_back(tensors_.size(), found->tensors.size());
  for (auto &tensor : found->tensors) {
    if (!tensor) {
      reject(ACLNN_ERR_PARAM_NULLPTR, "a tensor of %s is null", name);
      return *this;
    }
    add(tensor, true);
  }
  return *this;
}

Plan &Plan::out(const aclTensorList *list, const char *name) {
  const size_t inputs = inputs_;
  in(list, name);
  inputs_ = inputs;
  return *this;
}

Plan &Plan::scalar(const aclScalar *scalar, const char *name, Scalar *value) {
  if (!ok()) return *this;
  auto found = find(scalar);
  if (!found) {
    reject(scalar == nullptr ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID, "%s is %s", name,
           scalar == nullptr ? take_null_reason().c_str() : "not a live scalar");
    return *this;
  }
  *value = *found;
  return *this;
}

Plan &Plan::ints(const aclIntArray *array, const char *name, std::vector<int64_t> *values) {
  if (!ok()) return *this;
  auto found = find(array);
  if (!found) {
    reject(array == nullptr ? ACLNN_ERR_PARAM_NULLPTR : ACLNN_ERR_PARAM_INVALID, "%s is %s", name,
           array == nullptr ? take_null_reason().c_str() : "not a live array");
    return *this;
  }
  *values = *found;
  return *this;
}

aclnnStatus Plan::reject(int status, const char *format, ...) {
  if (!ok()) return status_;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  status_ = fail(function_, status, "%s", text);
  return status_;
}

aclnnStatus Plan::launch(Kernel kernel) {
  void *handle = nullptr;
  if (ok()) {
    auto executor = std::make_shared<Executor>();
    executor->name = name_;
    executor->caller = caller_;
    executor->kernel = std::move(kernel);
    executor->tensors = tensors_;
    executor->slots = slots_;
    executor->inputs = inputs_;
    executor->workspace = *workspace_ = wanted_workspace();
    handle = executors().add(std::move(executor));
    *executor_ = static_cast<aclOpExecutor *>(handle);
  }
  if (tracing()) {
    trace_phase(name_, 1, status_, snapshot(tensors_), inputs_, -1, ok() ? *workspace_ : 0, caller_, handle);
  }
  return status_;
}

int queue_kernel(const char *name, Kernel kernel, Tensors tensors, std::vector<Range> uses, void *handle) {
  auto stream = Stream::of(handle);
  if (!stream) return fail(name, ACLNN_ERR_RUNTIME_ERROR, "%p is not a live stream", handle);
  std::string outside;
  for (const Tensor &tensor : tensors) {
    const Range touched = tensor.touched();
    if (touched.begin == touched.end) continue;
    uses.push_back(touched);
    // A real chip finds this out while it runs: so the launch succeeds and the stream reports it.
    if (outside.empty() && !on_device(touched)) outside = "a tensor of shape " + to_text(tensor.shape) +
                                                          " reaches outside device memory";
  }
  auto task = [kernel = std::move(kernel), tensors = std::move(tensors), outside] {
    if (!outside.empty()) throw TaskError{ACL_ERROR_RT_AICORE_EXCEPTION, outside};
    kernel(tensors);
  };
  stream->push({std::move(task), std::move(uses), name});
  return 0;
}

aclnnStatus run(const char *name, void *workspace, uint64_t size, aclOpExecutor *handle, void *stream) {
  if (int injected = Call::named(name).enter()) {
    // A failed launch uses up a one-shot executor, as any launch does.
    auto executor = executors().find(handle);
    if (executor && !executor->repeatable) executors().remove(handle);
    if (executor) trace_phase(name, 2, injected, snapshot(executor->tensors), executor->inputs, -1, size,
                              executor->caller, handle);
    return injected;
  }
  if (handle == nullptr) return fail(name, ACLNN_ERR_INNER_NULLPTR, "the executor is null");
  auto executor = executors().find(handle);
  if (!executor) {
    return fail(name, ACLNN_ERR_PARAM_INVALID, "%p is not an executor, or one that was used or destroyed",
                static_cast<void *>(handle));
  }
  if (executor->name != name) {
    return fail(name, ACLNN_ERR_PARAM_INVALID, "the executor belongs to %s", executor->name.c_str());
  }
  int status = 0;
  if (const Executor::Failed failed = executor->failed_update(); failed.status != 0) {
    // Callers may ignore the status of an address update: then the launch fails, instead of using an old address.
    status = fail(name, failed.status, "%s failed for this executor", failed.call);
  } else if (executor->workspace > 0 && workspace == nullptr) {
    status = fail(name, ACLNN_ERR_PARAM_NULLPTR, "the workspace is null, %llu bytes are needed",
                  static_cast<unsigned long long>(executor->workspace));
  } else if (size < executor->workspace) {
    status = fail(name, ACLNN_ERR_PARAM_INVALID, "the workspace has %llu bytes, %llu are needed",
                  static_cast<unsigned long long>(size), static_cast<unsigned long long>(executor->workspace));
  } else if (executor->workspace > 0 && !on_device(range(workspace, executor->workspace))) {
    status = fail(name, ACLNN_ERR_PARAM_INVALID, "the workspace is not device memory");
  }
  auto target = Stream::of(stream);
  if (status == 0 && !target) status = fail(name, ACLNN_ERR_RUNTIME_ERROR, "%p is not a live stream", stream);
  Tensors tensors = snapshot(executor->tensors);
  trace_phase(name, 2, status, tensors, executor->inputs, target ? target->id() : -1, size, executor->caller, handle);
  if (status != 0) return status;
  std::vector<Range> uses;
  Kernel kernel = executor->kernel;
  if (executor->workspace > 0) {
    // Overwriting it shows that it is the operator's own: a workspace given to two tasks spoils a result.
    uses.push_back(range(workspace, executor->workspace));
    kernel = [kernel, workspace, bytes = executor->workspace](const Tensors &t) {
      std::memset(workspace, 0xcc, bytes);
      kernel(t);
      std::memset(workspace, 0xdd, bytes);
    };
  }
  if (!executor->repeatable) executors().remove(handle);
  return queue_kernel(name, std::move(kernel), std::move(tensors), std::move(uses), stream);
}

namespace {

int set_address(const char *call, Executor *executor, const void *handle, size_t index, const void *tensor_handle,
                const std::shared_ptr<Tensor> &tensor, void *address) {
  if (handle == nullptr || tensor_handle == nullptr) return fail(call, ACLNN_ERR_INNER_NULLPTR, "a null pointer");
  if (executor == nullptr || !tensor) return fail(call, ACLNN_ERR_PARAM_INVALID, "the executor or the tensor is not live");
  if (!executor->repeatable) return fail(call, ACLNN_ERR_PARAM_INVALID, "the executor is not repeatable");
  if (index >= executor->slots.size()) {
    return fail(call, ACLNN_ERR_PARAM_INVALID, "index %zu of %zu", index, executor->slots.size());
  }
  // CANN goes by the tensor, not by the index.
  if (std::find(executor->tensors.begin(), executor->tensors.end(), tensor) == executor->tensors.end()) {
    return fail(call, ACLNN_ERR_PARAM_INVALID, "the tensor is not one of the executor's");
  }
  tensor->data = address;
  return ACLNN_SUCCESS;
}

int keep_failure(Executor *executor, Executor::Updated updated, const char *call, int status) {
  if (executor == nullptr) return status;
  std::lock_guard<std::mutex> lock(executor->mutex);
  if (status != 0) {
    executor->failed[updated] = {call, status};
  } else {
    executor->failed.erase(updated);
  }
  return status;
}

}  // namespace
}  // namespace sim

using sim::executors;
using sim::fail;

extern "C" {

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *handle) {
  SIM_CALL();
  if (handle == nullptr) return fail(__func__, ACLNN_ERR_INNER_NULLPTR, "the executor is null");
  auto executor = executors().find(handle);
  if (!executor) return fail(__func__, ACLNN_ERR_PARAM_INVALID, "%p is not live", static_cast<void *>(handle));
  executor->repeatable = true;
  return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *handle) {
  SIM_CALL();
  if (handle == nullptr) return fail(__func__, ACLNN_ERR_INNER_NULLPTR, "the executor is null");
  if (!executors().remove(handle)) {
    return fail(__func__, ACLNN_ERR_PARAM_INVALID, "%p is not live", static_cast<void *>(handle));
  }
  return ACLNN_SUCCESS;
}

// A failure is kept in the executor until an update of the same tensor succeeds: MindSpore does not look at the status,
// and would launch on the old address.
aclnnStatus aclSetTensorAddr(aclOpExecutor *handle, const size_t index, aclTensor *tensor, void *address) {
  auto executor = executors().find(handle);
  int status = SIM_CALL_COUNTED();
  if (status == 0) status = sim::set_address(__func__, executor.get(), handle, index, tensor, sim::find(tensor), address);
  return sim::keep_failure(executor.get(), {tensor, 0}, __func__, status);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *handle, const size_t index, const size_t relative,
                                    aclTensorList *list, void *address) {
  auto executor = executors().find(handle);
  int status = SIM_CALL_COUNTED();
  auto tensors = sim::find(list);
  if (status == 0 && tensors && relative >= tensors->tensors.size()) {
    status = fail(__func__, ACLNN_ERR_PARAM_INVALID, "index %zu of %zu in the list", relative, tensors->tensors.size());
  }
  if (status == 0) {
    status = sim::set_address(__func__, executor.get(), handle, index, list,
                              tensors ? tensors->tensors[relative] : nullptr, address);
  }
  return sim::keep_failure(executor.get(), {list, relative}, __func__, status);
}

// The simulator's own: what is still alive; control.py wraps it.
size_t cann_sim_live_executors() { return executors().size(); }

}  // extern "C"
