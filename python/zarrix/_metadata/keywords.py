"""The keyword arguments of functions that create and open: their types, and which there are.

Functions that pass keywords on name them by a `TypedDict`, so that checkers of types see a mistake.
`takes` has the same mistake refused when the program runs, before anything is looked at, and gives
the function a signature that shows every keyword, for ``help()`` and for completion.
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
    """What `create` takes in the words of h5py and of zarr-python 3."""

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
    """The same, with what only `create` takes."""

    storage_options: Mapping[str, Any] | None
    data: Any
    mode: Mode | None


class RestKeywords(WordKeywords, total=False):
    """Of a new array in a group, but for its shape, dtype and fill value."""

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
    """Of `Group.create_dataset`, but for what it names itself."""

    fill_value: Any


class RequireKeywords(DatasetKeywords, total=False):
    """Of `Group.require_dataset`, but for what it names itself."""

    data: Any


class MemberKeywords(RestKeywords, total=False):
    """Of a new array in a group, but for its shape and fill value."""

    dtype: Any


class MemberLikeKeywords(MemberKeywords, total=False):
    """Of a new array in a group that is made like another, but for its fill value."""

    shape: Any


class MemberShapeKeywords(MemberLikeKeywords, total=False):
    """Of a new array in a group whose shape may be that of its data."""

    fill_value: Any


class MemberDataKeywords(MemberShapeKeywords, total=False):
    """Of `Group.create`."""

    data: Any
    write_data: bool


class CreateKeywords(MemberKeywords, total=False):
    """Of a new array, but for its shape and fill value."""

    store: Any
    path: str | None
    chunk_store: Any


class LikeKeywords(CreateKeywords, total=False):
    """Of a new array that is made like another, but for its fill value."""

    shape: Any


class ArrayKeywords(LikeKeywords, total=False):
    """Of a new array."""

    fill_value: Any


class OpenGroupKeywords(TypedDict, total=False):
    """Of `open_consolidated`, but for what it names itself."""

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
    """Of `Group.require_array`, but for what it names itself."""

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
    """Of `Group.create_array`."""

    shape: Any
    dtype: Any


class OpenLikeKeywords(WordKeywords, total=False):
    """Of `open_array` but for the store, its format and its path."""

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
    """Of `open`, but for what it names itself."""

    shape: Any
    use_consolidated: bool | str | None


class OpenArrayKeywords(OpenLikeKeywords, total=False):
    """Of `open_like`, but for what it names itself."""

    shape: Any
    mode: Mode
    zarr_version: Format | None
    zarr_format: Format | None
    storage_options: Mapping[str, Any] | None


_PLAIN = {"Format": "int", "Order": "str"}


def completable(cls: type[T]) -> type[T]:
    """A class whose properties are typed for checkers, and can be completed in IPython.

    Its completer evaluates what properties are annotated with, and fails at a Literal (jedi 0.19
    and 0.20), with all completions of the object.
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
    """Refuse unknown keywords before anything else happens, and show all known ones.

    What begins with an underscore is passed by this package only, and is not shown.

    Parameters
    ----------
    more : TypedDict, optional
        The keywords that the function passes on, beyond those that it names.
    like : function, optional
        Where the defaults of those are.
    refused : mapping of str to str, optional
        Keywords of other functions of this kind, and what is said of them.
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
    """The signature of a function with each keyword of ``more`` in place of ``**kwargs``."""
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
