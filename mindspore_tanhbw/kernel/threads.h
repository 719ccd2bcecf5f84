// Splitting one call over several threads.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_THREADS_H_
#define TANHBW_THREADS_H_

#include "paths.h"

void RunThreaded(Kernel kernel, int64_t element_size, const char *g, const char *y, char *out, int64_t n);

void SetNumThreads(int n);
int NumThreads();

#endif  // TANHBW_THREADS_H_
