"""Makes the arrays with pictures of other programs: `python make_arrays.py`, in this folder.

Needs zarr-python 3.4, imagecodecs 2026.10 and Pillow. Arrays are written by zarr-python with the
codecs of imagecodecs; some chunks are files of Pillow. What zarr-python reads is beside them.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import imagecodecs.numcodecs
import imagecodecs.zarr
import numpy as np
import zarr
from PIL import Image
from zarr.codecs import Crc32cCodec

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from golden.packs import pack  # noqa: E402

imagecodecs.numcodecs.register_codecs(verbose=False)
imagecodecs.zarr.register_codecs(verbose=False)


def picture(*shape: int, seed: int) -> np.ndarray[Any, Any]:
    """Waves with some noise: neither flat nor only noise."""
    rng = np.random.default_rng(seed)
    place = sum(
        np.arange(n).reshape(-1, *[1] * (len(shape) - k - 1)) / (k + 2.5)
        for k, n in enumerate(shape)
    )
    waves = 127 + 110 * np.sin(place + rng.normal(0, 0.2, shape))
    return waves.clip(0, 255).astype("u1")


# Shape, chunks, and the configuration of imagecodecs; the name begins with its codec if that is not
# JPEG.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "rgb": ((3, 40, 56, 3), (1, 40, 56, 3), {"level": 90}),
    "rgb-444": ((3, 40, 56, 3), (1, 40, 56, 3), {"level": 97, "subsampling": "444"}),
    "rgb-422": ((45, 61, 3), (24, 32, 3), {"level": 80, "subsampling": "422", "optimize": True}),
    "rgb-440": ((45, 61, 3), (24, 32, 3), {"level": 80, "subsampling": (1, 2)}),
    "rgb-411": ((33, 65, 3), (33, 65, 3), {"subsampling": "411"}),
    "as-rgb": ((20, 30, 3), (20, 30, 3), {"colorspace_data": "RGB", "colorspace_jpeg": "RGB"}),
    "gray": ((40, 56), (17, 23), {"level": 75}),
    "gray-1": ((4, 30, 20, 1), (1, 30, 20, 1), {"level": 75}),
    "png-gray": ((40, 56), (17, 23), {}),
    "png-gray-16": ((40, 56), (17, 23), {"level": 9}),
    "png-alpha": ((2, 20, 30, 2), (1, 20, 30, 2), {"level": 0}),
    "png-rgb": ((3, 40, 56, 3), (1, 40, 56, 3), {"level": 5}),
    "png-rgb-16": ((45, 61, 3), (24, 32, 3), {}),
    "png-rgba": ((20, 30, 4), (20, 30, 4), {"filter": 16}),
    "webp-lossless": ((3, 40, 56, 3), (1, 40, 56, 3), {}),
    "webp-lossy": ((45, 61, 3), (24, 32, 3), {"lossless": False, "level": 80}),
    "webp-alpha": ((2, 20, 30, 4), (1, 20, 30, 4), {"hasalpha": True, "method": 6}),
}


def written() -> dict[str, dict[str, Any]]:
    """The files and the values of each array, by its name."""
    found = {}
    for number, (name, (shape, chunks, config)) in enumerate(CASES.items()):
        data = picture(*shape, seed=number)
        if name.endswith("-16"):
            data = data.astype("u2") * 251
        kind = name.partition("-")[0].capitalize()
        kind = kind if kind in ("Png", "Webp") else "Jpeg"
        for zarr_format in (2, 3):
            store = zarr.storage.MemoryStore()
            if zarr_format == 2:
                codec = getattr(imagecodecs.numcodecs, kind)(**config)
                z = zarr.create(
                    shape,
                    store=store,
                    chunks=chunks,
                    dtype=data.dtype,
                    compressor=codec,
                    zarr_format=2,
                )
            else:
                codec = getattr(imagecodecs.zarr, kind)(**config)
                z = zarr.create_array(
                    store,
                    shape=shape,
                    chunks=chunks,
                    dtype=data.dtype,
                    serializer=codec,
                    compressors=Crc32cCodec() if number % 2 else None,
                    fill_value=0,
                )
            z[...] = data
            if zarr_format == 2 and name in FILES:
                put_file(store, data[1], FILES[name])
            files = {key: value.to_bytes() for key, value in store._store_dict.items()}
            found[f"{name}-v{zarr_format}"] = {"files": files, "values": zarr.open(store)[...]}
    return found


# What a file of Pillow in the second chunk is saved with.
FILES: dict[str, dict[str, Any]] = {
    "rgb": {"format": "JPEG", "quality": 85, "progressive": True},
    "png-rgb": {"format": "PNG", "mode": "P"},
    "webp-lossless": {"format": "WEBP", "quality": 60},
}


def put_file(store: Any, pixels: np.ndarray[Any, Any], options: dict[str, Any]) -> None:
    """A file of Pillow instead of the second chunk."""
    file = io.BytesIO()
    given = dict(options)
    Image.fromarray(pixels).convert(given.pop("mode", "RGB")).save(file, **given)
    from zarr.core.buffer import default_buffer_prototype

    store._store_dict["1.0.0.0"] = default_buffer_prototype().buffer.from_bytes(file.getvalue())


def main() -> None:
    found = written()
    pack(
        HERE / "zarr-python-3.4.2-imagecodecs.tar.xz",
        {
            f"{name}/{key}": data
            for name, one in found.items()
            for key, data in one["files"].items()
        },
    )
    values = {}
    for name, one in found.items():
        file = io.BytesIO()
        np.save(file, one["values"])
        values[f"{name}.npy"] = file.getvalue()
    pack(HERE / "expected.tar.xz", values)
    print(json.dumps({name: list(one["values"].shape) for name, one in found.items()}))


if __name__ == "__main__":
    main()
