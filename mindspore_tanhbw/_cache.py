"""The build cache: what is compiled at run time, once per user, safe for any number of processes at once."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Callable

VARIABLE = "MINDSPORE_TANHBW_CACHE"
_DIGEST = "sha256"


def folder() -> Path:
    """
    The cache folder, absolute: ``$MINDSPORE_TANHBW_CACHE``, else mindspore_tanhbw in the user's cache folder.

    Raises:
        RuntimeError: If it cannot be made, belongs to somebody else, or others may write to it.
    """
    named = os.environ.get(VARIABLE)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not named and home.startswith("~"):  # no HOME, and a user whom the system does not know
        raise RuntimeError(_advice(Path(home, "mindspore_tanhbw"), "has no place: there is no home folder"))
    path = Path(os.path.abspath(named or f"{home}/mindspore_tanhbw"))
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        raise RuntimeError(_advice(path, f"cannot be made: {error.strerror}")) from error
    if status.st_uid != os.geteuid():
        raise RuntimeError(_advice(path, f"belongs to user {status.st_uid}, not to you ({os.geteuid()})"))
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise RuntimeError(_advice(path, "can be written by others (chmod 700 mends that)"))
    return path


def fetch(name: str, key: Iterable[str], build: Callable[[Path], None]) -> Path:
    """
    The file `name` that `build` makes, from the cache if it is there.

    Args:
        name (str): The file's name.
        key (Iterable[str]): All that the file's content depends on.
        build (Callable): Gets the path to write to. Whatever it raises is passed on, and nothing is kept.

    Returns:
        Path, the file in the cache.

    Raises:
        RuntimeError: If the cache folder cannot be used.
    """
    root = folder()
    entry = root / f"{name}-{hashlib.sha256(chr(0).join(key).encode()).hexdigest()[:24]}"
    if not _whole(entry, name):
        with _locked(entry.with_suffix(".lock")):
            if not _whole(entry, name):
                _fill(root, entry, name, build)
    return entry / name


def _fill(root: Path, entry: Path, name: str, build: Callable[[Path], None]) -> None:
    # This process holds the entry's lock, so whoever left these is dead.
    for left in root.glob(f"building-{entry.name}-*"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        work = Path(tempfile.mkdtemp(prefix=f"building-{entry.name}-", dir=root))
    except OSError as error:
        raise RuntimeError(_advice(root, f"cannot be written: {error.strerror}")) from error
    try:
        build(work / name)
        # A umask that lets the group write, 002 for instance, must not make it a file that _whole refuses.
        (work / name).chmod(stat.S_IMODE((work / name).stat().st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
        (work / _DIGEST).write_text(_digest(work / name))
        if entry.exists():
            # Damaged, or _whole would have taken it. Processes that have it open keep their copy.
            entry.rename(work / "damaged")
        made = work / "made"
        made.mkdir(mode=0o700)
        (work / name).rename(made / name)
        (work / _DIGEST).rename(made / _DIGEST)
        made.rename(entry)
    except OSError as error:
        raise RuntimeError(_advice(root, f"cannot be written: {error.strerror}")) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _whole(entry: Path, name: str) -> bool:
    try:
        status = (entry / name).stat()
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise RuntimeError(_advice(entry / name, "belongs to somebody else or can be written by others"))
        return (entry / _DIGEST).read_text() == _digest(entry / name)
    except OSError:
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RuntimeError(_advice(path.parent, f"cannot be written: {error.strerror}")) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise RuntimeError(_advice(path.parent, f"cannot be locked: {error.strerror}")) from error
        yield
    finally:
        os.close(descriptor)


def _advice(path: Path, what: str) -> str:
    return f"mindspore_tanhbw: the build cache {path} {what}. Set {VARIABLE} to a folder of your own."
