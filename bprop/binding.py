"""bind, unbind, bound, is_bound: the Custom operator as the bprop of every Tanh of the process or of one network."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from mindspore import nn

from .network import bind_network, bound_cells, is_network_bound, unbind_network
from .registry import registry


@dataclass(frozen=True)
class Bound:
    """What a call of :func:`bind` bound; ``int()`` of it is the count."""

    what: tuple[str, ...]
    """The operators of the process, or each place in the network that calls Tanh, as far as its source tells."""
    fused: tuple[str, ...] = ()
    """Layers of the network that compute Tanh inside one kernel: there is nothing to bind, they keep their gradient."""
    unreadable: tuple[str, ...] = ()
    """Functions of the network that call Tanh and have no source to be read, so that Graph mode cannot run them."""
    mechanism: str = "MindSpore's C++ bprop registry"

    def __int__(self) -> int:
        return len(self.what)

    def __str__(self) -> str:
        counted = [f"{place} x {n}" if n > 1 else place for place, n in Counter(self.what).items()]
        text = f"{', '.join(counted) or 'no Tanh'} bound in {self.mechanism}"
        if self.fused:
            text += f"; fused, not bound: {', '.join(self.fused)}"
        if self.unreadable:
            text += f"; not bound in Graph mode: {', '.join(self.unreadable)}"
        return text


def bind(net: Optional[nn.Cell] = None) -> Bound:
    """
    Make the Custom operator the bprop of Tanh, in a network or in the whole process.

    Whatever spelling calls it, ``ops.tanh``, ``nn.Tanh``, ``mint.tanh``, ``Tensor.tanh`` or a layer of MindSpore's, in
    PyNative and in Graph mode, for networks built before and after. A complex Tanh keeps MindSpore's gradient. Graphs
    that were compiled before are compiled again when they are next used. Calling it twice is the same as once.

    Args:
        net (nn.Cell, optional): The network: what runs inside it and inside its cells is bound. Default: ``None``,
            every Tanh of this process.

    Returns:
        Bound, what is bound; ``int()`` of it is the count.

    Raises:
        TypeError: If `net` is not a Cell.
        RuntimeError: If there is no C++ compiler (`tanh` and `Tanh` work without one), or the operator cannot be had on
            the current device target; the text names what is missing.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore
        >>> from mindspore import nn
        >>> import mindspore_tanhbw as tbw
        >>> net = nn.SequentialCell(nn.Tanh(), nn.Tanh())
        >>> int(tbw.bind(net))
        2
        >>> x = mindspore.Tensor([0.0, 1.0])
        >>> print(mindspore.grad(net)(x))
        [1.         0.24686794]
        >>> tbw.unbind(net)
    """
    if net is None:
        registry.bind_every_tanh(True)
        return Bound(tuple(f"every {name}" for name in registry.bound_operators))
    _check("bind", net)
    with _lock:
        found, fused, unreadable = map(tuple, bind_network(net))
    return Bound(found, fused, unreadable)


def unbind(net: Optional[nn.Cell] = None) -> None:
    """
    Undo :func:`bind`: the network's cells have their own construct, MindSpore's registry its own builders.

    As long as `tanh`, `Tanh` or a bound network are in use, the registry's builders of Tanh look whether they are
    meant; all others get MindSpore's own gradient. Calling it without a bind before is no error.

    Args:
        net (nn.Cell, optional): The network. Default: ``None``, what ``bind()`` bound.

    Raises:
        TypeError: If `net` is not a Cell.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> import mindspore_tanhbw as tbw
        >>> print(tbw.bind())
        every Tanh, every InplaceTanh bound in MindSpore's C++ bprop registry
        >>> tbw.unbind()
        >>> tbw.is_bound()
        False
    """
    if net is None:
        registry.bind_every_tanh(False)
    else:
        _check("unbind", net)
        with _lock:
            unbind_network(net)


def is_bound(net: Optional[nn.Cell] = None) -> bool:
    """
    Whether every Tanh of the network, or of this process, is bound.

    Args:
        net (nn.Cell, optional): The network. Default: ``None``, this process.

    Returns:
        bool. A network is bound, too, while the whole process is.

    Raises:
        TypeError: If `net` is not a Cell.

    Supported Platforms:
        ``Ascend`` ``CPU``

    Examples:
        >>> from mindspore import nn
        >>> import mindspore_tanhbw as tbw
        >>> net = nn.SequentialCell(nn.Tanh())
        >>> with tbw.bound(net):
        ...     tbw.is_bound(net), tbw.is_bound()
        (True, False)
    """
    if net is None:
        return registry.every_tanh
    _check("is_bound", net)
    return registry.every_tanh or is_network_bound(net)


@contextlib.contextmanager
def bound(net: Optional[nn.Cell] = None) -> Iterator[Bound]:
    """
    Context manager: :func:`bind` on entry, and on exit the state from before, exception or not. It nests.

    Args:
        net (nn.Cell, optional): As in :func:`bind`. Default: ``None``.

    Returns:
        A context manager, which gives the :class:`Bound` of :func:`bind` to ``as``.

    Raises:
        TypeError: If `net` is not a Cell.
        RuntimeError: As :func:`bind`, on entry.

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
    if net is not None:
        _check("bound", net)
    report, me = _enter(net)
    try:
        yield report
    finally:
        _leave(net, me)


_lock = threading.RLock()


@dataclass
class _Together:
    """The contexts, of any threads, that hold one binding: the last to end restores what was before the first."""

    before: bool
    cells: list[nn.Cell]
    """Those that were bound before by themselves, and stay so."""
    holders: set[object] = field(default_factory=set)


_together: dict[Optional[int], list[_Together]] = {}
"""By network; more than one where something was unbound, or a cell added, between a context and one inside it."""


def _enter(net: Optional[nn.Cell]) -> tuple[Bound, object]:
    key, me = None if net is None else id(net), object()
    with _lock:
        before = registry.every_tanh if net is None else is_network_bound(net)
        cells = [] if net is None else bound_cells(net)
        report = bind(net)
        nested = _together.setdefault(key, [])
        if not before or not nested:
            nested.append(_Together(before, cells))
        nested[-1].holders.add(me)
        return report, me


def _leave(net: Optional[nn.Cell], me: object) -> None:
    key = None if net is None else id(net)
    with _lock:
        nested = _together[key]
        for together in nested:
            together.holders.discard(me)
        while nested and not nested[-1].holders:
            together = nested.pop()
            if net is None and not together.before:
                unbind()
            elif net is not None and not together.before:
                unbind_network(net, together.cells)
        if not nested:
            del _together[key]


def _check(function: str, net: Any) -> None:
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For '{function}', 'net' must be a Cell, but got {type(net).__name__}.")
