"""tanh and tanh_backward as PyNative mode runs them."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore import Tensor, context

from .._checked import check
from .._modes import PyNativeOnly
from .marked import Tanh
from .primitives import primitives
from .registry import registry
from .runner import runner


def _tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    result = runner().tanh_backward(grad_output, output)
    if result is None:
        check(grad_output, output)
        runner().prepare(context.get_context("device_target"))
        # Also for views: MindSpore does not run an ops.Custom in several threads at once without mistakes.
        result = runner().tanh_backward(_contiguous(grad_output), _contiguous(output))
    return primitives.tanh_backward(grad_output, output) if result is None else result


def _contiguous(tensor: Tensor) -> Tensor:
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _tanh(input: Tensor) -> Tensor:
    if runner().mark is None:
        return primitives.tanh(input)
    registry.serve_marked()
    return _marked(input)


_marked = Tanh()
tanh_backward_in_pynative = PyNativeOnly(_tanh_backward)
tanh_in_pynative = PyNativeOnly(_tanh)
