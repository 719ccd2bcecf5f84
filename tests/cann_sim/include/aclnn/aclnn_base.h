// The name under which operator headers include the two-phase base types.
// Copyright 2026 The mindspore_tanhbw authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CANN_SIM_ACLNN_BASE_H_
#define CANN_SIM_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif
aclnnStatus aclnnInit(const char *configPath);
aclnnStatus aclnnFinalize(void);
#ifdef __cplusplus
}
#endif

#endif
