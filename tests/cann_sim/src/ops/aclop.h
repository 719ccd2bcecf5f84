// The older operator route, where an operator is called by its type's name.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_OPS_ACLOP_H_
#define CANN_SIM_OPS_ACLOP_H_

#include <string>

namespace sim {

bool has_aclop(const std::string &type);

}  // namespace sim

#endif
