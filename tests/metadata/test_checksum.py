"""``checksum=True``: damage is noticed in both formats, and other libraries read the array."""

import json

import numpy as np
import pytest
import zarrix as zarr
from numcodecs import LZ4, Blosc, Delta, Zlib, Zstd
from zarrix._array.access import metadata_of
from zarrix._metadata.checksum import is_checked

VALUES = (np.arange(4000) // 3).astype("<i4")


def unnoticed(z, folder, key):
    """How many single-bit damages of a chunk are read without an error."""
    file = folder / key
    data = file.read_bytes()
    missed = 0
    for at in range(0, len(data), max(1, len(data) // 60)):
        harmed = bytearray(data)
        harmed[at] ^= 1 << at % 8
        file.write_bytes(harmed)
        try:
            missed += not np.array_equal(z[:], VALUES)
        except zarr.errors.CorruptChunkError:
            continue
    file.write_bytes(data)
    return missed


@pytest.mark.parametrize(
    ("compressor", "wanted_filters", "wanted_compressor"),
    [
        (None, ["crc32"], None),
        (Blosc("lz4", 5, Blosc.SHUFFLE), ["shuffle", "crc32"], ("blosc", 0)),
        (Blosc("zstd", 1, Blosc.BITSHUFFLE), ["shuffle", "crc32"], ("blosc", 2)),
        (Blosc("lz4", 5, Blosc.NOSHUFFLE), ["crc32"], ("blosc", 0)),
        (LZ4(), ["crc32"], ("lz4", None)),
        (Zstd(1), None, ("zstd", None)),
        (Zlib(1), None, ("zlib", None)),
    ],
    ids=str,
)
def test_format_2_notices_damage_whatever_the_codec(
    tmp_path, compressor, wanted_filters, wanted_compressor
):
    z = zarr.open_array(
        tmp_path,
        mode="w",
        shape=4000,
        chunks=4000,
        dtype="<i4",
        compressor=compressor,
        checksum=True,
    )
    z[:] = VALUES
    document = json.loads((tmp_path / ".zarray").read_text())
    filters = document["filters"] and [one["id"] for one in document["filters"]]
    assert filters == wanted_filters
    found = document["compressor"] and (
        document["compressor"]["id"],
        document["compressor"].get("shuffle"),
    )
    assert found == wanted_compressor
    assert "frame_checksum" not in json.dumps(document)
    # TensorStore rejects the member with any value.
    assert "checksum" not in (document["compressor"] or {})
    assert np.array_equal(zarr.open(tmp_path, mode="r")[:], VALUES)
    assert unnoticed(z, tmp_path, "0") == 0


def test_what_numcodecs_makes_of_such_chunks_are_the_same_values(tmp_path):
    """As zarr 2.18 reads them: the compressor first, then the filters from the last on."""
    z = zarr.array(VALUES, store=tmp_path, chunks=4000, checksum=True)
    value = z.compressor.decode((tmp_path / "0").read_bytes())
    for codec in reversed(z.filters):
        value = codec.decode(value)
    assert np.array_equal(np.frombuffer(value, "<i4"), VALUES)


def test_the_checksum_costs_no_ratio(tmp_path):
    values = np.cumsum(np.random.default_rng(1).integers(0, 9, 100_000)).astype("<i4")
    plain = zarr.array(values, store=tmp_path / "a", chunks=100_000)
    checked = zarr.array(values, store=tmp_path / "b", chunks=100_000, checksum=True)
    sizes = [len((tmp_path / name / "0").read_bytes()) for name in "ab"]
    assert sizes[1] < 1.02 * sizes[0]
    assert np.array_equal(plain[:], checked[:])


def test_filters_of_the_user_stay_before_it(tmp_path):
    z = zarr.array(VALUES, store=tmp_path, filters=[Delta("<i4", "<i2")], checksum=True)
    assert [f.codec_id for f in z.filters] == ["delta", "shuffle", "crc32"]
    assert z.filters[1].elementsize == 2
    assert np.array_equal(z[:], VALUES)


def test_zstd_frames_go_on_carrying_it_after_a_resize_a_pickle_and_by_a_handle_told_so(tmp_path):
    import pickle

    def carries(key):
        # RFC 8878, frame header descriptor: bit 2 is the content checksum flag.
        return bool((tmp_path / key).read_bytes()[4] & 4)

    z = zarr.open_array(
        tmp_path, mode="w", shape=10, chunks=10, dtype="i4", compressor=Zstd(1), checksum=True
    )
    z.append(np.arange(10, dtype="i4"))
    z[:10] = 1
    assert carries("0")
    assert carries("1")
    pickle.loads(pickle.dumps(z))[:10] = 2
    assert carries("0")
    zarr.open_array(tmp_path, mode="r+", checksum=True)[:10] = 3
    assert carries("0")
    zarr.open_array(tmp_path, mode="r+")[:10] = 4
    assert not carries("0")


def test_format_3_gets_crc32c_or_the_flag_of_zstd(tmp_path):
    def codecs(**keywords):
        z = zarr.create_array(shape=(64,), chunks=(8,), dtype="<i4", checksum=True, **keywords)
        z[:] = np.arange(64)
        assert np.array_equal(z[:], np.arange(64))
        assert is_checked(metadata_of(z).codecs)
        return metadata_of(z).to_dict()["codecs"]

    assert [one["name"] for one in codecs(compressors=None)] == ["bytes", "crc32c"]
    assert codecs()[-1]["configuration"]["checksum"] is True
    blosc = codecs(compressors=zarr.codecs.BloscCodec(cname="lz4"))
    assert [one["name"] for one in blosc] == ["bytes", "blosc", "crc32c"]
    gzip = codecs(compressors=zarr.codecs.GzipCodec())
    assert [one["name"] for one in gzip] == ["bytes", "gzip"]
    (shard,) = codecs(shards=(32,), compressors=None)
    inner = [one["name"] for one in shard["configuration"]["codecs"]]
    assert inner == ["bytes", "crc32c"]


def test_damage_in_format_3_is_noticed(tmp_path):
    z = zarr.create_array(
        tmp_path, shape=(4000,), chunks=(4000,), dtype="<i4", compressors=None, checksum=True
    )
    z[:] = VALUES
    assert unnoticed(z, tmp_path, "c/0") == 0
