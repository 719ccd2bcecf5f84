// Reading and writing of tensors, and the elementwise template that most operators are.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_KERNELS_H_
#define CANN_SIM_KERNELS_H_

#include <array>
#include <utility>
#include <vector>

#include "numbers.h"
#include "plan.h"

namespace sim {

// Visits the elements of a strided view in row-major order: f(pointer offset in elements, running number).
template <class F>
void for_each_element(const Shape &shape, const Shape &strides, F f) {
  const int64_t count = element_count(shape);
  if (count == 0) return;
  const size_t rank = shape.size();
  Shape index(rank, 0);
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(at, i);
    for (size_t d = rank; d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d]) break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

// The view, seen with another, larger shape: repeated dimensions have stride 0.
Tensor broadcast_to(const Tensor &tensor, const Shape &shape);
bool broadcasts_to(const Shape &from, const Shape &to);
// Empty result and ok = false when the shapes do not go together.
Shape broadcast(const Shape &a, const Shape &b, bool *ok);

template <class C>
std::vector<C> read(const Tensor &tensor) {
  std::vector<C> values(tensor.count());
  with_storage(tensor.dtype, [&](auto example) {
    using S = decltype(example);
    const S *first = reinterpret_cast<const S *>(tensor.first());
    if (tensor.contiguous()) {
      for (size_t i = 0; i < values.size(); ++i) values[i] = load<C>(first[i]);
    } else {
      for_each_element(tensor.shape, tensor.strides, [&](int64_t at, int64_t i) { values[i] = load<C>(first[at]); });
    }
  });
  return values;
}

template <class C>
void write(const Tensor &tensor, const std::vector<C> &values) {
  if (static_cast<int64_t>(values.size()) != tensor.count()) throw std::runtime_error("a result has the wrong size");
  with_storage(tensor.dtype, [&](auto example) {
    using S = decltype(example);
    S *first = reinterpret_cast<S *>(tensor.first());
    if (tensor.contiguous()) {
      for (size_t i = 0; i < values.size(); ++i) first[i] = store<S>(C(values[i]));
    } else {
      for_each_element(tensor.shape, tensor.strides, [&](int64_t at, int64_t i) { first[at] = store<S>(C(values[i])); });
    }
  });
}

inline Compute compute_of(const Tensors &tensors, size_t count) {
  Compute compute = Compute::kInteger;
  for (size_t i = 0; i < count; ++i) compute = wider(compute, compute_of(tensors[i].dtype));
  return compute;
}

namespace detail {

template <class C, class F, size_t... I>
void map_in(const F &f, const Tensors &tensors, const Tensor &out, std::index_sequence<I...>) {
  const std::array<std::vector<C>, sizeof...(I)> in{read<C>(broadcast_to(tensors[I], out.shape))...};
  using R = decltype(f(in[I][0]...));
  std::vector<R> result(out.count());
  for (size_t i = 0; i < result.size(); ++i) result[i] = f(C(in[I][i])...);
  write(out, result);
}

}  // namespace detail

// out = f(in...), element by element, inputs broadcast, computed in the inputs' type (16-bit floats in float32)
// and rounded once. f is a generic lambda; what it returns is converted to the output's type.
template <size_t N, class F>
Kernel elementwise(F f, Compute at_least = Compute::kInteger) {
  return [f, at_least](const Tensors &tensors) {
    with_compute(wider(at_least, compute_of(tensors, N)), [&](auto example) {
      detail::map_in<decltype(example)>(f, tensors, tensors[N], std::make_index_sequence<N>{});
    });
  };
}

// Phase 1 of an elementwise operator: the output has the shape that the inputs broadcast to.
template <size_t N, class F>
aclnnStatus launch_elementwise(Plan &plan, F f, Compute at_least = Compute::kInteger) {
  if (!plan.ok()) return plan.launch(nullptr);
  Shape shape = plan.tensor(0).shape;
  for (size_t i = 1; i < N; ++i) {
    bool ok = true;
    shape = broadcast(shape, plan.tensor(i).shape, &ok);
    if (!ok) plan.reject(ACLNN_ERR_PARAM_INVALID, "the shapes of the inputs do not go together");
  }
  if (plan.ok() && plan.tensor(N).shape != shape) {
    plan.reject(ACLNN_ERR_PARAM_INVALID, "the output has shape %s instead of %s",
                to_text(plan.tensor(N).shape).c_str(), to_text(shape).c_str());
  }
  return plan.launch(elementwise<N>(f, at_least));
}

}  // namespace sim

#endif
