// The AVX2 path: 256-bit registers, float16 by F16C.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif

#include "loop.h"

namespace {

struct Double4 {
  using V = __m256d;
  static constexpr int64_t kCount = 4;
  static V One() { return _mm256_set1_pd(1); }
  static V Quiet(V v) {
    const V nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8000000000000));
    return _mm256_blendv_pd(v, nan, _mm256_cmp_pd(v, v, _CMP_UNORD_Q));
  }
  static void Fence() { _mm_sfence(); }
};

struct Float8 {
  using V = __m256;
  static constexpr int64_t kCount = 8;
  static V One() { return _mm256_set1_ps(1); }
  static V Quiet(V v) {
    const V nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    return _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  }
  static void Fence() { _mm_sfence(); }
};

// What is left over at the ends goes through the portable path, whose results are the same bits.
template <int dtype>
void PortableRest(const char *g, const char *y, char *out, int64_t n, bool stream) {
  kPortablePath.kernels[dtype](g, y, out, n, stream);
}

struct Float64 : Double4 {
  static constexpr int64_t kSize = 8;
  static constexpr Kernel Rest = PortableRest<kTanhbwFloat64>;
  static V Load(const char *p) { return _mm256_loadu_pd(reinterpret_cast<const double *>(p)); }
  static void Store(char *p, V v) { _mm256_storeu_pd(reinterpret_cast<double *>(p), v); }
  static void Stream(char *p, V v) { _mm256_stream_pd(reinterpret_cast<double *>(p), v); }
};

struct Float32 : Double4 {
  static constexpr int64_t kSize = 4;
  static constexpr Kernel Rest = PortableRest<kTanhbwFloat32>;
  static V Load(const char *p) { return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float *>(p))); }
  static void Store(char *p, V v) { _mm_storeu_ps(reinterpret_cast<float *>(p), _mm256_cvtpd_ps(v)); }
  static void Stream(char *p, V v) { _mm_stream_ps(reinterpret_cast<float *>(p), _mm256_cvtpd_ps(v)); }
};

__m128i LoadBits(const char *p) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)); }
void StoreBits(char *p, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i *>(p), v); }
void StreamBits(char *p, __m128i v) { _mm_stream_si128(reinterpret_cast<__m128i *>(p), v); }

struct Float16 : Float8 {
  static constexpr int64_t kSize = 2;
  static constexpr Kernel Rest = PortableRest<kTanhbwFloat16>;
  static __m128i Narrow(V v) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static V Load(const char *p) { return _mm256_cvtph_ps(LoadBits(p)); }
  static void Store(char *p, V v) { StoreBits(p, Narrow(v)); }
  static void Stream(char *p, V v) { StreamBits(p, Narrow(v)); }
};

struct BFloat16 : Float8 {
  static constexpr int64_t kSize = 2;
  static constexpr Kernel Rest = PortableRest<kTanhbwBFloat16>;
  // Rounded as in the portable path.
  static __m128i Narrow(V v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    const __m256i high = _mm256_srli_epi32(sum, 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
  }
  static V Load(const char *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(LoadBits(p)), 16));
  }
  static void Store(char *p, V v) { StoreBits(p, Narrow(v)); }
  static void Stream(char *p, V v) { StreamBits(p, Narrow(v)); }
};

bool Supported() {
  unsigned a, b, c = 0, d;
  return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

}  // namespace

const Path kAvx2Path = {"avx2", Supported, {Loop<Float16>, Loop<Float32>, Loop<Float64>, Loop<BFloat16>}};

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif  // __x86_64__
