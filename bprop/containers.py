"""Lists, tuples and dictionaries: what is in them, and the same with something else in them."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import copy
from collections.abc import Iterator
from typing import Any, Callable

KINDS = (list, tuple, dict)


def _parts(value: Any) -> list[Any]:
    """A copy: other threads may change the container meanwhile."""
    return [*(value.values() if isinstance(value, dict) else value)]


def leaves(value: Any, above: tuple[int, ...] = ()) -> Iterator[Any]:
    """What is in the containers in a value, or the value itself; nothing where one contains itself."""
    if not isinstance(value, KINDS):
        yield value
    elif id(value) not in above:
        for part in _parts(value):
            yield from leaves(part, (*above, id(value)))


def with_parts(value: Any, change: Callable[[Any], Any], above: tuple[int, ...] = ()) -> Any:
    """The same with `change` of each of its leaves; the value itself where that changes nothing."""
    if not isinstance(value, KINDS):
        return change(value)
    if id(value) in above:
        return value
    above = (*above, id(value))
    before = _parts(value)
    parts = [with_parts(part, change, above) for part in before]
    if all(part is one for part, one in zip(parts, before)):
        return value
    if isinstance(value, tuple):
        return tuple.__new__(type(value), parts)
    filled = copy.copy(value)  # what its class makes of arguments is not known
    for key, part in zip(value if isinstance(value, dict) else range(len(parts)), parts):
        filled[key] = part
    return filled
