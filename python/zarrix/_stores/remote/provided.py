"""Credentials that a function returns: the function, and the one provider that calls it.

The engine calls a `Provider` before credentials end, on a thread of its own. Nothing that a
function returns is kept here, shown or raised. A function is pickled by its name, so that other
processes call it themselves.
"""

from __future__ import annotations

import importlib
import inspect
import operator
import pickle
import weakref
from collections.abc import Callable
from typing import Any

from zarrix._stores.redaction import public_text
from zarrix._stores.remote.credential_values import UnusableCredentials, values_of

__all__ = ["CredentialsFunction", "Provider", "named", "provider_of"]

# Longest part of an error of a function that is quoted.
_MOST_QUOTED = 300

_providers: weakref.WeakValueDictionary[Any, Provider] = weakref.WeakValueDictionary()


class CredentialsFunction:
    """A function of the user that returns credentials, shown and pickled as its name.

    Parameters
    ----------
    function : callable
    """

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function

    def __call__(self) -> Any:
        return self.function()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CredentialsFunction) and bool(self.function == other.function)

    def __hash__(self) -> int:
        try:
            return hash(self.function)
        except TypeError:
            return id(self.function)

    @property
    def name(self) -> str:
        """The module and the name of the function; of another object, those of its class."""
        function = self.function if hasattr(self.function, "__qualname__") else type(self.function)
        return f"{function.__module__}.{function.__qualname__}"

    def __reduce__(self) -> Any:
        module = getattr(self.function, "__module__", None)
        path = getattr(self.function, "__qualname__", "<")
        if not module or "<" in path or not self._is_named(module, path):
            raise pickle.PicklingError(
                f"the credentials function {self.name} has no name in its module, and functions "
                "are pickled by name, because they could hold credentials: pass one that is "
                "defined by 'def' at the top of a module"
            )
        return _function_named, (module, path)

    def _is_named(self, module: str, path: str) -> bool:
        try:
            return bool(_resolved(module, path) == self.function)
        except (ImportError, AttributeError):
            return False

    def __repr__(self) -> str:
        return f"<credentials function {self.name}>"


def named(option: Any) -> Any:
    """The value of the option ``credentials`` as a store keeps it: functions by their names."""
    is_plain = isinstance(option, CredentialsFunction) or not callable(option)
    return option if is_plain else CredentialsFunction(option)


def _resolved(module: str, path: str) -> Any:
    return operator.attrgetter(path)(importlib.import_module(module))


def _function_named(module: str, path: str) -> CredentialsFunction:
    try:
        return CredentialsFunction(_resolved(module, path))
    except (ImportError, AttributeError):
        raise pickle.UnpicklingError(
            f"the credentials function {module}.{path} is not in this process: define it in a "
            "module that this process can import"
        ) from None


# A pickle names this public module, so that this file can be renamed.
_function_named.__module__ = "zarrix.storage"


class Provider:
    """What the engine calls for new credentials of one service.

    Parameters
    ----------
    service : str
    call : callable
        Returns the credentials, in the spelling of the user or of another library.
    label : str
        The name of the source in messages.
    """

    __slots__ = ("__weakref__", "call", "label", "service")

    def __init__(self, service: str, call: Callable[[], Any], label: str) -> None:
        self.service = service
        self.call = call
        self.label = label

    def fetch(self) -> tuple[dict[str, str], float | None] | str:
        """New credentials and the end of their life in Unix seconds, or why there are none."""
        try:
            found = self.call()
            if inspect.isawaitable(found):
                # Import time: most programs have no such function.
                import asyncio

                found = asyncio.run(_awaited(found))
            return values_of(self.service, found)
        except UnusableCredentials as unusable:
            return str(unusable)
        except BaseException as error:
            # The engine waits for an answer; an exit of this thread would not be one.
            told = public_text(str(error)).strip()[:_MOST_QUOTED]
            return f"raised {type(error).__name__}{': ' if told else ''}{told}"

    def __repr__(self) -> str:
        return f"<credentials of {self.label}>"


async def _awaited(coroutine: Any) -> Any:
    return await coroutine


def provider_of(service: str, source: Any, call: Callable[[], Any], label: str) -> Provider:
    """The provider of ``source``: while one is in use, all stores of the source share it."""
    key = (service, source)
    known = _providers.get(key)
    if known is None:
        known = _providers[key] = Provider(service, call, label)
    return known
