"""Names of ``zarr.core._json``: metadata documents in buffers and stores."""

from __future__ import annotations

import json
from typing import Any

from zarrix._runtime.buffers import default_buffer_prototype

__all__ = [
    "buffer_to_json",
    "buffer_to_json_object",
    "get_json",
    "json_equal",
    "json_to_buffer",
    "set_json",
]


def buffer_to_json(buffer: Any) -> Any:
    """The JSON value in a buffer."""
    return json.loads(buffer.to_bytes())


def buffer_to_json_object(buffer: Any) -> dict[str, Any]:
    """The JSON object in a buffer.

    Raises
    ------
    TypeError
        It is another JSON value.
    """
    found = buffer_to_json(buffer)
    if isinstance(found, dict):
        return found
    raise TypeError(f"the document is a {type(found).__name__}, and not an object")


def json_to_buffer(
    obj: Any, *, prototype: Any = None, indent: int | None = None, allow_nan: bool = True
) -> Any:
    """A JSON value in a buffer; `ValueError` for NaN that is not allowed."""
    text = json.dumps(obj, indent=indent, allow_nan=allow_nan)
    return (prototype or default_buffer_prototype()).buffer.from_bytes(text.encode())


def json_equal(a: Any, b: Any) -> bool:
    """Whether two values are the same JSON: true is not 1, and 1.0 is not 1."""
    return json.dumps(a) == json.dumps(b)


async def get_json(store: Any, key: str, *, byte_range: Any = None) -> Any:
    """The JSON value under a key of a store; None if there is none."""
    found = await store.get(key, default_buffer_prototype(), byte_range)
    return None if found is None else buffer_to_json(found)


async def set_json(
    store: Any,
    key: str,
    obj: Any,
    *,
    prototype: Any = None,
    indent: int | None = None,
    allow_nan: bool = True,
) -> None:
    """Store a JSON value under a key."""
    value = json_to_buffer(obj, prototype=prototype, indent=indent, allow_nan=allow_nan)
    await store.set(key, value)
