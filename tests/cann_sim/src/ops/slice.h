// StridedSlice and its gradient, as x[2, ::2, None, ..., 1:] asks for them.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_OPS_SLICE_H_
#define CANN_SIM_OPS_SLICE_H_

#include "ops/aclop.h"

namespace sim {

void strided_slice(const AclopCall &call);       // x, begin, end, strides
void strided_slice_grad(const AclopCall &call);  // shape of x, begin, end, strides, dy

}  // namespace sim

#endif
