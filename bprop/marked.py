"""A Tanh primitive that is bound alone."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore import ops

MARK = "tanh_backward"
"""The attribute that registry.cc looks for."""


class Tanh(ops.Tanh):  # type: ignore[misc]  # MindSpore takes a primitive's name from its class
    """MindSpore's Tanh with the mark; PyNative mode drops a primitive's attributes, and there is runner.cc for it."""

    def __init__(self) -> None:
        super().__init__()
        self.add_prim_attr(MARK, True)
