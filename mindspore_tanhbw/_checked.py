"""The Custom operator behind its checks, in Graph mode and where PyNative mode has no shorter way."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore import Tensor
from mindspore.ops.functional import is_sequence_value_unknown

from ._checks import check_dtypes, check_shapes, refuse_non_tensor
from .bprop.primitives import primitives


def check(grad_output: Tensor, output: Tensor) -> None:
    """Raise for what tanh_backward does not accept."""
    if not isinstance(grad_output, Tensor):
        refuse_non_tensor("grad_output", grad_output)
    if not isinstance(output, Tensor):
        refuse_non_tensor("output", output)
    check_dtypes(grad_output.dtype, output.dtype)
    # A dynamic shape is not known while a graph is compiled; the operator's shape inference checks it then.
    if not is_sequence_value_unknown(grad_output.shape) and not is_sequence_value_unknown(output.shape):
        check_shapes(grad_output.shape, output.shape)


def checked_tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """See tanh_backward."""
    check(grad_output, output)
    return primitives.tanh_backward(grad_output, output)
