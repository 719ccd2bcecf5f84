# The environment in which a child process finds the simulated CANN.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import os
import re

try:
    from .build import cann_root
except ImportError:  # run.py is a script: its folder, not the package, is on the path
    from build import cann_root

CHIP = re.compile(r"Ascend\d{3}\w*")
FAILURE = re.compile(r"\w+=-?[1-9]\d*(@[1-9]\d*)?")


def environment(trace=None, soc=None, fail=(), workspace=None, base=None):
    """Environment variables for a child process that runs on the simulated Ascend.

    trace: file that gets one JSON line per CANN call; soc: chip name, "Ascend910B1" by default;
    fail: one "CALL=STATUS[@N]" or a list of them; workspace: bytes every operator asks for;
    base: the environment to start from, os.environ by default. Builds the simulator if that was not done yet.
    """
    root = cann_root()
    env = dict(os.environ if base is None else base)
    for name in ("CANN_SIM_TRACE", "CANN_SIM_SOC", "CANN_SIM_FAIL", "CANN_SIM_WORKSPACE"):
        env.pop(name, None)
    env["ASCEND_HOME_PATH"] = env["ASCEND_TOOLKIT_HOME"] = str(root)
    env["ASCEND_OPP_PATH"] = str(root / "opp")
    env["CANN_SIM_LIBRARY"] = str(root / "lib64/libcann_sim.so")
    _prepend(env, "LD_LIBRARY_PATH", root / "lib64")
    _prepend(env, "PYTHONPATH", root / "opp/built-in/op_impl/ai_core/tbe")
    # Below errors, MindSpore reports files of a real driver that are not there.
    env.setdefault("GLOG_v", "3")
    failures = [fail] if isinstance(fail, str) else list(fail)
    for failure in failures:
        if not FAILURE.fullmatch(failure):
            raise ValueError(f"{failure!r} is not CALL=STATUS[@N] with a status other than 0")
    if failures:
        env["CANN_SIM_FAIL"] = ";".join(failures)
    if trace is not None:
        env["CANN_SIM_TRACE"] = os.path.abspath(trace)
    if soc is not None:
        if not CHIP.fullmatch(soc):
            raise ValueError(f"{soc!r} is no chip: Ascend910A, Ascend910B1 and the like are")
        env["CANN_SIM_SOC"] = soc
    if workspace is not None:
        if int(workspace) < 0:
            raise ValueError(f"workspace is {workspace}, a number of bytes from 0 on is wanted")
        env["CANN_SIM_WORKSPACE"] = str(int(workspace))
    return env


def _prepend(env, name, folder):
    """Puts the folder first in a search path, once."""
    rest = [part for part in env.get(name, "").split(":") if part and part != str(folder)]
    env[name] = ":".join([str(folder), *rest])
