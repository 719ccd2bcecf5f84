// Operators that move elements: repeat, concatenate, permute, one-hot.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"
#include "ops/shapes.h"

SIM_OPERATOR(aclnnRepeat, const aclTensor *self, const aclIntArray *repeats, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> times;
  plan.in(self, "self").ints(repeats, "repeats", &times).out(out, "out");
  if (plan.ok()) {
    sim::Shape shape = plan.tensor(0).shape;
    if (times.size() < shape.size()) return plan.reject(ACLNN_ERR_PARAM_INVALID, "too few repeats");
    shape.insert(shape.begin(), times.size() - shape.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) shape[i] *= times[i];
    if (plan.tensor(1).shape != shape) plan.reject(ACLNN_ERR_PARAM_INVALID, "the output has the wrong shape");
  }
  return plan.launch([times](const sim::Tensors &t) {
    // (a, b) repeated (x, y) times is the view (x, a, y, b) with stride 0 at x and y.
    sim::Tensor view = t[0];
    view.shape.clear();
    view.strides.clear();
    const size_t extra = times.size() - t[0].shape.size();
    for (size_t i = 0; i < times.size(); ++i) {
      view.shape.insert(view.shape.end(), {times[i], i < extra ? 1 : t[0].shape[i - extra]});
      view.strides.insert(view.strides.end(), {0, i < extra ? 0 : t[0].strides[i - extra]});
    }
    sim::with_compute(sim::compute_of(t[0].dtype), [&](auto example) {
      sim::write(t[1], sim::read<decltype(example)>(view));
    });
  });
}

SIM_OPERATOR(aclnnPermute, const aclTensor *self, const aclIntArray *dims, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> order;
  plan.in(self, "self").ints(dims, "dims", &order).out(out, "out");
  if (plan.ok()) {
    const sim::Shape &shape = plan.tensor(0).shape;
    sim::Shape wanted;
    std::vector<bool> seen(shape.size(), false);
    for (int64_t &axis : order) {
      if (axis < 0) axis += static_cast<int64_t>(shape.size());
      if (axis < 0 || axis >= static_cast<int64_t>(shape.size()) || seen[axis]) {
        return plan.reject(ACLNN_ERR_PARAM_INVALID, "dims is not a permutation");
      }
      seen[axis] = true;
      wanted.push_back(shape[axis]);
    }
    if (plan.tensor(1).shape != wanted || wanted.size() != shape.size()) {
      plan.reject(ACLNN_ERR_PARAM_INVALID, "the output has the wrong shape");
    }
  }
  return plan.launch([order](const sim::Tensors &t) {
    sim::Tensor view = t[0];
    for (size_t i = 0; i < order.size(); ++i) {
      view.shape[i] = t[0].shape[order[i]];
      view.strides[i] = t[0].strides[order[i]];
    }
    sim::elementwise<1>([](auto x) { return x; })({view, t[1]});
  });
}

SIM_OPERATOR(aclnnCat, const aclTensorList *tensors, int64_t dim, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(tensors, "tensors").out(out, "out");
  if (plan.ok()) {
    const size_t count = plan.inputs();
    const sim::Shape &whole = plan.tensor(count).shape;
    if (!sim::axis_in_range(whole, dim)) return plan.reject(ACLNN_ERR_PARAM_INVALID, "the axis is out of range");
    if (dim < 0) dim += static_cast<int64_t>(whole.size());
    int64_t length = 0;
    for (size_t i = 0; i < count; ++i) {
      sim::Shape part = plan.tensor(i).shape;
      if (part.size() != whole.size()) return plan.reject(ACLNN_ERR_PARAM_INVALID, "the ranks differ");
      length += part[dim];
      part[dim] = whole[dim];
      if (part != whole) return plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes do not go together");
    }
    if (length != whole[dim]) plan.reject(ACLNN_ERR_PARAM_INVALID, "the output has the wrong shape");
  }
  return plan.launch([dim](const sim::Tensors &t) {
    sim::Tensor part = t.back();
    for (size_t i = 0; i + 1 < t.size(); ++i) {
      part.shape[dim] = t[i].shape[dim];
      sim::elementwise<1>([](auto x) { return x; })({t[i], part});
      part.offset += t[i].shape[dim] * part.strides[dim];
    }
  });
}

SIM_OPERATOR(aclnnOneHot, const aclTensor *self, int64_t classes, const aclTensor *on, const aclTensor *off, int64_t axis,
             aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").in(on, "onValue").in(off, "offValue").out(out, "out");
  if (plan.ok()) {
    sim::Shape shape = plan.tensor(0).shape;
    if (axis < 0) axis += static_cast<int64_t>(shape.size()) + 1;
    if (axis < 0 || axis > static_cast<int64_t>(shape.size())) {
      return plan.reject(ACLNN_ERR_PARAM_INVALID, "the axis is out of range");
    }
    shape.insert(shape.begin() + axis, classes);
    if (plan.tensor(3).shape != shape) plan.reject(ACLNN_ERR_PARAM_INVALID, "the output has the wrong shape");
  }
  return plan.launch([classes, axis](const sim::Tensors &t) {
    const auto labels = sim::read<int64_t>(t[0]);
    const double on_value = sim::read<double>(t[1]).at(0), off_value = sim::read<double>(t[2]).at(0);
    std::vector<double> result(t[3].count(), off_value);
    const sim::Lines lines(t[3].shape, axis);
    size_t i = 0;
    lines.each([&](int64_t start, int64_t step) {
      const int64_t label = labels[i++];
      if (label >= 0 && label < classes) result[start + label * step] = on_value;
    });
    sim::write(t[3], result);
  });
}
