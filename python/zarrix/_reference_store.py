"""kerchunk's references as a store: keys whose values are parts of other files.

The targets are read by the stores of their folders, so what those promise of requests and
credentials holds here. References are read whole when the store is made; none runs a program.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrix._called_store import CalledStore
from zarrix._config import config
from zarrix._errors import CorruptStoreError
from zarrix._store import Store
from zarrix._stores import as_store

__all__ = ["ReferenceStore"]


class ReferenceStore(CalledStore):
    """Keys as parts of other files, listed in a JSON document of kerchunk; read only.

    A part that cannot be read, or is shorter than its reference says, is an error and never fill.

    Parameters
    ----------
    references : str, Path or mapping
        The file, or its content: of version 0 or 1, with templates in version 1.
    storage_options : mapping, optional
        For URLs of the targets, by the names that fsspec gives them.

    Raises
    ------
    CorruptStoreError
        It is no such document.
    ValueError
        It has what a program in a template generates (``gen``, or more than a name in braces):
        write the references out, as kerchunk does by itself.

    References
    ----------
    fsspec, "ReferenceFileSystem", version 1.
    """

    _writeable = _erasable = False

    def __init__(
        self,
        references: str | os.PathLike[str] | Mapping[str, Any],
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._shown, self._path = "of a mapping", None
        if not isinstance(references, Mapping):
            self._path = os.path.realpath(references)
            self._shown = repr(os.fspath(references))
            with open(references, encoding="utf-8") as file:
                try:
                    references = json.load(file)
                except ValueError as error:
                    raise CorruptStoreError(f"{self._shown} is no JSON: {error}") from None
        if not isinstance(references, Mapping):
            raise CorruptStoreError(f"{self._shown} has no references: it is no JSON object")
        listed = references.get("refs", references)
        if references.get("gen"):
            raise ValueError(f"{self._shown} has references that a program generates (gen)")
        templates = references.get("templates", {})
        # By key: bytes, or a folder, a name in it, and the first byte and how many, if not all.
        self._values: dict[str, bytes | tuple[str, str, int, int | None]] = {}
        self._folders: dict[str, Store] = {}
        for key, value in listed.items():
            self._values[key] = self._value(key, value, templates)
        for folder in {one[0] for one in self._values.values() if isinstance(one, tuple)}:
            options = storage_options if "://" in folder else None
            self._folders[folder] = as_store(folder, options)

    def _value(self, key: str, value: Any, templates: Mapping[str, str]) -> Any:
        if isinstance(value, str):
            inline = value.removeprefix("base64:")
            return base64.b64decode(inline) if inline != value else value.encode()
        if isinstance(value, Mapping):
            return json.dumps(value).encode()
        if not isinstance(value, list) or len(value) not in (1, 3) or not isinstance(value[0], str):
            raise CorruptStoreError(f"{self._shown}: the reference of {key!r} is {value!r}")
        url = value[0]
        for name, replacement in templates.items():
            url = url.replace(f"{{{{{name}}}}}", replacement)
        if "{{" in url:
            raise ValueError(f"{self._shown}: {url!r} of {key!r} has no template of that name")
        folder, _, name = url.removeprefix("file://").rpartition("/")
        start, length = (int(value[1]), int(value[2])) if len(value) == 3 else (0, None)
        return folder or ("/" if "/" in url else "."), name, start, length

    def _read(self, key: str) -> bytes | None:
        place = self._values.get(key)
        if place is None or isinstance(place, bytes):
            return place
        folder, name, start, length = place
        end = None if length is None else start + length
        value = self._folders[folder]._engine.get_slice(name, start, end)
        if value is None:
            raise FileNotFoundError(f"{key!r} is a part of {folder}/{name}, which is not there")
        if length is not None and len(value) < length:
            raise CorruptStoreError(
                f"{key!r} is {length} bytes of {folder}/{name} from {start} on, which has "
                f"{len(value)} there"
            )
        return value

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        if len(keys) < 2:
            return super()._fetch(keys)
        # The engine reads without the GIL.
        with ThreadPoolExecutor(min(len(keys), config.concurrent_requests)) as threads:
            return [*threads.map(self._answer, keys)]

    def _size(self, key: str) -> int | None:
        place = self._values.get(key)
        length = place[3] if isinstance(place, tuple) else None
        return super()._size(key) if length is None else length

    def _identity(self) -> str:
        return f"{id(self):#x}" if self._path is None else f"references {self._path}"

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._forbid_changes()

    def _drop(self, key: str, fsync: bool) -> bool:
        self._forbid_changes()
        return False

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/" if prefix else ""
        return [key for key in self._values if key.startswith(start)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReferenceStore):
            return NotImplemented
        return self._values == other._values

    def _place(self) -> str:
        return self._shown


ReferenceStore.__module__ = "zarrix.storage"
