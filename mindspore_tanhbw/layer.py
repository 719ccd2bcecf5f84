"""Tanh as a layer."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore import Tensor, nn

# Absolute: automatic mixed precision O1 copies this source, imports and all.
from mindspore_tanhbw.functional import tanh


class Tanh(nn.Cell):  # type: ignore[misc]  # mindspore has no type information
    r"""
    Applies the Tanh function element-wise, with the Custom operator for its gradient.

    To be used where :class:`mindspore.nn.Tanh` would be; see :func:`tanh`.

    Inputs:
        - **input** (Tensor) - Of any shape and any dtype that :func:`mindspore.ops.tanh` accepts.

    Outputs:
        Tensor, as :func:`mindspore.ops.tanh` returns it.

    Raises:
        TypeError: If `input` is not a Tensor.
        RuntimeError: If the operator cannot be had on the current device target.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore
        >>> from mindspore import nn
        >>> import mindspore_tanhbw as tbw
        >>> net = nn.SequentialCell(nn.Dense(4, 3), tbw.Tanh(), nn.Dense(3, 1))
        >>> print(net(mindspore.ops.ones((2, 4))).shape)
        (2, 1)
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return tanh(input)
