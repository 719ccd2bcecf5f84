// aclnnTanh, aclnnInplaceTanh and aclnnTanhBackward, with the checks of their CANN pages.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_tanh_backward.h"
#include "kernels.h"
#include "soc.h"

namespace {

constexpr size_t kMaxRank = 8;

bool is_supported_float(int dtype) {
  return sim::is_float(dtype) && (dtype != ACL_BF16 || sim::soc_has_bfloat16());
}

void check_rank(sim::Plan &plan) {
  for (size_t i = 0; plan.ok() && i < plan.inputs() + plan.outputs(); ++i) {
    if (plan.tensor(i).shape.size() > kMaxRank) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "a tensor has %zu dimensions, more than %zu", plan.tensor(i).shape.size(),
                  kMaxRank);
    }
  }
}

// All tensors: a supported dtype, the first one's dtype and shape.
void check_alike(sim::Plan &plan) {
  for (size_t i = 0; plan.ok() && i < plan.inputs() + plan.outputs(); ++i) {
    const sim::Tensor &first = plan.tensor(0), &other = plan.tensor(i);
    if (!is_supported_float(other.dtype)) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "dtype %s is not supported on %s", sim::dtype_name(other.dtype),
                  sim::soc_name());
    } else if (other.dtype != first.dtype) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "dtypes %s and %s differ", sim::dtype_name(first.dtype),
                  sim::dtype_name(other.dtype));
    } else if (other.shape != first.shape) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "shapes %s and %s differ", sim::to_text(first.shape).c_str(),
                  sim::to_text(other.shape).c_str());
    }
  }
  check_rank(plan);
}

}  // namespace

SIM_OPERATOR(aclnnTanhBackward, const aclTensor *grad_output, const aclTensor *output, aclTensor *grad_input) {
  SIM_PLAN(plan);
  plan.in(grad_output, "gradOutput").in(output, "output").out(grad_input, "gradInput");
  check_alike(plan);
  return plan.launch(sim::elementwise<2>([](auto dy, auto y) { return dy * (1 - y * y); }));
}

SIM_OPERATOR(aclnnTanh, const aclTensor *input, aclTensor *output) {
  SIM_PLAN(plan);
  plan.in(input, "input").out(output, "output");
  if (plan.ok() && plan.tensor(0).shape != plan.tensor(1).shape) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "input and output differ in shape");
  }
  if (plan.ok() && (plan.tensor(0).dtype == ACL_BF16 || plan.tensor(1).dtype == ACL_BF16) && !sim::soc_has_bfloat16()) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "dtype bfloat16 is not supported on %s", sim::soc_name());
  }
  check_rank(plan);
  return plan.launch(sim::elementwise<1>([](auto x) { return std::tanh(x); }, sim::Compute::kFloat));
}

SIM_OPERATOR(aclnnInplaceTanh, aclTensor *input_ref) {
  SIM_PLAN(plan);
  plan.in(input_ref, "inputRef");
  check_alike(plan);
  return plan.launch([](const sim::Tensors &t) {
    sim::elementwise<1>([](auto x) { return std::tanh(x); })({t[0], t[0]});
  });
}
