// The portable path: one element at a time, written so that compilers vectorise it by themselves.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "loop.h"

namespace {

template <class To, class From>
inline To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

template <class T>
inline T Read(const char *p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

template <class T>
inline void Write(char *p, T value) {
  std::memcpy(p, &value, sizeof(value));
}

inline float Quiet(float v) { return v == v ? v : BitCast<float>(uint32_t{0x7fc00000}); }
inline double Quiet(double v) { return v == v ? v : BitCast<double>(uint64_t{0x7ff8000000000000}); }

struct Float64 {
  using Stored = double;
  using Computed = double;
  static double OneMinusSquare(double y) { return 1 - y * y; }
  static double Widen(double v) { return v; }
  static double Narrow(double v) { return v; }
};

struct Float32 {
  using Stored = float;
  using Computed = float;
  static float OneMinusSquare(float y) {
#if defined(__FP_FAST_FMAF)
    return __builtin_fmaf(-y, y, 1);
#else
    // The square is exact in double. The difference is not, but that it is rounded twice, here and to float, changes
    // none of the results: the test program can try all 2^32 outputs.
    return static_cast<float>(1 - static_cast<double>(y) * y);
#endif
  }
  static float Widen(float v) { return v; }
  static float Narrow(float v) { return v; }
};

// The square of a 16-bit output is exact in float.
struct ExactSquare {
  using Stored = uint16_t;
  using Computed = float;
  static float OneMinusSquare(float y) { return 1 - y * y; }
};

struct BFloat16 : ExactSquare {
  static float Widen(uint16_t bits) { return BitCast<float>(static_cast<uint32_t>(bits) << 16); }
  // Half of the dropped part, less one when the kept part is even, carries into the kept part exactly when rounding
  // to nearest even goes up. The quiet NaN has no low bits that could carry.
  static uint16_t Narrow(float v) {
    const uint32_t bits = BitCast<uint32_t>(v);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

// Without branches, which would keep compilers from vectorising the loop.
struct Float16 : ExactSquare {
  // The fields of a float16, moved to where float32 has them, are the value divided by 2^112, subnormals included.
  static float Widen(uint16_t bits) {
    const int32_t sign = static_cast<int32_t>(bits & 0x8000u) << 16;
    const int32_t fields = (bits & 0x7fff) << 13;
    const int32_t infinite = fields >= 0x0f800000 ? 0x7f800000 : 0;
    return BitCast<float>(sign | infinite | BitCast<int32_t>(BitCast<float>(fields) * 0x1p112f));
  }

  // Adding 2^13 times the power of two below the value leaves 11 significant bits, rounded to nearest even. From 2^-14
  // down, subnormal float16 keep that power's spacing. 2^16 and more become 2^16, whose fields are infinity's.
  static uint16_t Narrow(float v) {
    constexpr int32_t kLeast = 113 << 23, kShift = 13 << 23, kMost = 143 << 23, kInfinity = 255 << 23;
    const int32_t bits = BitCast<int32_t>(v);
    const int32_t magnitude = bits & 0x7fffffff;
    const int32_t bounded = magnitude < kMost ? magnitude : kMost;
    const int32_t power = (bounded & kInfinity) > kLeast ? bounded & kInfinity : kLeast;
    const int32_t rounded = BitCast<int32_t>(BitCast<float>(bounded) + BitCast<float>(power + kShift));
    const int32_t nan = magnitude > kInfinity ? 0x200 : 0;
    const int32_t fields = ((power - kLeast) >> 13) + (rounded - power - kShift);
    return static_cast<uint16_t>((bits >> 16 & 0x8000) | fields | nan);
  }
};

template <class E>
struct Scalar {
  using V = typename E::Computed;
  using Stored = typename E::Stored;
  static constexpr int64_t kCount = 1;
  static constexpr int64_t kSize = sizeof(Stored);
  static constexpr bool kStreams = false;
  static V OneMinusSquare(V y) { return E::OneMinusSquare(y); }
  static V Load(const char *p) { return E::Widen(Read<Stored>(p)); }
  static V Quiet(V v) { return ::Quiet(v); }
  static Stored Narrow(V v) { return E::Narrow(v); }
  static void Store(char *p, Stored v) { Write(p, v); }
};

bool Supported() { return true; }

}  // namespace

const Path kPortablePath = {
    "portable",
    Supported,
    {Loop<Scalar<Float16>>, Loop<Scalar<Float32>>, Loop<Scalar<Float64>>, Loop<Scalar<BFloat16>>}};
