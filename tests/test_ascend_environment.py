"""CANN on Ascend: what is missing is named, with how to set it, and any folder will do."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import json

CANN = """
import os, shutil
from pathlib import Path

SIMULATED = Path(os.environ["ASCEND_OPP_PATH"]).parent
FUNCTIONS = b"\\0aclnnTanhBackward\\0aclnnTanhBackwardGetWorkspaceSize\\0"

def cann(folder, **libraries):
    root = Path(folder).absolute()
    shutil.copytree(SIMULATED / "include", root / "include")
    (root / "lib64").mkdir()
    for name, content in libraries.items():
        (root / "lib64" / f"{name}.so").write_bytes(content)
    os.environ["ASCEND_OPP_PATH"] = str(root / "opp")

def compute():
    return Backward()(Tensor(G), Tensor(Y)).asnumpy().tolist()
"""

BROKEN = {
    "unset": ("del os.environ['ASCEND_OPP_PATH']", ["ASCEND_OPP_PATH is not set"]),
    "no header": ("os.environ['ASCEND_OPP_PATH'] = os.path.abspath('opp')", ["aclnn_tanh_backward.h is missing"]),
    "no library": ("cann('none')", ["none/lib64/libopapi.so is missing"]),
    "empty library": ("cann('empty', libopapi=b'')", ["empty/lib64/libopapi.so", "no function aclnnTanhBackward."]),
    "no symbol": ("cann('other', libopapi=b'nothing')", ["other/lib64/libopapi.so", "no function aclnnTanhBackward."]),
    "half": (
        "cann('half', libopapi=FUNCTIONS[:19])",
        ["half/lib64/libopapi.so", "no function aclnnTanhBackwardGetWorkspaceSize."],
    ),
}


def test_what_cann_lacks_is_named(traced):
    cases = {name: broken for name, (broken, _) in BROKEN.items()}
    printed, calls = traced(
        CANN
        + f"""
import json
messages, working = {{}}, dict(os.environ)
for name, broken in {cases!r}.items():
    exec(broken)
    try:
        compute()
    except RuntimeError as error:
        messages[name] = str(error)
    os.environ.update(working)
print(json.dumps(messages))
"""
    )
    messages = json.loads(printed)
    for name, (_, texts) in BROKEN.items():
        for text in [*texts, "ASCEND_OPP_PATH", "set_env.sh"]:
            assert text in messages[name], name
    assert calls == []


def test_what_the_build_lacks_is_named(traced):
    printed, calls = traced(
        """
import os
working = dict(os.environ)
for name, broken in (("CXX", "/nonexistent/g++"), ("MINDSPORE_TANHBW_CACHE", "/proc/none")):
    os.environ[name] = broken
    try:
        Backward()(Tensor(G), Tensor(Y))
    except RuntimeError as error:
        print(error)
    os.environ.pop(name)
    os.environ.update(working)
"""
    )
    compiler, cache = printed.splitlines()
    assert "/nonexistent/g++" in compiler and "apt-get install g++" in compiler
    assert "/proc/none" in cache and "MINDSPORE_TANHBW_CACHE" in cache
    assert calls == []


def test_any_folder_will_do(traced):
    # A second opp in the path, and spaces: where MindSpore cuts paths and leaves them unquoted.
    printed, calls = traced(
        CANN
        + """
cann("opp of mine/my cann", libopapi=FUNCTIONS)
print(compute())
"""
    )
    assert json.loads(printed) == [[0.75, 1.875, 3.0], [3.0, 0.0, -18.0]]
    assert len(calls) == 1


def test_functions_in_a_library_of_their_own_are_found(traced):
    _, calls = traced(
        CANN
        + """
cann("split", libopapi=b"linked with the other", libopapi_math=FUNCTIONS)
compute()
"""
    )
    assert len(calls) == 1
