"""Signatures of functions that pass keywords on, and of properties.

`takes` refuses unknown keywords when the program runs, before anything is looked at, and gives the
function a signature that shows every keyword, for ``help()`` and for completion.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from zarrix._errors import suggestion

__all__ = ["check_keywords", "completable", "takes"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_PLAIN = {"Format": "int", "Order": "str"}


def completable(cls: type[T]) -> type[T]:
    """A class whose properties are typed for type checkers, and can be completed in IPython.

    IPython's completer evaluates the annotations of properties, and fails on a Literal (jedi 0.19
    and 0.20), so that the object has no completions.
    """
    for value in vars(cls).values():
        if isinstance(value, property) and value.fget is not None:
            noted = value.fget.__annotations__
            noted["return"] = _PLAIN.get(noted["return"], noted["return"])
    return cls


def takes(
    more: Any = None,
    *,
    like: Callable[..., Any] | None = None,
    refused: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Raise an error for unknown keywords before anything else happens, and show all known ones.

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
        known = set(_names(function))
        known |= set() if more is None else more.__annotations__.keys()
        reasons = refused or {}

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            if not keywords.keys() <= known:
                for name in reasons.keys() & keywords.keys():
                    raise TypeError(f"{name}= {reasons[name]}")
                check_keywords(keywords, known, function.__name__)
            return function(*args, **keywords)

        checked.__signature__ = _WholeSignature(function, more, like)  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters of a function that can be passed by name."""
    code = function.__code__
    return code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]


class _WholeSignature(inspect.Signature):
    """The signature of a function with each keyword of ``more`` instead of ``**kwargs``.

    It is computed when it is first asked for: computing all of them takes about a tenth of the
    time of the import of this package, and only ``help()`` and completion ask.
    """

    __slots__ = ("_like", "_more", "_of", "_whole")

    def __init__(
        self, function: Callable[..., Any], more: Any, like: Callable[..., Any] | None
    ) -> None:
        self._of, self._more, self._like = function, more, like
        self._whole: inspect.Signature | None = None

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        return self._computed().parameters

    @property
    def return_annotation(self) -> Any:
        return self._computed().return_annotation

    # The changed copy is a plain Signature, because there is nothing left to compute.
    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        return self._computed().replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return self._computed().__reduce__()

    def _computed(self) -> inspect.Signature:
        if self._whole is None:
            self._whole = _whole_signature(inspect.signature(self._of), self._more, self._like)
        return self._whole


def _whole_signature(
    own: inspect.Signature, more: Any, like: Callable[..., Any] | None
) -> inspect.Signature:
    """The signature ``own`` with each keyword of ``more`` instead of ``**kwargs``."""
    named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
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


def check_keywords(given: Iterable[str], allowed: Collection[str], function: str) -> None:
    """Raise ``TypeError`` for the first keyword that ``function`` does not accept.

    Parameters
    ----------
    given : iterable of str
        Names of the keyword arguments passed.
    allowed : collection of str
        Names that ``function`` accepts.
    function : str
        Its name, for the message.

    Raises
    ------
    TypeError
        Naming the keyword, and the closest one that exists.

    Examples
    --------
    >>> check_keywords(["chunk"], ["chunks", "dtype"], "create")
    Traceback (most recent call last):
    TypeError: create() got an unexpected keyword argument 'chunk'; did you mean 'chunks'?
    """
    for name in given:
        if name not in allowed:
            advice = _H5PY_WORDS.get(name)
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}"
                f"{suggestion(name, allowed) if advice is None else f'; {advice}'}"
            )


# Keywords of h5py's create_dataset, and what to write instead.
_H5PY_WORDS = {
    "maxshape": "leave it out: every array can be resized along every axis without a limit",
    "shuffle": "shuffling is part of compressor=Blosc(shuffle=1), or filters=[Shuffle(4)]",
    "fletcher32": "use checksum=True",
    "scaleoffset": "use filters=[FixedScaleOffset(...)]",
    "track_order": "members are listed by name",
    "track_times": "times of changes are not stored",
    "external": "every array can have its own store: use store= or chunk_store=",
    "efile_prefix": "every array can have its own store: use store= or chunk_store=",
    "virtual_prefix": "virtual datasets are not supported",
    "dcpl": "property lists belong to HDF5; use the keywords themselves",
    "dapl": "property lists belong to HDF5; use the keywords themselves",
    "rdcc_nbytes": "use zarrix.config.chunk_cache_bytes, one cache for all arrays",
    "rdcc_nslots": "use zarrix.config.chunk_cache_bytes, one cache for all arrays",
    "rdcc_w0": "use zarrix.config.chunk_cache_bytes, one cache for all arrays",
    "allow_unknown_filter": "a codec of your own is registered with register_codec()",
    "libver": "the format is chosen with zarr_format=2 or zarr_format=3",
    "swmr": "leave it out: arrays can always be read while they are written",
    "driver": "the store decides where data is kept, as in store=zarrix.MemoryStore()",
}
