"""The one place that names CANN's kernel and the library with ours."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Final

ACLNN_KERNEL: Final = "aclnnTanhBackward"
OPERATOR_TYPE: Final = "TanhBackward"
CPU_LIBRARY: Final = "_tanh_backward_cpu.so"
CPU_KERNEL: Final = "TanhBackward"
ACLNN_HEADER: Final = "aclnn_tanh_backward.h"
