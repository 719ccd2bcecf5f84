"""Lists, tuples and dictionaries: what is in them, and the same with something else in them."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import copy
from collections.abc import Iterator
from typing import Any, Callable

KINDS = (list, tuple, dict)


def leaves(value: Any, above: tuple[int, ...] = ()) -> Iterator[Any]:
    """What is in the containers in a value, or the value itself; nothing where one contains itself."""
    if not isinstance(value, KINDS):
        yield value
    elif id(value) not in above:
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part, (*above, id(value)))


def with_parts(value: Any, change: Callable[[Any], Any]) -> Any:
    """A container of the same kind with `change` of each part."""
    if isinstance(value, dict):
        filled = copy.copy(value)
        filled.update({key: change(part) for key, part in value.items()})
        return filled
    changed = [change(part) for part in value]
    return type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)  # a named tuple, the first
