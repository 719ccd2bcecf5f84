// Phase 1 of an operator: check the parameters, then leave a plan behind that phase 2 runs.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_PLAN_H_
#define CANN_SIM_PLAN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "call.h"
#include "tensor.h"

namespace sim {

using Tensors = std::vector<Tensor>;  // inputs, then outputs, in the order of the parameters
using Kernel = std::function<void(const Tensors &)>;

class Plan {
 public:
  Plan(uint64_t *workspace, aclOpExecutor **executor, void *caller, const char *function);

  // A null, or stale, tensor ends the plan with the documented status.
  Plan &in(const aclTensor *tensor, const char *name);
  Plan &out(const aclTensor *tensor, const char *name);
  // Null is allowed; the kernel then sees a tensor with undefined dtype.
  Plan &optional_in(const aclTensor *tensor, const char *name);
  Plan &in(const aclTensorList *list, const char *name);
  Plan &out(const aclTensorList *list, const char *name);
  Plan &scalar(const aclScalar *scalar, const char *name, Scalar *value);
  Plan &ints(const aclIntArray *array, const char *name, std::vector<int64_t> *values);

  bool ok() const { return status_ == 0; }
  aclnnStatus reject(int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
  aclnnStatus launch(Kernel kernel);

  const Tensor &tensor(size_t index) const { return *tensors_[index]; }
  size_t inputs() const { return inputs_; }
  size_t outputs() const { return tensors_.size() - inputs_; }

 private:
  Plan &add(std::shared_ptr<Tensor> tensor, bool input);
  void trace() const;

  std::string name_;
  std::string function_;
  uint64_t *workspace_;
  aclOpExecutor **executor_;
  void *caller_;
  int status_ = 0;
  std::vector<std::shared_ptr<Tensor>> tensors_;
  std::vector<std::pair<size_t, size_t>> slots_;  // parameter -> first tensor and count
  size_t inputs_ = 0;
};

// Phase 2 of every operator.
aclnnStatus run(const char *name, void *workspace, uint64_t workspace_size, aclOpExecutor *executor, void *stream);

// Checks that phase 2 and the older aclop route share, then queues the kernel.
int queue_kernel(const char *name, Kernel kernel, Tensors tensors, std::vector<Range> also_uses, void *stream);

std::string json_list(const Tensors &tensors, size_t begin, size_t end);

}  // namespace sim

// Defines both phases of an operator. The body is that of phase 1; it starts with SIM_PLAN(plan).
#define SIM_OPERATOR(name, ...)                                                                                   \
  extern "C" aclnnStatus name(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream) {      \
    return sim::run(#name, workspace, size, executor, stream);                                                    \
  }                                                                                                               \
  extern "C" aclnnStatus name##GetWorkspaceSize(__VA_ARGS__, uint64_t *workspace, aclOpExecutor **executor)
#define SIM_PLAN(plan) sim::Plan plan(workspace, executor, __builtin_return_address(0), __func__)

#endif
