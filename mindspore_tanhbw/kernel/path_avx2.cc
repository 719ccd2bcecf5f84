// The AVX2 path: 256-bit registers, with FMA and F16C, which came with it.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif

#include "loop.h"

namespace {

__m128i Load16(const char *p) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)); }

struct Stores {
  static constexpr bool kStreams = false;  // streaming half registers does not pay
  static void Store(char *p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i *>(p), v); }
  static void Store(char *p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), v); }
  static void Stream(char *p, const __m256i (&line)[2]) {
    _mm256_stream_si256(reinterpret_cast<__m256i *>(p), line[0]);
    _mm256_stream_si256(reinterpret_cast<__m256i *>(p) + 1, line[1]);
  }
  static void Fence() { _mm_sfence(); }
};

struct InDouble : Stores {
  using V = __m256d;
  static constexpr int64_t kCount = 4;
  static V OneMinusSquare(V y) { return _mm256_set1_pd(1) - y * y; }
  static V Quiet(V v) {
    const V nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8000000000000));
    return _mm256_blendv_pd(v, nan, _mm256_cmp_pd(v, v, _CMP_UNORD_Q));
  }
};

struct InFloat : Stores {
  using V = __m256;
  static constexpr int64_t kCount = 8;
  static V OneMinusSquare(V y) { return _mm256_fnmadd_ps(y, y, _mm256_set1_ps(1)); }
  static V Quiet(V v) {
    const V nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  }
};

struct Float64 : InDouble {
  static constexpr int kDtype = kTanhbwFloat64;
  static constexpr int64_t kSize = 8;
  static V Load(const char *p) { return _mm256_loadu_pd(reinterpret_cast<const double *>(p)); }
  static __m256i Narrow(V v) { return _mm256_castpd_si256(v); }
  static constexpr bool kStreams = true;
};

struct Float32 : InFloat {
  static constexpr int kDtype = kTanhbwFloat32;
  static constexpr int64_t kSize = 4;
  static V Load(const char *p) { return _mm256_loadu_ps(reinterpret_cast<const float *>(p)); }
  static __m256i Narrow(V v) { return _mm256_castps_si256(v); }
  static constexpr bool kStreams = true;
};

struct Float16 : InFloat {
  static constexpr int kDtype = kTanhbwFloat16;
  static constexpr int64_t kSize = 2;
  static V Load(const char *p) { return _mm256_cvtph_ps(Load16(p)); }
  static __m128i Narrow(V v) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
};

// A bfloat16 is the upper half of a float: every second one is in place already, those between are moved up and back.
struct BFloat16 : Stores {
  static constexpr int kDtype = kTanhbwBFloat16;
  static constexpr int64_t kSize = 2;
  static constexpr int64_t kCount = 2 * InFloat::kCount;
  static constexpr bool kStreams = true;
  struct V {
    __m256 even, odd;
    friend V operator*(const V &a, const V &b) { return {a.even * b.even, a.odd * b.odd}; }
  };
  static __m256i Upper(__m256i bits) { return _mm256_and_si256(bits, _mm256_set1_epi32(-65536)); }
  static V Load(const char *p) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)), _mm256_castsi256_ps(Upper(bits))};
  }
  static V OneMinusSquare(const V &y) { return {InFloat::OneMinusSquare(y.even), InFloat::OneMinusSquare(y.odd)}; }
  static V Quiet(const V &v) { return {InFloat::Quiet(v.even), InFloat::Quiet(v.odd)}; }
  // As in the portable path.
  static __m256i Rounded(__m256 v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i last = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), last);
  }
  static __m256i Narrow(const V &v) {
    return _mm256_or_si256(_mm256_srli_epi32(Rounded(v.even), 16), Upper(Rounded(v.odd)));
  }
};

bool Supported() {
  unsigned a, b, c = 0, d;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) &&
         (c & bit_F16C) != 0;
}

}  // namespace

const Path kAvx2Path = {"avx2", Supported, {Loop<Float16>, Loop<Float32>, Loop<Float64>, Loop<BFloat16>}};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif  // __x86_64__
