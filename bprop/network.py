"""One network bound alone: its methods say when they run, and Graph mode gets to read a source with a marked Tanh."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import inspect
from types import MethodType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from mindspore import nn, ops

from .._mindspore import forget_compiled_graphs
from .marked import Tanh
from .registry import registry
from .source import Marker

_FUSED = ("_DynamicLSTMCPUGPU", "_DynamicLSTMAscend", "_DynamicGRUAscend")
"""By MindSpore's source, the layers of nn.LSTM and nn.GRU that are one kernel, without a Tanh of their own."""


class BoundMethod:
    """
    In the place of a cell's method: every Tanh that is recorded while it runs is bound.

    PyNative mode calls it. Graph mode takes it for the method, and reads a source in which each Tanh carries the mark.
    """

    def __init__(self, cell: nn.Cell, name: str, marker: Marker) -> None:
        self._cell = cell
        self._name = name
        self._marker = marker
        self._before: Optional[Callable[..., Any]] = cell.__dict__.get(name)
        self.attributes: Dict[str, Any] = {}
        """Of the cell, as they were."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        registry.call(+1)
        try:
            return self._method(*arguments, **named)
        finally:
            registry.call(-1)

    # A real method would not survive pickle, which looks it up by its name.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return MethodType

    @property
    def __func__(self) -> Callable[..., Any]:
        return self._marker.rewrite(inspect.unwrap(self._method.__func__))  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if "_cell" not in self.__dict__:  # a copy that is not filled yet
            raise AttributeError(name)
        return getattr(self._method, name)

    @property
    def _method(self) -> Any:
        return self._before or getattr(type(self._cell), self._name).__get__(self._cell)

    def undo(self) -> None:
        """Give the cell back what it had."""
        for name, value in self.attributes.items():
            setattr(self._cell, name, value)
        if self._before is None:
            del self._cell.__dict__[self._name]
        else:
            self._cell.__dict__[self._name] = self._before


def is_network_bound(net: nn.Cell) -> bool:
    """Whether every cell of the network is bound."""
    return all(_is_bound(cell) for _, cell in net.cells_and_names())


def bind_network(net: nn.Cell) -> Tuple[List[str], List[str]]:
    """
    Bind the cells of a network that are not.

    Returns:
        The places that call Tanh, one for each, and the fused layers.
    """
    registry.serve_marked()
    marker = Marker(Tanh(), lambda cell: len(_bind_cells(cell, marker)))
    found = _bind_cells(net, marker)
    forget_compiled_graphs()
    return found, [_label(name, cell) for name, cell in net.cells_and_names() if _is_fused(cell)]


def unbind_network(net: nn.Cell) -> None:
    """Give the cells their own methods and attributes back."""
    for _, cell in net.cells_and_names():
        for method in [value for value in cell.__dict__.values() if type(value) is BoundMethod]:
            method.undo()
    forget_compiled_graphs()


def _bind_cells(net: nn.Cell, marker: Marker) -> List[str]:
    found: List[str] = []
    for name, cell in net.cells_and_names():
        calls = _bind(cell, marker)
        # A fused layer calls Tanh only where it cannot be fused, for instance with seq_length.
        found += [_label(name, cell)] * (0 if _is_fused(cell) else calls)
    return found


def _is_fused(cell: nn.Cell) -> bool:
    return type(cell).__name__ in _FUSED and type(cell).__module__.startswith("mindspore.")


def _label(name: str, cell: nn.Cell) -> str:
    return f"{name or 'net'} ({type(cell).__name__})"


def _bind(cell: nn.Cell, marker: Marker) -> int:
    """Returns how many calls of Tanh the cell has."""
    methods = {name: inspect.unwrap(method) for name, method in _methods(cell) if marker.calls(inspect.unwrap(method))}
    attributes = {name: marked for name, marked in _marked_attributes(cell, marker)}
    if not _is_bound(cell):
        for name in {*methods, "construct"}:
            cell.__dict__[name] = BoundMethod(cell, name, marker)
        cell.__dict__["construct"].attributes = {name: getattr(cell, name) for name in attributes}
        for name, value in attributes.items():
            setattr(cell, name, value)
    return len(attributes) + sum(marker.calls(method) for method in methods.values())


def _is_bound(cell: nn.Cell) -> bool:
    return type(cell.__dict__.get("construct")) is BoundMethod


def _methods(cell: nn.Cell) -> Iterator[Tuple[str, Any]]:
    kinds = type(cell).__mro__[: type(cell).__mro__.index(nn.Cell)]
    for name in {name for kind in kinds for name in vars(kind)}:
        if inspect.isfunction(getattr(type(cell), name)) and name != "__init__":
            yield name, getattr(type(cell), name)


def _marked_attributes(cell: nn.Cell, marker: Marker) -> Iterator[Tuple[str, Any]]:
    for name, value in [*cell.__dict__.items()]:
        if isinstance(value, ops.Tanh):
            yield name, marker.tanh
        elif inspect.isfunction(value):
            marked = marker.rewrite(value)
            if marked is not value:
                yield name, marked
