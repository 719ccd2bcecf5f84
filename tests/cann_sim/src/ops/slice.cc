// StridedSlice and its gradient.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/slice.h"

#include <algorithm>

namespace sim {
namespace {

bool bit(const AclopCall &call, const char *mask, size_t i) {
  auto it = call.attributes.find(mask);
  return it != call.attributes.end() && (it->second.integer >> i & 1);
}

// Takes one axis of the whole, or part of it, into the piece; a negative step counts from the end.
void take(Tensor *piece, const Tensor &whole, size_t axis, int64_t begin, int64_t end, int64_t step, bool shrink) {
  piece->offset += begin * whole.strides[axis];
  if (shrink) return;
  const int64_t length = (end - begin + (step > 0 ? step - 1 : step + 1)) / step;
  piece->shape.push_back(std::max<int64_t>(0, length));
  piece->strides.push_back(step * whole.strides[axis]);
}

// The part of the whole that the inputs 1 to 3 and the masks name, as a view.
Tensor piece_of(const Tensor &whole, const AclopCall &call) {
  const auto begin = read<int64_t>(call.in[1]), end = read<int64_t>(call.in[2]), step = read<int64_t>(call.in[3]);
  size_t taken = 0;  // axes that the entries name one by one
  for (size_t i = 0; i < begin.size(); ++i) {
    taken += !bit(call, "new_axis_mask", i) && !bit(call, "ellipsis_mask", i);
  }
  if (taken > whole.shape.size()) throw std::runtime_error("a slice has more entries than the tensor has axes");
  Tensor piece = whole;
  piece.shape.clear();
  piece.strides.clear();
  size_t axis = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (bit(call, "ellipsis_mask", i)) {
      for (size_t rest = whole.shape.size() - taken; rest > 0; --rest, ++axis) {
        take(&piece, whole, axis, 0, whole.shape[axis], 1, false);
      }
    } else if (bit(call, "new_axis_mask", i)) {
      piece.shape.push_back(1);
      piece.strides.push_back(0);
    } else {
      const int64_t size = whole.shape[axis];
      const bool shrink = bit(call, "shrink_axis_mask", i);
      if (step[i] == 0) throw std::runtime_error("a slice has a step of 0");
      // Where a bound beyond the ends comes to lie.
      const int64_t low = step[i] > 0 ? 0 : -1, high = step[i] > 0 ? size : size - 1;
      auto within = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
      int64_t from = bit(call, "begin_mask", i) ? (step[i] > 0 ? low : high) : within(begin[i]);
      const int64_t to = bit(call, "end_mask", i) ? (step[i] > 0 ? high : low) : within(end[i]);
      if (shrink) {
        from = begin[i] < 0 ? begin[i] + size : begin[i];
        if (from < 0 || from >= size) throw std::runtime_error("an index is out of range");
      }
      take(&piece, whole, axis++, from, to, step[i], shrink);
    }
  }
  for (; axis < whole.shape.size(); ++axis) take(&piece, whole, axis, 0, whole.shape[axis], 1, false);
  return piece;
}

const auto kCopy = elementwise<1>([](auto x) { return x; });

}  // namespace

void strided_slice(const AclopCall &call) { kCopy({piece_of(call.in[0], call), call.out[0]}); }

void strided_slice_grad(const AclopCall &call) {
  elementwise<1>([](auto x) { return decltype(x)(0); })({call.out[0], call.out[0]});
  kCopy({call.in[4], piece_of(call.out[0], call)});
}

}  // namespace sim
