"""The keyword arguments of functions that create and open, with their types.

Functions that pass keywords on declare them by a `TypedDict`, so that type checkers see a mistake.
`takes` raises an error for the same mistake at run time, before anything else, and gives the
function a signature with every keyword, for ``help()`` and for completion.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict, TypeVar

from zarrix._errors import check_keywords

__all__ = [
    "ArrayKeywords",
    "CreateKeywords",
    "CreateWordKeywords",
    "DatasetKeywords",
    "Durability",
    "Format",
    "IfExists",
    "LikeKeywords",
    "MemberDataKeywords",
    "MemberKeywords",
    "MemberLikeKeywords",
    "MemberShapeKeywords",
    "Mode",
    "OpenArrayKeywords",
    "OpenGroupKeywords",
    "OpenKeywords",
    "Order",
    "RequireKeywords",
    "RestKeywords",
    "Separator",
    "V3RequireKeywords",
    "V3ShapeKeywords",
    "WordKeywords",
    "completable",
    "takes",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

Mode = Literal["r", "r+", "a", "w", "w-", "x"]
Order = Literal["C", "F"]
Format = Literal[2, 3]
Separator = Literal[".", "/"]
Durability = Literal["process", "fsync"]
IfExists = Literal["raise", "replace", "skip", "skip_initialized"]


class WordKeywords(TypedDict, total=False):
    """Keywords of `create` from h5py and zarr-python 3."""

    compression: Any
    compression_opts: Any
    fillvalue: Any
    shards: Any
    codecs: Any
    serializer: Any
    dimension_names: Any
    chunk_key_encoding: Any
    chunk_shape: Any
    compressors: Any
    attributes: Mapping[str, Any] | None
    config: Any


class CreateWordKeywords(WordKeywords, total=False):
    """The same, with keywords that only `create` has."""

    storage_options: Mapping[str, Any] | None
    data: Any
    mode: Mode | None


class RestKeywords(WordKeywords, total=False):
    """Keywords of a new array in a group, except its shape, dtype and fill value."""

    chunks: Any
    storage_options: Mapping[str, Any] | None
    compressor: Any
    order: Order
    synchronizer: Any
    overwrite: bool
    filters: Any
    cache_metadata: bool
    cache_attrs: bool
    read_only: bool
    object_codec: Any
    dimension_separator: Separator | None
    write_empty_chunks: bool | None
    zarr_version: Format | None
    zarr_format: Format | None
    meta_array: Any
    allow_pickle: bool
    storage_transformers: Any
    durability: Durability | None
    checksum: bool


class DatasetKeywords(RestKeywords, total=False):
    """Keywords of `Group.create_dataset`, except those in its own signature."""

    fill_value: Any


class RequireKeywords(DatasetKeywords, total=False):
    """Keywords of `Group.require_dataset`, except those in its own signature."""

    data: Any


class MemberKeywords(RestKeywords, total=False):
    """Keywords of a new array in a group, except its shape and fill value."""

    dtype: Any


class MemberLikeKeywords(MemberKeywords, total=False):
    """Keywords of a new array in a group that is like another, except its fill value."""

    shape: Any


class MemberShapeKeywords(MemberLikeKeywords, total=False):
    """Keywords of a new array in a group whose shape may be that of its data."""

    fill_value: Any


class MemberDataKeywords(MemberShapeKeywords, total=False):
    """Of `Group.create`."""

    data: Any
    write_data: bool


class CreateKeywords(MemberKeywords, total=False):
    """Keywords of a new array, except its shape and fill value."""

    store: Any
    path: str | None
    chunk_store: Any


class LikeKeywords(CreateKeywords, total=False):
    """Keywords of a new array that is like another, except its fill value."""

    shape: Any


class ArrayKeywords(LikeKeywords, total=False):
    """Keywords of a new array."""

    fill_value: Any


class OpenGroupKeywords(TypedDict, total=False):
    """Keywords of `open_consolidated`, except those in its own signature."""

    path: str | None
    zarr_version: Format | None
    zarr_format: Format | None
    cache_attrs: bool
    synchronizer: Any
    chunk_store: Any
    storage_options: Mapping[str, Any] | None
    meta_array: Any
    attributes: Mapping[str, Any] | None
    durability: Durability | None


class V3RequireKeywords(TypedDict, total=False):
    """Keywords of `Group.require_array`, except those in its own signature."""

    data: Any
    chunks: Any
    shards: Any
    filters: Any
    compressors: Any
    serializer: Any
    fill_value: Any
    order: Order | None
    zarr_format: Format | None
    attributes: Mapping[str, Any] | None
    chunk_key_encoding: Any
    dimension_names: Any
    storage_options: Mapping[str, Any] | None
    overwrite: bool
    config: Any
    write_data: bool
    compressor: Any
    read_only: bool
    synchronizer: Any
    cache_attrs: bool
    durability: Durability | None
    checksum: bool


class V3ShapeKeywords(V3RequireKeywords, total=False):
    """Keywords of `Group.create_array`."""

    shape: Any
    dtype: Any


class OpenLikeKeywords(WordKeywords, total=False):
    """Keywords of `open_array`, except the store, its format and its path."""

    chunks: Any
    dtype: Any
    compressor: Any
    fill_value: Any
    order: Order
    synchronizer: Any
    filters: Any
    cache_metadata: bool
    cache_attrs: bool
    object_codec: Any
    chunk_store: Any
    partial_decompress: bool | None
    write_empty_chunks: bool | None
    dimension_separator: Separator | None
    meta_array: Any
    allow_pickle: bool
    durability: Durability | None
    checksum: bool


class OpenKeywords(OpenLikeKeywords, total=False):
    """Keywords of `open`, except those in its own signature."""

    shape: Any
    use_consolidated: bool | str | None


class OpenArrayKeywords(OpenLikeKeywords, total=False):
    """Keywords of `open_like`, except those in its own signature."""

    shape: Any
    mode: Mode
    zarr_version: Format | None
    zarr_format: Format | None
    storage_options: Mapping[str, Any] | None


_PLAIN = {"Format": "int", "Order": "str"}


def completable(cls: type[T]) -> type[T]:
    """A class whose properties are typed for type checkers, and can be completed in IPython.

    IPython's completer evaluates the annotations of properties, and fails on a Literal (jedi 0.19
    and 0.20), so that the object has no completions.
    """
    for value in vars(cls).values():
        if isinstance(value, property) and value.fget is not None:
            noted = value.fget.__annotations__
            noted["return"] = {"Format": "int", "Order": "str"}.get(
                noted["return"], noted["return"]
            )
    return cls


def takes(
    more: Any = None,
    *,
    like: Callable[..., Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Raise an error for unknown keywords before anything else happens, and show all known ones.

    Keywords that begin with an underscore are private to this package, and are not shown.

    Parameters
    ----------
    more : TypedDict, optional
        The keywords that the function passes on, in addition to its own.
    like : function, optional
        The function that has their defaults.
    refused : mapping of str to str, optional
        Keywords of similar functions, and the message about each.
    """

    def decorate(function: F) -> F:
        signature = _whole_signature(function, more, like)
        kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        own = inspect.signature(function).parameters.items()
        known = {name for name, one in own if one.kind in kinds}
        known |= set() if more is None else more.__annotations__.keys()
        reasons = refused or {}

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            if not keywords.keys() <= known:
                for name in reasons.keys() & keywords.keys():
                    raise TypeError(f"{name}= {reasons[name]}")
                check_keywords(keywords, known, function.__name__)
            return function(*args, **keywords)

        checked.__signature__ = signature  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def _whole_signature(
    function: Callable[..., Any], more: Any, like: Callable[..., Any] | None
) -> inspect.Signature:
    """The signature of a function with each keyword of ``more`` instead of ``**kwargs``."""
    own = inspect.signature(function)
    named = [
        one
        for one in own.parameters.values()
        if one.kind is not one.VAR_KEYWORD and not one.name.startswith("_")
    ]
    defaults = {} if like is None else inspect.signature(like).parameters
    taken = {one.name for one in named}
    extra = []
    for name, annotation in (more.__annotations__ if more is not None else {}).items():
        if name in taken:
            continue
        default = defaults[name].default if name in defaults else None
        extra.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if default is inspect.Parameter.empty else default,
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
        )
    return own.replace(parameters=[*named, *extra])
