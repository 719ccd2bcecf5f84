// The formula, for one number or one vector register of them.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_FORMULA_H_
#define TANHBW_FORMULA_H_

// A is an arithmetic over values V. Its OneMinusSquare is 1 - output * output: in double as written, in float rounded
// only once, because a rounded square would cancel to a few digits near saturation.
template <class A, class V>
static inline V TanhGrad(const V &grad_output, const V &output) {
  return grad_output * A::OneMinusSquare(output);
}

#endif  // TANHBW_FORMULA_H_
