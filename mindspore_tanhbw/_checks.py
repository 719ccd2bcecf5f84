"""What tanh_backward accepts; the checks run in PyNative mode and, while a graph is compiled, in Graph mode."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Any

from mindspore import dtype as mstype
from mindspore.ops.primitive import PrimitiveWithInfer, _primexpr, constexpr

DTYPES = (mstype.float16, mstype.float32, mstype.float64, mstype.bfloat16)
MAX_RANK = 8

_NULLPTR = "[ACLNN_ERR_PARAM_NULLPTR (161001)]"
_INVALID = "[ACLNN_ERR_PARAM_INVALID (161002)]"


class _RefuseNonTensor(PrimitiveWithInfer):  # type: ignore[misc]  # mindspore has no type information
    """Raises for an argument that is no Tensor; of some, functions for instance, Graph mode knows no type(...)."""

    def __init__(self) -> None:
        super().__init__("refuse_non_tensor")

    def __infer__(self, name: dict[str, Any], value: dict[str, Any]) -> None:
        self._refuse(name["value"], value["dtype"])

    def __call__(self, name: str, value: Any) -> None:
        self._refuse(name, type(value))

    @staticmethod
    def _refuse(name: str, kind: Any) -> None:
        raise TypeError(f"For 'tanh_backward', '{name}' must be a Tensor, but got {kind}. {_NULLPTR}")


refuse_non_tensor = _RefuseNonTensor()


@constexpr(check=False)  # type: ignore[untyped-decorator]  # mindspore has no type information
def check_dtypes(grad_output: Any, output: Any) -> None:
    """Both dtypes are the same one, and one that the kernel has."""
    if grad_output not in DTYPES or output not in DTYPES or grad_output != output:
        raise TypeError(
            "For 'tanh_backward', 'grad_output' and 'output' must have the same dtype, one of Float16, Float32, "
            f"Float64, BFloat16, but got {grad_output} and {output}. {_INVALID}"
        )


@_primexpr  # type: ignore[untyped-decorator]
def check_shapes(grad_output: tuple[int, ...], output: tuple[int, ...]) -> None:
    """Both shapes are the same one, of at most 8 dimensions."""
    for name, shape in (("grad_output", grad_output), ("output", output)):
        if len(shape) > MAX_RANK:
            raise ValueError(
                f"For 'tanh_backward', '{name}' must have at most {MAX_RANK} dimensions, but has {len(shape)}: "
                f"shape {shape}. {_INVALID}"
            )
        if any(size < 0 for size in shape):
            raise ValueError(
                f"For 'tanh_backward', '{name}' must have a shape, but has only a pattern, {shape}. {_INVALID}"
            )
    if grad_output != output:
        raise ValueError(
            "For 'tanh_backward', 'grad_output' and 'output' must have the same shape, but got "
            f"{grad_output} and {output}. {_INVALID}"
        )
