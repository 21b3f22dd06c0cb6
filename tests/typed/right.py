"""What programs write: a checker of types finds nothing in it, and knows what is returned."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import zarrix as zarr
from zarrix import (
    Array,
    AsyncArray,
    Blosc,
    BloscCodec,
    DirectoryStore,
    Group,
    ProcessSynchronizer,
    Zstd,
    codecs,
    errors,
    from_array,
    get_codec,
    migrate,
    storage,
    verify,
)

z = zarr.open("x.zarr", mode="w", shape=(10, 10), chunks=(5, 5), dtype="f4")
assert_type(z, Array)
z[:5] = 1.0
assert_type(z[:5], npt.NDArray[Any])
assert_type(z[...], npt.NDArray[Any])
assert_type(z.shape, tuple[int, ...])
total: float = z[0, 0]

assert_type(zarr.open("x.zarr"), Array | Group)
assert_type(zarr.zeros(3, chunks=2, compressor=Blosc(cname="zstd", clevel=3)), Array)
assert_type(zarr.zeros_like(z, dtype="i4"), Array)
assert_type(zarr.array(np.arange(3), store={}, order=z.order, zarr_format=z.zarr_format), Array)
assert_type(zarr.open_array("x.zarr", mode="r"), Array)
g = zarr.open_group("g.zarr", mode="a", attributes={"a": 1})
assert_type(g, Group)
assert_type(g.create_dataset("x", (100,), "i4", chunks=10), Array)
assert_type(g.create_dataset("y", data=np.arange(3), overwrite=True), Array)
assert_type(g.require_dataset("y", (3,), "i8", exact=True, chunks=2), Array)
assert_type(g.create_array("z", shape=3, shards=None), Array)
assert_type(g.create_group("h"), Group)
assert_type(g.get_array("x"), Array)
assert_type(g.get_group("h"), Group)
for name, member in g.arrays():
    assert_type(name, str)
    assert_type(member, Array)
images: Array = g["x"]
images.attrs["unit"] = "mm"
with zarr.config(threads=2):
    zarr.config.durability = "fsync"
zarr.copy(g["x"], g, name="w", if_exists="replace")
zarr.save("s.zarr", np.arange(3), np.arange(4))
zarr.Zstd(level=3)
codecs.ZstdCodec(level=3)
storage.LocalStore("x")
used = (AsyncArray, BloscCodec, DirectoryStore, ProcessSynchronizer, Zstd, errors, from_array)
functions = (get_codec, migrate, verify, zarr.diff, zarr.repair, zarr.digests, zarr.set_log_level)
