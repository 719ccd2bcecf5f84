// The instruction sets the kernel is compiled for, and the choice among them.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_PATHS_H_
#define TANHBW_PATHS_H_

#include <cstdint>

#include "api.h"

constexpr int kDtypes = 4;
constexpr int64_t kLine = 64;  // bytes in a cache line

// stream: store past the cache; only with an output aligned to its element.
using Kernel = void (*)(const char *g, const char *y, char *out, int64_t n, bool stream);

struct Path {
  const char *name;
  bool (*supported)();
  Kernel kernels[kDtypes];  // by TanhbwDtype
};

extern const Path kPortablePath;
#if defined(__x86_64__)
extern const Path kAvx2Path;
extern const Path kAvx512Path;
#endif

const Path &CurrentPath();
bool ForcePath(const char *name);

#endif  // TANHBW_PATHS_H_
