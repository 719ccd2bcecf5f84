// Element types: how each is stored, and the type that arithmetic on it is done in.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_NUMBERS_H_
#define CANN_SIM_NUMBERS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "acl/acl_base.h"

namespace sim {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Half {
  uint16_t bits;
};

struct Bfloat {
  uint16_t bits;
};

struct Bool {
  uint8_t bits;
};

inline float to_float(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000) << 16;
  const uint32_t exponent = (h.bits >> 10) & 0x1f;
  const uint32_t mantissa = h.bits & 0x3ff;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000 | (mantissa << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

inline float to_float(Bfloat b) { return float_of(static_cast<uint32_t>(b.bits) << 16); }

// To nearest, ties to even.
inline Half to_half(float value) {
  const uint32_t bits = bits_of(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // from 65520 on: infinity
  if (magnitude < 0x38800000) {                                                // below 2^-14: multiples of 2^-24
    const float scaled = std::nearbyint(std::fabs(value) * 0x1p24f);
    return {static_cast<uint16_t>(sign | static_cast<uint16_t>(scaled))};
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
}

inline Bfloat to_bfloat(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

template <class C, class S>
C load(S stored) {
  if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, Bfloat>) {
    return static_cast<C>(to_float(stored));
  } else if constexpr (std::is_same_v<S, Bool>) {
    return static_cast<C>(stored.bits != 0);
  } else {
    return static_cast<C>(stored);
  }
}

template <class S, class C>
S store(C value) {
  if constexpr (std::is_same_v<S, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<S, Bfloat>) {
    return to_bfloat(static_cast<float>(value));
  } else if constexpr (std::is_same_v<S, Bool>) {
    return {static_cast<uint8_t>(value != C(0))};
  } else {
    return static_cast<S>(value);
  }
}

inline const char *dtype_name(int dtype) {
  switch (dtype) {
    case ACL_FLOAT: return "float32";
    case ACL_FLOAT16: return "float16";
    case ACL_BF16: return "bfloat16";
    case ACL_DOUBLE: return "float64";
    case ACL_INT8: return "int8";
    case ACL_INT16: return "int16";
    case ACL_INT32: return "int32";
    case ACL_INT64: return "int64";
    case ACL_UINT8: return "uint8";
    case ACL_UINT16: return "uint16";
    case ACL_UINT32: return "uint32";
    case ACL_UINT64: return "uint64";
    case ACL_BOOL: return "bool";
    case ACL_COMPLEX64: return "complex64";
    case ACL_COMPLEX128: return "complex128";
    case ACL_STRING: return "string";
    default: return "unknown";
  }
}

inline bool is_float(int dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_DOUBLE;
}

// Calls f with a value of the type that the dtype is stored in.
template <class F>
void with_storage(int dtype, F f) {
  switch (dtype) {
    case ACL_FLOAT: return f(float{});
    case ACL_FLOAT16: return f(Half{});
    case ACL_BF16: return f(Bfloat{});
    case ACL_DOUBLE: return f(double{});
    case ACL_INT8: return f(int8_t{});
    case ACL_INT16: return f(int16_t{});
    case ACL_INT32: return f(int32_t{});
    case ACL_INT64: return f(int64_t{});
    case ACL_UINT8: return f(uint8_t{});
    case ACL_UINT16: return f(uint16_t{});
    case ACL_UINT32: return f(uint32_t{});
    case ACL_UINT64: return f(uint64_t{});
    case ACL_BOOL: return f(Bool{});
    default: throw std::runtime_error(std::string("dtype ") + dtype_name(dtype) + " is not simulated");
  }
}

enum class Compute { kInteger, kFloat, kDouble };

inline Compute compute_of(int dtype) {
  if (dtype == ACL_DOUBLE) return Compute::kDouble;
  return is_float(dtype) ? Compute::kFloat : Compute::kInteger;
}

inline Compute wider(Compute a, Compute b) { return a < b ? b : a; }

template <class F>
void with_compute(Compute compute, F f) {
  switch (compute) {
    case Compute::kInteger: return f(int64_t{});
    case Compute::kFloat: return f(float{});
    case Compute::kDouble: return f(double{});
  }
}

}  // namespace sim

#endif
