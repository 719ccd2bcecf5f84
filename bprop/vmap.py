"""vmap of the Custom operator: one launch for the whole batch, as MindSpore's TanhGrad has it."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from typing import Any, Callable, Optional

from mindspore import Tensor, ops
from mindspore.ops._vmap.vmap_base import _bdim_at_front, vmap_general_preprocess, vmap_rules_getters

from .._checks import MAX_RANK

Batched = tuple[Tensor, Optional[int]]
"""A tensor and its axis of the batch."""

_name = "Custom"  # MindSpore looks rules up by it, for every ops.Custom there is
_others: Optional[Callable[..., Any]] = vmap_rules_getters.get(_name, None)
_operators: list[ops.Custom] = []


def with_vmap(operator: ops.Custom) -> ops.Custom:
    """The operator, a function of two tensors element by element, with a rule for vmap."""
    _operators.append(operator)
    return operator


@vmap_rules_getters.register(_name)  # type: ignore[untyped-decorator]  # mindspore has no type information
def _rule_of(custom: Any, axis_size: int) -> Optional[Callable[..., Any]]:
    if not any(custom is one for one in _operators):
        return _others(custom, axis_size) if _others else None

    def rule(grad_output_batched: Batched, output_batched: Batched) -> Batched:
        alone, result = vmap_general_preprocess(custom, grad_output_batched, output_batched)
        if alone:
            return result  # type: ignore[no-any-return]
        grad_output, axis = grad_output_batched
        output, other = output_batched
        if axis != other:
            grad_output = _bdim_at_front(grad_output, axis, axis_size)
            output = _bdim_at_front(output, other, axis_size)
            axis = 0
        if ops.rank(output) <= MAX_RANK:
            return custom(grad_output, output), axis
        # The batch must not cost a dimension.
        flat = custom(ops.reshape(grad_output, (-1,)), ops.reshape(output, (-1,)))
        return ops.reshape(flat, ops.shape(output)), axis

    return rule
