"""Batches as arrays of jax, on one device and divided among several."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml

jax = pytest.importorskip("jax", reason="jax is not installed")

PROGRAM = """
import jax, numpy as np, zarrix as zarr
from zarrix import ml

mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))
assert len(jax.devices()) == 4
sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
rows = ml.Rows({"x": zarr.array(np.arange(64.0).reshape(32, 2), chunks=(4, 2))})
for batch in ml.Loader(rows, 8, seed=1, to=ml.jax.Sharded(sharding)):
    assert batch["x"].sharding == sharding and batch["x"].shape == (8, 2)
    assert {one.data.shape for one in batch["x"].addressable_shards} == {(2, 2)}
    assert np.array_equal(np.asarray(batch["x"])[:, 0], 2 * np.asarray(batch["item"]))
print("ok")
"""


def test_a_batch_is_divided_among_devices() -> None:
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(zarr.__file__).parents[1]),
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
            "JAX_PLATFORMS": "cpu",
        },
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert process.stdout == "ok\n", process.stderr


def test_batches_that_are_kept_keep_their_values_in_jax() -> None:
    """The CPU backend uses the memory of the batch itself."""
    z = zarr.array(np.arange(4000.0).reshape(400, 10), chunks=(5, 10))
    loader = ml.Loader(ml.Rows({"x": z}), 4, shuffle="block", memory=2000, to="jax")
    kept = [(np.asarray(batch["item"]).copy(), batch["x"]) for batch in loader]
    assert len(kept) == 100
    for items, x in kept:
        assert np.array_equal(np.asarray(x)[:, 0], 10 * items)


def test_bfloat16_arrives_as_bfloat16() -> None:
    field = ml.Field(zarr.array(np.arange(12, dtype="u1").reshape(6, 2)), dtype="bfloat16")
    batch = next(iter(ml.Loader(ml.Rows({"x": field}), 6, shuffle=False, to="jax")))
    assert batch["x"].dtype == jax.numpy.bfloat16
    assert np.array_equal(np.asarray(batch["x"]).astype("f4"), np.arange(12).reshape(6, 2))
