"""One network bound alone: its methods say when they run, and Graph mode gets to read a source with a marked Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import inspect
import threading
import weakref
from collections.abc import Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any, Callable, Optional

from mindspore import nn, ops

from .._mindspore import compile_and_parse_again
from .containers import KINDS, leaves, with_parts
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
        self.attributes: dict[str, tuple[Any, Any]] = state["attributes"]
        """Of the cell, each as it was and as it is while it is bound."""
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

    def __init__(self, method: Any) -> None:
        self._method: MethodType = method._method if type(method) is BoundMethod else method  # by a pickle it may be

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not _is_bound(self._method.__self__):  # any more; recompute keeps a method
            return self._method(*arguments, **named)
        registry.enter()
        try:
            return self._method(*arguments, **named)
        finally:
            registry.leave()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return MethodType

    @property
    def __func__(self) -> Callable[..., Any]:
        with _lock:  # not what another thread has half rewritten
            return _marker.read(inspect.unwrap(self._method.__func__))  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def __eq__(self, other: object) -> bool:
        return bool(self._method == (other._method if type(other) is BoundMethod else other))

    def __hash__(self) -> int:
        return hash(self._method)

    def __reduce__(self) -> Any:
        return BoundMethod, (self._method,)  # of a copy that has no Binding yet, getattr would be the method itself


class BoundFunction:
    """
    A function that is an attribute of a bound cell.

    PyNative mode calls the function itself, wrappers, closure and all. Graph mode unwraps it, and finds a source in
    which each Tanh carries the mark.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._function(*arguments, **named)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return FunctionType

    @property
    def __wrapped__(self) -> Any:
        with _lock:
            return _marker.read(inspect.unwrap(self._function))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __reduce__(self) -> Any:
        return BoundFunction, (self._function,)


def is_network_bound(net: nn.Cell) -> bool:
    """Whether every cell of the network is bound."""
    return all(_is_bound(cell) for _, cell in [*_cells(net)])


def bound_cells(net: nn.Cell) -> list[nn.Cell]:
    """The cells of the network that are bound."""
    return [cell for _, cell in _cells(net) if _is_bound(cell)]


def bind_network(net: nn.Cell) -> tuple[list[str], list[str], list[str]]:
    """
    Bind the cells of a network that are not.

    Returns:
        The places that call Tanh, one for each; the fused layers; functions whose source Graph mode would need.
    """
    registry.serve_marked()
    with _lock:
        _give_back()  # of networks that are gone, and would keep their classes alive
        _marker.forget()
        before = bound_cells(net)
        try:
            found = _bind_cells(net)
        except BaseException:
            unbind_network(net, before)
            raise
        unreadable = [*_marker.unreadable]
    compile_and_parse_again()
    return found, [_label(name, cell) for name, cell in _cells(net) if _is_fused(cell)], unreadable


def unbind_network(net: nn.Cell, but: Sequence[nn.Cell] = ()) -> None:
    """Give the cells, but for some, their own attributes back, and their classes the methods."""
    with _lock:
        for _, cell in [*_cells(net)]:
            if _KEY in cell.__dict__ and not any(cell is one for one in but):
                binding = cell.__dict__.pop(_KEY)
                for name, (before, marked) in binding.attributes.items():
                    if cell.__dict__.get(name) is not marked:  # it was changed meanwhile
                        continue
                    if before == _ABSENT:  # not `is`: it may come out of a pickle
                        delattr(cell, name)
                    else:
                        setattr(cell, name, before)
                if binding.cell is cell:  # else it is that of the cell that this one was made from
                    _alive.discard(binding)
        _marker.forget()
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
                held = leaves(value) if isinstance(value, KINDS) else ()
                inner = [one for one in held if isinstance(one, nn.Cell) and not _contains(one, net)]
                waiting += [(".".join(filter(None, (label, key))), one) for one in inner]


def _contains(outer: nn.Cell, inner: nn.Cell) -> bool:
    return any(cell is inner for _, cell in outer.cells_and_names())


def _bind(cell: nn.Cell) -> int:
    """Returns how many calls of Tanh the cell has."""
    if not _is_bound(cell):
        # A shallow copy has the Binding of another cell, and so has a cell that MindSpore makes for mixed precision.
        moved = cell.__dict__.get(_KEY)
        before = {name: value for name, (value, _) in moved.attributes.items()} if moved else {}
        cell.__dict__[_KEY] = Binding(cell, {name: (value, cell.__dict__.get(name)) for name, value in before.items()})
    binding = cell.__dict__[_KEY]
    _intercept(type(cell))
    for name, value in [*_marked_attributes(cell)]:
        held = cell.__dict__.get(name, _ABSENT)
        if name not in binding.attributes or binding.attributes[name][1] is not held:
            binding.attributes[name] = held, value
            setattr(cell, name, value)
    of_class = [value for name, value in _class_attributes(type(cell)) if name in binding.attributes]
    attributes = sum(map(_calls, [*(before for before, _ in binding.attributes.values()), *of_class]))
    return attributes + sum(_calls(function) for function in _reached_methods(type(cell)))


def _is_bound(cell: nn.Cell) -> bool:
    binding = getattr(cell, "__dict__", {}).get(_KEY)  # what is no Cell may have a method from a class of one
    return binding is not None and binding.cell is cell


def _is_fused(cell: nn.Cell) -> bool:
    return type(cell).__name__ in _FUSED and type(cell).__module__.startswith("mindspore.")


def _label(name: str, cell: nn.Cell) -> str:
    return f"{name or 'net'} ({type(cell).__name__})"


def _marked_attributes(cell: nn.Cell) -> Iterator[tuple[str, Any]]:
    for name, value in {**dict(_class_attributes(type(cell))), **dict(_own_attributes(cell))}.items():
        marked = _marked(value)
        if type(value) is MethodType and value.__self__ is cell:
            marked = BoundMethod(value)
        if marked is not value:
            yield name, marked


def _class_attributes(kind: type) -> list[tuple[str, Any]]:
    """Static methods, and values that hold a Tanh: a Cell gets attributes of its own for them."""
    found = {name: method for _, name, method in reversed([*_methods(kind, staticmethod)])}
    for one in reversed(_classes(kind)):
        found |= {name: value for name, value in [*vars(one).items()] if isinstance(value, (ops.Tanh, *KINDS))}
    return [(name, value) for name, value in found.items() if not name.startswith("__")]


def _own_attributes(cell: nn.Cell) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in [*cell.__dict__.items()] if name not in _OF_CELL]


def _marked(value: Any) -> Any:
    """The value of an attribute, with each Tanh in it marked; the same one where there is none."""
    if isinstance(value, ops.Tanh):
        return _marker.tanh
    if type(value) is FunctionType:
        function = inspect.unwrap(value)
        made = _marker.rewrite(function)
        if made is function:
            return value
        return BoundFunction(value) if type(made) is FunctionType else made
    return with_parts(value, _marked) if isinstance(value, KINDS) else value


def _calls(value: Any) -> int:
    """How many calls of Tanh a method or the value of an attribute has."""
    if isinstance(value, ops.Tanh):
        return 1
    if inspect.isfunction(value):
        return _marker.calls(inspect.unwrap(value))
    if type(value) is MethodType:
        return _calls(value.__func__)
    return sum(map(_calls, leaves(value))) if isinstance(value, KINDS) else 0


def _classes(kind: type) -> list[type]:
    """A Cell's class and those it derives from, without nn.Cell and what nn.Cell derives from."""
    return [one for one in kind.__mro__ if one not in nn.Cell.__mro__]


def _methods(kind: type, of: type = FunctionType) -> Iterator[tuple[type, str, Any]]:
    """The methods of a Cell's class and of those it derives from, each as (class, name, function)."""
    method: Any
    for one in _classes(kind):
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
            code = getattr(inspect.unwrap(function), "__code__", None)  # none where what is wrapped is no function
            if "super" not in getattr(code, "co_names", ()):
                hidden.add(name)


_intercepted: list[tuple[type, str]] = []


def _intercept(kind: type) -> None:
    for one, name, function in _methods(kind):
        if type(vars(one)[name]) is not Intercepted and (name == "construct" or _calls(function)):
            setattr(one, name, Intercepted(function))
            _intercepted.append((one, name))


def _give_back() -> None:
    """Their methods to the classes of which no cell is bound any more."""
    used = {one for binding in [*_alive] for one in _classes(type(binding.cell))}
    for kind, name in [*_intercepted]:
        if kind not in used:
            _intercepted.remove((kind, name))
            method = vars(kind).get(name)
            if type(method) is Intercepted:  # else somebody put another in its place, or took it away
                setattr(kind, name, method.function)


_marker = Marker(lambda cell: len(_bind_cells(cell)), _marked, _calls)
