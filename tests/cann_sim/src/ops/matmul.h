// The one matrix product that all operators with matrices use.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_OPS_MATMUL_H_
#define CANN_SIM_OPS_MATMUL_H_

#include "kernels.h"

namespace sim {

// out = a @ b over the last two axes, leading axes broadcast. Sums in double, rounded once by the caller's write.
std::vector<double> matmul(const Tensor &a, const Tensor &b);
// The shape of that product; ok = false when the shapes do not go together.
Shape matmul_shape(const Shape &a, const Shape &b, bool *ok);
// The same memory with the last two axes swapped.
Tensor transposed(const Tensor &tensor);

}  // namespace sim

#endif
