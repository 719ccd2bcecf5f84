"""MindSpore's Tanh with CANN's aclnnTanhBackward, as a Custom operator, for its gradient."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path as _Path

if not (_Path(__file__).parent / "bprop").is_dir():
    # A clone: there the gradient definitions lie beside the package, and an install puts them inside it.
    __path__.append(str(_Path(__file__).resolve().parents[1]))

from ._library import launch_count
from ._version import __version__
from .bprop import bind, bound, is_bound, unbind
from .functional import tanh, tanh_backward
from .layer import Tanh

__all__ = [
    "Tanh",
    "__version__",
    "bind",
    "bound",
    "is_bound",
    "launch_count",
    "tanh",
    "tanh_backward",
    "unbind",
]
