"""The fallback where no compiler is: a Cell whose bprop is the Custom operator."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0


from mindspore import Tensor, nn, ops

from .._operator import tanh_backward_operator


class TanhCell(nn.Cell):  # type: ignore[misc]  # mindspore has no type information
    """MindSpore's Tanh; slower in PyNative mode than the binding in the registry."""

    def __init__(self) -> None:
        super().__init__()
        # An attribute: under automatic mixed precision a bprop does not find names of its module.
        self.tanh_backward = tanh_backward_operator()
        self.cast = ops.Cast()
        self.dtype = ops.DType()

    def construct(self, input: Tensor) -> Tensor:
        return ops.tanh(input)

    def bprop(self, input: Tensor, output: Tensor, grad_output: Tensor) -> tuple[Tensor]:
        # In Graph mode an upstream gradient of another dtype arrives as it is.
        return (self.tanh_backward(self.cast(grad_output, self.dtype(output)), output),)
