"""Tokens of Azure from an object of its package azure-identity."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["credentials_of_object", "is_credentials"]

_SCOPE = "https://storage.azure.com/.default"


def is_credentials(credential: Any) -> bool:
    """Whether ``credential`` is like an object of azure.identity."""
    return callable(getattr(credential, "get_token", None))


def credentials_of_object(credential: Any) -> Any:
    """A new token of an object of azure.identity, or a coroutine that gets one."""
    found = credential.get_token(_SCOPE)
    return _awaited(found) if inspect.isawaitable(found) else _values(found)


async def _awaited(coroutine: Any) -> dict[str, Any]:
    return _values(await coroutine)


def _values(token: Any) -> dict[str, Any]:
    return {"bearer": token.token, "expires": token.expires_on}
