"""Wrong values that zarr-python gave in edge paths, each by the number of its issue there.

The right answer is NumPy's, and where an issue is about what is stored, the specification's bytes.
"""

from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import (
    BytesCodec,
    CastValue,
    Crc32cCodec,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    TransposeCodec,
)

NUMBERS = np.arange(1, 48 * 36 + 1, dtype="i4").reshape(48, 36)

SELECTIONS: dict[str, Any] = {
    "all": ...,
    "backwards": (slice(None, None, -1), slice(None, None, -1)),
    "a row": 17,
    "a column": (slice(None), 5),
    "one element": (30, 30),
    "every third": (slice(1, None, 3), slice(None, None, 5)),
    "across edges": (slice(10, 30), slice(7, 25)),
}


# 4116 (3558, numcodecs 850): arrays in F order, given to a codec that flattens them in the order in
# which they lie in memory, came back with their elements in another order.


TEXT = np.array([[f"{i},{j}" for j in range(6)] for i in range(4)], dtype=object)
BYTES = np.array([[one.encode() for one in row] for row in TEXT], dtype=object)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("dtype", "values"), [(str, TEXT), (bytes, BYTES)], ids=["text", "bytes"])
@pytest.mark.parametrize("chunks", [(4, 6), (2, 3), (3, 4)], ids=str)
def test_4116_elements_without_a_size_keep_their_places_whatever_the_order_in_memory(
    zarr_format: int, dtype: Any, values: Any, chunks: tuple[int, int]
) -> None:
    for given in (np.asfortranarray(values), values[::-1].copy()[::-1], values.T.copy().T):
        z = zarr.create(
            shape=(4, 6), chunks=chunks, dtype=dtype, fill_value=None, zarr_format=zarr_format
        )
        z[...] = given
        assert np.asarray(z[...], object).tolist() == values.tolist()
        z[0:2, 0:3] = np.asfortranarray(values[2:4, 3:6])
        assert np.asarray(z[0:2, 0:3], object).tolist() == values[2:4, 3:6].tolist()


@pytest.mark.parametrize(
    "codec",
    [
        numcodecs.Delta("<i4"),
        numcodecs.FixedScaleOffset(offset=0, scale=1, dtype="<i4"),
        numcodecs.AsType("<i8", "<i4"),
        numcodecs.Shuffle(4),
        numcodecs.Fletcher32(),
        numcodecs.JenkinsLookup3(),
    ],
    ids=lambda codec: codec.codec_id,
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_4116_filters_see_chunks_in_the_order_of_the_array_not_of_memory(
    codec: Any, order: str
) -> None:
    stores = []
    for given in (NUMBERS, np.asfortranarray(NUMBERS), NUMBERS.T.copy().T):
        store: dict[str, bytes] = {}
        z = zarr.create(
            NUMBERS.shape,
            chunks=(48, 12),
            dtype="<i4",
            filters=[codec],
            compressor=None,
            order=order,
            store=store,
        )
        z[...] = given
        np.testing.assert_array_equal(z[...], NUMBERS)
        stores.append({key: bytes(value) for key, value in store.items()})
    assert stores[0] == stores[1] == stores[2]
    # What numcodecs makes of the elements in the order that the document says.
    flat = NUMBERS[:, :12].reshape(-1) if order == "C" else NUMBERS[:, :12].T.reshape(-1)
    assert stores[0]["0.0"] == numcodecs.compat.ensure_bytes(codec.encode(flat.copy()))


# 1279, 2675: arrays of order F were stored in C order, or read so, where nothing compressed them.


@pytest.mark.parametrize("compressor", [None, numcodecs.Zlib()], ids=["raw", "zlib"])
def test_2675_chunks_of_order_f_are_stored_in_that_order(compressor: Any) -> None:
    store: dict[str, bytes] = {}
    for make in (zarr.create, zarr.create_array):
        z = make(
            store=store,
            shape=(48, 36),
            chunks=(24, 12),
            dtype="<i4",
            order="F",
            compressor=compressor,
            zarr_format=2,
            fill_value=0,
            overwrite=True,
        )
        z[...] = np.asfortranarray(NUMBERS)
        stored = store["1.2"] if compressor is None else bytes(compressor.decode(store["1.2"]))
        assert stored == NUMBERS[24:, 24:].tobytes(order="F")
        np.testing.assert_array_equal(z[...], NUMBERS)


# 4141, 4147: fields in big-endian order were stored as they lay in memory, under a document that
# said little-endian, and read as other numbers.


RECORD = np.dtype([("flux", ">f4"), ("mask", ">i4"), ("name", "S3")])


def records(dtype: np.dtype[Any]) -> Any:
    values = np.zeros(7, dtype)
    values["flux"] = np.linspace(-1, 1, 7)
    values["mask"] = np.arange(7) << 20
    values["name"] = [b"a", b"bc", b"def", b"", b"g", b"h", b"ij"]
    return values


@pytest.mark.parametrize("endian", [None, "little", "big"])
@pytest.mark.parametrize("given", [">", "<"])
def test_4141_fields_in_another_byte_order_keep_their_values(
    endian: str | None, given: str
) -> None:
    store = zarr.MemoryStore()
    values = records(RECORD.newbyteorder(given))
    serializer = {} if endian is None else {"serializer": BytesCodec(endian=endian)}
    z = zarr.create_array(
        store, shape=7, chunks=3, dtype=RECORD.newbyteorder(given), compressors=None, **serializer
    )
    z[...] = values
    for opened in (z, zarr.open_array(store, mode="r")):
        for field in ("flux", "mask", "name"):
            np.testing.assert_array_equal(opened[field], values[field])
            np.testing.assert_array_equal(opened[...][field], values[field])
    declared = zarr.open_array(store).serializer.endian
    order = {"little": "<", "big": ">"}[declared]
    stored = np.frombuffer(store["c/0"], RECORD.newbyteorder(order))
    np.testing.assert_array_equal(stored["mask"], values["mask"][:3])
    if endian is not None:
        assert declared == endian


def test_4147_what_others_stored_in_big_endian_order_is_read_so() -> None:
    store = zarr.MemoryStore()
    zarr.create_array(
        store,
        shape=7,
        chunks=7,
        dtype=RECORD,
        compressors=None,
        serializer=BytesCodec(endian="big"),
    )
    store["c/0"] = records(RECORD.newbyteorder(">")).tobytes()
    found = zarr.open_array(store, mode="r")[...]
    for field in ("flux", "mask", "name"):
        np.testing.assert_array_equal(found[field], records(RECORD)[field])


def test_4141_format_2_keeps_the_byte_order_of_each_field() -> None:
    mixed = np.dtype([("a", ">i2"), ("b", "<f8"), ("c", [("d", ">u4")])])
    values = np.zeros(5, mixed)
    values["a"], values["b"], values["c"]["d"] = np.arange(5), 0.5, 1 << 30
    store: dict[str, bytes] = {}
    zarr.array(values, store=store, compressor=None, chunks=5)
    z = zarr.open_array(store, mode="r")
    assert z.dtype == mixed
    assert store["0"] == values.tobytes()
    assert z[...].tobytes() == values.tobytes()


# 4202: parts of shards were read and written without the codecs before and behind the shard.


OUTER: dict[str, dict[str, Any]] = {
    "a transposition before": {"filters": [TransposeCodec(order=(1, 0))]},
    "a checksum behind": {"compressors": [Crc32cCodec()]},
    "a compressor behind": {"compressors": [GzipCodec(level=1)]},
    "a conversion before": {"filters": [CastValue(data_type="int64")]},
    "a scale before": {"filters": [ScaleOffset(offset=2, scale=3)], "dtype": "f8"},
    "both": {
        "filters": [TransposeCodec(order=(1, 0))],
        "compressors": [GzipCodec(level=1), Crc32cCodec()],
    },
}


def flanked(name: str, store: Any = None) -> zarr.Array:
    given = {"dtype": "i4", "filters": None, "compressors": None, **OUTER[name]}
    # The inner chunks in the axes that the shard is given.
    turned = any(isinstance(codec, TransposeCodec) for codec in given["filters"] or ())
    inner = ShardingCodec(
        chunk_shape=(6, 8) if turned else (8, 6), codecs=[BytesCodec(), GzipCodec(level=1)]
    )
    return zarr.create_array(store, shape=(48, 36), chunks=(24, 12), serializer=inner, **given)


@pytest.mark.parametrize("name", OUTER)
def test_4202_codecs_around_a_shard_are_applied_to_its_parts_too(name: str) -> None:
    store: dict[str, bytes] = {}
    z = flanked(name, store)
    expected = NUMBERS.astype(z.dtype)
    z[...] = NUMBERS
    for opened in (z, zarr.open_array(store, mode="r")):
        for selection in SELECTIONS.values():
            np.testing.assert_array_equal(opened[selection], expected[selection])
    for number, selection in enumerate(SELECTIONS.values(), 1):
        z[selection] = -number
        expected[selection] = -number
        np.testing.assert_array_equal(zarr.open_array(store, mode="r")[...], expected)
    z = flanked(name)
    z[10:30, 7:25] = 5
    expected = np.zeros((48, 36), z.dtype)
    expected[10:30, 7:25] = 5
    np.testing.assert_array_equal(z[...], expected)


# 4203: a read of all elements of a shard in another order came back in the order of storage.


@pytest.mark.parametrize("inline", [True, False], ids=["memory", "mapping"])
def test_4203_all_of_a_shard_in_another_order_comes_in_that_order(inline: bool) -> None:
    random = np.random.RandomState(3)
    z = zarr.create_array(
        zarr.MemoryStore() if inline else {},
        shape=(48, 36),
        chunks=(8, 6),
        shards=(48, 36),
        dtype="i4",
    )
    z[...] = NUMBERS
    rows, columns = random.permutation(48), random.permutation(36)
    np.testing.assert_array_equal(z.oindex[rows, columns], NUMBERS[np.ix_(rows, columns)])
    np.testing.assert_array_equal(z[::-1, ::-1], NUMBERS[::-1, ::-1])
    every = np.unravel_index(random.permutation(NUMBERS.size), NUMBERS.shape)
    np.testing.assert_array_equal(z.vindex[every], NUMBERS[every])
    np.testing.assert_array_equal(z.oindex[rows], NUMBERS[rows])
    for order in "CF":
        out = np.empty((48, 36), "i4", order=order)
        z.get_basic_selection(..., out=out)
        np.testing.assert_array_equal(out, NUMBERS)
        z.oindex[rows, :] = np.asarray(NUMBERS[rows], order=order)
        np.testing.assert_array_equal(z[...], NUMBERS)
    z[::-1] = NUMBERS
    np.testing.assert_array_equal(z[...], NUMBERS[::-1])


# 4260 (4237): a conversion beside a transposition failed or gave elements in another order; 3936,
# 3937: a conversion from one byte forgot the byte order of what it converts to.


@pytest.mark.parametrize(
    "filters",
    [
        [CastValue(data_type="uint16"), TransposeCodec(order=(1, 2, 0))],
        [TransposeCodec(order=(1, 2, 0)), CastValue(data_type="uint16")],
        [
            TransposeCodec(order=(2, 0, 1)),
            CastValue(data_type="int8"),
            CastValue(data_type="float64"),
        ],
    ],
    ids=["before", "after", "between"],
)
@pytest.mark.parametrize("shards", [None, (6, 4, 4)], ids=["chunks", "shards"])
def test_4260_conversions_and_transpositions_stand_side_by_side(filters: Any, shards: Any) -> None:
    values = np.arange(72, dtype="f4").reshape(6, 3, 4)
    store: dict[str, bytes] = {}
    z = zarr.create_array(
        store,
        shape=values.shape,
        chunks=(3, 2, 4),
        shards=shards,
        dtype="f4",
        filters=filters,
        serializer=BytesCodec(endian="little"),
        compressors=None,
    )
    for given in (values, np.asfortranarray(values)):
        z[...] = 0
        z[...] = given
        np.testing.assert_array_equal(zarr.open_array(store, mode="r")[...], values)
    np.testing.assert_array_equal(z[1:5, ::2, -1], values[1:5, ::2, -1])
    z[2:4, 1, 1:3] = 9
    values[2:4, 1, 1:3] = 9
    np.testing.assert_array_equal(z[...], values)


@pytest.mark.parametrize("endian", ["little", "big"])
def test_3937_a_conversion_from_single_bytes_has_the_byte_order_of_the_serializer(
    endian: str,
) -> None:
    store: dict[str, bytes] = {}
    z = zarr.create_array(
        store,
        shape=4,
        dtype="int8",
        filters=[CastValue(data_type="int16")],
        serializer=BytesCodec(endian=endian),
        compressors=None,
    )
    z[:] = [0, 1, -2, 3]
    order = {"little": "<i2", "big": ">i2"}[endian]
    assert np.frombuffer(store["c/0"], order).tolist() == [0, 1, -2, 3]
    assert z[:].tolist() == [0, 1, -2, 3]
