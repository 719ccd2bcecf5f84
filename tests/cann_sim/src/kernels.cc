// Broadcasting.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <algorithm>

namespace sim {

Tensor broadcast_to(const Tensor &tensor, const Shape &shape) {
  if (tensor.shape == shape) return tensor;
  if (!broadcasts_to(tensor.shape, shape)) {
    throw std::runtime_error("shape " + to_text(tensor.shape) + " does not broadcast to " + to_text(shape));
  }
  Tensor wide = tensor;
  const size_t missing = shape.size() - tensor.shape.size();
  wide.shape = shape;
  wide.strides.assign(shape.size(), 0);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] != 1) wide.strides[missing + i] = tensor.strides[i];
  }
  return wide;
}

bool broadcasts_to(const Shape &from, const Shape &to) {
  if (from.size() > to.size()) return false;
  const size_t missing = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[missing + i]) return false;
  }
  return true;
}

Shape broadcast(const Shape &a, const Shape &b, bool *ok) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) *ok = false;
    result[i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace sim
