// Elementwise operators: arithmetic, functions, comparisons, casts, copies and fills.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

using sim::Compute;
using sim::Plan;
using sim::Scalar;

namespace {

// A float scalar makes an integer tensor's arithmetic floating; it does not widen a float tensor's.
Compute compute_with(const Scalar &scalar) { return scalar.is_integer() ? Compute::kInteger : Compute::kFloat; }

}  // namespace

#define UNARY(name, compute, ...)                                                          \
  SIM_OPERATOR(name, const aclTensor *self, aclTensor *out) {                              \
    SIM_PLAN(plan);                                                                        \
    plan.in(self, "self").out(out, "out");                                                 \
    return sim::launch_elementwise<1>(plan, [](auto x) { return __VA_ARGS__; }, compute);  \
  }

#define BINARY(name, compute, ...)                                                                 \
  SIM_OPERATOR(name, const aclTensor *self, const aclTensor *other, aclTensor *out) {              \
    SIM_PLAN(plan);                                                                                \
    plan.in(self, "self").in(other, "other").out(out, "out");                                      \
    return sim::launch_elementwise<2>(plan, [](auto x, auto y) { return __VA_ARGS__; }, compute);  \
  }

// y is the scalar, in the type of the arithmetic.
#define WITH_SCALAR(name, compute, ...)                                                        \
  SIM_OPERATOR(name, const aclTensor *self, const aclScalar *other, aclTensor *out) {          \
    SIM_PLAN(plan);                                                                            \
    Scalar scalar;                                                                             \
    plan.in(self, "self").scalar(other, "other", &scalar).out(out, "out");                     \
    return sim::launch_elementwise<1>(                                                         \
      plan,                                                                                    \
      [scalar](auto x) {                                                                       \
        const auto y = scalar.as<decltype(x)>();                                               \
        return __VA_ARGS__;                                                                    \
      },                                                                                       \
      sim::wider(compute, compute_with(scalar)));                                              \
  }

#define INPLACE(name, compute, ...)                                                                \
  SIM_OPERATOR(name, aclTensor *self, const aclTensor *other) {                                    \
    SIM_PLAN(plan);                                                                                \
    plan.in(self, "selfRef").in(other, "other").out(self, "selfRef");                              \
    return sim::launch_elementwise<2>(plan, [](auto x, auto y) { return __VA_ARGS__; }, compute);  \
  }

#define INPLACE_WITH_SCALAR(name, compute, ...)                                                \
  SIM_OPERATOR(name, aclTensor *self, const aclScalar *other) {                                \
    SIM_PLAN(plan);                                                                            \
    Scalar scalar;                                                                             \
    plan.in(self, "selfRef").scalar(other, "other", &scalar).out(self, "selfRef");             \
    return sim::launch_elementwise<1>(                                                         \
      plan,                                                                                    \
      [scalar](auto x) {                                                                       \
        const auto y = scalar.as<decltype(x)>();                                               \
        return __VA_ARGS__;                                                                    \
      },                                                                                       \
      sim::wider(compute, compute_with(scalar)));                                              \
  }

UNARY(aclnnNeg, Compute::kInteger, -x)
UNARY(aclnnAbs, Compute::kInteger, x < 0 ? -x : x)
UNARY(aclnnSign, Compute::kInteger, x > 0 ? decltype(x)(1) : x < 0 ? decltype(x)(-1) : x)
UNARY(aclnnRelu, Compute::kInteger, x > 0 ? x : decltype(x)(0))
UNARY(aclnnExp, Compute::kFloat, std::exp(x))
UNARY(aclnnLog, Compute::kFloat, std::log(x))
UNARY(aclnnSqrt, Compute::kFloat, std::sqrt(x))
UNARY(aclnnRsqrt, Compute::kFloat, 1 / std::sqrt(x))
UNARY(aclnnReciprocal, Compute::kFloat, 1 / x)
UNARY(aclnnSin, Compute::kFloat, std::sin(x))
UNARY(aclnnCos, Compute::kFloat, std::cos(x))
UNARY(aclnnSigmoid, Compute::kFloat, 1 / (1 + std::exp(-x)))
UNARY(aclnnFloor, Compute::kFloat, std::floor(x))
UNARY(aclnnCeil, Compute::kFloat, std::ceil(x))
UNARY(aclnnLogicalNot, Compute::kInteger, x == 0)
UNARY(aclnnIsFinite, Compute::kFloat, std::isfinite(x))

BINARY(aclnnMul, Compute::kInteger, x * y)
BINARY(aclnnDiv, Compute::kFloat, x / y)
BINARY(aclnnMaximum, Compute::kInteger, x != x || x > y ? x : y)
BINARY(aclnnMinimum, Compute::kInteger, x != x || x < y ? x : y)
BINARY(aclnnPowTensorTensor, Compute::kFloat, std::pow(x, y))
BINARY(aclnnSigmoidBackward, Compute::kFloat, x * y * (1 - y))
BINARY(aclnnEqTensor, Compute::kInteger, x == y)
BINARY(aclnnNeTensor, Compute::kInteger, x != y)
BINARY(aclnnGtTensor, Compute::kInteger, x > y)
BINARY(aclnnGeTensor, Compute::kInteger, x >= y)
BINARY(aclnnLtTensor, Compute::kInteger, x < y)
BINARY(aclnnLeTensor, Compute::kInteger, x <= y)
BINARY(aclnnLogicalAnd, Compute::kInteger, x != 0 && y != 0)
BINARY(aclnnLogicalOr, Compute::kInteger, x != 0 || y != 0)

WITH_SCALAR(aclnnMuls, Compute::kInteger, x * y)
WITH_SCALAR(aclnnDivs, Compute::kFloat, x / y)
WITH_SCALAR(aclnnPowTensorScalar, Compute::kFloat, std::pow(x, y))
WITH_SCALAR(aclnnEqScalar, Compute::kInteger, x == y)
WITH_SCALAR(aclnnNeScalar, Compute::kInteger, x != y)
WITH_SCALAR(aclnnGtScalar, Compute::kInteger, x > y)
WITH_SCALAR(aclnnGeScalar, Compute::kInteger, x >= y)
WITH_SCALAR(aclnnLtScalar, Compute::kInteger, x < y)
WITH_SCALAR(aclnnLeScalar, Compute::kInteger, x <= y)

INPLACE(aclnnInplaceMul, Compute::kInteger, x * y)
INPLACE(aclnnInplaceDiv, Compute::kFloat, x / y)
INPLACE_WITH_SCALAR(aclnnInplaceMuls, Compute::kInteger, x * y)
INPLACE_WITH_SCALAR(aclnnInplaceDivs, Compute::kFloat, x / y)

// Addition and subtraction have a factor for the second operand.

namespace {

template <int sign>
struct AddScaled {
  Scalar alpha;
  template <class C>
  C operator()(C x, C y) const {
    return x + sign * alpha.as<C>() * y;
  }
};

template <int sign>
aclnnStatus add_tensor(Plan &plan, const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
                       const aclTensor *out) {
  AddScaled<sign> add;
  plan.in(self, "self").in(other, "other").scalar(alpha, "alpha", &add.alpha).out(out, "out");
  return sim::launch_elementwise<2>(plan, add, compute_with(add.alpha));
}

template <int sign>
aclnnStatus add_scalar(Plan &plan, const aclTensor *self, const aclScalar *other, const aclScalar *alpha,
                       const aclTensor *out) {
  AddScaled<sign> add;
  Scalar y;
  plan.in(self, "self").scalar(other, "other", &y).scalar(alpha, "alpha", &add.alpha).out(out, "out");
  return sim::launch_elementwise<1>(plan, [add, y](auto x) { return add(x, y.as<decltype(x)>()); },
                                    sim::wider(compute_with(y), compute_with(add.alpha)));
}

}  // namespace

SIM_OPERATOR(aclnnAdd, const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out) {
  SIM_PLAN(plan);
  return add_tensor<1>(plan, self, other, alpha, out);
}
SIM_OPERATOR(aclnnSub, const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out) {
  SIM_PLAN(plan);
  return add_tensor<-1>(plan, self, other, alpha, out);
}
SIM_OPERATOR(aclnnInplaceAdd, aclTensor *self, const aclTensor *other, const aclScalar *alpha) {
  SIM_PLAN(plan);
  return add_tensor<1>(plan, self, other, alpha, self);
}
SIM_OPERATOR(aclnnInplaceSub, aclTensor *self, const aclTensor *other, const aclScalar *alpha) {
  SIM_PLAN(plan);
  return add_tensor<-1>(plan, self, other, alpha, self);
}
SIM_OPERATOR(aclnnAdds, const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out) {
  SIM_PLAN(plan);
  return add_scalar<1>(plan, self, other, alpha, out);
}
SIM_OPERATOR(aclnnSubs, const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out) {
  SIM_PLAN(plan);
  return add_scalar<-1>(plan, self, other, alpha, out);
}
SIM_OPERATOR(aclnnInplaceAdds, aclTensor *self, const aclScalar *other, const aclScalar *alpha) {
  SIM_PLAN(plan);
  return add_scalar<1>(plan, self, other, alpha, self);
}
SIM_OPERATOR(aclnnInplaceSubs, aclTensor *self, const aclScalar *other, const aclScalar *alpha) {
  SIM_PLAN(plan);
  return add_scalar<-1>(plan, self, other, alpha, self);
}

SIM_OPERATOR(aclnnPowScalarTensor, const aclScalar *self, const aclTensor *exponent, aclTensor *out) {
  SIM_PLAN(plan);
  Scalar base;
  plan.scalar(self, "self", &base).in(exponent, "exponent").out(out, "out");
  return sim::launch_elementwise<1>(plan, [base](auto y) { return std::pow(base.as<decltype(y)>(), y); },
                                    Compute::kFloat);
}

SIM_OPERATOR(aclnnThresholdBackward, const aclTensor *grad_output, const aclTensor *self, const aclScalar *threshold,
             aclTensor *out) {
  SIM_PLAN(plan);
  Scalar limit;
  plan.in(grad_output, "gradOutput").in(self, "self").scalar(threshold, "threshold", &limit).out(out, "out");
  return sim::launch_elementwise<2>(
    plan, [limit](auto dy, auto x) { return x > limit.as<decltype(x)>() ? dy : decltype(dy)(0); });
}

// Either limit may be null, which is no limit.
SIM_OPERATOR(aclnnClamp, const aclTensor *self, const aclScalar *low, const aclScalar *high, aclTensor *out) {
  SIM_PLAN(plan);
  Scalar from, to;
  plan.in(self, "self");
  if (low != nullptr) plan.scalar(low, "clipValueMin", &from);
  if (high != nullptr) plan.scalar(high, "clipValueMax", &to);
  plan.out(out, "out");
  const bool has_low = low != nullptr, has_high = high != nullptr;
  return sim::launch_elementwise<1>(plan, [=](auto x) {
    using C = decltype(x);
    if (has_low && x < from.as<C>()) x = from.as<C>();
    if (has_high && x > to.as<C>()) x = to.as<C>();
    return x;
  });
}

SIM_OPERATOR(aclnnSWhere, const aclTensor *condition, const aclTensor *self, const aclTensor *other, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(condition, "condition").in(self, "self").in(other, "other").out(out, "out");
  return sim::launch_elementwise<3>(plan, [](auto c, auto x, auto y) { return c != 0 ? x : y; });
}

namespace {

template <class F>
aclnnStatus masked_fill(Plan &plan, aclTensor *self, F value_of) {
  plan.out(self, "selfRef");
  return plan.launch([value_of](const sim::Tensors &t) {
    const sim::Tensor &result = t.back();
    sim::with_compute(sim::compute_of(result.dtype), [&](auto example) {
      using C = decltype(example);
      auto values = sim::read<C>(result);
      const auto mask = sim::read<int64_t>(sim::broadcast_to(t[0], result.shape));
      const C value = value_of(t, example);
      for (size_t i = 0; i < values.size(); ++i) values[i] = mask[i] != 0 ? value : values[i];
      sim::write(result, values);
    });
  });
}

}  // namespace

SIM_OPERATOR(aclnnInplaceMaskedFillTensor, aclTensor *self, const aclTensor *mask, const aclTensor *value) {
  SIM_PLAN(plan);
  plan.in(mask, "mask").in(value, "value");
  return masked_fill(plan, self, [](const sim::Tensors &t, auto c) { return sim::read<decltype(c)>(t[1]).at(0); });
}
SIM_OPERATOR(aclnnInplaceMaskedFillScalar, aclTensor *self, const aclTensor *mask, const aclScalar *value) {
  SIM_PLAN(plan);
  Scalar scalar;
  plan.in(mask, "mask").scalar(value, "value", &scalar);
  return masked_fill(plan, self, [scalar](const sim::Tensors &, auto c) { return scalar.as<decltype(c)>(); });
}

SIM_OPERATOR(aclnnCast, const aclTensor *self, int32_t dtype, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out");
  if (plan.ok() && plan.tensor(1).dtype != dtype) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the output is %s, dtype says %s", sim::dtype_name(plan.tensor(1).dtype),
                sim::dtype_name(dtype));
  }
  return sim::launch_elementwise<1>(plan, [](auto x) { return x; });
}

SIM_OPERATOR(aclnnInplaceCopy, aclTensor *self, const aclTensor *source) {
  SIM_PLAN(plan);
  plan.in(source, "src").out(self, "selfRef");
  if (plan.ok() && !sim::broadcasts_to(plan.tensor(0).shape, plan.tensor(1).shape)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "shape %s does not broadcast to %s",
                sim::to_text(plan.tensor(0).shape).c_str(), sim::to_text(plan.tensor(1).shape).c_str());
  }
  return plan.launch(sim::elementwise<1>([](auto x) { return x; }));
}

namespace {

aclnnStatus fill(Plan &plan, aclTensor *self, Scalar value) {
  plan.out(self, "selfRef");
  return plan.launch([value](const sim::Tensors &t) {
    sim::with_compute(sim::compute_of(t[0].dtype), [&](auto example) {
      using C = decltype(example);
      sim::write(t[0], std::vector<C>(t[0].count(), value.as<C>()));
    });
  });
}

}  // namespace

SIM_OPERATOR(aclnnInplaceZero, aclTensor *self) {
  SIM_PLAN(plan);
  return fill(plan, self, {ACL_INT64, 0, 0});
}
SIM_OPERATOR(aclnnInplaceOne, aclTensor *self) {
  SIM_PLAN(plan);
  return fill(plan, self, {ACL_INT64, 1, 1});
}
SIM_OPERATOR(aclnnInplaceFillScalar, aclTensor *self, const aclScalar *value) {
  SIM_PLAN(plan);
  Scalar scalar;
  plan.scalar(value, "value", &scalar);
  return fill(plan, self, scalar);
}
