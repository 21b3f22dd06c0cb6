"""Options of web servers: those of fsspec's HTTP file system."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from zarrix._stores.redaction import public_url
from zarrix._stores.remote import providers
from zarrix._stores.remote.options import Address, NeedsFsspec, Options, text

__all__ = ["address"]

_ONLY_FSSPEC = (
    "auth",
    "cookies",
    "encoded",
    "get_client",
    "same_scheme",
    "simple_links",
    "size_policy",
)


def address(url: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> Address:
    """The location of ``url``, and the options that open it."""
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        raise NeedsFsspec("a query in the URL")
    if not parts.hostname:
        raise ValueError(f"{public_url(url)!r} names no host")
    host = parts.netloc.rpartition("@")[2]
    options = Options(given)
    provider = providers.taken(options, "http")
    client = options.inner("client_kwargs")
    found: dict[str, Any] = {
        "allow_http": parts.scheme == "http",
        "timeout": options.take("timeout"),
        "max_retries": options.take("retries", "max_retries"),
    }
    headers = {**(client.take("headers") or {}), **(options.take("headers") or {})}
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(user.encode()).decode()}"
    found |= {f"header:{name.lower()}": value for name, value in headers.items()}
    client.take("trust_env")
    client.finish(("auth", "cookies", "connector", "timeout"), "client_kwargs ")
    options.finish(_ONLY_FSSPEC)
    native = {name: text(value) for name, value in found.items() if value is not None}
    bucket, prefix = f"{parts.scheme}://{host}", unquote(parts.path).strip("/")
    shown = f"{bucket}/{prefix}" if prefix else bucket
    has_credentials = provider is not None or bool(headers)
    return Address("http", bucket, prefix, shown, native, has_credentials, provider)
