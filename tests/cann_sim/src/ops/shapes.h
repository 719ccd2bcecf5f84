// Axes: which are reduced, and how a tensor falls into lines along one of them.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_OPS_SHAPES_H_
#define CANN_SIM_OPS_SHAPES_H_

#include <algorithm>
#include <vector>

#include "kernels.h"

namespace sim {

// Negative axes counted from the end; no axis means all. ok = false when one is out of range.
inline std::vector<bool> reduced_axes(const Shape &shape, const std::vector<int64_t> &axes, bool *ok) {
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<bool> reduced(shape.size(), axes.empty());
  for (const int64_t axis : axes) {
    if (rank == 0 && (axis == 0 || axis == -1)) continue;
    if (axis < -rank || axis >= rank) {
      *ok = false;
    } else {
      reduced[(axis + rank) % rank] = true;
    }
  }
  return reduced;
}

inline Shape reduced_shape(const Shape &shape, const std::vector<bool> &reduced, bool keep) {
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(shape[i]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

// result[o] = f(result[o], value) over all elements that fall onto output element o, in row-major order.
template <class C, class F>
std::vector<C> reduce(const std::vector<C> &values, const Shape &shape, const std::vector<bool> &reduced, C start, F f) {
  Shape strides(shape.size(), 0);
  int64_t count = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (reduced[i]) continue;
    strides[i] = count;
    count *= shape[i];
  }
  std::vector<C> result(count, start);
  for_each_element(shape, strides, [&](int64_t at, int64_t i) { result[at] = f(result[at], values[i]); });
  return result;
}

// A tensor as lines along one axis: element (outer, k, inner) is at (outer * length + k) * inner_count + inner.
struct Lines {
  Lines(const Shape &shape, int64_t axis) {
    if (shape.empty()) return;
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
      (i < axis ? outer : i == axis ? length : inner) *= shape[i];
    }
  }
  // f(start, step): the line's elements are at start + k * step, k < length.
  template <class F>
  void each(F f) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) f(o * length * inner + i, inner);
    }
  }
  int64_t outer = 1, length = 1, inner = 1;
};

inline bool axis_in_range(const Shape &shape, int64_t axis) {
  const auto rank = std::max<int64_t>(1, static_cast<int64_t>(shape.size()));
  return axis >= -rank && axis < rank;
}

}  // namespace sim

#endif
