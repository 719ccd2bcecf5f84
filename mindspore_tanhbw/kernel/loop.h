// The loop over a range of elements, for any lane type: one number or one vector register.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_LOOP_H_
#define TANHBW_LOOP_H_

#include "formula.h"
#include "paths.h"

// A lane type L tells how kCount elements of kSize bytes are loaded into registers of the type they are computed in and
// how they are narrowed back and stored, at any alignment; some can Stream a whole aligned line past the cache. Odd
// elements at the ends are left to the portable path, whose results are the same bits. Quiet turns every NaN into the
// one quiet NaN, because which operand's NaN survives a product is the compiler's choice.
template <class L>
static inline auto Lane(const char *g, const char *y) {
  return L::Narrow(L::Quiet(TanhGrad<L>(L::Load(g), L::Load(y))));
}

template <class L>
static inline void Loop(const char *g, const char *y, char *out, int64_t n, bool stream) {
  constexpr int64_t kStep = L::kCount * L::kSize;
  if constexpr (L::kStreams) {
    if (stream) {
      constexpr int64_t kSteps = kLine / kStep;
      const int64_t head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % kLine) / L::kSize;
      kPortablePath.kernels[L::kDtype](g, y, out, head, false);
      g += head * L::kSize;
      y += head * L::kSize;
      out += head * L::kSize;
      n -= head;
      for (; n >= kSteps * L::kCount; n -= kSteps * L::kCount, g += kLine, y += kLine, out += kLine) {
        decltype(Lane<L>(g, y)) line[kSteps];
        for (int64_t i = 0; i < kSteps; ++i) line[i] = Lane<L>(g + i * kStep, y + i * kStep);
        L::Stream(out, line);
      }
      L::Fence();
    }
  }
  for (; n >= L::kCount; n -= L::kCount, g += kStep, y += kStep, out += kStep) L::Store(out, Lane<L>(g, y));
  if constexpr (L::kCount > 1) kPortablePath.kernels[L::kDtype](g, y, out, n, false);
}

#endif  // TANHBW_LOOP_H_
