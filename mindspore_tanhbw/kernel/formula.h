// The formula, for one number or one vector register of them.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_FORMULA_H_
#define TANHBW_FORMULA_H_

// static: each instruction set compiles its own copy, and the linker must not merge them.
template <class V>
static inline V TanhGrad(V grad_output, V output, V one) {
  return grad_output * (one - output * output);
}

#endif  // TANHBW_FORMULA_H_
