// MindSpore's aot entry and the plain C entry: check everything, then compute.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include <atomic>
#include <cstring>

#include "paths.h"
#include "threads.h"

namespace {

constexpr int64_t kElementSize[kDtypes] = {2, 4, 8, 2};

std::atomic<int64_t> launches{0};

int DtypeOf(const char *name) {
  constexpr const char *kNames[kDtypes] = {"float16", "float32", "float64", "bfloat16"};
  for (int dtype = 0; name != nullptr && dtype < kDtypes; ++dtype) {
    if (std::strcmp(name, kNames[dtype]) == 0) return dtype;
  }
  return -1;
}

// The number of elements, or -1 for a shape that no tensor can have.
int64_t Count(int ndim, const int64_t *shape) {
  if (ndim < 0 || (ndim > 0 && shape == nullptr)) return -1;
  int64_t n = 1;
  for (int i = 0; i < ndim; ++i) {
    if (shape[i] < 0 || __builtin_mul_overflow(n, shape[i], &n)) return -1;
  }
  return n;
}

}  // namespace

int TanhBackward(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *, void *) {
  if (nparam != 3) return kTanhbwInvalidParam;
  if (params == nullptr || ndims == nullptr || shapes == nullptr || dtypes == nullptr) return kTanhbwNullPointer;
  const int dtype = DtypeOf(dtypes[0]);
  const int64_t n = Count(ndims[0], shapes[0]);
  if (dtype < 0 || n < 0) return kTanhbwInvalidParam;
  for (int i = 1; i < nparam; ++i) {
    if (DtypeOf(dtypes[i]) != dtype || ndims[i] != ndims[0]) return kTanhbwInvalidParam;
    if (Count(ndims[i], shapes[i]) < 0) return kTanhbwInvalidParam;
    for (int d = 0; d < ndims[0]; ++d) {
      if (shapes[i][d] != shapes[0][d]) return kTanhbwInvalidParam;
    }
  }
  return tanhbw_backward(dtype, params[0], params[1], params[2], n);
}

int tanhbw_backward(int dtype, const void *grad_output, const void *output, void *grad_input, int64_t n) {
  if (dtype < 0 || dtype >= kDtypes || n < 0 || n > INT64_MAX / kElementSize[dtype]) return kTanhbwInvalidParam;
  if (n > 0) {
    if (grad_output == nullptr || output == nullptr || grad_input == nullptr) return kTanhbwNullPointer;
    RunThreaded(CurrentPath().kernels[dtype], kElementSize[dtype], static_cast<const char *>(grad_output),
                static_cast<const char *>(output), static_cast<char *>(grad_input), n);
  }
  launches.fetch_add(1, std::memory_order_relaxed);
  return kTanhbwOk;
}

int64_t tanhbw_launch_count(void) { return launches.load(std::memory_order_relaxed); }
void tanhbw_set_num_threads(int n) { SetNumThreads(n); }
int tanhbw_num_threads(void) { return NumThreads(); }
const char *tanhbw_path(void) { return CurrentPath().name; }
int tanhbw_force_path(const char *name) { return ForcePath(name) ? kTanhbwOk : kTanhbwInvalidParam; }
