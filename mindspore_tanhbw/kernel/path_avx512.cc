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

struct Double8 {
  using V = __m512d;
  static constexpr int64_t kCount = 8;
  static V One() { return _mm512_set1_pd(1); }
  static V Quiet(V v) {
    const V nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8000000000000));
    return _mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), nan);
  }
  static void Fence() { _mm_sfence(); }
};

struct Float16Lanes {
  using V = __m512;
  static constexpr int64_t kCount = 16;
  static V One() { return _mm512_set1_ps(1); }
  static V Quiet(V v) {
    const V nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
  }
  static void Fence() { _mm_sfence(); }
};

// What is left over at the ends goes through the portable path, whose results are the same bits.
template <int dtype>
void PortableRest(const char *g, const char *y, char *out, int64_t n, bool stream) {
  kPortablePath.kernels[dtype](g, y, out, n, stream);
}

struct Float64 : Double8 {
  static constexpr int64_t kSize = 8;
  static constexpr Kernel Rest = PortableRest<kTanhbwFloat64>;
  static V Load(const char *p) { return _mm512_loadu_pd(p); }
  static void Store(char *p, V v) { _mm512_storeu_pd(p, v); }
  static void Stream(char *p, V v) { _mm512_stream_pd(reinterpret_cast<double *>(p), v); }
};

struct Float32 : Double8 {
  static constexpr int64_t kSize = 4;
  static constexpr Kernel Rest = PortableRest<kTanhbwFloat32>;
  static V Load(const char *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(reinterpret_cast<const float *>(p))); }
  static void Store(char *p, V v) { _mm256_storeu_ps(reinterpret_cast<float *>(p), _mm512_cvtpd_ps(v)); }
  static void Stream(char *p, V v) { _mm256_stream_ps(reinterpret_cast<float *>(p), _mm512_cvtpd_ps(v)); }
};

__m256i LoadBits(const char *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
void StoreBits(char *p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), v); }
void StreamBits(char *p, __m256i v) { _mm256_stream_si256(reinterpret_cast<__m256i *>(p), v); }

struct Float16 : Float16Lanes {
  static constexpr int64_t kSize = 2;
  static constexpr Kernel Rest = PortableRest<kTanhbwFloat16>;
  static __m256i Narrow(V v) { return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static V Load(const char *p) { return _mm512_cvtph_ps(LoadBits(p)); }
  static void Store(char *p, V v) { StoreBits(p, Narrow(v)); }
  static void Stream(char *p, V v) { StreamBits(p, Narrow(v)); }
};

struct BFloat16 : Float16Lanes {
  static constexpr int64_t kSize = 2;
  static constexpr Kernel Rest = PortableRest<kTanhbwBFloat16>;
  // Rounded as in the portable path.
  static __m256i Narrow(V v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(sum, 16));
  }
  static V Load(const char *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(LoadBits(p)), 16));
  }
  static void Store(char *p, V v) { StoreBits(p, Narrow(v)); }
  static void Stream(char *p, V v) { StreamBits(p, Narrow(v)); }
};

bool Supported() { return __builtin_cpu_supports("avx512f"); }

}  // namespace

const Path kAvx512Path = {"avx512", Supported, {Loop<Float16>, Loop<Float32>, Loop<Float64>, Loop<BFloat16>}};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif  // __x86_64__
