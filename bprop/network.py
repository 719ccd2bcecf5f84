"""One network bound alone: its methods say when they run, and Graph mode gets to read a source with a marked Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import inspect
import threading
import weakref
from collections.abc import Iterator
from types import MethodType
from typing import Any, Callable, Optional

from mindspore import nn, ops

from .._mindspore import compile_and_parse_again
from .marked import Tanh
from .registry import registry
from .source import Marker

_KEY = "_tanh_backward"
_OF_CELL = ("_primitives", "_cells", "_params")
"""Attributes with which every Cell follows what is assigned to it."""
_FUSED = ("_DynamicLSTMCPUGPU", "_DynamicLSTMAscend", "_DynamicGRUAscend")
"""By MindSpore's source, the layers of nn.LSTM and nn.GRU that are one kernel, without a Tanh of their own."""

_lock = threading.RLock()
_alive: "weakref.WeakSet[Binding]" = weakref.WeakSet()


class Binding:
    """What a bound cell carries. Copies and pickles of the cell have one of their own, and are bound, too."""

    def __init__(self, kind: type, attributes: dict[str, Any]) -> None:
        self.__setstate__({"kind": kind, "attributes": attributes})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.kind: type = state["kind"]
        self.attributes: dict[str, Any] = state["attributes"]
        """Of the cell, as they were."""
        with _lock:
            _alive.add(self)
            _intercept(self.kind)


class Intercepted:
    """In a class, in the place of a method: cells that carry a Binding get a BoundMethod, all others the method."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Callable like a method of the class, which MindSpore's rewriting for mixed precision looks at."""
        return self.function(*arguments, **named)

    def __get__(self, cell: Optional[nn.Cell], kind: Optional[type] = None) -> Any:
        if cell is None:
            return self.function
        method = MethodType(self.function, cell)
        return BoundMethod(method) if _KEY in cell.__dict__ else method


class BoundMethod:
    """
    A method while which every Tanh that is recorded is bound.

    PyNative mode calls it. Graph mode takes it for a method, and reads a source in which each Tanh carries the mark.
    """

    def __init__(self, method: MethodType) -> None:
        self._method = method

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        registry.call(+1)
        try:
            return self._method(*arguments, **named)
        finally:
            registry.call(-1)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return MethodType

    @property
    def __func__(self) -> Callable[..., Any]:
        return _marker.rewrite(inspect.unwrap(self._method.__func__))  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)


def is_network_bound(net: nn.Cell) -> bool:
    """Whether every cell of the network is bound."""
    return all(_is_bound(cell) for _, cell in net.cells_and_names())


def bind_network(net: nn.Cell) -> tuple[list[str], list[str], list[str]]:
    """
    Bind the cells of a network that are not.

    Returns:
        The places that call Tanh, one for each; the fused layers; functions whose source Graph mode would need.
    """
    registry.serve_marked()
    with _lock:
        _marker.unreadable.clear()
        found = _bind_cells(net)
        unreadable = [*_marker.unreadable]
    compile_and_parse_again()
    return found, [_label(name, cell) for name, cell in net.cells_and_names() if _is_fused(cell)], unreadable


def unbind_network(net: nn.Cell) -> None:
    """Give the cells their own attributes back, and after the last bound cell the classes their methods."""
    with _lock:
        for _, cell in net.cells_and_names():
            if _KEY in cell.__dict__:
                binding = cell.__dict__.pop(_KEY)
                for name, value in binding.attributes.items():
                    setattr(cell, name, value)
                _alive.discard(binding)
        if not _alive:
            _give_back()
    compile_and_parse_again()


def _bind_cells(net: nn.Cell) -> list[str]:
    found: list[str] = []
    for name, cell in net.cells_and_names():
        calls = _bind(cell)
        # A fused layer calls Tanh only where it cannot be fused, for instance with seq_length.
        found += [_label(name, cell)] * (0 if _is_fused(cell) else calls)
    return found


def _bind(cell: nn.Cell) -> int:
    """Returns how many calls of Tanh the cell has."""
    if not _is_bound(cell):
        # MindSpore's own rewriting, for mixed precision, moves all that a cell carries to a cell of another class.
        moved = cell.__dict__.pop(_KEY, None)
        marked = dict(_marked_attributes(cell))
        before = {name: getattr(cell, name) for name in marked}
        cell.__dict__[_KEY] = Binding(type(cell), {**before, **(moved.attributes if moved else {})})
        for name, value in marked.items():
            setattr(cell, name, value)
    attributes = sum(_calls(value) for value in cell.__dict__[_KEY].attributes.values())
    return attributes + sum(_calls(function) for _, _, function in _methods(type(cell)))


def _is_bound(cell: nn.Cell) -> bool:
    binding = cell.__dict__.get(_KEY)
    return binding is not None and binding.kind is type(cell)


def _is_fused(cell: nn.Cell) -> bool:
    return type(cell).__name__ in _FUSED and type(cell).__module__.startswith("mindspore.")


def _label(name: str, cell: nn.Cell) -> str:
    return f"{name or 'net'} ({type(cell).__name__})"


def _marked_attributes(cell: nn.Cell) -> Iterator[tuple[str, Any]]:
    for name, value in [*cell.__dict__.items()]:
        marked = _marked(value) if name not in _OF_CELL else value
        if marked is not value:
            yield name, marked


def _marked(value: Any) -> Any:
    """The value of an attribute, with each Tanh in it marked; the same one where there is none."""
    if isinstance(value, ops.Tanh):
        return _marker.tanh
    if inspect.isfunction(value):
        return _marker.rewrite(value)
    if not _calls(value):
        return value
    if type(value) is dict:
        return {key: _marked(part) for key, part in value.items()}
    return type(value)(_marked(part) for part in value)


def _calls(value: Any) -> int:
    """How many calls of Tanh a method or the value of an attribute has."""
    if isinstance(value, ops.Tanh):
        return 1
    if inspect.isfunction(value):
        return _marker.calls(inspect.unwrap(value))
    if type(value) in (list, tuple, dict):
        return sum(_calls(part) for part in (value.values() if type(value) is dict else value))
    return 0


def _methods(kind: type) -> Iterator[tuple[type, str, Any]]:
    """The methods of a Cell's class and of those it derives from, each as (class, name, function)."""
    for one in kind.__mro__[: kind.__mro__.index(nn.Cell)]:
        for name, value in [*vars(one).items()]:
            function = value.function if type(value) is Intercepted else value
            if inspect.isfunction(function) and name != "__init__":
                yield one, name, function


_intercepted: list[tuple[type, str]] = []


def _intercept(kind: type) -> None:
    for one, name, function in _methods(kind):
        if (one, name) not in _intercepted and (name == "construct" or _calls(function)):
            setattr(one, name, Intercepted(function))
            _intercepted.append((one, name))


def _give_back() -> None:
    while _intercepted:
        kind, name = _intercepted.pop()
        setattr(kind, name, vars(kind)[name].function)


_marker = Marker(Tanh(), lambda cell: len(_bind_cells(cell)))
