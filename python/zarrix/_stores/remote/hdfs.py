"""Options of HDFS: those of fsspec's file system for it, and Hadoop's environment.

For missing options, the engine does what Hadoop's clients do: the namenode, high availability and
Kerberos are in the files of ``HADOOP_CONF_DIR``, and the user is ``HADOOP_USER_NAME``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from zarrix._stores.remote.options import Address, NeedsFsspec, Options, text

__all__ = ["address"]

# Only libhdfs supports a ticket in another location than that of libgssapi.
_ONLY_FSSPEC = ("kerb_ticket",)


def address(url: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> Address:
    """The location of ``url``, and the options that open it."""
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise NeedsFsspec("a query in the URL")
    options = Options(given)
    host, port = options.take("host"), options.take("port")
    # fsspec's value for the name in Hadoop's files.
    host = parts.hostname or ("" if host in (None, "default") else host)
    port = parts.port or port
    user = unquote(parts.username) if parts.username else None
    extra = options.take("extra_conf")
    if extra is not None and not isinstance(extra, Mapping):
        raise ValueError(f"storage_options['extra_conf'] is a dict, not {extra!r}")
    found: dict[str, Any] = {
        **(extra or {}),
        "user": options.take("user", "username") or user,
        "replication": options.take("replication"),
        "timeout": options.take("timeout"),
        "max_retries": options.take("retries", "max_retries"),
    }
    options.finish(_ONLY_FSSPEC)
    bucket = f"{host}:{port}" if port else host
    found["locks"] = _locks(bucket, environment)
    native = {name: text(value) for name, value in found.items() if value is not None}
    prefix = unquote(parts.path).strip("/")
    as_user = f"{native['user']}@" if user else ""
    shown = f"hdfs://{as_user}{bucket}/{prefix}"
    return Address("hdfs", bucket, prefix, shown, native)


def _locks(bucket: str, environment: Mapping[str, str]) -> str:
    # As for databases, not a folder that other users can write to.
    cache = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = hashlib.blake2b(f"hdfs {bucket}".encode(), digest_size=12)
    return os.path.join(cache, "zarrix", f"{name.hexdigest()}.locks")
