// The older operator route.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/aclop.h"

namespace sim {

bool has_aclop(const std::string &) { return true; }

}  // namespace sim
