# What an installed MindSpore wants from CANN: libraries, linked symbols, symbols looked up by name. Read from the wheel.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import re
import subprocess
from pathlib import Path

# The plugin and what it opens on its own when the device is set.
ROOTS = ("plugin/libmindspore_ascend.so*", "plugin/ascend/libhccl_plugin.so", "plugin/ascend/libmindspore_graph_ir.so",
         "libmindspore_ge_backend.so")
LOOKED_UP = re.compile(rb"\0((?:acl|rt|hal|Hccl|Aml|mstx|Msprof)(?:rt|op|mdl|tdt|prof|dump|sys)?[A-Z][A-Za-z0-9]+)(?=\0)")
OPENED = re.compile(rb"\0/?(?:lib64/)?((?:driver/)?lib(?:[a-z_]*acl|ascend|runtime|nnop|prof|ms|op)[A-Za-z0-9_]*\.so)(?=\0)")


class Wanted:
    """libraries: paths below lib64; symbols: names that must exist; both sorted."""

    def __init__(self, libraries, symbols):
        self.libraries = sorted(libraries)
        self.symbols = sorted(symbols)


def _dynamic(library):
    """NEEDED names and dynamic symbols of one library."""
    needed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    table = subprocess.run(["nm", "-D", library], check=True, capture_output=True, text=True).stdout
    defined, undefined = set(), set()
    for line in table.splitlines():
        *_, kind, name = line.split()
        if kind == "U":
            # A versioned symbol (name@GLIBC_2.2.5) belongs to the C or C++ runtime; some of the wheel's are not versioned.
            if "@" not in name:
                undefined.add(name)
        elif kind not in "wv":
            defined.add(name.split("@")[0])
    return re.findall(r"NEEDED.*\[(.+)\]", needed), defined, undefined


def wanted(mindspore):
    """What the MindSpore below this folder wants from CANN."""
    lib = Path(mindspore) / "lib"
    in_wheel = {path.name: path for path in lib.rglob("*.so*") if "gpu" not in path.parent.name}
    queue = [path for pattern in ROOTS for path in sorted(lib.glob(pattern))]
    if not queue:
        raise RuntimeError(f"this MindSpore has no Ascend plugin: nothing below {lib} matches {ROOTS[0]}")
    seen, libraries, defined, undefined, looked_up = set(), set(), set(), set(), set()
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        needed, has, lacks = _dynamic(path)
        defined |= has
        undefined |= lacks if path.is_relative_to(lib) else set()
        for name in needed if path.is_relative_to(lib) else ():
            found = in_wheel.get(name) or _runtime_library(name)
            if found is not None:
                queue.append(found)
            elif "ascend" in str(path.relative_to(lib)):
                libraries.add(name)
        if path.is_relative_to(lib) and "ascend" in path.name:
            content = path.read_bytes()
            looked_up |= {name.decode() for name in LOOKED_UP.findall(content)}
            opened = {name.decode() for name in OPENED.findall(content)}
            libraries |= {name for name in opened if Path(name).name not in in_wheel}
    missing = {name for name in undefined - defined if not re.match(r"_?Py", name)}
    return Wanted(libraries, missing | looked_up)


def _runtime_library(name):
    """The library of this machine's C or C++ runtime that has the name, else None."""
    try:
        found = subprocess.run(["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError("g++ is needed to build the CANN simulator, and was not found") from error
    path = Path(found.stdout.strip())
    return path if path.is_absolute() else None
