"""Functions that a job calls: those of a program, which are sent to workers, and named ones."""

from __future__ import annotations

import importlib
import inspect
import pickle
import types
from collections.abc import Callable, Sequence
from typing import Any

from zarrix._errors import JobError
from zarrix.jobs._running.identity import function_identity, name_of

__all__ = ["Sent", "checked", "named"]

Function = Callable[..., Any]


class Sent:
    """A function that is pickled by value if workers cannot import it: one of the main module.

    Parameters
    ----------
    function : callable
    name : str, optional
        ``"module:name"``, by which a saved job can name it.
    """

    def __init__(self, function: Function, name: str | None = None) -> None:
        self.function, self.name = function, name

    def __reduce__(self) -> Any:
        if self.name is not None:
            return _by_name, (self.name,)
        if getattr(self.function, "__module__", None) != "__main__":
            return Sent, (self.function,)
        # Optional: without it, the main module has to be a file that workers can run.
        try:
            import cloudpickle  # type: ignore[import-untyped]  # It has no types.
        except ImportError:
            return Sent, (self.function,)
        return _unpickled, (cloudpickle.dumps(self.function),)


def _unpickled(dumped: bytes) -> Sent:
    return Sent(pickle.loads(dumped))


def _by_name(name: str) -> Sent:
    return Sent(named(name), name)


def named(name: str, modules: Sequence[str] | None = None) -> Function:
    """The function of ``"module:name"``.

    Parameters
    ----------
    name : str
    modules : sequence of str, optional
        The modules and packages whose functions may be called, when somebody else has written the
        name. None when the caller has.

    Raises
    ------
    ValueError, TypeError
        It is not the name of a function.
    JobError
        The function is not of one of the modules.
    """
    module, colon, inside = name.partition(":")
    if not colon:
        raise ValueError(f"function={name!r}; expected 'module:name'")
    if modules is not None:
        _require_allowed(name, module, modules)
    found: Any = importlib.import_module(module)
    for part in inside.split("."):
        found = getattr(found, part)
        if modules is not None and isinstance(found, types.ModuleType):
            _require_allowed(name, found.__name__, modules)
    if not callable(found):
        raise TypeError(f"{name!r} is not callable")
    if modules is not None and (inspect.isroutine(found) or inspect.isclass(found)):
        # A module has functions of others, too, such as those that it imports.
        _require_allowed(name, getattr(found, "__module__", None) or module, modules)
    return found  # type: ignore[no-any-return]  # What a module has is known when it runs.


def _require_allowed(name: str, module: str, modules: Sequence[str]) -> None:
    if not any(module == one or module.startswith(f"{one}.") for one in modules):
        raise JobError(
            f"the job calls {name!r}, which is of the module {module!r}: a job from elsewhere may "
            f"name any function; pass function=, or modules=[{module!r}] if you trust it"
        )


def checked(parameters: Any, function: Any, modules: Sequence[str], *, name: str | None) -> Sent:
    """The function of a job that was loaded: given again, or named in an allowed module.

    Raises
    ------
    JobError
        It is not the function that the job was planned with, or may not be called.
    """
    planned, version = parameters.get("identity"), parameters.get("version")
    if function is None and name is None:
        raise JobError(
            f"the job calls {parameters.get('function')!r} of the program that began it, which a "
            "document cannot hold; pass function="
        )
    try:
        sent = Sent(function, name) if function is not None else _allowed(name, modules)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise JobError(f"the function {name!r} of the job cannot be found: {error}") from error
    if function_identity(sent.function, version) != planned:
        raise JobError(
            f"the function {name_of(sent.function)!r} is not, or not any more, that of the job, "
            f"{parameters.get('function')!r}; begin the job again with overwrite=True"
        )
    return sent


def _allowed(name: str | None, modules: Sequence[str]) -> Sent:
    assert name is not None
    return Sent(named(name, modules), name)
