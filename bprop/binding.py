"""bind, unbind, bound, is_bound: the Custom operator as the bprop of every Tanh of the process."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import contextlib
from dataclasses import dataclass
from typing import Iterator, Tuple

from .registry import registry


@dataclass(frozen=True)
class Bound:
    """What a call of :func:`bind` bound; ``int()`` of it is the count."""

    operators: Tuple[str, ...]
    mechanism: str = "MindSpore's C++ bprop registry"

    def __int__(self) -> int:
        return len(self.operators)

    def __str__(self) -> str:
        return f"every {' and '.join(self.operators)} of this process, in {self.mechanism}"


def bind() -> Bound:
    """
    Make the Custom operator the bprop of every Tanh of this process.

    Whatever spelling calls it, ``ops.tanh``, ``nn.Tanh``, ``mint.tanh``, ``Tensor.tanh`` or a layer of MindSpore's, in
    PyNative and in Graph mode, for networks built before and after. A complex Tanh keeps MindSpore's gradient. Graph
    mode keeps graphs that were compiled before: ``mindspore.ms_memory_recycle()`` makes it compile them again.
    Calling it twice is the same as once.

    Returns:
        Bound, the names of the operators that are bound; ``int()`` of it is their count.

    Raises:
        CompilerMissing: If there is no C++ compiler (a RuntimeError). `tanh` and `Tanh` work without one.
        RuntimeError: If the operator cannot be had on the current device target; the text names what is missing.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore
        >>> import mindspore_tanhbw as tbw
        >>> int(tbw.bind()) >= 1
        True
        >>> x = mindspore.Tensor([0.0, 1.0])
        >>> print(mindspore.grad(mindspore.ops.tanh)(x))
        [1.        0.4199743]
        >>> tbw.unbind()
    """
    registry.bind_every_tanh(True)
    return Bound(registry.bound_operators)


def unbind() -> None:
    """
    Undo :func:`bind`: MindSpore's registry holds the builders that it was shipped with.

    As long as `tanh` or `Tanh` are in use, their mark is looked for in each gradient of a Tanh; all
    others get MindSpore's own gradient. Calling it without a bind before is no error.

    Supported Platforms:
        ``Ascend`` ``CPU``
    """
    registry.bind_every_tanh(False)


def is_bound() -> bool:
    """
    Whether every Tanh of this process is bound.

    Returns:
        bool.

    Supported Platforms:
        ``Ascend`` ``CPU``
    """
    return registry.every_tanh


@contextlib.contextmanager
def bound() -> Iterator[Bound]:
    """
    Context manager: :func:`bind` on entry, and on exit the state from before, exception or not. It nests.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore_tanhbw as tbw
        >>> with tbw.bound():
        ...     print(tbw.is_bound())
        True
        >>> tbw.is_bound()
        False
    """
    before = registry.every_tanh
    report = bind()
    try:
        yield report
    finally:
        registry.bind_every_tanh(before)
