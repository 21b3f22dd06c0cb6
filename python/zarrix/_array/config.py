"""Settings of an array object, which are not stored: ``config=``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from zarrix._errors import suggestion
from zarrix._runtime.config import config, order_of_arrays

__all__ = ["ArrayConfig"]


@dataclass(frozen=True)
class ArrayConfig:
    """Settings of an array object, which are not stored.

    Attributes
    ----------
    order : {"C", "F"}
        The order in memory of what is read. An array of v2 has it in its metadata instead, where it
        is the order of the chunks as well.
    write_empty_chunks : bool
        Whether chunks that hold only the fill value are stored.
    read_missing_chunks : bool
        Whether missing chunks read as the fill value; otherwise reading one is an error.
    """

    order: str = "C"
    write_empty_chunks: bool = False
    read_missing_chunks: bool = True

    @classmethod
    def of(cls, value: Any, base: ArrayConfig) -> ArrayConfig:
        """``base`` with the settings of ``config=``: a mapping, or the config of another array."""
        return replace(base, **cls.given(value))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ArrayConfig:
        """The settings of ``data``, and for all others those that new array objects have.

        Parameters
        ----------
        data : mapping of str to object

        Returns
        -------
        ArrayConfig

        Raises
        ------
        TypeError
            A name in ``data`` is not that of a setting; the message has a similar one.

        Examples
        --------
        >>> from zarrix.core.array import ArrayConfig
        >>> ArrayConfig.from_dict({"order": "F"}).to_dict()
        {'order': 'F', 'write_empty_chunks': False, 'read_missing_chunks': True}
        """
        empty = bool(config.write_empty_chunks)
        missing = config.read_missing_chunks
        return cls.of(data, cls(order_of_arrays(), empty, missing))

    def to_dict(self) -> dict[str, Any]:
        """The settings by their names, as ``config=`` takes them.

        Returns
        -------
        dict of str to object

        Examples
        --------
        >>> from zarrix.core.array import ArrayConfig
        >>> ArrayConfig().to_dict()["order"]
        'C'
        """
        return vars(self).copy()

    @classmethod
    def given(cls, value: Any) -> dict[str, Any]:
        """The settings of ``config=``: a mapping, or the config of another array."""
        if value is None:
            return {}
        names = [one.name for one in fields(cls)]
        settings = value if isinstance(value, Mapping) else vars(value)
        for name in settings:
            if name not in (*names, *_IGNORED):
                raise TypeError(f"config has no setting {name!r}{suggestion(name, names)}")
        return {name: one for name, one in settings.items() if name in names}

    @classmethod
    def keywords(cls, value: Any, write_empty_chunks: bool | None = None) -> dict[str, Any]:
        """The arguments of `Array` from ``config=`` and an explicit ``write_empty_chunks``."""
        given = {} if value is None else cls.given(value)
        if write_empty_chunks is not None:
            given["write_empty_chunks"] = write_empty_chunks
        return given


# Settings of zarr-python that have no effect here.
_IGNORED = (
    "sharding_coalesce_max_gap_bytes",
    "sharding_coalesce_max_bytes",
    "rectilinear_chunks",
    "target_shard_size_bytes",
    "allow_unsafe_pickle_decode",
)


# Pickles name a class by its module: a public one, which does not move.
ArrayConfig.__module__ = "zarrix.core.array"
