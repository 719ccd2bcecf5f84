"""Gradient definitions: the Custom operator as the bprop of Tanh, and the bprop of the operator itself."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

if __name__ == "bprop":
    raise ImportError("This folder is the package mindspore_tanhbw.bprop; import it under that name.")

from .binding import Bound, bind, bound, is_bound, unbind

__all__ = ["Bound", "bind", "bound", "is_bound", "unbind"]
