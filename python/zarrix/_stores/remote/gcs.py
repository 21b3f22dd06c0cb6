"""Options of Google Cloud Storage: those of gcsfs, and Google's environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from zarrix._stores.remote import providers
from zarrix._stores.remote.options import Address, NeedsFsspec, Options, split, text
from zarrix._stores.remote.provided import Provider
from zarrix._stores.remote.sources import google

__all__ = ["address"]

_ONLY_FSSPEC = (
    "requester_pays",
    "session_kwargs",
    "version_aware",
    "generation",
    "check_connection",
)


def address(url: str, given: Mapping[str, Any], environment: Mapping[str, str]) -> Address:
    """The location of ``url``, and the options that open it."""
    bucket, prefix = split(url)
    options = Options(given)
    for name in ("project", "access", "consistency", "default_location", "secure_serialize"):
        options.take(name)
    provider = providers.taken(options, "gs")
    token = options.take("token")
    anon = options.take("anon")
    found: dict[str, Any] = {}
    if provider is None and not anon:
        provider = _provider(token, environment)
    if provider is None:
        found = _credentials("anon" if anon else token, environment)
    endpoint = options.take("endpoint_url") or environment.get("STORAGE_EMULATOR_HOST")
    if endpoint:
        endpoint = endpoint if "://" in endpoint else f"http://{endpoint}"
        found["google_base_url"] = endpoint.rstrip("/")
        found["allow_http"] = endpoint.startswith("http://")
        if provider is None and token in (None, "anon"):
            # An emulator has no accounts; without a token, a write would ask the machine's metadata
            # server.
            found = {**found, "skip_signature": None, "google_bearer_token": "anonymous"}
    found["timeout"] = options.take("timeout")
    found["max_retries"] = options.take("retries", "max_retries")
    options.finish(_ONLY_FSSPEC)
    native = {name: text(value) for name, value in found.items() if value is not None}
    shown = f"gs://{bucket}/{prefix}" if prefix else f"gs://{bucket}"
    known = {
        "google_service_account",
        "google_application_credentials",
        "google_bearer_token",
        "skip_signature",
    }
    has_credentials = provider is not None or bool(known & set(native))
    return Address("gs", bucket, prefix, shown, native, has_credentials, provider)


def _provider(token: Any, environment: Mapping[str, str]) -> Provider | None:
    """What fetches tokens that the engine cannot fetch itself."""
    if token in (None, "google_default"):
        token = environment.get("GOOGLE_APPLICATION_CREDENTIALS")
    if not isinstance(token, str):
        return providers.of_object("gs", token)
    return providers.of_google_file(token) if _kind(token) in google.KINDS else None


def _kind(path: str) -> str:
    """The type of account in a file; empty without one."""
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.load(file).get("type", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _credentials(token: Any, environment: Mapping[str, str]) -> dict[str, Any]:
    if token == "anon":
        return {"skip_signature": True}
    if isinstance(token, Mapping):
        return {"google_service_account_key": json.dumps(dict(token))}
    if token in ("browser", "cache") or (token is not None and not isinstance(token, str)):
        raise NeedsFsspec("token")
    if token in (None, "google_default", "cloud"):
        return {"google_application_credentials": environment.get("GOOGLE_APPLICATION_CREDENTIALS")}
    if os.path.exists(token):
        if _kind(token) == "service_account":
            return {"google_service_account": token}
        return {"google_application_credentials": token}
    return {"google_bearer_token": token}
