"""A hierarchy on a faulty server whose arrays are rewritten by commits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import zarrix as zarr
from servers.faulty import FaultyServer
from zarrix.errors import CommitLostError, CommitVisibleError


class Rewritten:
    """Two arrays whose elements change together, one that is deleted, and one that is made.

    In the state of an owner, the first row of ``a`` and all of ``b`` have its number.
    """

    def __init__(self, server: FaultyServer, zarr_format: int) -> None:
        self.server, self.options = server, server.options
        self.url = f"{server.url}/x.zarr"
        root = zarr.create_group(self.url, zarr_format=zarr_format, storage_options=self.options)
        for name, rows in (("a", 3), ("b", 2), ("c", 1)):
            made = root.create_array(name, shape=(rows, 2), chunks=(1, 2), dtype="i4", fill_value=0)
            made[:] = 9 if name == "a" else 1
        root["a"][0] = 1
        root.attrs["owner"] = 1
        zarr.consolidate_metadata(root.store)

    def open(self, mode: str = "r", *, consolidated: bool = False) -> Any:
        opened = zarr.open_consolidated if consolidated else zarr.open_group
        return opened(self.url, mode=mode, storage_options=self.options)

    def commit(self, key: str | None = None, **options: Any) -> Any:
        own = dict(self.options)
        if key is not None:
            # Another name of the server is another store, which shares no locks with this process.
            url = own["endpoint_url"].replace("127.0.0.1", "localhost")
            own.update(key=key, max_retries=0, endpoint_url=url)
        return zarr.commit(self.url, storage_options=own, **options)

    def rewrite(self, owner: int, key: str | None = None) -> None:
        with self.commit(key, grace=0) as new:
            self.change(new, owner)

    def change(self, new: Any, owner: int) -> None:
        new["a"][0] = owner
        new["b"][:] = owner
        new.attrs["owner"] = owner
        if "c" in new:
            del new["c"]
        made = new.create_array(f"n{owner}", shape=(1, 2), chunks=(1, 2), dtype="i4")
        made[:] = owner

    def state(self, owner: int) -> dict[str, Any]:
        """What `seen` returns before (1) and after one rewrite."""
        made = [] if owner == 1 else [owner]
        return {"a": owner, "b": owner, "owner": owner, "c": owner == 1, "made": made}

    def seen(self, *, consolidated: bool) -> dict[str, Any]:
        root = self.open(consolidated=consolidated)
        names = sorted(root.array_keys())
        for name in names:
            if name.startswith("n"):
                assert [*root[name][0]] == [int(name[1:])] * 2
        return {
            "a": owner_of(root["a"][:]),
            "b": owner_of(root["b"][:]),
            "owner": root.attrs["owner"],
            "c": "c" in names,
            "made": [int(name[1:]) for name in names if name.startswith("n")],
        }

    def each(self) -> list[int]:
        """The owners of the arrays for those who open array by array."""
        root = self.open()
        return [owner_of(root[name][:]) for name in "ab"]

    def require(self, owner: int, made: list[int] | None = None) -> None:
        """All readers see the state of an owner."""
        wanted = self.state(owner)
        if made is not None:
            wanted["made"] = sorted(made)
        assert self.seen(consolidated=True) == wanted
        assert self.seen(consolidated=False) == wanted

    def strangers(self) -> list[str]:
        """Chunks of ``a`` and ``b`` under keys that their documents do not name."""
        root = self.open()
        found = []
        for name, rows in (("a", 3), ("b", 2)):
            stored = [key for key in root.store if key.startswith(f"{name}/")]
            own = {root[name].metadata.encode_chunk_key((row, 0)) for row in range(rows)}
            found += [
                key
                for key in stored
                if key.partition("/")[2] not in {*own, "zarr.json", ".zarray", ".zattrs"}
            ]
        return found

    def by_zarr_python(self, consolidated: bool) -> Any:
        """The root as zarr-python opens it, from what is stored."""
        import zarr as theirs
        from zarr.core.buffer import default_buffer_prototype

        prefix = "x.zarr/"
        made = default_buffer_prototype().buffer.from_bytes
        values = {
            key.removeprefix(prefix): made(value)
            for key, (value, _) in self.server.values.items()
            if key.startswith(prefix)
        }
        return theirs.open_group(
            theirs.storage.MemoryStore(values), mode="r", use_consolidated=consolidated
        )


def owner_of(values: Any) -> int:
    """The owner of an array's content; the content is that of one owner alone."""
    owner = int(values[0, 0])
    wanted = np.full(values.shape, owner)
    if len(values) == 3:
        wanted[1:] = 9
    np.testing.assert_array_equal(values, wanted)
    return owner


@contextlib.contextmanager
def died(server: FaultyServer, requests: int) -> Iterator[None]:
    """The client with the key "dying" is cut off after so many requests; it may be done by then."""
    server.cut_off = {"dying": requests}
    try:
        with contextlib.suppress(OSError, CommitLostError, CommitVisibleError):
            yield
    finally:
        server.cut_off = {}
