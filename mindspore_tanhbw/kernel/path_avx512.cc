// The AVX-512 path: 512-bit registers, nothing beyond AVX512F.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // g++ 12 warns of its own _mm512_undefined_epi32
#endif

#include "loop.h"

namespace {

__m256i Load32(const char *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }

struct Stores {
  static constexpr bool kStreams = true;
  static void Store(char *p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), v); }
  static void Store(char *p, __m512i v) { _mm512_storeu_si512(p, v); }
  static void Stream(char *p, const __m512i (&line)[1]) {
    _mm512_stream_si512(reinterpret_cast<__m512i *>(p), line[0]);
  }
  static void Stream(char *p, const __m256i (&line)[2]) {
    _mm256_stream_si256(reinterpret_cast<__m256i *>(p), line[0]);
    _mm256_stream_si256(reinterpret_cast<__m256i *>(p) + 1, line[1]);
  }
  static void Fence() { _mm_sfence(); }
};

struct InDouble : Stores {
  using V = __m512d;
  static constexpr int64_t kCount = 8;
  static V OneMinusSquare(V y) { return _mm512_set1_pd(1) - y * y; }
  static V Quiet(V v) {
    const V nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8000000000000));
    return _mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), nan);
  }
};

struct InFloat : Stores {
  using V = __m512;
  static constexpr int64_t kCount = 16;
  static V OneMinusSquare(V y) { return _mm512_fnmadd_ps(y, y, _mm512_set1_ps(1)); }
  static V Quiet(V v) {
    const V nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
  }
};

struct Float64 : InDouble {
  static constexpr int kDtype = kTanhbwFloat64;
  static constexpr int64_t kSize = 8;
  static V Load(const char *p) { return _mm512_loadu_pd(p); }
  static __m512i Narrow(V v) { return _mm512_castpd_si512(v); }
};

struct Float32 : InFloat {
  static constexpr int kDtype = kTanhbwFloat32;
  static constexpr int64_t kSize = 4;
  static V Load(const char *p) { return _mm512_loadu_ps(p); }
  static __m512i Narrow(V v) { return _mm512_castps_si512(v); }
};

struct Float16 : InFloat {
  static constexpr int kDtype = kTanhbwFloat16;
  static constexpr int64_t kSize = 2;
  static V Load(const char *p) { return _mm512_cvtph_ps(Load32(p)); }
  static __m256i Narrow(V v) { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
};

// A bfloat16 is the upper half of a float: every second one is in place already, those between are moved up and back.
struct BFloat16 : Stores {
  static constexpr int kDtype = kTanhbwBFloat16;
  static constexpr int64_t kSize = 2;
  static constexpr int64_t kCount = 2 * InFloat::kCount;
  struct V {
    __m512 even, odd;
    friend V operator*(const V &a, const V &b) { return {a.even * b.even, a.odd * b.odd}; }
  };
  static __m512i Upper(__m512i bits) { return _mm512_and_si512(bits, _mm512_set1_epi32(-65536)); }
  static V Load(const char *p) {
    const __m512i bits = _mm512_loadu_si512(p);
    return {_mm512_castsi512_ps(_mm512_slli_epi32(bits, 16)), _mm512_castsi512_ps(Upper(bits))};
  }
  static V OneMinusSquare(const V &y) { return {InFloat::OneMinusSquare(y.even), InFloat::OneMinusSquare(y.odd)}; }
  static V Quiet(const V &v) { return {InFloat::Quiet(v.even), InFloat::Quiet(v.odd)}; }
  // As in the portable path.
  static __m512i Rounded(__m512 v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i last = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), last);
  }
  static __m512i Narrow(const V &v) {
    return _mm512_or_si512(_mm512_srli_epi32(Rounded(v.even), 16), Upper(Rounded(v.odd)));
  }
};

bool Supported() { return __builtin_cpu_supports("avx512f"); }

}  // namespace

const Path kAvx512Path = {"avx512", Supported, {Loop<Float16>, Loop<Float32>, Loop<Float64>, Loop<BFloat16>}};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif  // __x86_64__
