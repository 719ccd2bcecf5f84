# Builds the simulated CANN for the installed MindSpore, once, into a per-user cache.
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import fcntl
import hashlib
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-fno-strict-aliasing", "-Wall", "-Wextra",
         "-D_GLIBCXX_USE_CXX11_ABI=0"]  # the old ABI, as MindSpore's wheels have it
# MindSpore finds CANN by cutting paths at these words, and compiles through an unquoted command line.
UNUSABLE_IN_PATH = ("opp", "cann", "latest", " ", ":")

UNUSED_SECONDS = 30 * 24 * 3600


def cann_root():
    """The root of the simulated CANN (its lib64, include, opp); built first where that has not been done."""
    cache = _cache_folder()
    target = cache / _key()
    if not target.is_dir():
        with open(cache / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.is_dir():
                _fill(target)
                _prune(cache)
    os.utime(target)
    return target / "latest"


def _prune(cache):
    """Removes the builds that nothing has used for a month."""
    for build in cache.iterdir():
        if build.is_dir() and build.stat().st_mtime < time.time() - UNUSED_SECONDS:
            shutil.rmtree(build, ignore_errors=True)


def mindspore_folder():
    """Where MindSpore is installed, found without importing it."""
    spec = importlib.util.find_spec("mindspore")
    if spec is None or spec.origin is None:
        raise RuntimeError("MindSpore is not installed for " + sys.executable)
    return Path(spec.origin).resolve().parent


def _cache_folder():
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute()
    folder = base / "mindspore_tanhbw" / "ascend_sim"
    if any(word in str(folder) for word in UNUSABLE_IN_PATH):
        folder = Path("/var/tmp") / f"mindspore_tanhbw_ascend_sim-{os.getuid()}"
    for made in (folder.parent, folder):  # the package has its own cache in the former
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o022:
        raise RuntimeError(f"{folder} can be written by others: it is not used; set XDG_CACHE_HOME to a private folder")
    return folder


def _sources():
    return sorted(path for path in HERE.rglob("*") if path.suffix in (".cc", ".h") or path.name in ("symbols.py", "build.py", "te_version.py"))


def _key():
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(str(path.relative_to(HERE)).encode() + b"\0" + path.read_bytes() + b"\0")
    compiler = _run(["g++", "-dumpfullversion", "-dumpmachine"])
    for part in (metadata.version("mindspore"), str(mindspore_folder()), compiler):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:32]


def _run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise RuntimeError(f"{command[0]} is needed to build the CANN simulator, and was not found") from error
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def _stub(symbol):
    """Assembly of a function that tells its name to cann_sim_missing, which throws."""
    return (f'.section .rodata\n.Lname_{symbol}: .asciz "{symbol}"\n.text\n.globl {symbol}\n.type {symbol}, @function\n'
            f"{symbol}:\n  lea .Lname_{symbol}(%rip), %rdi\n  jmp cann_sim_missing@PLT\n")


def _fill(target):
    if sys.stderr.isatty():
        print("cann_sim: building the simulator, once for this MindSpore", file=sys.stderr)
    if __package__:
        from .symbols import wanted
    else:
        from symbols import wanted
    scratch = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
    try:
        root = scratch / "latest"
        lib64 = root / "lib64"
        lib64.mkdir(parents=True)
        want = wanted(mindspore_folder())
        objects = _compile(scratch)
        library = lib64 / "libcann_sim.so"
        own = {line.split()[-1] for o in objects for line in _run(["nm", "--defined-only", "-g", o]).splitlines() if line}
        stubs = [symbol for symbol in want.symbols if symbol not in own]
        assembly = scratch / "stubs.s"
        assembly.write_text("".join(map(_stub, stubs)) + '.section .note.GNU-stack,"",@progbits\n', encoding="utf-8")
        _run(["g++", "-shared", "-o", library, *objects, assembly, "-pthread", "-ldl", "-Wl,-z,defs"])
        for name in want.libraries:
            link = lib64 / name
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(library.name if link.parent == lib64 else f"../{library.name}")
        shutil.copytree(HERE / "include", root / "include")
        _versions(root)
        (root / "symbols.txt").write_text(
            "".join(f"{'stub' if s in set(stubs) else 'simulated'} {s}\n" for s in want.symbols), encoding="utf-8")
        shutil.rmtree(scratch / "objects")
        assembly.unlink()
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _compile(scratch):
    folder = scratch / "objects"
    folder.mkdir()
    sources = sorted((HERE / "src").rglob("*.cc"))
    outputs = [folder / f"{source.stem}.o" for source in sources]
    # The largest first, so that no processor waits for it at the end.
    order = sorted(range(len(sources)), key=lambda i: -sources[i].stat().st_size)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(_run, ["g++", *FLAGS, f"-I{HERE / 'include'}", f"-I{HERE / 'src'}", "-c", sources[i],
                                   "-o", outputs[i]]) for i in order]
        for job in jobs:
            job.result()
    return outputs


def _versions(root):
    """The files that MindSpore reads a CANN version from; they say the version that this MindSpore expects."""
    expected = mindspore_folder() / "lib/plugin/ascend/custom_ascendc_910b/version.info"
    text = expected.read_text(encoding="utf-8") if expected.is_file() else ""
    version = text.split("=", 1)[1].split()[0] if "=" in text else "8.2.0"
    te = root / "opp/built-in/op_impl/ai_core/tbe/te"
    te.mkdir(parents=True)
    (te / "__init__.py").write_text((HERE / "te_version.py").read_text(encoding="utf-8").replace("VERSION", version),
                                    encoding="utf-8")
    (root / "opp_kernel").mkdir()  # up to 2.7, its absence is an error
    (root / "compiler").mkdir()
    (root / "compiler/version.info").write_text(f"Version={version}\n", encoding="utf-8")


if __name__ == "__main__":
    print(cann_root())
