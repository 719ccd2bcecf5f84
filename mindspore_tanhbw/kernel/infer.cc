// Shape and type inference in C++, as MindSpore's ops.Custom looks it up beside the kernel.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "api.h"

// MindSpore's types come in as what they are to the ABI (TypeId is an int, AotExtra only a pointer), so that the build
// needs no MindSpore.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif

namespace {

constexpr int64_t kUnknownRank = -2;
constexpr int64_t kUnknownDim = -1;

// MindSpore turns what an inference function throws into a Python error. An own class, because one of the standard
// library's would tie this library to a C++ string ABI.
class Mismatch : public std::exception {
 public:
  const char *what() const noexcept override { return text_; }

  __attribute__((format(printf, 2, 3))) void Add(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int written = std::vsnprintf(text_ + size_, sizeof(text_) - size_, format, args);
    va_end(args);
    if (written > 0) size_ += static_cast<size_t>(written);
    if (size_ >= sizeof(text_)) size_ = sizeof(text_) - 1;
  }

  void AddShape(int ndim, const int64_t *shape) {
    Add("(");
    for (int i = 0; i < ndim; ++i) Add(i > 0 ? ", %lld" : "%lld", static_cast<long long>(shape[i]));
    Add(ndim == 1 ? ",)" : ")");
  }

 private:
  char text_[512] = "";
  size_t size_ = 0;
};

bool UnknownRank(int ndim, const int64_t *shape) { return ndim == 1 && shape[0] == kUnknownRank; }

}  // namespace

extern "C" {

TANHBW_API std::vector<int64_t> TanhBackwardInferShape(int *ndims, int64_t **shapes, void *);
TANHBW_API int TanhBackwardInferType(std::vector<int> types, void *);

// Both inputs have one shape: what is unknown in one may be known from the other.
std::vector<int64_t> TanhBackwardInferShape(int *ndims, int64_t **shapes, void *) {
  const int64_t *g = shapes[0], *y = shapes[1];
  if (UnknownRank(ndims[0], g)) return std::vector<int64_t>(y, y + ndims[1]);
  std::vector<int64_t> result(g, g + ndims[0]);
  if (UnknownRank(ndims[1], y)) return result;
  bool equal = ndims[0] == ndims[1];
  for (int i = 0; equal && i < ndims[0]; ++i) {
    if (g[i] == kUnknownDim) result[static_cast<size_t>(i)] = y[i];
    equal = g[i] == y[i] || g[i] == kUnknownDim || y[i] == kUnknownDim;
  }
  if (!equal) {
    Mismatch error;
    error.Add("grad_output and output must have the same shape, but have ");
    error.AddShape(ndims[0], g);
    error.Add(" and ");
    error.AddShape(ndims[1], y);
    error.Add(" [ACLNN_ERR_PARAM_INVALID (161002)]");
    throw error;
  }
  return result;
}

// On Ascend MindSpore looks it up under the name of CANN's kernel.
TANHBW_API std::vector<int64_t> aclnnTanhBackwardInferShape(int *, int64_t **, void *)
    __attribute__((alias("TanhBackwardInferShape")));

int TanhBackwardInferType(std::vector<int> types, void *) {
  if (types.size() != 2 || types[0] != types[1]) {
    Mismatch error;
    error.Add("grad_output and output must be two tensors of the same dtype [ACLNN_ERR_PARAM_INVALID (161002)]");
    throw error;
  }
  return types[0];
}

}  // extern "C"
