"""Native codecs of numcodecs: their bytes are those of numcodecs, and numcodecs' bytes are read."""

import itertools
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from numcodecs.checksum32 import JenkinsLookup3
from zarrix._array.access import metadata_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
FLOATS = ["f2", "f4", "f8"]
BYTES_CODECS = {
    "base64": numcodecs.Base64(),
    "bz2": numcodecs.BZ2(9),
    "lzma": numcodecs.LZMA(),
    "lzma-alone": numcodecs.LZMA(2, preset=3),
    "lzma-raw": numcodecs.LZMA(3, filters=[{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]),
    "adler32": numcodecs.Adler32(),
    "adler32-end": numcodecs.Adler32("end"),
    "jenkins": JenkinsLookup3(),
    "jenkins-prefix": JenkinsLookup3(5, b"\0\xff"),
}
COMPRESSORS = ("bz2", "lzma")


def edges(dtype: np.dtype[Any], count: int = 24) -> np.ndarray[Any, Any]:
    """Both ends of the type, NaN, halves between two values, and ordinary values."""
    if dtype.kind == "b":
        return np.arange(count) % 3 == 0
    if dtype.kind == "f":
        info: Any = np.finfo(dtype.newbyteorder("="))
        special = [np.nan, np.inf, -np.inf, -0.0, 0.5, 1.5, 2.5, info.max, info.min, info.tiny]
        special += [info.smallest_subnormal, 127.6, 255.5, 32768, 1e-3]
    else:
        info = np.iinfo(dtype)
        special = [info.min, info.max, info.max - 1, 0, 1, info.max // 2, 127]
    rest = np.random.RandomState(3).randint(0, 100, count - len(special))
    values: np.ndarray[Any, Any] = np.zeros(count, dtype)
    values[: len(special)] = special
    values[len(special) :] = rest
    return values


def exchange(codec: Any, values: np.ndarray[Any, Any], order: str = "C") -> None:
    """Write with zarrix and numcodecs, compare, and read what numcodecs wrote."""
    store: dict[str, Any] = {}
    z = zarr.create(
        shape=values.shape,
        chunks=tuple(max(length, 1) for length in values.shape),
        dtype=values.dtype,
        filters=[codec],
        compressor=None,
        order=order,
        store=store,
        fill_value=None,
    )
    assert metadata_of(z).foreign_codecs == ()
    assert "Not native" not in repr(z.info)
    key = ".".join("0" for _ in values.shape) or "0"
    z[...] = values
    if values.size == 0:
        assert key not in store
        return
    # numcodecs converts an array without axes to a scalar, which has no byte order.
    array = np.asarray(values, order=order) if values.shape else values.reshape(1)  # type: ignore[call-overload]
    encoded = codec.encode(array)
    expected = encoded if isinstance(encoded, bytes) else np.asarray(encoded).tobytes("A")
    if codec.codec_id not in COMPRESSORS:
        assert bytes(store[key]) == expected
    decoded = np.asarray(codec.decode(bytes(store[key]))).tobytes()
    store[key] = expected
    want = np.frombuffer(decoded, values.dtype).reshape(values.shape, order=order)  # type: ignore[call-overload]
    got = zarr.open_array(store, mode="r")[...]
    assert got.tobytes() == want.tobytes()


def shapes(values: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The same values along one axis and two, one of them without an axis, and none."""
    return [values, values.reshape(4, 6), values[3:4].reshape(()), values[:0]]


def exchange_all(codec: Any, values: np.ndarray[Any, Any]) -> None:
    """In both orders and every shape; what swaps bytes besides does so in one of them."""
    if ">" in "".join(map(str, codec.get_config().values())):
        exchange(codec, values)
        return
    for array in shapes(values):
        # One axis or none has one order.
        for order in "CF" if array.ndim > 1 else "C":
            exchange(codec, array, order)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("name", BYTES_CODECS)
def test_codecs_on_bytes(name: str, order: str) -> None:
    for code in ("f8", ">i2", "S3", "M8[s]", "U2", "?"):
        raw = np.random.RandomState(1).bytes(24 * np.dtype(code).itemsize)
        values = np.frombuffer(raw, code)
        if code == "?":
            values = edges(np.dtype("?"))
        elif code == "U2":
            values = np.array(["", "a", "bé"] * 8)
        for one in shapes(values):
            exchange(BYTES_CODECS[name], one, order)


@pytest.mark.parametrize("dtype", [*NUMBERS, "?"])
@pytest.mark.parametrize("astype", [*NUMBERS, "?"])
def test_astype(dtype: str, astype: str) -> None:
    for one, other in itertools.product("<>", "<>"):
        codec = numcodecs.AsType(other + astype, one + dtype)
        values = edges(codec.decode_dtype)
        if codec.decode_dtype.kind == "f" and codec.encode_dtype.kind in "iu":
            # Past the ends of an integer C promises nothing, and NumPy differs by the machine.
            values = np.clip(np.nan_to_num(values), 0, 100).astype(values.dtype)
        exchange_all(codec, values)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("astype", FLOATS)
@pytest.mark.parametrize("digits", [-1, 0, 3])
def test_quantize(dtype: str, astype: str, digits: int) -> None:
    for one, other in itertools.product("<>", "<>"):
        codec = numcodecs.Quantize(digits, one + dtype, other + astype)
        exchange_all(codec, edges(codec.dtype))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("astype", ["u1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (3, 10), (1.5, 7), (0, 0.25)])
def test_fixedscaleoffset(dtype: str, astype: str, offset: Any, scale: Any) -> None:
    for one, other in itertools.product("<>", "<>"):
        codec = numcodecs.FixedScaleOffset(offset, scale, one + dtype, other + astype)
        values = edges(codec.dtype)
        if codec.astype.kind in "iu":
            values = np.clip(np.nan_to_num(values.astype("f8")), 3, 8).astype(values.dtype)
        exchange_all(codec, values)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("keepbits", [0, 1, 5, 10])
def test_bitround(dtype: str, keepbits: int) -> None:
    for array in shapes(edges(np.dtype(dtype))):
        exchange(numcodecs.BitRound(keepbits), array)


def test_rounding_bits_leaves_elements_where_they_are() -> None:
    # numcodecs hands back an array of order F in order C, so that zarr reads it transposed.
    values = np.arange(24, dtype="f4").reshape(4, 6)
    store: dict[str, Any] = {}
    z = zarr.array(
        values,
        chunks=(4, 6),
        filters=[numcodecs.BitRound(8)],
        compressor=None,
        order="F",
        store=store,
    )
    assert store["0.0"] == values.tobytes("F")
    assert z[...].tolist() == values.tolist()


@pytest.mark.parametrize("dtype", ["<U4", ">U4"])
@pytest.mark.parametrize("astype", ["u1", "<i2", ">u4"])
def test_categorize(dtype: str, astype: str) -> None:
    codec = numcodecs.Categorize(["a", "bé", "漢字", "too long to fit"], dtype, astype)
    values = np.array(["", "a", "bé", "漢字", "else", "too "] * 4, dtype)
    for array in shapes(values):
        # One axis or none has one order.
        for order in "CF" if array.ndim > 1 else "C":
            exchange(codec, array, order)


@pytest.mark.parametrize("dtype", [*NUMBERS])
def test_delta(dtype: str) -> None:
    for order_of_bytes in "<>":
        codec = numcodecs.Delta(order_of_bytes + dtype)
        exchange_all(codec, edges(codec.dtype))


def test_a_prefix_of_jenkins_is_kept_in_the_document() -> None:
    codec = JenkinsLookup3(5, b"\0\xff")
    store: dict[str, Any] = {}
    z = zarr.create(shape=3, dtype="u1", filters=[codec], compressor=None, store=store)
    z[...] = [1, 2, 3]
    again = zarr.open_array(store, mode="r")
    assert again[...].tolist() == [1, 2, 3]
    assert again.filters[0].prefix.tolist() == [0, 255]


def test_rounding_bits_of_big_endian_floats() -> None:
    # numcodecs cannot: it looks for the bits of '>f4' by that name.
    values = edges(np.dtype(">f4"))
    z = zarr.create(
        shape=24, dtype=">f4", filters=[numcodecs.BitRound(5)], compressor=None, store={}
    )
    z[...] = values
    want = numcodecs.BitRound(5).encode(values.astype("<f4")).view("f4")
    assert z[...].astype("<f4").tobytes() == want.tobytes()


def test_what_the_engine_cannot_compute_goes_through_numcodecs() -> None:
    codec = numcodecs.AsType("<c8", "<c16")
    z = zarr.create(shape=4, dtype="<c16", filters=[codec], compressor=None, store={})
    z[...] = [1, 2j, 3 + 4j, 0]
    assert z[...].tolist() == [1, 2j, 3 + 4j, 0]
    assert metadata_of(z).foreign_codecs == ("astype",)
    assert "AsType (through numcodecs)" in repr(z.info)


# As zarr-python 3.4.2 stores 12, 13 and 20: the codec bytes alone says the byte order.
@pytest.mark.parametrize("stored_as", ["<i2", ">i2"])
@pytest.mark.parametrize(("endian", "order"), [("big", ">i2"), ("little", "<i2")])
def test_the_order_of_bytes_after_a_filter_is_that_of_the_codec_bytes(
    stored_as: str, endian: str, order: str
) -> None:
    types = {"dtype": "<f8", "astype": stored_as}
    filters = {
        "numcodecs.fixedscaleoffset": {"offset": 10, "scale": 1, **types},
        "numcodecs.astype": {"decode_dtype": "<f8", "encode_dtype": stored_as},
        "numcodecs.delta": types,
    }
    expected = {
        "numcodecs.fixedscaleoffset": [2, 3, 10],
        "numcodecs.astype": [12, 13, 20],
        "numcodecs.delta": [12, 1, 7],
    }
    for name, configuration in filters.items():
        store: dict[str, bytes] = {}
        codec = {"name": name, "configuration": configuration}
        serializer = {"name": "bytes", "configuration": {"endian": endian}}
        options = {"filters": [codec], "serializer": serializer, "compressors": None}
        z = zarr.create_array(store, shape=3, chunks=3, dtype="f8", zarr_format=3, **options)
        z[:] = [12, 13, 20]
        assert store["c/0"] == np.array(expected[name], order).tobytes(), name
        assert z[:].tolist() == zarr.open_array(store)[:].tolist() == [12, 13, 20]
