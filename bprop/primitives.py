"""The two primitives that user code runs, looked up when they are used, so that the device target is known by then."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Any, Union

from mindspore import context, jit_class, ops
from mindspore.ops.primitive import _run_op

from .._compiler import CompilerMissing
from .._operator import tanh_backward_operator
from . import marked
from .cell import TanhCell
from .registry import registry


class Tanh(marked.Tanh):  # MindSpore takes a primitive's name from its class
    """The marked Tanh where runner.cc is missing: MindSpore's general call keeps attributes in PyNative mode, too."""

    def __call__(self, input: Any) -> Any:
        return _run_op(self, self.name, (input,))


@jit_class
class Primitives:
    """A graph being compiled reads these properties, as a PyNative call does."""

    def __init__(self) -> None:
        self._marked = Tanh()
        self._cells: dict[str, TanhCell] = {}

    @property
    def tanh_backward(self) -> ops.Custom:
        """The Custom operator of the current device target."""
        return tanh_backward_operator()

    @property
    def tanh(self) -> Union[Tanh, TanhCell]:
        """The marked Tanh, once the registry serves it; without a compiler a Cell with a bprop."""
        target = context.get_context("device_target")
        # In PyNative mode a mark needs MindSpore's general way to run an operator, and on Ascend that one leads to
        # the older aclop kernels, which are compiled for every shape.
        if target != "Ascend" or context.get_context("mode") == context.GRAPH_MODE:
            try:
                registry.serve_marked()
                return self._marked
            except CompilerMissing:
                pass
        if target not in self._cells:
            self._cells[target] = TanhCell()
        return self._cells[target]


primitives = Primitives()
