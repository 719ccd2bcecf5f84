// Sums, means, extremes, norms, and softmax with its gradients.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce.h"

#include <limits>

#include "ops/shapes.h"

namespace sim {

// Sums in double, or in int64, and rounds once.
void sum_or_mean(const Tensor &in, const std::vector<int64_t> &axes, bool mean, const Tensor &out) {
  bool ok = true;
  const auto reduced = reduced_axes(in.shape, axes, &ok);
  if (!ok) throw std::runtime_error("an axis is out of range");
  auto add = [](auto a, auto b) { return a + b; };
  if (compute_of(in.dtype) == Compute::kInteger && !mean) {
    write(out, reduce(read<int64_t>(in), in.shape, reduced, int64_t{0}, add));
    return;
  }
  auto sums = reduce(read<double>(in), in.shape, reduced, 0.0, add);
  const double each = static_cast<double>(in.count()) / static_cast<double>(std::max<size_t>(sums.size(), 1));
  if (mean) {
    for (double &sum : sums) sum /= each;
  }
  write(out, sums);
}

void softmax(const Tensor &in, int64_t axis, bool logarithm, const Tensor &out) {
  auto values = read<double>(in);
  const Lines lines(in.shape, axis);
  lines.each([&](int64_t start, int64_t step) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = 0; k < lines.length; ++k) highest = std::max(highest, values[start + k * step]);
    for (int64_t k = 0; k < lines.length; ++k) sum += std::exp(values[start + k * step] - highest);
    for (int64_t k = 0; k < lines.length; ++k) {
      double &value = values[start + k * step];
      value = logarithm ? value - highest - std::log(sum) : std::exp(value - highest) / sum;
    }
  });
  write(out, values);
}

namespace {

void check_reduction(Plan &plan, const std::vector<int64_t> &axes, bool keep) {
  if (!plan.ok()) return;
  bool ok = true;
  const auto reduced = reduced_axes(plan.tensor(0).shape, axes, &ok);
  for (size_t i = 1; ok && i < 1 + plan.outputs(); ++i) {
    ok = plan.tensor(i).shape == reduced_shape(plan.tensor(0).shape, reduced, keep);
  }
  if (!ok) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "shape %s reduced over axes %s does not give %s",
                to_text(plan.tensor(0).shape).c_str(), to_text(axes).c_str(), to_text(plan.tensor(1).shape).c_str());
  }
}

aclnnStatus launch_sum(Plan &plan, const aclTensor *self, const aclIntArray *dims, bool keep, bool mean,
                       aclTensor *out) {
  std::vector<int64_t> axes;
  plan.in(self, "self").ints(dims, "dim", &axes).out(out, "out");
  check_reduction(plan, axes, keep);
  return plan.launch([axes, mean](const Tensors &t) { sum_or_mean(t[0], axes, mean, t[1]); });
}

// The first best element of each line, NaN being better than any.
template <class Better>
aclnnStatus launch_extreme(Plan &plan, int64_t dim, bool keep, bool with_values, Better better) {
  check_reduction(plan, {dim}, keep);
  return plan.launch([dim, with_values, better](const Tensors &t) {
    with_compute(compute_of(t[0].dtype), [&](auto example) {
      using C = decltype(example);
      const auto in = read<C>(t[0]);
      const Lines lines(t[0].shape, dim);
      std::vector<C> values;
      std::vector<int64_t> places;
      lines.each([&](int64_t start, int64_t step) {
        int64_t best = 0;
        for (int64_t k = 1; k < lines.length; ++k) {
          const C one = in[start + k * step], so_far = in[start + best * step];
          if (so_far == so_far && (one != one || better(one, so_far))) best = k;
        }
        values.push_back(in[start + best * step]);
        places.push_back(best);
      });
      if (with_values) write(t[1], values);
      write(t[with_values ? 2 : 1], places);
    });
  });
}

template <class F>
aclnnStatus launch_over_axes(Plan &plan, const std::vector<int64_t> &axes, bool keep, double start, F f) {
  check_reduction(plan, axes, keep);
  return plan.launch([axes, start, f](const Tensors &t) {
    bool ok = true;
    const auto reduced = reduced_axes(t[0].shape, axes, &ok);
    write(t[1], reduce(read<double>(t[0]), t[0].shape, reduced, start, f));
  });
}

aclnnStatus launch_softmax(Plan &plan, const aclTensor *self, int64_t dim, bool logarithm, aclTensor *out) {
  plan.in(self, "self").out(out, "out");
  if (plan.ok() && (!axis_in_range(plan.tensor(0).shape, dim) || plan.tensor(0).shape != plan.tensor(1).shape)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the axis is out of range or the shapes differ");
  }
  return plan.launch([dim, logarithm](const Tensors &t) { softmax(t[0], dim, logarithm, t[1]); });
}

// gradient(dy, y, sum), where sum adds term(dy, y) over the line.
template <class Term, class Gradient>
aclnnStatus launch_softmax_backward(Plan &plan, const aclTensor *grad_output, const aclTensor *output, int64_t dim,
                                    aclTensor *grad_input, Term term, Gradient gradient) {
  plan.in(grad_output, "gradOutput").in(output, "output").out(grad_input, "gradInput");
  if (plan.ok() && (!axis_in_range(plan.tensor(0).shape, dim) || plan.tensor(0).shape != plan.tensor(1).shape ||
                    plan.tensor(0).shape != plan.tensor(2).shape)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the axis is out of range or the shapes differ");
  }
  return plan.launch([dim, term, gradient](const Tensors &t) {
    const auto dy = read<double>(t[0]), y = read<double>(t[1]);
    std::vector<double> dx(dy.size());
    const Lines lines(t[0].shape, dim);
    lines.each([&](int64_t start, int64_t step) {
      double sum = 0;
      for (int64_t k = 0; k < lines.length; ++k) sum += term(dy[start + k * step], y[start + k * step]);
      for (int64_t k = 0; k < lines.length; ++k) {
        const int64_t at = start + k * step;
        dx[at] = gradient(dy[at], y[at], sum);
      }
    });
    write(t[2], dx);
  });
}

}  // namespace
}  // namespace sim

using sim::Plan;

SIM_OPERATOR(aclnnReduceSum, const aclTensor *self, const aclIntArray *dims, bool keep, int32_t, aclTensor *out) {
  SIM_PLAN(plan);
  return sim::launch_sum(plan, self, dims, keep, false, out);
}
SIM_OPERATOR(aclnnMean, const aclTensor *self, const aclIntArray *dim, bool keep, int32_t, aclTensor *out) {
  SIM_PLAN(plan);
  return sim::launch_sum(plan, self, dim, keep, true, out);
}
SIM_OPERATOR(aclnnMeanV2, const aclTensor *self, const aclIntArray *dim, bool keep, bool, aclTensor *out) {
  SIM_PLAN(plan);
  return sim::launch_sum(plan, self, dim, keep, true, out);
}

SIM_OPERATOR(aclnnArgMax, const aclTensor *self, int64_t dim, bool keep, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out");
  return sim::launch_extreme(plan, dim, keep, false, [](auto a, auto b) { return a > b; });
}
SIM_OPERATOR(aclnnArgMin, const aclTensor *self, int64_t dim, bool keep, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out");
  return sim::launch_extreme(plan, dim, keep, false, [](auto a, auto b) { return a < b; });
}
SIM_OPERATOR(aclnnMaxDim, const aclTensor *self, int64_t dim, bool keep, aclTensor *out, aclTensor *indices) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out").out(indices, "indices");
  return sim::launch_extreme(plan, dim, keep, true, [](auto a, auto b) { return a > b; });
}
SIM_OPERATOR(aclnnMinDim, const aclTensor *self, int64_t dim, bool keep, aclTensor *out, aclTensor *indices) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out").out(indices, "indices");
  return sim::launch_extreme(plan, dim, keep, true, [](auto a, auto b) { return a < b; });
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double larger(double a, double b) { return a != a || a > b ? a : b; }
double smaller(double a, double b) { return a != a || a < b ? a : b; }

}  // namespace

SIM_OPERATOR(aclnnMax, const aclTensor *self, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out");
  return sim::launch_over_axes(plan, {}, false, -kInfinity, larger);
}
SIM_OPERATOR(aclnnMin, const aclTensor *self, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").out(out, "out");
  return sim::launch_over_axes(plan, {}, false, kInfinity, smaller);
}
SIM_OPERATOR(aclnnAmax, const aclTensor *self, const aclIntArray *dim, bool keep, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> axes;
  plan.in(self, "self").ints(dim, "dim", &axes).out(out, "out");
  return sim::launch_over_axes(plan, axes, keep, -kInfinity, larger);
}
SIM_OPERATOR(aclnnAmin, const aclTensor *self, const aclIntArray *dim, bool keep, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> axes;
  plan.in(self, "self").ints(dim, "dim", &axes).out(out, "out");
  return sim::launch_over_axes(plan, axes, keep, kInfinity, smaller);
}
SIM_OPERATOR(aclnnAll, const aclTensor *self, const aclIntArray *dim, bool keep, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> axes;
  plan.in(self, "self").ints(dim, "dim", &axes).out(out, "out");
  return sim::launch_over_axes(plan, axes, keep, 1, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; });
}
SIM_OPERATOR(aclnnAny, const aclTensor *self, const aclIntArray *dim, bool keep, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> axes;
  plan.in(self, "self").ints(dim, "dim", &axes).out(out, "out");
  return sim::launch_over_axes(plan, axes, keep, 0, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; });
}

SIM_OPERATOR(aclnnSoftmax, const aclTensor *self, int64_t dim, aclTensor *out) {
  SIM_PLAN(plan);
  return sim::launch_softmax(plan, self, dim, false, out);
}
SIM_OPERATOR(aclnnLogSoftmax, const aclTensor *self, int64_t dim, aclTensor *out) {
  SIM_PLAN(plan);
  return sim::launch_softmax(plan, self, dim, true, out);
}
SIM_OPERATOR(aclnnSoftmaxBackward, const aclTensor *grad_output, const aclTensor *output, int64_t dim,
             aclTensor *grad_input) {
  SIM_PLAN(plan);
  return sim::launch_softmax_backward(
    plan, grad_output, output, dim, grad_input, [](double dy, double y) { return dy * y; },
    [](double dy, double y, double sum) { return y * (dy - sum); });
}
SIM_OPERATOR(aclnnLogSoftmaxBackward, const aclTensor *grad_output, const aclTensor *output, int64_t dim,
             aclTensor *grad_input) {
  SIM_PLAN(plan);
  return sim::launch_softmax_backward(
    plan, grad_output, output, dim, grad_input, [](double dy, double) { return dy; },
    [](double dy, double y, double sum) { return dy - std::exp(y) * sum; });
}
