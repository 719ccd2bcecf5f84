# The package te of the simulated CANN: it tells its version and compiles nothing.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
#
# MindSpore imports te to check the version, and complains on stderr where it cannot; and again to register operators
# written in TBE, which it leaves out where it cannot. So the first import is answered and every other one refused.
import sys


class _Version:
    @property
    def version(self):
        sys.modules.pop("te", None)  # the next import asks again
        return "VERSION"


_frame = sys._getframe(1)
while _frame is not None and "importlib" in _frame.f_code.co_filename:
    _frame = _frame.f_back
if _frame is None or not _frame.f_globals.get("__name__", "").endswith("_check_version"):
    raise ImportError("the simulated CANN compiles no operators written in TBE")
version = _Version()
