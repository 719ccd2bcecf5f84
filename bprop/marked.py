"""A Tanh that is bound alone, as a primitive and as a function."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Any

from mindspore import ops

from .runner import MARK, runner


class Tanh(ops.Tanh):  # type: ignore[misc]  # MindSpore takes a primitive's name from its class
    """MindSpore's Tanh with the mark. Graph mode keeps it; PyNative mode does not, and there the result is marked."""

    def __init__(self) -> None:
        super().__init__()
        self.add_prim_attr(MARK, True)

    def __reduce__(self) -> Any:
        return type(self), ()

    def __call__(self, input: Any) -> Any:
        output = super().__call__(input)
        mark = runner().mark
        if mark is not None:
            mark(output)
        return output


_tanh = Tanh()


def tanh(input: Any) -> Any:
    """What stands for ops.tanh: some take a function where they take no primitive, vmap and grad for instance."""
    return _tanh(input)
