// What the kernel must compute, written without its tricks: no shared code, no bit arithmetic on halves.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_TEST_REFERENCE_H_
#define TANHBW_TEST_REFERENCE_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

template <class To, class From>
To Bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// A 16-bit format by its parameters: significant bits below the leading one, and the least and greatest exponent.
template <int kFraction, int kLeast, int kGreatest>
struct Half {
  static constexpr int kInfinity = (kGreatest - kLeast + 2) << kFraction;

  static float Decode(uint16_t bits) {
    const int fields = bits & 0x7fff;
    const int exponent = fields >> kFraction, fraction = fields & ((1 << kFraction) - 1);
    float value;
    if (fields > kInfinity) {
      value = std::numeric_limits<float>::quiet_NaN();
    } else if (fields == kInfinity) {
      value = std::numeric_limits<float>::infinity();
    } else if (exponent == 0) {
      value = static_cast<float>(std::ldexp(fraction, kLeast - kFraction));
    } else {
      value = static_cast<float>(std::ldexp((1 << kFraction) + fraction, kLeast + exponent - 1 - kFraction));
    }
    return bits & 0x8000 ? -value : value;
  }

  // To nearest even by nearbyint() on a whole number of last places.
  static uint16_t Encode(float value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return kInfinity | 1 << (kFraction - 1);
    const double magnitude = std::fabs(static_cast<double>(value));
    if (magnitude == 0) return sign;
    if (std::isinf(value)) return sign | kInfinity;
    int exponent = std::ilogb(magnitude);
    if (exponent < kLeast) exponent = kLeast;
    const double places = std::nearbyint(std::ldexp(magnitude, kFraction - exponent));
    const double rounded = std::ldexp(places, exponent - kFraction);
    if (rounded >= std::ldexp(1.0, kGreatest + 1)) return sign | kInfinity;
    if (rounded < std::ldexp(1.0, kLeast)) return static_cast<uint16_t>(sign | static_cast<int>(places));
    exponent = std::ilogb(rounded);
    const int fraction = static_cast<int>(std::ldexp(rounded, kFraction - exponent)) - (1 << kFraction);
    return static_cast<uint16_t>(sign | (exponent - kLeast + 1) << kFraction | fraction);
  }
};

using Float16 = Half<10, -14, 15>;
using BFloat16 = Half<7, -126, 127>;

inline float Expect(float g, float y) {
  const float r = g * std::fma(-y, y, 1.0f);
  return std::isnan(r) ? Bits<float>(uint32_t{0x7fc00000}) : r;
}

inline double Expect(double g, double y) {
  volatile double square = y * y;  // volatile: rounded here, whatever the compiler would fuse
  volatile double complement = 1 - square;
  const double r = g * complement;
  return std::isnan(r) ? Bits<double>(uint64_t{0x7ff8000000000000}) : r;
}

template <class H>
uint16_t Expect(uint16_t g, uint16_t y) {
  const float gf = H::Decode(g), yf = H::Decode(y);
  volatile float square = yf * yf;
  volatile float complement = 1 - square;
  return H::Encode(gf * complement);
}

// The reference on raw bits, by TanhbwDtype.
inline uint64_t ExpectBits(int dtype, uint64_t g, uint64_t y) {
  switch (dtype) {
    case 0:
      return Expect<Float16>(static_cast<uint16_t>(g), static_cast<uint16_t>(y));
    case 1:
      return Bits<uint32_t>(Expect(Bits<float>(static_cast<uint32_t>(g)), Bits<float>(static_cast<uint32_t>(y))));
    case 2:
      return Bits<uint64_t>(Expect(Bits<double>(g), Bits<double>(y)));
    default:
      return Expect<BFloat16>(static_cast<uint16_t>(g), static_cast<uint16_t>(y));
  }
}

#endif  // TANHBW_TEST_REFERENCE_H_
