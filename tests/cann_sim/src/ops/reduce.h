// Reductions and softmax lines, shared with the older operator route.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_OPS_REDUCE_H_
#define CANN_SIM_OPS_REDUCE_H_

#include <vector>

#include "kernels.h"

namespace sim {

void sum_or_mean(const Tensor &in, const std::vector<int64_t> &axes, bool mean, const Tensor &out);
void softmax(const Tensor &in, int64_t axis, bool logarithm, const Tensor &out);

}  // namespace sim

#endif
