// Which chip is played (--soc), and what follows from it.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_SOC_H_
#define CANN_SIM_SOC_H_

namespace sim {

const char *soc_name();
bool soc_has_bfloat16();

}  // namespace sim

#endif
