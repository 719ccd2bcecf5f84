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
  static double Widen(double v) { return v; }
  static double Narrow(double v) { return v; }
};

// In double, 1 - output * output keeps the digits that float32 would cancel near saturation.
struct Float32 {
  using Stored = float;
  using Computed = double;
  static double Widen(float v) { return static_cast<double>(v); }
  static float Narrow(double v) { return static_cast<float>(v); }
};

struct BFloat16 {
  using Stored = uint16_t;
  using Computed = float;
  static float Widen(uint16_t bits) { return BitCast<float>(static_cast<uint32_t>(bits) << 16); }
  // Half of the dropped part, less one when the kept part is even, carries into the kept part exactly when rounding
  // to nearest even goes up. The quiet NaN has no low bits that could carry.
  static uint16_t Narrow(float v) {
    const uint32_t bits = BitCast<uint32_t>(v);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

struct Float16 {
  using Stored = uint16_t;
  using Computed = float;

  // The fields of a float16, moved to where float32 has them, are the value divided by 2^112, subnormals included.
  static float Widen(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t fields = static_cast<uint32_t>(bits & 0x7fff) << 13;
    const uint32_t finite = BitCast<uint32_t>(BitCast<float>(fields) * 0x1p112f);
    return BitCast<float>(sign | (fields >= 0x0f800000 ? fields | 0x7f800000 : finite));
  }

  // Normal results round as in BFloat16, subnormal ones by adding a float32 whose last bit is worth the last bit of a
  // subnormal float16.
  static uint16_t Narrow(float v) {
    const uint32_t bits = BitCast<uint32_t>(v);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const uint32_t subnormal = BitCast<uint32_t>(BitCast<float>(magnitude) + 0.5f) - 0x3f000000;
    uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
    result = magnitude >= 0x477ff000 ? 0x7c00 : result;  // rounds to 2^16 or more
    result = magnitude > 0x7f800000 ? 0x7e00 : result;
    return static_cast<uint16_t>(sign | result);
  }
};

template <class E>
struct Scalar {
  using V = typename E::Computed;
  static constexpr int64_t kCount = 1;
  static constexpr int64_t kSize = sizeof(typename E::Stored);
  static V One() { return 1; }
  static V Load(const char *p) { return E::Widen(Read<typename E::Stored>(p)); }
  static V Quiet(V v) { return ::Quiet(v); }
  static void Store(char *p, V v) { Write(p, E::Narrow(v)); }
  static void Stream(char *p, V v) { Store(p, v); }
  static void Fence() {}
  static void Rest(const char *, const char *, char *, int64_t, bool) {}
};

bool Supported() { return true; }

}  // namespace

const Path kPortablePath = {
    "portable", Supported, {Loop<Scalar<Float16>>, Loop<Scalar<Float32>>, Loop<Scalar<Float64>>, Loop<Scalar<BFloat16>>}};
