// The floating-point mode the results are promised for, whatever mode the calling thread is in.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_FLOAT_MODE_H_
#define TANHBW_FLOAT_MODE_H_

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

// A library built with -ffast-math makes the thread that loads it flush subnormals to zero, and threads hand their mode
// on to those they start. In scope, this one rounds to nearest even and keeps subnormals; then the old mode is back.
class DefaultFloatMode {
 public:
  DefaultFloatMode(const DefaultFloatMode &) = delete;
  DefaultFloatMode &operator=(const DefaultFloatMode &) = delete;

#if defined(__x86_64__)
  DefaultFloatMode() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatMode() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#else
  DefaultFloatMode() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatMode() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
};

#endif  // TANHBW_FLOAT_MODE_H_
