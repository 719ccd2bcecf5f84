"""What the doctor looks at for Ascend: the plugin, the chip, and CANN."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import os
import re
from pathlib import Path
from typing import Optional

import mindspore
from mindspore._c_expression import MSContext
from mindspore.run_check._check_version import AscendEnvChecker

from .._ascend import cann_root
from .._names import ACLNN_HEADER, ACLNN_KERNEL
from .findings import Finding

_VARIABLE = "ASCEND_OPP_PATH"
_SOURCE = "source CANN/set_env.sh, often /usr/local/Ascend/ascend-toolkit/set_env.sh"
_WITH_BFLOAT16 = ("ascend910b", "ascend910_93", "ascend910_95", "ascend950")


def device(asked: str) -> str:
    """The device target that is meant: for auto Ascend when it is usable, else CPU."""
    if asked != "auto":
        return asked
    return "Ascend" if _VARIABLE in os.environ and _context().is_ascend_plugin_loaded() else "CPU"


def findings() -> list[Finding]:
    """Everything about CANN and the chip."""
    return [_plugin(), _root(), _operator(), _version(), _bfloat16()]


def _plugin() -> Finding:
    if _context().is_ascend_plugin_loaded():
        return Finding("Ascend plugin", "ok", f"loaded, chip {_context().get_ascend_soc_version() or 'unknown'}")
    lines = _context().load_plugin_error().strip().splitlines()
    found = re.sub(r"^.*failed\. ", "", lines[0]).strip(" .") if lines else "not in this MindSpore"
    means = "MindSpore cannot use an NPU"
    return Finding("Ascend plugin", "missing", f"not loaded ({found})", means, f"install CANN and {_SOURCE}")


def _root() -> Finding:
    opp = os.environ.get(_VARIABLE)
    if not opp:
        means = "the operator has no kernel on Ascend"
        return Finding("CANN root", "missing", f"{_VARIABLE} is not set", means, _SOURCE)
    if not os.path.isdir(opp):
        return Finding("CANN root", "missing", f"{_VARIABLE} is {opp}, which is no folder", "", _SOURCE)
    if opp.count("opp") > 1:
        means = "MindSpore cuts it at the first 'opp' for its own ops.Custom; this package does not"
        mend = "install CANN, or link to it, below a folder without 'opp' in its name"
        return Finding("CANN root", "warning", f"{_VARIABLE} is {opp}", means, mend)
    return Finding("CANN root", "ok", f"{_VARIABLE} is {opp}")


def _operator() -> Finding:
    name = "CANN operator"
    try:
        root = cann_root()
    except RuntimeError as error:
        found, _, mend = str(error).replace("mindspore_tanhbw: ", "", 1).partition(". ")
        mend = _SOURCE if mend.startswith("Source") else mend.rstrip(".")
        return Finding(name, "missing", found.rstrip("."), "the operator has no kernel on Ascend", mend)
    except OSError as error:
        return Finding(name, "missing", f"{error.filename} cannot be read ({error.strerror})", "", _SOURCE)
    return Finding(name, "ok", f"{ACLNN_HEADER}, and libopapi.so with {ACLNN_KERNEL}, in {root}")


def _version() -> Finding:
    name = "CANN version"
    root = Path(os.path.abspath(os.environ.get(_VARIABLE) or "/")).parent
    files = [root / "compiler" / "version.info", *sorted(root.glob("*/ascend_toolkit_install.info"))]
    version = next(filter(None, map(_read_version, files)), None)
    wanted = AscendEnvChecker(None).version
    suits = f"MindSpore {mindspore.__version__} is made for CANN {', '.join(wanted)}"
    if not os.environ.get(_VARIABLE) or version is None:
        return Finding(name, "warning", "not found", suits, _SOURCE)
    if version not in wanted:
        mend = "install a CANN and a MindSpore that belong together, https://www.mindspore.cn/install"
        return Finding(name, "warning", f"CANN {version}", suits, mend)
    return Finding(name, "ok", f"CANN {version}, one that MindSpore {mindspore.__version__} is made for")


def _read_version(file: Path) -> Optional[str]:
    try:
        found = re.search(r"^version=(\d+\.\d+)", file.read_text(errors="replace"), re.IGNORECASE | re.MULTILINE)
    except OSError:
        return None
    return found[1] if found else None


def _bfloat16() -> Finding:
    chip = _context().get_ascend_soc_version() if _context().is_ascend_plugin_loaded() else ""
    if not chip:
        return Finding("bfloat16", "warning", "chip unknown", "bfloat16 needs Atlas A2 or later")
    if chip.startswith(_WITH_BFLOAT16):
        return Finding("bfloat16", "ok", f"{chip} has it")
    means = "the operator takes float16, float32 and float64 there"
    return Finding("bfloat16", "warning", f"{chip} is without", means, "cast to float16 or float32")


def _context() -> MSContext:
    return MSContext.get_instance()
