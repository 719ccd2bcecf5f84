// Losses over two tensors and their gradients. Reduction 0 keeps the elements, 1 takes their mean, 2 their sum.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels.h"

namespace sim {
namespace {

// A weight, as one for each element; 1 where none was given.
std::vector<double> read_or_ones(const Tensor &weight, const Shape &shape) {
  if (weight.dtype == ACL_DT_UNDEFINED) return std::vector<double>(element_count(shape), 1.0);
  return read<double>(broadcast_to(weight, shape));
}

// out = the elements f(x, y, weight, positive weight), reduced; f of a loss without weights uses none.
template <class F>
aclnnStatus launch_loss(Plan &plan, int64_t reduction, F f) {
  if (plan.ok()) {
    bool ok = true;
    const Shape shape = broadcast(plan.tensor(0).shape, plan.tensor(1).shape, &ok);
    const Tensor &out = plan.tensor(plan.inputs());
    if (!ok || reduction < 0 || reduction > 2 || out.shape != (reduction == 0 ? shape : Shape{})) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes or the reduction do not go together");
    }
  }
  return plan.launch([reduction, f](const Tensors &t) {
    bool ok = true;
    const Shape shape = broadcast(t[0].shape, t[1].shape, &ok);
    auto x = read<double>(broadcast_to(t[0], shape));
    const auto y = read<double>(broadcast_to(t[1], shape));
    const bool weighted = t.size() > 3;
    const auto weight = weighted ? read_or_ones(t[2], shape) : x, positive = weighted ? read_or_ones(t[3], shape) : x;
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] = f(x[i], y[i], weight[i], positive[i]);
    const double one = reduction == 1 ? sum / static_cast<double>(x.size()) : sum;
    write(t.back(), reduction == 0 ? x : std::vector<double>{one});
  });
}

}  // namespace
}  // namespace sim

SIM_OPERATOR(aclnnMseLoss, const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").in(target, "target").out(out, "out");
  return sim::launch_loss(plan, reduction, [](double x, double y, double, double) { return (x - y) * (x - y); });
}

SIM_OPERATOR(aclnnMseLossBackward, const aclTensor *grad_output, const aclTensor *self, const aclTensor *target,
             int64_t reduction, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(grad_output, "gradOutput").in(self, "self").in(target, "target").out(out, "out");
  const double size = plan.ok() && reduction == 1 ? static_cast<double>(plan.tensor(3).count()) : 1.0;
  return sim::launch_elementwise<3>(plan, [size](auto dy, auto x, auto y) {
    return static_cast<decltype(dy)>(2.0 * (static_cast<double>(x) - static_cast<double>(y)) * static_cast<double>(dy) / size);
  });
}

SIM_OPERATOR(aclnnBinaryCrossEntropyWithLogits, const aclTensor *self, const aclTensor *target, const aclTensor *weight,
             const aclTensor *positive, int64_t reduction, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").in(target, "target").optional_in(weight, "weight").optional_in(positive, "posWeight");
  plan.out(out, "out");
  return sim::launch_loss(plan, reduction, [](double x, double y, double w, double p) {
    // log(1 + exp(-x)) without overflow
    const double softplus = std::log1p(std::exp(-std::abs(x))) + std::max(-x, 0.0);
    return w * ((1 - y) * x + (1 + (p - 1) * y) * softplus);
  });
}

SIM_OPERATOR(aclnnBinaryCrossEntropyWithLogitsBackward, const aclTensor *grad_output, const aclTensor *self,
             const aclTensor *target, const aclTensor *weight, const aclTensor *positive, int64_t reduction,
             aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(grad_output, "gradOutput").in(self, "self").in(target, "target");
  plan.optional_in(weight, "weight").optional_in(positive, "posWeight").out(out, "out");
  if (plan.ok() && (plan.tensor(1).shape != plan.tensor(5).shape || reduction < 0 || reduction > 2)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes or the reduction do not go together");
  }
  return plan.launch([reduction](const sim::Tensors &t) {
    const sim::Shape &shape = t[1].shape;
    auto dx = sim::read<double>(sim::broadcast_to(t[0], shape));
    const auto x = sim::read<double>(t[1]), y = sim::read<double>(sim::broadcast_to(t[2], shape)),
               weight = sim::read_or_ones(t[3], shape), positive = sim::read_or_ones(t[4], shape);
    const double size = reduction == 1 ? static_cast<double>(x.size()) : 1.0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double sigmoid = 1 / (1 + std::exp(-x[i]));
      dx[i] *= weight[i] * (1 - y[i] + (1 + (positive[i] - 1) * y[i]) * (sigmoid - 1)) / size;
    }
    sim::write(t[5], dx);
  });
}
