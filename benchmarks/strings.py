"""One million short strings, against numcodecs: `python -m benchmarks.strings [rounds]`.

Ours is a whole read of a stored array, from the chunk's bytes to NumPy's StringDType or to objects;
numcodecs decodes the same bytes, already in memory and not compressed, and NumPy casts what comes
of it. Writes are compared the same way round. What is promised: at least 2 times as fast to
StringDType, and faster to objects.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np

from benchmarks.measure import Call, Pace, Ratio, rounds

COUNT = 1_000_000
PROMISES = {"to StringDType": 2.0, "to objects": 1.0}


def words(kind: str, count: int = COUNT) -> Any:
    """Strings of 1 to 24 letters as an array of objects; a fifth of them not ASCII where asked."""
    rng = np.random.default_rng(7)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    text = "".join(letters[rng.integers(0, 26, 2 * count)])
    starts, lengths = rng.integers(0, 2 * count - 24, count), rng.integers(1, 25, count)
    made = [text[i : i + n] for i, n in zip(starts.tolist(), lengths.tolist(), strict=True)]
    if kind == "not all ASCII":
        made[::5] = [f"é{word}" for word in made[::5]]
    return np.array(made, object)


def build(folder: Path, count: int) -> Path:
    """A stored array of strings in ten chunks, of v3, written by numcodecs alone."""
    path = folder / f"strings-{count}.zarr"
    document, chunks = path / "zarr.json", count // 10
    if document.exists():
        return path
    objects = words("not all ASCII", count)
    (path / "c").mkdir(parents=True, exist_ok=True)
    zstd = {"level": 3, "checksum": False}
    for number in range(10):
        text = numcodecs.VLenUTF8().encode(objects[number * chunks : (number + 1) * chunks])
        (path / "c" / str(number)).write_bytes(numcodecs.Zstd(**zstd).encode(text))
    fields = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [count],
        "data_type": "string",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunks]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "",
        "codecs": [{"name": "vlen-utf8"}, {"name": "zstd", "configuration": zstd}],
        "attributes": {},
    }
    document.write_text(json.dumps(fields))
    return path


def pairs(objects: Any, chunks: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """What is compared: ours and numcodecs', by what is done."""
    import zarrix as zarr  # Not at first: contenders live where there is none.

    codec = numcodecs.VLenUTF8()
    strings = objects.astype(np.dtypes.StringDType())
    blobs = [codec.encode(objects[i : i + chunks]) for i in range(0, COUNT, chunks)]
    three = zarr.create_array(shape=COUNT, chunks=chunks, dtype=str, compressors=None)
    two = zarr.create(COUNT, chunks=chunks, dtype=str, compressor=None)
    three[...], two[...] = strings, objects

    def decode() -> Any:
        parts = [codec.decode(blob) for blob in blobs]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def encode(values: Any) -> None:
        for i in range(0, COUNT, chunks):
            codec.encode(values[i : i + chunks])

    assert (three[...] == strings).all()
    assert (two[...] == objects).all()
    return {
        "to StringDType": (lambda: three[...], lambda: decode().astype(strings.dtype)),
        "to objects": (lambda: two[...], decode),
        "from StringDType": (
            lambda: three.__setitem__(..., strings),
            lambda: encode(strings.astype(object)),
        ),
        "from objects": (lambda: two.__setitem__(..., objects), lambda: encode(objects)),
    }


def main(count: int = 15) -> int:
    """Print a table of ratios; how many promises are broken."""
    broken = 0
    for kind in ("ASCII", "not all ASCII"):
        objects = words(kind)
        for chunks in (COUNT, COUNT // 10):
            for name, (ours, theirs) in pairs(objects, chunks).items():
                calls = {"zarrix": Call(ours), "numcodecs": Call(theirs)}
                times = rounds(calls, Pace(rounds=count))
                found = Ratio.of(times["numcodecs"], times["zarrix"])
                short = found.median < PROMISES.get(name, 0.0)
                broken += short
                print(
                    f"{kind:14} {COUNT // chunks:3} chunks  {name:17} {found.median:6.2f} times "
                    f"({found.low:.2f} to {found.high:.2f}), ours "
                    f"{min(times['zarrix']) * 1e3:.0f} ms{'  BROKEN' if short else ''}"
                )
    return broken


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
