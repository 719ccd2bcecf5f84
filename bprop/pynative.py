"""tanh and tanh_backward as PyNative mode runs them."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from mindspore import Tensor, context

from .._checked import checked_tanh_backward
from .._modes import PyNativeOnly
from .marked import Tanh
from .primitives import primitives
from .registry import registry
from .runner import runner


def _tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    result = runner().tanh_backward(grad_output, output)
    if result is None and runner().prepare(context.get_context("device_target")):
        result = runner().tanh_backward(grad_output, output)
    return checked_tanh_backward(grad_output, output) if result is None else result


def _tanh(input: Tensor) -> Tensor:
    if runner().mark is None:
        return primitives.tanh(input)
    registry.serve_marked()
    return _marked(input)


_marked = Tanh()
tanh_backward_in_pynative = PyNativeOnly(_tanh_backward)
tanh_in_pynative = PyNativeOnly(_tanh)
