"""What tells a function from another one: its code, and all that it carries.

A job that goes on has to call the function that it began with. A digest covers the code, default
arguments, captured variables, the arguments of a partial, the state of a callable object, and the
globals that the code names. What it does not see is other code of installed packages.

Something without a name, such as a lock, an open file or a generator, has no digest. The function
is then like no other, so that no call goes on with it.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._hierarchy.group import Group
from zarrix._stores.identity import identity as store_identity

__all__ = ["function_identity", "identity_of", "name_of"]

Function = Callable[..., Any]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
# Large enough for any function that was written by hand; what is deeper is not the state of one.
_MOST_PARTS = 200_000
_DEEPEST = 200


_OF_THE_INTERPRETER = frozenset(
    (
        *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__slots__"),
        *("__firstlineno__", "__static_attributes__", "__annotations__", "__annotate__"),
        *("__annotate_func__", "_abc_impl"),
    )
)


class _NamelessError(Exception):
    """Something in a function has no name that another process could compare."""


def name_of(function: Any) -> str:
    """The name of a function, for people."""
    inner = getattr(function, "func", function)
    inner = inner if hasattr(inner, "__qualname__") else type(inner)
    module = getattr(inner, "__module__", None)
    return f"{module or ''}:{inner.__qualname__}"


def function_identity(function: Function, version: str | None) -> str:
    """A name of a function and of all that it carries; ``version`` is the user's own.

    A function that carries something without a name gets a random one.
    """
    if version is not None:
        return f"version {version}"
    return identity_of(function) or f"nameless {os.urandom(8).hex()}"


def identity_of(value: Any) -> str | None:
    """A digest of a value and of all that it refers to; None if something has no name."""
    try:
        return _Digester().of(value)
    except (_NamelessError, RecursionError):
        return None


@functools.cache
def _is_installed(module: str) -> bool:
    """Whether a module is of Python or was installed, so that its version stands for it."""
    if module in ("__main__", "__mp_main__"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    paths = sysconfig.get_paths()
    installed = tuple(paths[one] for one in ("stdlib", "purelib", "platlib"))
    is_ours = module.partition(".")[0] == __name__.partition(".")[0]
    return is_ours or file is None or os.path.abspath(file).startswith(installed)


def _is_of_the_program(value: Any) -> bool:
    return not _is_installed(str(getattr(value, "__module__", "")))


class _Digester:
    """Digests values, each object once."""

    def __init__(self) -> None:
        self._done: dict[int, bytes] = {}
        # The depth of what is being digested: a circle ends there.
        self._open: dict[int, int] = {}
        # An object that is gone could give its number to another.
        self._held: list[Any] = []
        self._parts = 0

    def of(self, value: Any) -> str:
        return self._digest(value, 0).hex()

    def _digest(self, value: Any, depth: int) -> bytes:
        self._parts += 1
        if self._parts > _MOST_PARTS or depth > _DEEPEST:
            raise _NamelessError
        if isinstance(value, _PLAIN) and type(value) in _PLAIN:
            return _hash(type(value).__name__, repr(value).encode())
        if id(value) in self._done:
            return self._done[id(value)]
        if id(value) in self._open:
            return _hash("circle", str(depth - self._open[id(value)]).encode())
        self._open[id(value)] = depth
        self._held.append(value)
        kind, parts = self._told(value)
        digest = hashlib.sha256(kind.encode() + b"\0")
        for part in parts:
            digest.update(part if isinstance(part, bytes) else self._digest(part.value, depth + 1))
        del self._open[id(value)]
        found = self._done[id(value)] = digest.digest()
        return found

    def _told(self, value: Any) -> tuple[str, Iterator[bytes | _Part]]:
        """The kind of a value, and its parts: bytes, and values to digest."""
        for kinds, tell in _KINDS:
            if isinstance(value, kinds):
                return tell.__name__, tell(self, value)
        return "object", self._object(value)

    def _sequence(self, value: Sequence[Any]) -> Iterator[bytes | _Part]:
        yield _type_name(value)
        yield str(len(value)).encode()
        yield from map(_Part, value)

    def _mapping(self, value: Mapping[Any, Any]) -> Iterator[bytes | _Part]:
        yield _type_name(value)
        for key, one in value.items():
            yield _Part(key)
            yield _Part(one)

    def _set(self, value: Any) -> Iterator[bytes | _Part]:
        yield _type_name(value)
        # Sets have another order in each process.
        yield from sorted(_Digester()._digest(one, 0) for one in value)

    def _array(self, value: np.ndarray[Any, Any]) -> Iterator[bytes | _Part]:
        yield _type_name(value)
        yield f"{value.dtype.descr if value.dtype.names else value.dtype.str}{value.shape}".encode()
        if value.dtype.hasobject:
            yield _Part(value.tolist())
        else:
            yield hashlib.sha256(np.ascontiguousarray(value).tobytes()).digest()

    def _scalar(self, value: np.generic) -> Iterator[bytes | _Part]:
        yield from self._array(np.asarray(value))

    def _node(self, value: Array | Group) -> Iterator[bytes | _Part]:
        # Its elements are not those of the function.
        yield repr(store_identity(value.store)).encode()
        yield value.path.encode()

    def _module(self, value: types.ModuleType) -> Iterator[bytes | _Part]:
        yield value.__name__.encode()

    def _class(self, value: type) -> Iterator[bytes | _Part]:
        yield f"{value.__module__}:{value.__qualname__}".encode()
        if _is_of_the_program(value):
            members = {k: v for k, v in vars(value).items() if not _is_of_the_interpreter(k)}
            for name, one in sorted(members.items()):
                if not isinstance(one, types.MemberDescriptorType | types.GetSetDescriptorType):
                    yield name.encode()
                    yield _Part(one)
            yield from map(_Part, value.__bases__)

    def _property(self, value: property) -> Iterator[bytes | _Part]:
        yield from map(_Part, (value.fget, value.fset))

    def _wrapped(self, value: Any) -> Iterator[bytes | _Part]:
        yield _Part(value.__func__)

    def _partial(self, value: functools.partial[Any]) -> Iterator[bytes | _Part]:
        yield from map(_Part, (value.func, value.args, value.keywords))

    def _method(self, value: types.MethodType) -> Iterator[bytes | _Part]:
        yield from map(_Part, (value.__func__, value.__self__))

    def _cached(self, value: Any) -> Iterator[bytes | _Part]:
        yield _Part(value.__wrapped__)

    def _builtin(self, value: types.BuiltinFunctionType) -> Iterator[bytes | _Part]:
        yield f"{value.__module__}:{value.__qualname__}".encode()
        if value.__self__ is not None and not isinstance(value.__self__, types.ModuleType):
            yield _Part(value.__self__)

    def _ufunc(self, value: np.ufunc) -> Iterator[bytes | _Part]:
        yield value.__name__.encode()

    def _code(self, value: types.CodeType) -> Iterator[bytes | _Part]:
        names = (value.co_names, value.co_varnames, value.co_freevars, value.co_flags)
        yield value.co_code
        yield repr((names, value.co_argcount, value.co_kwonlyargcount)).encode()
        yield from map(_Part, value.co_consts)

    def _function(self, value: types.FunctionType) -> Iterator[bytes | _Part]:
        yield f"{value.__module__}:{value.__qualname__}".encode()
        yield _Part(value.__code__)
        yield _Part(value.__defaults__)
        yield _Part(value.__kwdefaults__)
        for cell in value.__closure__ or ():
            try:
                yield _Part(cell.cell_contents)
            except ValueError:
                yield b"empty"
        if _is_of_the_program(value):
            yield from self._globals(value)
        else:
            package = sys.modules.get(str(value.__module__).partition(".")[0])
            yield str(getattr(package, "__version__", "")).encode()

    def _globals(self, value: types.FunctionType) -> Iterator[bytes | _Part]:
        """The globals that the code names, and those of modules that it names with them."""
        names = sorted(_names_in(value.__code__))
        for name in _global_names(value.__code__):
            if name not in value.__globals__:
                continue
            found = value.__globals__[name]
            yield name.encode()
            yield _Part(found)
            if isinstance(found, types.ModuleType):
                # Their attributes, where these are plain values or functions of this package.
                for one in names:
                    member = vars(found).get(one)
                    if isinstance(member, _PLAIN) or (
                        isinstance(member, types.FunctionType) and _is_of_the_program(member)
                    ):
                        yield one.encode()
                        yield _Part(member)

    def _object(self, value: Any) -> Iterator[bytes | _Part]:
        """The class and the state of any other object, as `pickle` takes them apart."""
        yield _Part(type(value))
        try:
            reducer = copyreg.dispatch_table.get(type(value))
            reduced = reducer(value) if reducer is not None else value.__reduce_ex__(4)
        except Exception as error:
            # Classes raise anything for an object that cannot be pickled.
            raise _NamelessError from error
        if isinstance(reduced, str):
            yield reduced.encode()
            return
        made, arguments, *rest = reduced
        yield _Part(made)
        yield _Part(arguments)
        for one in rest[:1]:
            yield _Part(one)
        for items in rest[1:3]:
            yield _Part(None if items is None else list(items))


class _Part:
    """A value that is part of another one."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# What is taken apart in a way of its own; the first that fits.
_KINDS: list[tuple[Any, Any]] = [
    (types.FunctionType, _Digester._function),
    (types.MethodType, _Digester._method),
    (types.BuiltinFunctionType, _Digester._builtin),
    (types.CodeType, _Digester._code),
    (types.ModuleType, _Digester._module),
    (functools.partial, _Digester._partial),
    (functools._lru_cache_wrapper, _Digester._cached),
    (np.ufunc, _Digester._ufunc),
    (property, _Digester._property),
    ((staticmethod, classmethod), _Digester._wrapped),
    (type, _Digester._class),
    (np.ndarray, _Digester._array),
    (np.generic, _Digester._scalar),
    ((Array, Group), _Digester._node),
    ((list, tuple), _Digester._sequence),
    ((set, frozenset), _Digester._set),
    (dict, _Digester._mapping),
]


def _hash(kind: str, data: bytes) -> bytes:
    return hashlib.sha256(kind.encode() + b"\0" + data).digest()


def _type_name(value: Any) -> bytes:
    return f"{type(value).__module__}:{type(value).__qualname__}".encode()


def _is_of_the_interpreter(name: str) -> bool:
    return name in _OF_THE_INTERPRETER


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code and those of the functions inside it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


def _names_in(code: types.CodeType) -> set[str]:
    return {name for one in _codes(code) for name in one.co_names}


def _global_names(code: types.CodeType) -> list[str]:
    """The names of globals that the code reads, and does not itself store."""
    found: dict[str, set[str]] = {"LOAD_GLOBAL": set(), "STORE_GLOBAL": set()}
    for one in _codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname in found:
                found[instruction.opname].add(instruction.argval)
    return sorted(found["LOAD_GLOBAL"] - found["STORE_GLOBAL"])
