"""Settings of this process, typed, each with an environment variable.

There is one object, ``zarrix.config``. Assigning to an attribute takes effect at once; calling it
sets several, and as a context manager puts the old values back:

    with zarrix.config(threads=2, durability="fsync"):
        ...

Nothing on the path of a read looks here: what a read needs is given to the engine beforehand.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal

from zarrix import _engine
from zarrix._errors import suggestion

__all__ = ["Config", "config"]

_GIB = 1 << 30


class Config:
    """Process-wide settings.

    Attributes
    ----------
    threads : int
        Size of the engine's worker pool (``ZARRIX_THREADS``); by default the CPUs that this
        process may use.
    default_zarr_format : 2, 3 or None
        Format that every creating function uses where its call names none
        (``ZARRIX_DEFAULT_ZARR_FORMAT``). None, the default, leaves it to the function.
    durability : "process" or "fsync"
        What a finished write survives (``ZARRIX_DURABILITY``): the end of this process, however
        it comes, or also the loss of power.
    max_chunk_bytes : int
        Largest decoded chunk that is accepted from a metadata document or created
        (``ZARRIX_MAX_CHUNK_BYTES``); by default half the physical memory, at least 2 GiB.
        A document that claims more would otherwise make a read allocate it.

    Examples
    --------
    >>> config = Config()
    >>> with config(durability="fsync"):
    ...     config.durability
    'fsync'
    >>> config.durability
    'process'
    """

    __slots__ = ("_default_zarr_format", "_durability", "_max_chunk_bytes")

    def __init__(self) -> None:
        self._default_zarr_format: Literal[2, 3] | None = None
        self._durability: Literal["process", "fsync"] = "process"
        self._max_chunk_bytes = max(2 * _GIB, _physical_memory() // 2)
        for name, parse in _VARIABLES.items():
            variable = f"ZARRIX_{name.upper()}"
            text = os.environ.get(variable, "").strip()
            if text:
                try:
                    setattr(self, name, parse(text))
                except ValueError as error:
                    raise ValueError(f"environment variable {variable}={text!r}: {error}") from None

    @property
    def threads(self) -> int:
        return _engine.threads()

    @threads.setter
    def threads(self, count: int) -> None:
        _engine.set_threads(_whole_number("threads", count, least=1))

    @property
    def default_zarr_format(self) -> Literal[2, 3] | None:
        return self._default_zarr_format

    @default_zarr_format.setter
    def default_zarr_format(self, value: Literal[2, 3] | None) -> None:
        if value not in (2, 3, None):
            raise ValueError(f"default_zarr_format must be 2, 3 or None, not {value!r}")
        self._default_zarr_format = value

    @property
    def durability(self) -> Literal["process", "fsync"]:
        return self._durability

    @durability.setter
    def durability(self, value: Literal["process", "fsync"]) -> None:
        if value not in ("process", "fsync"):
            raise ValueError(f"durability must be 'process' or 'fsync', not {value!r}")
        self._durability = value

    @property
    def max_chunk_bytes(self) -> int:
        return self._max_chunk_bytes

    @max_chunk_bytes.setter
    def max_chunk_bytes(self, value: int) -> None:
        self._max_chunk_bytes = _whole_number("max_chunk_bytes", value, least=1)

    def __call__(self, **settings: Any) -> _Restore:
        """Set several settings at once; use the result in ``with`` to put the old ones back.

        Raises
        ------
        TypeError
            A setting does not exist; the message suggests the closest.
        ValueError
            A value is not allowed; no setting has changed then.
        """
        for name in settings:
            if name not in _VARIABLES:
                raise TypeError(f"config has no setting {name!r}{suggestion(name, _VARIABLES)}")
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
        except (TypeError, ValueError):
            _Restore(self, before).__exit__(None, None, None)
            raise
        return _Restore(self, before)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in _VARIABLES)
        return f"zarrix.config({values})"


class _Restore:
    """Puts settings back at the end of a ``with`` block."""

    __slots__ = ("_before", "_config")

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self._before = before

    def __enter__(self) -> Config:
        return self._config

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name, value in self._before.items():
            setattr(self._config, name, value)


def _whole_number(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    number = value.__index__()
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return int(number)


def _parse_format(text: str) -> int | str:
    return int(text) if text.isdigit() else text


_VARIABLES: dict[str, Callable[[str], Any]] = {
    "threads": int,
    "default_zarr_format": _parse_format,
    "durability": str,
    "max_chunk_bytes": int,
}


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 4 * _GIB


config = Config()
