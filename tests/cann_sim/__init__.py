# The CANN simulator: MindSpore's own Ascend plugin on a machine without an NPU. See docs/simulator.md.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
