"""Shared parts of the services: reading options, and the resulting location."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zarrix._stores.redaction import public_url
from zarrix._stores.remote.provided import Provider

__all__ = [
    "WITHOUT_EFFECT",
    "Address",
    "NeedsFsspec",
    "Options",
    "UnknownOption",
    "split",
]

_BUCKET = re.compile(r"[\w.$-]+", re.ASCII)
# On Azure the host of the account may follow the container.
_CONTAINER = re.compile(r"[\w.$-]+(@[\w.-]+)?", re.ASCII)

# Options of fsspec's caches, event loop and listings, which the engine replaces, and attributes of
# its mappings.
WITHOUT_EFFECT = frozenset(
    (
        "asynchronous",
        "auto_mkdir",
        "batch_size",
        "block_size",
        "cache_regions",
        "cache_type",
        "check",
        "create",
        "default_block_size",
        "default_cache_type",
        "default_fill_cache",
        "dircache_maxsize",
        "dirs",
        "fixed_upload_size",
        "listings_expiry_time",
        "loop",
        "max_concurrency",
        "max_paths",
        "missing_exceptions",
        "skip_instance_cache",
        "use_listings_cache",
    )
)


class NeedsFsspec(Exception):
    """An option that only fsspec's own file system can honour."""


class UnknownOption(Exception):
    """A name that neither we nor fsspec know, and the known names."""


@dataclass
class Address:
    """A service, a bucket in it, a prefix in the bucket, and the options of the service.

    ``url`` is for messages, and contains no credentials. ``provider`` gives those that expire.
    """

    service: str
    bucket: str
    prefix: str
    url: str
    options: dict[str, str] = field(default_factory=dict, repr=False)
    has_credentials: bool = False
    provider: Provider | None = None


class Options:
    """Storage options, which are taken one after the other; those left over are unknown."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._left = {name: value for name, value in given.items() if value is not None}
        self._known: set[str] = set()

    def take(self, *names: str) -> Any:
        """The value of the first of ``names`` that was passed; None if there is none."""
        self._known.update(names)
        found = [self._left.pop(name) for name in names if name in self._left]
        return found[0] if found else None

    def has(self, name: str) -> bool:
        """Whether ``name`` was passed and not taken yet."""
        return self._left.get(name, False) is not False

    def inner(self, name: str) -> Options:
        """The options inside the option ``name``."""
        value = self.take(name)
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"storage_options[{name!r}] is a dict, not {value!r}")
        return Options(value or {})

    def finish(self, only_fsspec: Iterable[str] = (), within: str = "") -> None:
        """Refuse what is left.

        Raises
        ------
        NeedsFsspec
            One of ``only_fsspec`` is given.
        UnknownOption
            Something else is.
        """
        known = set(only_fsspec)
        for name, value in self._left.items():
            if name in WITHOUT_EFFECT:
                continue
            if name in known:
                # An option with its default value has no effect.
                if value in (False, {}, ()):
                    continue
                raise NeedsFsspec(f"{within}{name}")
            raise UnknownOption(name, sorted(self._known | known))


def split(url: str, names_account: bool = False) -> tuple[str, str]:
    """Bucket and prefix of ``scheme://bucket/prefix``."""
    bucket, _, prefix = url.partition("://")[2].partition("/")
    if not bucket:
        raise ValueError(
            f"{public_url(url)!r} names no bucket; it looks like 's3://bucket/data.zarr'"
        )
    if not (_CONTAINER if names_account else _BUCKET).fullmatch(bucket):
        # The bucket becomes part of a host name, and must not be able to replace the host.
        raise ValueError(
            f"{public_url(url)!r} names no bucket: its characters are letters, digits, '.', '-' "
            "and '_'; pass credentials in storage_options="
        )
    return bucket, prefix.strip("/")


def text(value: Any) -> str:
    """A value in the spelling of the engine."""
    return str(value).lower() if isinstance(value, bool) else str(value)
