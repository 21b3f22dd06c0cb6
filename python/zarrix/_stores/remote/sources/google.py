"""Tokens of Google through its own package: external accounts, and its objects of credentials."""

from __future__ import annotations

import importlib
from datetime import UTC
from typing import Any

from zarrix._stores.remote.credential_values import UnusableCredentials

__all__ = ["KINDS", "credentials_of_file", "credentials_of_object", "is_credentials"]

# Types of files that only google.auth can use.
KINDS = (
    "external_account",
    "external_account_authorized_user",
    "impersonated_service_account",
)
_SCOPE = "https://www.googleapis.com/auth/devstorage.full_control"


def is_credentials(credentials: Any) -> bool:
    """Whether ``credentials`` are like an object of google.auth."""
    return callable(getattr(credentials, "refresh", None)) and hasattr(credentials, "token")


def _imported(name: str) -> Any:
    try:
        # Optional package: google-auth.
        return importlib.import_module(name)
    except ImportError:
        raise UnusableCredentials(
            "needs Google's package: pip install google-auth requests"
        ) from None


def credentials_of_file(path: str) -> dict[str, Any]:
    """A new token for the account in the file ``path``.

    Raises
    ------
    UnusableCredentials
        google.auth is not installed.
    """
    auth = _imported("google.auth")
    return credentials_of_object(auth.load_credentials_from_file(path, scopes=[_SCOPE])[0])


def credentials_of_object(credentials: Any) -> dict[str, Any]:
    """A new token of an object of google.auth.

    Raises
    ------
    UnusableCredentials
        google.auth is not installed.
    """
    transport = _imported("google.auth.transport.requests")
    credentials.refresh(transport.Request())
    # google.auth writes UTC without saying so.
    end = credentials.expiry
    return {"token": credentials.token, "expires": end and end.replace(tzinfo=UTC)}
