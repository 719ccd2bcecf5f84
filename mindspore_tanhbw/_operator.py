"""The Custom operator: one ops.Custom object for each device target, built when it is first needed."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import threading
from typing import Any

from mindspore import context, ops
from mindspore.ops import CustomRegOp, DataType

from ._library import library, library_path
from ._names import ACLNN_KERNEL, CPU_KERNEL, OPERATOR_TYPE

_operators: dict[str, ops.Custom] = {}
_lock = threading.RLock()


def tanh_backward_operator(target: str = "") -> ops.Custom:
    """
    The Custom operator for a device target, inputs (grad_output, output) in the order of the CANN page.

    Args:
        target (str): "CPU" or "Ascend". Default: ``""``, MindSpore's current device target.

    Returns:
        ops.Custom, the same object whenever the target is the same.

    Raises:
        RuntimeError: If the operator cannot be had on that target; the text names what is missing.
    """
    target = target or context.get_context("device_target")
    operator = _operators.get(target)
    if operator is None:
        with _lock:
            operator = _operators.get(target)
            if operator is None:
                operator = _operators[target] = _build(target)
    return operator


def _build(target: str) -> ops.Custom:
    # Imported here: the gradient is written in terms of tanh_backward, which is built on this module; and MindSpore
    # imports what the other needs when vmap is first used.
    from .bprop.tanh_backward import bprop
    from .bprop.vmap import with_vmap

    common: dict[str, Any] = {
        "out_shape": None,  # in C++, beside the kernel: a Python function fails in Graph mode with dynamic shapes
        "out_dtype": lambda grad_output, output: output,
        "func_type": "aot",
        "bprop": bprop,
        "reg_info": _reg_info(target),
    }
    library()
    if target == "CPU":
        # No more threads than MindSpore's own kernels may use.
        threads = min(context.get_context("runtime_num_threads"), library().tanhbw_num_threads())
        library().tanhbw_set_num_threads(threads)
        return with_vmap(ops.Custom(f"{library_path()}:{CPU_KERNEL}", **common))
    if target == "Ascend":
        from ._ascend import AclnnCustom

        return with_vmap(AclnnCustom(f"{library_path()}:{ACLNN_KERNEL}", **common))
    raise RuntimeError(f"mindspore_tanhbw: the operator runs on CPU and Ascend, not on {target}.")


def _reg_info(target: str) -> Any:
    # ops.Custom rewrites what it is given, so every operator gets its own.
    info = CustomRegOp(OPERATOR_TYPE).input(0, "grad_output").input(1, "output").output(0, "grad_input")
    for dtype in (DataType.F16_Default, DataType.F32_Default, DataType.F64_Default, DataType.BF16_Default):
        info = info.dtype_format(dtype, dtype, dtype)
    return info.target(target).get_op_info()
