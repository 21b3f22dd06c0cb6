"""The bytes that advice prints are those that the array then takes."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from measure.test_advice import ACCESSES, DATA, words
from zarrix.cli import main
from zarrix.measure import _advise, advise
from zarrix.measure._expected import Encoding, expected_bytes

CASES = list(itertools.product(DATA, ACCESSES))
SHORT = [("frames", "crop"), ("climate", "series"), ("masks", "frame")]


def stored_in(path: Path, value: Any) -> Any:
    """The value in chunks of half of it along all axes but the first."""
    chunks = [n if axis == 0 else max(1, n // 2) for axis, n in enumerate(value.shape)]
    z = zarr.open(path, mode="w", shape=value.shape, dtype=value.dtype, chunks=chunks)
    z[...] = value
    return z


@pytest.mark.parametrize(("name", "access"), CASES)
def test_what_is_printed_is_what_rechunk_gives(
    name: str, access: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if (name, access) not in SHORT and not request.config.getoption("--long"):
        pytest.skip("one of 30 cases: pytest --long runs them all")
    value = DATA[name]
    z = stored_in(tmp_path / "a.zarr", value)
    found = advise(str(tmp_path / "a.zarr"), access=words(access, value), budget=0.3)
    now = found.trials[0]
    assert (now.nbytes, now.nbytes_error) == (int(z.nbytes_stored), 0)
    assert now.files == z.nchunks_initialized
    for trial in found.trials:
        assert trial.nbytes is not None
        assert trial.ratio == pytest.approx(value.nbytes / trial.nbytes)
    (chosen,) = (one for one in found.trials if found._is_advised(one))
    if not chosen.present:
        command = found.command.replace(" DEST ", f" {tmp_path / 'b.zarr'} ")
        assert main([*shlex.split(command)[1:], "--quiet"]) == 0
        there = zarr.open(tmp_path / "b.zarr", mode="r")
        assert chosen.nbytes == pytest.approx(int(there.nbytes_stored), rel=0.1)
        assert chosen.files == pytest.approx(there.nchunks_initialized, rel=0.15)


def test_whole_chunks_of_the_array_decide_and_not_those_of_a_sample(tmp_path: Path) -> None:
    """Noise is at the end, where a small sample of the first chunks has none of it."""
    value = np.zeros((64, 100, 100), "u1")
    value[48:] = np.random.default_rng(0).integers(0, 256, (16, 100, 100), "u1")
    z = stored_in(tmp_path / "a.zarr", value)
    encoding = Encoding((1, 100, 100), None, _advise._options("blosc:zstd:5:bitshuffle", z))
    found = expected_bytes(z, encoding, 0, 1000.0)
    made = zarr.create_array(
        tmp_path / "b.zarr", shape=value.shape, dtype="u1", chunks=(1, 100, 100), zarr_format=2,
        **encoding.options,
    )  # fmt: skip
    made[...] = value
    real = sum(len(made.store[key]) for key in made.store if not key.startswith("."))
    assert found.files == 16
    assert abs(found.nbytes - real) <= 2 * found.error * found.nbytes
    few = Encoding((8, 100, 100), None, encoding.options)
    assert expected_bytes(z, few, 0, 1000.0).error == 0


def test_a_layout_that_takes_more_says_its_price() -> None:
    now = _advise.Trial((64,), "as it is", 8.0, 1.0, 1.0, True, nbytes=5_000_000, files=13)
    new = _advise.Trial((1,), "blosc:lz4:5:shuffle", 3.0, 0.01, 0.01, nbytes=13_400_000,
                        nbytes_error=0.04, files=1380)  # fmt: skip
    found = _advise.Advice((1,), None, new.codec, [now, new], 100.0)
    told = (
        "its price: 12.8 MiB \u00b14 % in 1,380 files; the present layout takes 4.8 MiB in 13 files"
    )
    assert told in str(found)
    assert "1,380 files" in found._repr_html_()
    small = _advise.Trial((32,), new.codec, 9.0, 0.5, 0.5, nbytes=4_900_000, files=26)
    assert "price" not in str(_advise.Advice((32,), None, new.codec, [now, small], 2.0))
