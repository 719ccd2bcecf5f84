// Operators that move elements: repeat, concatenate, permute, gather, one-hot.
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

SIM_OPERATOR(aclnnSplitWithSize, const aclTensor *self, const aclIntArray *sizes, int64_t dim, aclTensorList *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> lengths;
  plan.in(self, "self").ints(sizes, "splitSize", &lengths).out(out, "out");
  if (plan.ok()) {
    const sim::Shape &whole = plan.tensor(0).shape;
    if (!sim::axis_in_range(whole, dim) || whole.empty() || lengths.size() != plan.outputs()) {
      return plan.reject(ACLNN_ERR_PARAM_INVALID, "the axis or the number of pieces is wrong");
    }
    if (dim < 0) dim += static_cast<int64_t>(whole.size());
    int64_t sum = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      sim::Shape piece = whole;
      piece[dim] = lengths[i];
      sum += lengths[i];
      if (plan.tensor(1 + i).shape != piece) return plan.reject(ACLNN_ERR_PARAM_INVALID, "a piece has the wrong shape");
    }
    if (sum != whole[dim]) plan.reject(ACLNN_ERR_PARAM_INVALID, "the pieces are not the whole");
  }
  return plan.launch([dim](const sim::Tensors &t) {
    sim::Tensor piece = t[0];
    for (size_t i = 1; i < t.size(); ++i) {
      piece.shape[dim] = t[i].shape[dim];
      sim::elementwise<1>([](auto x) { return x; })({piece, t[i]});
      piece.offset += t[i].shape[dim] * piece.strides[dim];
    }
  });
}

SIM_OPERATOR(aclnnExpand, const aclTensor *self, const aclIntArray *size, aclTensor *out) {
  SIM_PLAN(plan);
  std::vector<int64_t> shape;
  plan.in(self, "self").ints(size, "size", &shape).out(out, "out");
  if (plan.ok() && !sim::broadcasts_to(plan.tensor(0).shape, plan.tensor(1).shape)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "shape %s does not broadcast to %s",
                sim::to_text(plan.tensor(0).shape).c_str(), sim::to_text(plan.tensor(1).shape).c_str());
  }
  return plan.launch(sim::elementwise<1>([](auto x) { return x; }));
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

namespace {

// One tensor of the shape of index, one that it points into: same rank, no axis but dim longer than there.
bool index_fits(const sim::Shape &index, const sim::Shape &target, int64_t *dim) {
  if (index.size() != target.size() || !sim::axis_in_range(target, *dim)) return false;
  if (*dim < 0) *dim += static_cast<int64_t>(target.size());
  for (size_t i = 0; i < target.size(); ++i) {
    if (static_cast<int64_t>(i) != *dim && index[i] > target[i]) return false;
  }
  return true;
}

// f(number of the index element, number of the element it points to in a contiguous target)
template <class F>
void each_indexed(const sim::Tensor &index, const sim::Shape &target, int64_t dim, F f) {
  const auto places = sim::read<int64_t>(index);
  sim::Shape steps(target.size(), 1);
  for (size_t i = target.size(); i-- > 1;) steps[i - 1] = steps[i] * target[i];
  const int64_t step = target.empty() ? 0 : steps[dim], length = target.empty() ? 1 : target[dim];
  if (!target.empty()) steps[dim] = 0;
  sim::for_each_element(index.shape, steps, [&](int64_t at, int64_t i) {
    if (places[i] < 0 || places[i] >= length) throw std::runtime_error("an index is out of range");
    f(i, at + places[i] * step);
  });
}

}  // namespace

SIM_OPERATOR(aclnnGather, const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").in(index, "index").out(out, "out");
  if (plan.ok() && (!index_fits(plan.tensor(1).shape, plan.tensor(0).shape, &dim) ||
                    plan.tensor(2).shape != plan.tensor(1).shape)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes do not go together");
  }
  return plan.launch([dim](const sim::Tensors &t) {
    sim::with_compute(sim::compute_of(t[0].dtype), [&](auto example) {
      using C = decltype(example);
      const auto values = sim::read<C>(t[0]);
      std::vector<C> result(t[2].count());
      each_indexed(t[1], t[0].shape, dim, [&](int64_t i, int64_t at) { result[i] = values[at]; });
      sim::write(t[2], result);
    });
  });
}

SIM_OPERATOR(aclnnScatterAdd, const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source,
             aclTensor *out) {
  SIM_PLAN(plan);
  plan.in(self, "self").in(index, "index").in(source, "src").out(out, "out");
  if (plan.ok() && (!index_fits(plan.tensor(1).shape, plan.tensor(0).shape, &dim) ||
                    plan.tensor(2).shape != plan.tensor(1).shape || plan.tensor(3).shape != plan.tensor(0).shape)) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes do not go together");
  }
  return plan.launch([dim](const sim::Tensors &t) {
    sim::with_compute(sim::compute_of(t[0].dtype), [&](auto example) {
      using C = decltype(example);
      auto result = sim::read<C>(t[0]);
      const auto values = sim::read<C>(t[2]);
      each_indexed(t[1], t[0].shape, dim, [&](int64_t i, int64_t at) { result[at] += values[i]; });
      sim::write(t[3], result);
    });
  });
}
