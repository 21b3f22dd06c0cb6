"""Remove credentials from URLs and errors.

Everything that a store shows or raises passes through here. User information and queries are
removed from URLs. An error of another library is replaced if it or its causes contain a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["hiding", "public_error", "public_text", "public_url"]

# Schemes whose URLs have a container or a user before the host, which is not a secret.
_NAMED_BEFORE_HOST = ("abfs", "abfss", "az", "hdfs")
# A redacted error stays one of these builtin classes.
_KINDS: tuple[type[Exception], ...] = (
    KeyError,
    PermissionError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    TimeoutError,
    ConnectionError,
    OSError,
    ValueError,
    TypeError,
)
# A shorter secret would occur in many texts by chance.
_LEAST_SECRET = 4
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://[^\s'\"<>]+")


def public_url(url: str) -> str:
    """A URL for a message: without user information and without its query.

    This applies to each URL of a chain (``a::b``). A path stays as it is.

    Examples
    --------
    >>> public_url("https://user:password@host/x?signature=secret")
    'https://host/x?***'
    >>> public_url("abfs://container@account.dfs.core.windows.net/x")
    'abfs://container@account.dfs.core.windows.net/x'
    """
    return "::".join(map(_public_link, url.split("::"))) if "://" in url else url


def _public_link(url: str) -> str:
    scheme, found, rest = url.partition("://")
    if not found:
        return url
    path = re.split(r"[?#]", rest, maxsplit=1)
    host, slash, below = path[0].partition("/")
    before, at, _ = host.rpartition("@")
    named = scheme.lower() in _NAMED_BEFORE_HOST and ":" not in before
    if at and not named:
        host = host.rpartition("@")[2]
    elif not at and "@" in below and not host.partition(":")[2].isdecimal() and ":" in host:
        # S3 secrets may contain slashes, so that everything up to the last "@" is removed.
        host, slash, below = below.rpartition("@")[2].partition("/")
    query = "?***" if len(path) > 1 else ""
    return f"{scheme}://{host}{slash}{below}{query}"


def public_text(text: str) -> str:
    """A message of another library, with `public_url` applied to each URL in it.

    Examples
    --------
    >>> public_text("GET http://me:password@host/x?sig=secret failed")
    'GET http://host/x?*** failed'
    """
    return _ADDRESS.sub(lambda address: public_url(address[0]), text)


def public_error(error: Exception, options: Mapping[str, Any]) -> Exception:
    """Return ``error``, or a replacement if it or its causes contain a secret.

    Parameters
    ----------
    error : Exception
        The error of another library.
    options : mapping
        Secret options, whose values it must not contain.
    """
    values = _texts(options)
    if not _tells(error, values):
        return error
    text = public_text(str(error))
    for value in values:
        text = text.replace(value, "***")
    for kind in (type(error), *_KINDS):
        if isinstance(error, kind):
            # A class of another library may need other arguments.
            with suppress(Exception):
                made = kind(text)
                if not _tells(made, values):
                    return made
    return OSError(text)


def _tells(error: BaseException, values: Sequence[str]) -> bool:
    told = ""
    link: BaseException | None = error
    while link is not None:
        told += f"{link}{link!r}{vars(link)}"
        link = link.__cause__ or link.__context__
    return public_text(told) != told or any(value in told for value in values)


@contextmanager
def hiding(options: Callable[[], Mapping[str, Any]] = dict) -> Iterator[None]:
    """Replaces errors of the body by `public_error`; ``options`` is called only then."""
    try:
        yield
    except Exception as error:
        public = public_error(error, options())
        if public is error:
            raise
        raise public from None


def _texts(options: Any) -> list[str]:
    """The texts in options, and in options in options."""
    if isinstance(options, Mapping):
        return [text for value in options.values() for text in _texts(value)]
    if isinstance(options, Sequence) and not isinstance(options, str | bytes):
        return [text for value in options for text in _texts(value)]
    return [options] if isinstance(options, str) and len(options) >= _LEAST_SECRET else []
