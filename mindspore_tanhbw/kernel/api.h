// The exported C functions: what other libraries and ctypes may call.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef TANHBW_API_H_
#define TANHBW_API_H_

#include <cstdint>

#define TANHBW_API __attribute__((visibility("default")))

extern "C" {

// Return values, numbered as CANN numbers its own. Anything but Ok means that nothing was written.
enum TanhbwStatus { kTanhbwOk = 0, kTanhbwNullPointer = 161001, kTanhbwInvalidParam = 161002 };

enum TanhbwDtype { kTanhbwFloat16 = 0, kTanhbwFloat32 = 1, kTanhbwFloat64 = 2, kTanhbwBFloat16 = 3 };

// MindSpore's aot convention; params = grad_output, output, grad_input.
TANHBW_API int TanhBackward(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes,
                            void *stream, void *extra);

// n elements each, at any alignment. grad_input may be one of the inputs, but not overlap one in part.
TANHBW_API int tanhbw_backward(int dtype, const void *grad_output, const void *output, void *grad_input, int64_t n);

// Runs of either function above that returned Ok.
TANHBW_API int64_t tanhbw_launch_count(void);

// Most threads that one call may use; n < 1 restores the default.
TANHBW_API void tanhbw_set_num_threads(int n);
TANHBW_API int tanhbw_num_threads(void);

// The instruction set in use: "portable", "avx2" or "avx512". Forcing one that this machine lacks, or an unknown
// name, returns non-zero and changes nothing; a null name restores the default.
TANHBW_API const char *tanhbw_path(void);
TANHBW_API int tanhbw_force_path(const char *name);

}  // extern "C"

#endif  // TANHBW_API_H_
