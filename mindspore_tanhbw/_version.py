# The version, in one place.
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
__version__ = "0.1.0"
