"""Python functions in a form that leaves Graph mode alone: there they are operators in a branch that is never taken."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Any, Callable

from mindspore.ops.primitive import PrimitiveWithInfer


class _InPyNative(PrimitiveWithInfer):  # type: ignore[misc]  # mindspore has no type information
    """True when it is called, a constant False while a graph is compiled."""

    def __init__(self) -> None:
        super().__init__("in_pynative")
        self.set_const_prim(True)
        self.add_prim_attr("constexpr_prim", True)

    def __infer__(self) -> dict[str, Any]:
        return {"dtype": None, "shape": None, "value": False}

    def __call__(self) -> bool:
        return True


class PyNativeOnly(PrimitiveWithInfer):  # type: ignore[misc]
    """A function that is called in PyNative mode only, behind ``if in_pynative():``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function.__name__)
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


in_pynative = _InPyNative()
