"""The Ascend half of the operator: what CANN must provide, and the callback that ops.Custom wants compiled."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import mmap
import os
from pathlib import Path

from mindspore import ops
from mindspore.ops.operations._custom_ops_utils import CustomCodeGenerator

from ._compiler import build_library
from ._mindspore import VERSION
from ._names import ACLNN_HEADER, ACLNN_KERNEL

_FLAGS = "-std=c++17 -O1 -fPIC -shared -D_GLIBCXX_USE_CXX11_ABI=0".split()


_COUNTED = "Counted"
_COUNT = f"""
#include <atomic>
static std::atomic<long> plans{{0}};
extern "C" long tanhbw_plan_count() {{ return plans; }}
extern "C" int {ACLNN_KERNEL}GetWorkSpaceSize(void *function, std::vector<void *> inputs, std::vector<void *> outputs,
                                              uint64_t *size, aclOpExecutor **executor) {{
  ++plans;
  return {_COUNTED}GetWorkSpaceSize(function, inputs, outputs, size, executor);
}}
"""
_callbacks: list[ctypes.CDLL] = []


def plan_count() -> int:
    """How often the Custom operator planned a launch on Ascend; MindSpore's own gradient never calls the callback."""
    return sum(callback.tanhbw_plan_count() for callback in {one._handle: one for one in _callbacks}.values())


class AclnnCustom(ops.Custom):  # type: ignore[misc]  # mindspore has no type information
    """
    ops.Custom, but for where its callback is compiled.

    MindSpore writes and compiles it in the current folder, under one name for all processes, without a lock. Here it
    comes from the build cache.
    """

    def _generate_get_workspace_size_func(self) -> None:
        include = cann_root() / "include"
        generator = CustomCodeGenerator()
        types = generator.get_api_types_by_reg_info(self.reg_info)
        source = generator.generate_callback_by_types(_COUNTED, self.reg_info, types) + _COUNT
        library = build_library("aclnn_callback.so", source, [*_FLAGS, f"-I{include}"], depends=[VERSION])
        _callbacks.append(ctypes.CDLL(str(library)))
        self.add_prim_attr("custom_callback_func", f"{library}:{ACLNN_KERNEL}")
        self.add_prim_attr("custom_inputs_type", types[:-2])


def cann_root() -> Path:
    """
    CANN's folder, with the kernel's header and a libopapi.so that has the kernel.

    Raises:
        RuntimeError: If something of it is missing; the text says what, and how to set it.
    """
    opp = os.environ.get("ASCEND_OPP_PATH")
    if not opp:
        raise RuntimeError(
            "mindspore_tanhbw: ASCEND_OPP_PATH is not set. Source the set_env.sh of your CANN installation."
        )
    root = Path(os.path.abspath(opp)).parent
    header = root / "include" / "aclnnop" / ACLNN_HEADER
    if not header.is_file():
        raise RuntimeError(
            f"mindspore_tanhbw: {header} is missing. ASCEND_OPP_PATH ({opp}) must be the opp folder of a CANN "
            "toolkit with its headers; source that one's set_env.sh."
        )
    library = root / "lib64" / "libopapi.so"
    advice = (
        f"ASCEND_OPP_PATH ({opp}) must be the opp folder of a CANN with its operators; source that one's set_env.sh."
    )
    if not library.is_file():
        raise RuntimeError(f"mindspore_tanhbw: {library} is missing. {advice}")
    for function in (ACLNN_KERNEL, f"{ACLNN_KERNEL}GetWorkspaceSize"):
        # Newer CANN keeps the functions in libraries that libopapi.so is linked with, libopapi_math.so and others.
        if not any(_names_symbol(one, function) for one in sorted(library.parent.glob("libopapi*.so"))):
            raise RuntimeError(f"mindspore_tanhbw: {library} has no function {function}. {advice}")
    return root


def _names_symbol(library: Path, function: str) -> bool:
    # Read, not loaded: MindSpore loads it, in its own order.
    with library.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return False  # which mmap refuses
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"\0" + function.encode() + b"\0") >= 0
