"""A program for zarr-python 3 that does drawn steps, and says what came of each of them.

It runs twice, in a process with zarr-python and in one with zarrix under its name. A line of input
is a list of numbers; the first one draws a store with a root group, each other one is a step. A
line of output is the list of outcomes: what was returned or raised, and what the store holds then.
Steps are drawn from the numbers and from what earlier steps returned, so that both processes do the
same until an outcome differs.
"""

import asyncio
import json
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import zarr

Outcome = dict[str, Any]

DTYPES = ("i4", "f8", "?", "u1", "i2", "f4", "c8", "M8[s]", "U3", "S4", ">i4")
NAMES = ("a", "b", "c", "d")
DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")
STORES = ("local", "memory", "zip")
READS = ("basic", "orthogonal", "coordinate", "mask", "block")


def told(value: Any) -> Any:
    """A value as JSON that is equal where shapes, types and bits are.

    One element is the same as a scalar and as an array without axes.
    """
    if isinstance(value, (np.ndarray, np.generic, str)):
        items = np.asarray(value)
        if items.dtype.kind in "OTUS":
            return ["text", list(items.shape), str(items.tolist())]
        items = items.astype(items.dtype.newbyteorder("="))
        return ["array", str(items.dtype), list(items.shape), items.tobytes().hex()]
    if isinstance(value, np.dtype):
        return str(value.newbyteorder("="))
    if isinstance(value, dict):
        return {str(key): told(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    return [type(value).__name__, str(value)]


def raised(error: BaseException) -> Outcome:
    bases = [kind.__name__ for kind in type(error).__mro__]
    return {"error": bases[: bases.index("Exception")], "text": str(error)}


def dtype_of(random: Random) -> np.dtype[Any]:
    return np.dtype(random.choice(DTYPES))


def values(random: Random, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """Drawn values, a fill value of zero among them."""
    numbers = np.array([random.randrange(4) for _ in range(int(np.prod(shape)))]).reshape(shape)
    if dtype.kind in "US":
        return numbers.astype("U1").astype(dtype)
    if dtype.kind == "M":
        return numbers.astype("i8").astype(dtype)
    return numbers.astype(dtype)


class Hierarchy:
    """A root group in a store, and what may be done with it."""

    def __init__(self, random: Random, folder: Path) -> None:
        self.folder = folder
        self.kind = random.choice(STORES)
        self.format: Any = random.choice((2, 3))
        self.path = folder / ("x.zip" if self.kind == "zip" else "x.zarr")
        self.store: Any = None
        self.make()
        self.root = zarr.open_group(self.store, mode="w", zarr_format=self.format)
        # The kinds of the nodes that steps have made, by path.
        self.known: dict[str, str] = {}
        # What was drawn for the step, for the report of a difference.
        self.drawn: list[str] = []

    @property
    def deletes(self) -> bool:
        """Archives of zarr-python cannot."""
        return self.kind != "zip"

    def make(self, mode: Any = "w") -> None:
        if self.kind == "local":
            self.store = zarr.storage.LocalStore(self.path)
        elif self.kind == "zip":
            self.store = zarr.storage.ZipStore(self.path, mode=mode)
        elif self.store is None:
            self.store = zarr.storage.MemoryStore()

    # What is there

    def held(self) -> Outcome:
        """The documents and the keys of chunks."""
        if self.kind == "zip":
            return {}
        found = asyncio.run(self.listed())
        return {key: found[key] for key in sorted(found)}

    async def listed(self) -> dict[str, Any]:
        from zarr.core.buffer import default_buffer_prototype

        found: dict[str, Any] = {}
        for key in [key async for key in self.store.list()]:
            found[key] = None
            if key.rsplit("/", 1)[-1] in DOCUMENTS:
                value = await self.store.get(key, default_buffer_prototype())
                found[key] = json.loads(value.to_bytes())
        return found

    def archived(self) -> Outcome:
        """What an archive holds after its end: of a key that was written twice, the last value."""
        found = {}
        with zipfile.ZipFile(self.path) as archive:
            for info in archive.infolist():
                name = info.filename
                if not name.endswith("/"):
                    is_document = name.rsplit("/", 1)[-1] in DOCUMENTS
                    found[name] = json.loads(archive.read(info)) if is_document else None
        return {key: found[key] for key in sorted(found)}

    # Drawing

    def array(self, random: Random) -> Any:
        """An array that is there; else what the lookup of one raises."""
        paths = sorted(path for path, kind in self.known.items() if kind == "array")
        if random.random() < 0.03 or not paths:
            return self.root["nothing"]
        return self.root[random.choice(paths)]

    def new_path(self, random: Random) -> str:
        name = random.choice(NAMES)
        groups = sorted(path for path, kind in self.known.items() if kind == "group")
        if groups and random.random() < 0.5:
            return f"{random.choice(groups)}/{name}"
        return name

    def selection(self, random: Random, z: Any) -> tuple[str, Any]:
        kind, key = self.draw_selection(random, z)
        self.drawn.append(f"{kind} {key!r} of {z.shape} in chunks of {z.chunks}")
        return kind, key

    def draw_selection(self, random: Random, z: Any) -> tuple[str, Any]:
        shape = z.shape
        kind = random.choice(READS if shape else READS[:1])
        if kind == "basic":
            return kind, tuple(self.index(random, size) for size in shape[: random.randint(0, 3)])
        if kind == "orthogonal":
            return kind, tuple(self.numbers(random, size) for size in shape)
        if kind == "coordinate":
            count = random.randint(1, 4)
            return kind, tuple(
                np.array([random.randrange(max(size, 1)) for _ in range(count)]) for size in shape
            )
        if kind == "mask":
            total = int(np.prod(shape))
            chosen = np.array([random.random() < 0.4 for _ in range(total)], dtype=bool)
            return kind, chosen.reshape(shape)
        grid = z.cdata_shape
        return kind, tuple(random.randrange(max(size, 1)) for size in grid)

    def index(self, random: Random, size: int) -> Any:
        kind = random.randrange(6)
        if kind == 0:
            return random.randint(-size - 1, size)
        if kind == 1:
            return slice(None)
        if kind == 2:
            return Ellipsis if random.random() < 0.2 else slice(random.randint(0, size), None)
        if kind == 3:
            return slice(random.randint(0, size), random.randint(0, size), random.randint(1, 3))
        return slice(random.randint(-size - 1, size + 1), random.randint(-size - 1, size + 1))

    def numbers(self, random: Random, size: int) -> Any:
        if random.random() < 0.3:
            return slice(random.randint(0, size), None)
        count = random.randint(1, 3)
        return np.array([random.randrange(-size, size) if size else 0 for _ in range(count)])

    def fitting(self, random: Random, z: Any, kind: str, key: Any) -> Any:
        """Values for a selection: one for all, or an array of the shape of what is read there."""
        if random.random() < 0.4:
            return values(random, z.dtype, ())[()]
        there = self.read(z, kind, key)
        shape = np.shape(there)
        if random.random() < 0.1 and shape and 0 not in shape:
            shape = (*shape, 2)
        return values(random, z.dtype, shape)

    @staticmethod
    def read(z: Any, kind: str, key: Any) -> Any:
        match kind:
            case "basic":
                return z[key]
            case "orthogonal":
                return z.oindex[key]
            case "coordinate":
                return z.vindex[key]
            case "mask":
                return z.get_mask_selection(key)
        return z.blocks[key]

    @staticmethod
    def write(z: Any, kind: str, key: Any, value: Any) -> None:
        match kind:
            case "basic":
                z[key] = value
            case "orthogonal":
                z.oindex[key] = value
            case "coordinate":
                z.vindex[key] = value
            case "mask":
                z.set_mask_selection(key, value)
            case _:
                z.blocks[key] = value

    # Steps

    def create_array(self, random: Random) -> Any:
        path = self.new_path(random)
        axes = random.randint(0, 3)
        shape = tuple(random.randint(0 if random.random() < 0.1 else 1, 7) for _ in range(axes))
        chunks = tuple(random.randint(1, 4) for _ in range(axes))
        dtype = dtype_of(random)
        options: dict[str, Any] = {"overwrite": self.deletes and random.random() < 0.2}
        if dtype.kind == "S" and self.format == 2:
            options["fill_value"] = b"none"
        elif random.random() < 0.4 and dtype.kind in "iuf":
            options["fill_value"] = random.choice((1, 2, 3))
        if random.random() < 0.3:
            options["attributes"] = {"units": "m", "n": [1, 2.5, None]}
        if random.random() < 0.3:
            options["compressors"] = None
        if self.format == 3:
            if axes and random.random() < 0.2:
                options["shards"] = tuple(size * 2 for size in chunks)
            if axes and random.random() < 0.3:
                options["dimension_names"] = [f"x{axis}" for axis in range(axes)]
            if random.random() < 0.2:
                options["chunk_key_encoding"] = {"name": "v2", "configuration": {"separator": "."}}
        elif random.random() < 0.4:
            options["order"] = random.choice("CF")
        if random.random() < 0.2:
            options["config"] = {"write_empty_chunks": True}
        z = self.root.create_array(path, shape=shape, chunks=chunks, dtype=dtype, **options)
        self.found(path, "array")
        return self.about(z)

    def create_from(self, random: Random) -> Any:
        """By the functions that make an array of another one, or of values."""
        path = self.new_path(random)
        dtype = dtype_of(random)
        data = values(random, dtype, (random.randint(1, 6), random.randint(1, 5)))
        options = {"store": self.store, "path": path, "zarr_format": self.format}
        match random.randrange(5):
            case 0:
                z = zarr.array(data, chunks=(2, 3), **options)
            case 1:
                z = zarr.zeros((5, 4), chunks=(2, 2), dtype="f4", **options)
            case 2:
                z = zarr.full((3,), fill_value=1, chunks=(2,), dtype="i4", **options)
            case 3:
                source = self.array(random)
                if source.shards:
                    return None
                like = zarr.ones_like if source.dtype.kind in "biufc" else zarr.empty_like
                z = like(source, store=self.store, path=path)
            case _:
                source = self.array(random)
                z = zarr.from_array(self.store, data=source, name=path, overwrite=False)
        self.found(path, "array")
        return self.about(z)

    def create_group(self, random: Random) -> Any:
        path = self.new_path(random)
        if random.random() < 0.5:
            group = self.root.create_group(path, overwrite=self.deletes and random.random() < 0.1)
        else:
            group = self.root.require_group(path)
        self.found(path, "group")
        return [group.path, group.name, dict(group.attrs)]

    def found(self, path: str, kind: str) -> None:
        for inside in [name for name in self.known if f"{name}/".startswith(f"{path}/")]:
            if kind == "array" or self.known[inside] == "array":
                del self.known[inside]
        self.known[path] = kind

    def about(self, z: Any) -> Any:
        return [
            told(getattr(z, name))
            for name in (
                *("shape", "chunks", "shards", "ndim", "size", "nbytes", "nchunks"),
                *("path", "name", "basename", "order", "fill_value", "read_only", "dtype"),
            )
        ] + [told(dict(z.attrs)), z.cdata_shape, self.stored(z)]

    @staticmethod
    def stored(z: Any) -> Any:
        """zarr-python counts the chunks of a shard beyond the shape, too."""
        return None if z.shards else z.nchunks_initialized

    def describe(self, random: Random) -> Any:
        return self.about(self.array(random))

    def get(self, random: Random) -> Any:
        z = self.array(random)
        return self.read(z, *self.selection(random, z))

    def get_all(self, random: Random) -> Any:
        return self.array(random)[...]

    def put(self, random: Random) -> Any:
        z = self.array(random)
        kind, key = self.selection(random, z)
        if kind == "orthogonal" and z.shards:
            # zarr-python stores the first value of a repeated index in some shards.
            key = tuple(self.once(one, size) for one, size in zip(key, z.shape, strict=True))
        if kind == "coordinate" and z.ndim:
            # It stores that of a repeated point, too, if points are not in the order of chunks.
            key = tuple(np.unique(np.stack(key), axis=1))
        self.write(z, kind, key, self.fitting(random, z, kind, key))
        return z[...]

    @staticmethod
    def once(indices: Any, size: int) -> Any:
        """The indices, each once."""
        return indices if isinstance(indices, slice) else np.unique(indices % max(size, 1))

    def get_later(self, random: Random) -> Any:
        """By the asynchronous API."""
        z = self.array(random)
        key = tuple(self.index(random, size) for size in z.shape)

        async def run() -> Any:
            return await z.async_array.getitem(key)

        return np.asarray(asyncio.run(run()))

    def put_later(self, random: Random) -> Any:
        z = self.array(random)

        async def run() -> None:
            await z.async_array.setitem(Ellipsis, values(random, z.dtype, z.shape))

        asyncio.run(run())
        return z[...]

    def change_later(self, random: Random) -> Any:
        """Resize an array, append to it, or change its attributes."""
        z = self.array(random)
        sizes = zip(z.shape, z.shards or z.chunks, strict=True)
        shape = tuple(self.resized(random, *both) for both in sizes)
        kind = random.randrange(3 if z.ndim else 1)

        async def run() -> None:
            array = z.async_array
            if kind == 0:
                await array.update_attributes({"later": random.randrange(5)})
            elif kind == 1:
                await array.resize(shape)
            else:
                await array.append(values(random, z.dtype, z.shape))

        asyncio.run(run())
        return self.about(self.root[z.path])

    def group_later(self, random: Random) -> Any:
        """Create a node in the root, ask for members, or delete one."""
        kind = random.randrange(4 if self.deletes else 3)
        name = random.choice(NAMES)

        async def run() -> Any:
            group = self.root._async_group
            if kind == 0:
                return (await group.create_group(name)).path
            if kind == 1:
                z = await group.create_array(name, shape=(4, 3), chunks=(2, 2), dtype="i4")
                return [z.path, z.shape, told(await z.getitem(Ellipsis))]
            if kind == 2:
                node = await group.getitem(name)
                return [type(node).__name__, node.path, await group.contains(name)]
            await group.delitem(name)
            return sorted([key async for key, _ in group.members()])

        found = asyncio.run(run())
        if kind < 2:
            self.found(name, ("group", "array")[kind])
        elif kind == 3:
            self.forget(name)
        return found

    def members_later(self, random: Random) -> Any:
        async def run() -> Any:
            group = self.root._async_group
            return sorted([name async for name, _ in group.members(max_depth=None)])

        return asyncio.run(run())

    def resize(self, random: Random) -> Any:
        z = self.array(random)
        shape = tuple(
            self.resized(random, *sizes)
            for sizes in zip(z.shape, z.shards or z.chunks, strict=True)
        )
        if random.random() < 0.1:
            shape = (*shape, 1)
        z.resize(shape)
        return [list(z.shape), told(z[...])]

    def resized(self, random: Random, size: int, chunk: int) -> int:
        """Larger, or cut at a chunk: a cut inside one leaves its elements there in zarr-python."""
        new = max(0, size + random.randint(-4 if self.deletes else 0, 3))
        return new if new >= size else new // chunk * chunk

    def append(self, random: Random) -> Any:
        z = self.array(random)
        if not z.ndim:
            return None
        axis = random.randrange(z.ndim)
        shape = list(z.shape)
        shape[axis] = random.randint(0, 3)
        if random.random() < 0.1:
            shape.append(1)
        return [told(z.append(values(random, z.dtype, tuple(shape)), axis=axis)), told(z[...])]

    def node(self, random: Random) -> Any:
        return random.choice([self.root, *(self.root[path] for path in sorted(self.known))])

    def attributes(self, random: Random) -> Any:
        attrs = self.node(random).attrs
        match random.randrange(5):
            case 0:
                attrs["k"] = random.choice((1, "text", [1, 2], {"deep": None}, 2.5, True))
            case 1:
                attrs.update({"p": random.randrange(9), "q": "é"})
            case 2:
                attrs.put({"only": 1})
            case 3:
                del attrs["k"]
            case _:
                return [sorted(attrs), len(attrs), told(attrs.get("k", "none")), "k" in attrs]
        return told(attrs.asdict())

    def bad_attributes(self, random: Random) -> None:
        """By a handle of its own: that of zarr-python keeps what it could not store."""
        zarr.open_group(self.store).attrs["bad"] = random.choice(({1, 2}, object(), b"bytes"))

    def updated(self, random: Random) -> Any:
        node = self.node(random).update_attributes({"u": random.randrange(5)})
        return told(dict(node.attrs))

    def delete(self, random: Random) -> Any:
        if not (self.deletes and self.known):
            return None
        path = random.choice(sorted(self.known))
        del self.root[path]
        self.forget(path)
        return sorted(self.root)

    def forget(self, path: str) -> None:
        for inside in [name for name in self.known if f"{name}/".startswith(f"{path}/")]:
            del self.known[inside]

    def members(self, random: Random) -> Any:
        return [
            sorted((path, type(node).__name__) for path, node in self.root.members(max_depth=None)),
            sorted(self.root.array_keys()),
            sorted(self.root.group_keys()),
            self.root.nmembers(),
            len(self.root),
            [name in self.root for name in (*NAMES, "a/b", "b/c/d", "nothing")],
        ]

    def consolidate(self) -> Any:
        """At the end: zarr-python leaves consolidated metadata as they were, later."""
        zarr.consolidate_metadata(self.store)
        group = zarr.open_consolidated(self.store, zarr_format=self.format)
        return sorted(
            (path, told(dict(node.attrs))) for path, node in group.members(max_depth=None)
        )

    def open_again(self, random: Random) -> Any:
        """Another handle, in a mode that is drawn; an archive is ended first."""
        if self.kind == "zip":
            self.store.close()
            self.make("a")
        mode: Any = random.choice(("r+", "a", None, *("r" if self.deletes else ())))
        use = {} if mode is None else {"mode": mode}
        self.root = zarr.open_group(self.store, **use)
        result = [told(dict(self.root.attrs)), self.root.read_only]
        if mode == "r":
            result.append(self.refusal(random))
            self.root = zarr.open_group(self.store, mode="r+")
        return result

    def refusal(self, random: Random) -> Any:
        try:
            if random.random() < 0.5:
                self.root.create_group("e")
            else:
                self.root.attrs["e"] = 1
        except (ValueError, OSError):
            return "refused"
        return "done"

    def open_node(self, random: Random) -> Any:
        path = random.choice([*NAMES, *sorted(self.known)])
        opened: Callable[..., Any] = random.choice((zarr.open, zarr.open_array, zarr.open_group))
        node = opened(self.store, path=path, mode="r" if self.deletes else "r+")
        return [type(node).__name__, node.path, told(dict(node.attrs))]

    def move(self, random: Random) -> Any:
        """The folder of a local store gets another name."""
        if self.kind != "local":
            return None
        self.path = self.folder / f"{self.path.name}-"
        asyncio.run(self.store.move(self.path))
        self.root = zarr.open_group(self.store, mode="r+")
        return [self.path.exists(), sorted(self.root)]

    steps = (
        *("create_array",) * 4, "create_from", "create_from", "create_group", "create_group",
        *("get",) * 3, "get_all", *("put",) * 5, "get_later", "put_later", "members_later",
        "change_later", "change_later", "group_later", "group_later",
        *("resize",) * 3, *("append",) * 3, *("attributes",) * 3, "updated", "delete", "members",
        "bad_attributes", "open_again", "open_node", "describe", "move",
    )  # fmt: skip

    makers = ("create_array", "create_array", "create_from", "create_group")

    def step(self, random: Random) -> Outcome:
        has_array = "array" in self.known.values()
        # Without an array most steps have nothing to do.
        name = random.choice(self.steps if has_array or random.random() < 0.1 else self.makers)
        self.drawn = []
        return self.outcome(name, lambda: getattr(self, name)(random))

    def outcome(self, name: str, work: Callable[[], Any]) -> Outcome:
        try:
            outcome: Outcome = {"returned": told(work())}
        except Exception as error:
            outcome = raised(error)
        return {"step": name, "drawn": self.drawn, **outcome, "held": self.held()}


def run(numbers: list[int]) -> list[Outcome]:
    """The outcomes of a store that the first number draws, and of a step for each of the others."""
    with tempfile.TemporaryDirectory() as folder:
        hierarchy = Hierarchy(Random(numbers[0]), Path(folder))
        about = {"step": f"{hierarchy.kind}, format {hierarchy.format}", "held": hierarchy.held()}
        outcomes: list[Outcome] = [about]
        outcomes += [
            hierarchy.step(Random(f"{number} at {place}"))
            for place, number in enumerate(numbers[1:])
            if number
        ]
        outcomes.append(hierarchy.outcome("consolidate", hierarchy.consolidate))
        if hierarchy.kind == "zip":
            hierarchy.store.close()
            outcomes.append({"step": "end", "held": hierarchy.archived()})
    return outcomes


def main() -> None:
    warnings.simplefilter("ignore")
    print(json.dumps(zarr.__name__ + " " + type(zarr.group()).__module__), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
