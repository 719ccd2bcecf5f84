"""One network bound alone: its methods say when they run, and Graph mode gets to read a source with a marked Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import inspect
import threading
import weakref
from collections.abc import Iterator
from types import FunctionType, MethodType
from typing import Any, Callable, Optional

from mindspore import nn, ops

from .._mindspore import compile_and_parse_again
from .marked import Tanh
from .registry import registry
from .source import Marker

_KEY = "_tanh_backward"
_OF_CELL = frozenset({*vars(nn.Cell()), _KEY})
"""Attributes that are no network's own."""
_ABSENT = "absent"
_FUSED = ("_DynamicLSTMCPUGPU", "_DynamicLSTMAscend", "_DynamicGRUAscend")
"""By MindSpore's source, the layers of nn.LSTM and nn.GRU that are one kernel, without a Tanh of their own."""

_lock = threading.RLock()
_alive: "weakref.WeakSet[Binding]" = weakref.WeakSet()


class Binding:
    """What a bound cell carries. Deep copies and pickles of the cell have one of their own, and are bound, too."""

    def __init__(self, cell: nn.Cell, attributes: dict[str, Any]) -> None:
        self.__setstate__({"cell": cell, "attributes": attributes})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.cell: nn.Cell = state["cell"]
        self.attributes: dict[str, Any] = state["attributes"]
        """Of the cell, as they were."""
        with _lock:
            _alive.add(self)
            _intercept(type(self.cell))


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
        return BoundMethod(method) if _is_bound(cell) else method


class BoundMethod:
    """
    A method while which every Tanh that is recorded is bound.

    PyNative mode calls it. Graph mode takes it for a method, and reads a source in which each Tanh carries the mark.
    """

    def __init__(self, method: MethodType) -> None:
        self._method = method

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not _is_bound(self._method.__self__):  # any more; recompute keeps a method
            return self._method(*arguments, **named)
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
    return all(_is_bound(cell) for _, cell in [*_cells(net)])


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
    return found, [_label(name, cell) for name, cell in _cells(net) if _is_fused(cell)], unreadable


def unbind_network(net: nn.Cell) -> None:
    """Give the cells their own attributes back, and after the last bound cell the classes their methods."""
    with _lock:
        for _, cell in [*_cells(net)]:
            if _KEY in cell.__dict__:
                binding = cell.__dict__.pop(_KEY)
                for name, value in binding.attributes.items():
                    if value == _ABSENT:
                        delattr(cell, name)
                    else:
                        setattr(cell, name, value)
                _alive.discard(binding)
        if not _alive:
            _give_back()
    compile_and_parse_again()


def _bind_cells(net: nn.Cell) -> list[str]:
    found: list[str] = []
    for name, cell in [*_cells(net)]:
        calls = _bind(cell)
        # A fused layer calls Tanh only where it cannot be fused, for instance with seq_length.
        found += [_label(name, cell)] * (0 if _is_fused(cell) else calls)
    return found


def _cells(net: nn.Cell) -> Iterator[tuple[str, nn.Cell]]:
    """The network's cells, and those in its lists, tuples and dicts, which MindSpore does not count among them."""
    seen: set[int] = set()
    waiting = [("", net)]
    for prefix, top in waiting:
        for name, cell in top.cells_and_names():
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            label = ".".join(filter(None, (prefix, name)))
            yield label, cell
            for key, value in _own_attributes(cell):
                # A list with the cell's parent, say, is a way to refer to it without containing it.
                inner = [one for one in _cells_in(value, ()) if not _contains(one, net)]
                waiting += [(".".join(filter(None, (label, key))), one) for one in inner]


def _contains(outer: nn.Cell, inner: nn.Cell) -> bool:
    return any(cell is inner for _, cell in outer.cells_and_names())


def _cells_in(value: Any, above: tuple[int, ...]) -> list[nn.Cell]:
    if not isinstance(value, (list, tuple, dict)) or id(value) in above:
        return []
    parts = value.values() if isinstance(value, dict) else value
    inner = [cell for part in parts for cell in _cells_in(part, (*above, id(value)))]
    return [part for part in parts if isinstance(part, nn.Cell)] + inner


def _bind(cell: nn.Cell) -> int:
    """Returns how many calls of Tanh the cell has."""
    if not _is_bound(cell):
        # A shallow copy has the Binding of another cell, and so has a cell that MindSpore makes for mixed precision.
        moved = cell.__dict__.pop(_KEY, None)
        marked = dict(_marked_attributes(cell))
        before = {name: cell.__dict__.get(name, _ABSENT) for name in marked}
        cell.__dict__[_KEY] = Binding(cell, {**before, **(moved.attributes if moved else {})})
        for name, value in marked.items():
            setattr(cell, name, value)
    binding = cell.__dict__[_KEY]
    static = [method for _, name, method in _methods(type(cell), staticmethod) if name in binding.attributes]
    attributes = sum(map(_calls, [*binding.attributes.values(), *static]))
    return attributes + sum(_calls(function) for function in _reached_methods(type(cell)))


def _is_bound(cell: nn.Cell) -> bool:
    binding = cell.__dict__.get(_KEY)
    return binding is not None and binding.cell is cell


def _is_fused(cell: nn.Cell) -> bool:
    return type(cell).__name__ in _FUSED and type(cell).__module__.startswith("mindspore.")


def _label(name: str, cell: nn.Cell) -> str:
    return f"{name or 'net'} ({type(cell).__name__})"


def _marked_attributes(cell: nn.Cell) -> Iterator[tuple[str, Any]]:
    static = {name: method for _, name, method in _methods(type(cell), staticmethod)}
    for name, value in [*static.items(), *_own_attributes(cell)]:
        marked = _marked(value)
        if type(value) is MethodType and value.__self__ is cell:
            marked = BoundMethod(value)
        if marked is not value:
            yield name, marked


def _own_attributes(cell: nn.Cell) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in cell.__dict__.items() if name not in _OF_CELL]


def _marked(value: Any) -> Any:
    """The value of an attribute, with each Tanh in it marked; the same one where there is none."""
    if isinstance(value, ops.Tanh):
        return _marker.tanh
    if inspect.isfunction(value):
        return _marker.rewrite(value)
    if type(value) is MethodType or not _calls(value):
        return value
    if type(value) is dict:
        return {key: _marked(part) for key, part in value.items()}
    return type(value)(_marked(part) for part in value)


def _calls(value: Any, above: tuple[int, ...] = ()) -> int:
    """How many calls of Tanh a method or the value of an attribute has; none where it contains itself."""
    if isinstance(value, ops.Tanh):
        return 1
    if inspect.isfunction(value):
        return _marker.calls(inspect.unwrap(value))
    if type(value) is MethodType:
        return _calls(value.__func__)
    if type(value) in (list, tuple, dict) and id(value) not in above:
        parts = value.values() if type(value) is dict else value
        return sum(_calls(part, (*above, id(value))) for part in parts)
    return 0


def _methods(kind: type, of: type = FunctionType) -> Iterator[tuple[type, str, Any]]:
    """The methods of a Cell's class and of those it derives from, each as (class, name, function)."""
    method: Any
    for one in kind.__mro__[: kind.__mro__.index(nn.Cell)]:
        for name, value in [*vars(one).items()]:
            method = value.function if type(value) is Intercepted else value
            if isinstance(method, of) and name != "__init__":
                yield one, name, method if of is FunctionType else getattr(method, "__func__")  # noqa: B009


def _reached_methods(kind: type) -> Iterator[Any]:
    """Without those that another overrides, unless it calls super()."""
    hidden = set()
    for _, name, function in _methods(kind):
        if name not in hidden:
            yield function
            if "super" not in inspect.unwrap(function).__code__.co_names:
                hidden.add(name)


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
