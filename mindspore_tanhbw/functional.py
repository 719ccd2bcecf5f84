"""tanh and tanh_backward as functions, for PyNative and Graph mode."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore import Tensor

# Absolute: automatic mixed precision O1 copies this source, imports and all.
from mindspore_tanhbw._checked import checked_tanh_backward
from mindspore_tanhbw._modes import in_pynative
from mindspore_tanhbw.bprop.primitives import primitives
from mindspore_tanhbw.bprop.pynative import tanh_backward_in_pynative, tanh_in_pynative


def tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    r"""
    The gradient of Tanh through the Custom operator: CANN's kernel on Ascend, the package's own on CPU.

    .. math::
        grad\_input = grad\_output \cdot (1 - output^2)

    Definition: CANN's aclnnTanhBackward. Results of float16 and bfloat16 are computed in float32 and rounded
    once. Differentiable in both inputs, to any order.

    Args:
        grad_output (Tensor): The gradient with respect to `output`, of float16, float32, float64 or bfloat16
            (on Ascend bfloat16 needs Atlas A2 or later), with 0 to 8 dimensions and any strides. It may be empty.
        output (Tensor): The result of Tanh, with the dtype and shape of `grad_output`.

    Returns:
        Tensor, with the dtype and shape of `output`.

    Raises:
        TypeError: If an argument is no Tensor (CANN's status 161001), or the dtypes differ or are not among the four
            (161002).
        ValueError: If the shapes differ or have more than 8 dimensions (161002).
        RuntimeError: If the operator cannot be had on the current device target, or its kernel fails.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore
        >>> import mindspore_tanhbw as tbw
        >>> grad_output = mindspore.Tensor([1.0, 2.0, 4.0])
        >>> output = mindspore.Tensor([0.0, 0.5, -1.0])
        >>> print(tbw.tanh_backward(grad_output, output))
        [1.  1.5 0. ]
    """
    if in_pynative():
        return tanh_backward_in_pynative(grad_output, output)
    return checked_tanh_backward(grad_output, output)


def tanh(input: Tensor) -> Tensor:
    r"""
    Computes hyperbolic tangent of input element-wise, with the Custom operator for its gradient.

    The forward pass is MindSpore's own :func:`mindspore.ops.tanh`; see there for what it accepts. The backward pass is
    :func:`tanh_backward`, whether or not :func:`bind` was called.

    Args:
        input (Tensor): Of any shape and any dtype that :func:`mindspore.ops.tanh` accepts.

    Returns:
        Tensor, as :func:`mindspore.ops.tanh` returns it.

    Raises:
        TypeError: If `input` is not a Tensor.
        RuntimeError: If the operator cannot be had on the current device target.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore
        >>> import mindspore_tanhbw as tbw
        >>> x = mindspore.Tensor([0.0, 1.0])
        >>> print(mindspore.grad(tbw.tanh)(x))
        [1.        0.4199743]
    """
    if in_pynative():
        return tanh_in_pynative(input)
    return primitives.tanh(input)
