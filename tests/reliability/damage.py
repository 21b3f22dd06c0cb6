"""Random damage to stored bytes: bits, bursts, truncations, in chunks and in documents.

Each damaged array is read in a child that answers after every read, so that a crash or a hang is
counted with its case and the others go on. A wrong answer without an error is silent; where a
codec has a checksum there may be none, and a truncation may be silent nowhere.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import Memory, Outcome, stream
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_LENGTH = 3000
_LIMIT_S = 120
_SLACK = 64 << 20


@dataclass(frozen=True)
class Chain:
    """Codecs of an array in v2; ``checked`` if what they write carries a checksum."""

    name: str
    compressor: dict[str, Any] | None
    filters: tuple[dict[str, Any], ...] = ()
    checked: bool = False


def _blosc(cname: str, shuffle: int = 1) -> Chain:
    return Chain(f"blosc {cname}", {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle})


CHAINS = (
    Chain("none", None),
    *(_blosc(name) for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy")),
    Chain("zstd", {"id": "zstd", "level": 1}),
    Chain("zstd with checksum", {"id": "zstd", "level": 1, "checksum": True}, checked=True),
    Chain("lz4", {"id": "lz4", "acceleration": 1}),
    Chain("gzip", {"id": "gzip", "level": 1}, checked=True),
    Chain("zlib", {"id": "zlib", "level": 1}, checked=True),
    Chain("bz2", {"id": "bz2", "level": 1}, checked=True),
    Chain("lzma", {"id": "lzma", "format": 1, "check": -1, "preset": 1}, checked=True),
    Chain("crc32", None, ({"id": "crc32"},), checked=True),
    Chain("crc32c", None, ({"id": "crc32c"},), checked=True),
    Chain("adler32", None, ({"id": "adler32"},), checked=True),
    Chain("fletcher32", None, ({"id": "fletcher32"},), checked=True),
    Chain("delta, zstd", {"id": "zstd", "level": 1}, ({"id": "delta", "dtype": "<i4"},)),
    Chain(
        "shuffle, crc32, blosc lz4",
        {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 0},
        ({"id": "shuffle", "elementsize": 4}, {"id": "crc32"}),
        checked=True,
    ),
)


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """10 000 damages of chunks over all codecs, 2 000 of documents, 1 000 of shards."""
    each = max(20, round(10_000 * scale) // len(CHAINS))
    figures: list[Figure] = []
    total: Counter[str] = Counter()
    for number, chain in enumerate(CHAINS):
        try:
            counts = _chunks(folder / f"chain{number}", chain, each)
        except _NotInstalledError:
            continue
        total += counts
        figures += silent(chain.name, chain.checked, each, counts)
    counts = _shards(folder, each * 2)
    total += counts
    figures += silent("shard, zstd and crc32c", True, each * 2, counts)
    figures += totals("chunks and shards", total)
    metadata = _documents(folder, max(100, round(2000 * scale)))
    figures += totals("documents", metadata)
    figures.append(Figure("documents: valid ones that say something else", metadata["changed"]))
    return figures + _swaps(folder / "swaps", max(5, round(200 * scale)))


def _swaps(folder: Path, count: int) -> list[Figure]:
    """Two chunks that change places: each decodes, and only its digest tells."""
    import zarrix as zarr

    chance = random.Random(11)
    array = zarr.create_array(folder, shape=(_LENGTH,), chunks=(100,), dtype="<i4")
    array[:] = values()
    digests = zarr.digests(folder)
    unnoticed = noticed_without = 0
    for _ in range(count):
        swapped = [f"c/{n}" for n in chance.sample(range(_LENGTH // 100), 2)]
        contents = [(folder / key).read_bytes() for key in swapped]
        for key, content in zip(swapped, reversed(contents), strict=True):
            (folder / key).write_bytes(content)
        told = [problem.key for problem in zarr.verify(folder, digests=digests).problems]
        unnoticed += told != sorted(swapped)
        noticed_without += not zarr.verify(folder).ok
        for key, content in zip(swapped, contents, strict=True):
            (folder / key).write_bytes(content)
    return [
        Figure(f"swaps of two chunks: unnoticed with digests, of {count}", unnoticed, "= 0"),
        Figure(f"swaps of two chunks: noticed without, of {count}", noticed_without),
    ]


class _NotInstalledError(Exception):
    """numcodecs lacks what this codec needs."""


def silent(name: str, checked: bool, count: int, counts: Counter[str]) -> list[Figure]:
    return [
        Figure(f"{name}: silent of {count}", counts["silent"], "= 0" if checked else ""),
        Figure(
            f"{name}: truncations unnoticed of {counts['truncations']}",
            counts["truncation unnoticed"],
            "= 0",
        ),
    ]


def totals(what: str, counts: Counter[str]) -> list[Figure]:
    return [
        Figure(f"{what}: damages", counts["cases"]),
        Figure(f"{what}: clean errors", counts["error"]),
        Figure(f"{what}: harmless", counts["harmless"]),
        Figure(f"{what}: crashes", counts["crash"], "= 0"),
        Figure(f"{what}: hangs", counts["hang"], "= 0"),
        Figure(f"{what}: more than {_SLACK >> 20} MiB of memory", counts["memory"], "= 0"),
        Figure(f"{what}: exceptions that are not ours", counts["foreign"], "= 0"),
        Figure(f"{what}: errors that do not name where", counts["nameless"], "= 0"),
    ]


def values() -> Any:
    """A chunk that compresses by half: numbers near each other, with noise."""
    chance = np.random.default_rng(3)
    return (np.arange(_LENGTH) // 7 + chance.integers(0, 300, _LENGTH)).astype("<i4")


Read = Callable[[], tuple[bool, bool]]
"""One read: whether the values are right, and whether metadata still says the same."""


def _chunks(folder: Path, chain: Chain, count: int) -> Counter[str]:
    import zarrix as zarr

    wanted = values()
    try:
        array = zarr.open_array(
            folder,
            mode="w",
            shape=_LENGTH,
            chunks=_LENGTH,
            dtype="<i4",
            compressor=chain.compressor,
            filters=list(chain.filters) or None,
        )
        array[:] = wanted
    except (ImportError, zarr.errors.UnknownCodecError) as error:
        raise _NotInstalledError from error
    file = folder / "0"

    def read() -> tuple[bool, bool]:
        return np.array_equal(array[:], wanted), True

    return many(file, count, read, lambda message: f"{file.name!r}" in message or '"0"' in message)


def _shards(folder: Path, count: int) -> Counter[str]:
    from tests.reliability.libraries import LIBRARIES

    wanted = values()[:2048]
    array = LIBRARIES["zarrix"].make(folder / "shard", 2048, 2048, 256)
    array[:] = wanted
    file = folder / "shard" / "c" / "0"
    names = lambda message: "c/0" in message  # noqa: E731
    turns = iter(range(1 << 30))

    def read() -> tuple[bool, bool]:
        # Whole shards and single inner chunks take different paths.
        if next(turns) % 2:
            return np.array_equal(array[:], wanted), True
        parts = [array[begin + 3 : begin + 200] for begin in range(0, 2048, 256)]
        right = [wanted[begin + 3 : begin + 200] for begin in range(0, 2048, 256)]
        return all(map(np.array_equal, parts, right)), True

    return many(file, count, read, names)


def _documents(folder: Path, count: int) -> Counter[str]:
    """A hierarchy whose documents are damaged, opened and read."""
    import zarrix as zarr

    root = zarr.open_group(folder / "documents", mode="w")
    root.attrs.update(title="a title", numbers=[1, 2.5, None], nested={"a": {"b": True}})
    codecs = {"compressor": zarr.Blosc(cname="zstd"), "filters": [zarr.Delta("<i4")]}
    array = root.create_dataset("x", shape=_LENGTH, chunks=_LENGTH, dtype="<i4", **codecs)
    array[:] = values()
    array.attrs["unit"] = "mm"
    attributes = (root.attrs.asdict(), array.attrs.asdict())
    info = (array.dtype, array.shape, array.chunks, array.compressor, array.filters)
    wanted = values()[:10]

    def read() -> tuple[bool, bool]:
        root = zarr.open_group(folder / "documents", mode="r")
        found = root["x"]
        head = found[:10] if found.ndim == 1 else found[(slice(10),) * found.ndim]
        same = (root.attrs.asdict(), found.attrs.asdict()) == attributes
        same &= (found.dtype, found.shape, found.chunks, found.compressor, found.filters) == info
        right = np.array_equal(head, wanted)
        # A document that is valid and says something else cannot be noticed.
        return right or not same, same and right

    counts: Counter[str] = Counter()
    for name in (".zgroup", ".zattrs", "x/.zarray", "x/.zattrs"):
        file = folder / "documents" / name
        # A document with another chunk shape contradicts the chunk, which is then what is named.
        told = partial(_names_one_of, (name, '"x/0"'))
        counts += many(file, count // 4, read, told)
    return counts


def _names_one_of(names: tuple[str, ...], message: str) -> bool:
    return any(name in message for name in names)


def many(
    file: Path, count: int, read: Read, names: Callable[[str], bool], part: slice = slice(None)
) -> Counter[str]:
    """Damage ``file``, or a part of it, in ``count`` ways and count what became of the reads."""
    import zarrix as zarr

    whole = file.read_bytes()
    begin, end, _ = part.indices(len(whole))
    counts: Counter[str] = Counter()

    def cases(first: int) -> Callable[[], Iterator[tuple[int, str, str, int]]]:
        def work() -> Iterator[tuple[int, str, str, int]]:
            for number in range(first, count):
                kind, data = _damaged(whole[begin:end], number)
                file.write_bytes(whole[:begin] + data + whole[end:])
                memory = Memory()
                try:
                    right, same = read()
                    ended = ("harmless" if same else "changed") if right else "silent"
                except (zarr.errors.ZarrixError, KeyError) as error:
                    ended = "error" if names(str(error)) else "nameless"
                except Exception as error:
                    ended = f"foreign {error!r}"
                yield number, kind, ended, memory.grown()

        return work

    number = 0
    while number < count:
        for outcome in stream(cases(number), _LIMIT_S):
            number += 1
            counts["cases"] += 1
            if outcome.ended != "ok":
                counts["hang" if outcome.ended == "hung" else "crash"] += 1
                break
            _count(outcome, counts)
    file.write_bytes(whole)
    return counts


def _count(outcome: Outcome, counts: Counter[str]) -> None:
    _, kind, ended, grown = outcome.answer
    if ended.startswith("foreign"):
        import sys

        print(ended, kind, file=sys.stderr)
    counts[ended.split()[0]] += 1
    counts["memory"] += grown > _SLACK
    if kind == "truncation":
        counts["truncations"] += 1
        counts["truncation unnoticed"] += ended in ("silent", "harmless")


def _damaged(whole: bytes, number: int) -> tuple[str, bytes]:
    chance = random.Random(number * 7919 + len(whole))
    data = bytearray(whole)
    kind = ("bit", "burst", "truncation", "zeros")[number % 4]
    if kind == "bit":
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "truncation":
        del data[chance.randrange(len(data)) :]
    else:
        begin = chance.randrange(len(data))
        size = min(len(data) - begin, chance.randint(1, 64))
        data[begin : begin + size] = chance.randbytes(size) if kind == "burst" else bytes(size)
    return kind, bytes(data)
