"""One grammar of sizes, wherever a user writes one."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs, ml
from zarrix._runtime.sizes import is_size, parse_size, size_text
from zarrix.cli._common import size as size_of_option
from zarrix.cli._common import sizes as chunks_of_option

SIZES = {
    "1B": 1, "64K": 65_536, "64k": 65_536, "64Ki": 65_536, "64KiB": 65_536, "64 kB": 64_000,
    "64KB": 64_000, "1.5M": 1_572_864, "1.5 MiB": 1_572_864, "1.5MB": 1_500_000,
    "0.5 GiB": 2**29, "2G": 2**31, "2GB": 2 * 10**9, "1T": 2**40, "1TB": 10**12,
    " 3 mib ": 3 * 2**20,
}  # fmt: skip
NONE = ["", " ", "GiB", "-1", "-1M", "1PiB", "1 PiB of", "M1", "1e3", "1_0K", "0x10", "1,5M", "٣M"]
NONE += ["9" * 5000, "9" * 18 + "T"]


@pytest.mark.parametrize(("text", "count"), SIZES.items())
def test_a_size_is_the_same_number_everywhere(text, count, tmp_path):
    assert parse_size(text, "x") == count
    assert is_size(text)
    assert size_of_option(text) == count
    z = zarr.ones((3000, 3000), chunks=(1000, 1000), dtype="u1", store=tmp_path / "a")
    crops = ml.Crops({"a": z}, size={"y": 2, "x": 2}, dims="yx")
    assert ml.Loader(crops, batch_size=1, memory=text)._memory == count
    if 2**16 <= count <= 2**30:
        assert chunks_of_option(text) == text
        wanted = zarr.util.normalize_chunks(text, (10**6, 10**6), 1)
        assert zarr.zeros((10**6, 10**6), chunks=text, dtype="u1").chunks == wanted
        made = zarr.create_array({}, shape=(10**6, 10**6), chunks=text, dtype="u1")
        assert made.chunks == wanted
        assert np.prod(wanted) <= count < 8 * np.prod(wanted)
    if count >= 2**22:
        by_text, by_number = (
            jobs.rechunk(z, tmp_path / "b", chunks=(3000, 10), max_memory=one, run=False)
            for one in (text, count)
        )
        assert by_text.id == by_number.id


SETTINGS = [name for name in dir(zarr.config) if name.endswith("_bytes") and name[0] != "_"]


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_in_bytes_is_a_size(name):
    before = getattr(zarr.config, name)
    with zarr.config(**{name: "64M"}):
        assert getattr(zarr.config, name) == 64 << 20
        with pytest.raises(ValueError, match=f"{name}='64 apples'"):
            zarr.config(**{name: "64 apples"})
        assert getattr(zarr.config, name) == 64 << 20
    assert getattr(zarr.config, name) == before
    program = f"import zarrix; print(zarrix.config.{name})"
    environment = {**os.environ, f"ZARRIX_{name.upper()}": "1.5 GB"}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "1500000000\n"


def test_numbers_are_sizes_where_they_cannot_be_lengths():
    assert [parse_size(one, "x") for one in ("1", "1000", 7, np.int16(9))] == [1, 1000, 7, 9]
    assert not any(map(is_size, ("1", "1000", 7, "auto", None)))


def test_a_long_text_takes_no_time():
    started = time.perf_counter()
    for text in ("1" + " " * 200_000 + "x", " " * 200_000 + "1x", "1" * 200_000 + "K"):
        assert not is_size(text)
        with pytest.raises(ValueError, match="is not a number of bytes"):
            parse_size(text, "memory")
    assert time.perf_counter() - started < 5


def test_large_sizes_are_exact():
    assert parse_size("9007199254740993", "x") == 9007199254740993
    assert parse_size("8388607.999999999T", "x") < 2**63


@pytest.mark.parametrize("value", [*NONE, 0, -1, True, None, 1.5, "0.5B", "0"])
def test_what_is_no_size_is_one_clear_error(value):
    with pytest.raises(ValueError, match=r"^memory=.* is not a number of bytes") as caught:
        parse_size(value, "memory")
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="max_memory="):
        jobs.rechunk({}, {}, chunks=(1,), max_memory=value)


@pytest.mark.parametrize("value", ["1 PiB", "64", "some", "0.5B"])
def test_chunks_and_shards_name_the_size_in_their_errors(value, tmp_path):
    with pytest.raises((TypeError, ValueError), match=r"size such as|number of bytes"):
        zarr.zeros(100, chunks=value)
    with pytest.raises((TypeError, ValueError), match=r"size such as|number of bytes"):
        zarr.create_array({}, shape=100, chunks=10, shards=value, dtype="u1")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_048_474, "1,023.9 KiB"),
     (1_048_575, "1.0 MiB"), (2**30, "1.0 GiB"), (2**62, "4,096.0 PiB")],
)  # fmt: skip
def test_sizes_are_written_in_the_unit_below_1024(count, text):
    assert size_text(count) == text
