// The loop over a range of elements, for any lane type: one number or one vector register.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_LOOP_H_
#define TANHBW_LOOP_H_

#include "formula.h"
#include "paths.h"

// A lane type L tells how kCount elements of kSize bytes are loaded into a register of its compute type, narrowed back
// and stored (Store leaves them in the cache, Stream goes past it and wants an aligned address); Quiet turns every NaN
// into the one quiet NaN, because which operand's NaN survives a product is the compiler's choice.
template <class L>
static inline void Loop(const char *g, const char *y, char *out, int64_t n, bool stream) {
  constexpr int64_t kStep = L::kCount * L::kSize;
  if (stream) {
    const int64_t head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % kLine) / L::kSize;
    L::Rest(g, y, out, head, false);
    g += head * L::kSize;
    y += head * L::kSize;
    out += head * L::kSize;
    n -= head;
    for (; n >= L::kCount; n -= L::kCount, g += kStep, y += kStep, out += kStep) {
      L::Stream(out, L::Quiet(TanhGrad(L::Load(g), L::Load(y), L::One())));
    }
    L::Fence();
  } else {
    for (; n >= L::kCount; n -= L::kCount, g += kStep, y += kStep, out += kStep) {
      L::Store(out, L::Quiet(TanhGrad(L::Load(g), L::Load(y), L::One())));
    }
  }
  L::Rest(g, y, out, n, false);
}

#endif  // TANHBW_LOOP_H_
