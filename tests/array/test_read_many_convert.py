"""`read_many(convert=)` against NumPy: every pair of types, layout, border, and damage."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from selections import BORDERS, DTYPES, Values, arrays, out_like, windows_of

SOURCES = ["?", "u1", "i1", "<u2", ">u2", "<i2", ">i2", "<u4", ">i4", "<u8", ">i8"]
SOURCES += ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"]
NUMBERS = [dtype for dtype in DTYPES if dtype.kind in "biuf"]


def converted(
    values: Values,
    dtype: str,
    scale: Any = 1.0,
    offset: Any = -0.0,
    clip: tuple[float, float] = (-np.inf, np.inf),
    nan: float = np.nan,
) -> Values:
    """What a conversion is, computed by NumPy."""
    with np.errstate(all="ignore"):
        result = values.astype("f8") * scale + offset
        result = np.clip(result, *clip)
        result[np.isnan(result)] = nan
        return result.astype(dtype)


def extremes(dtype: np.dtype[Any]) -> Values:
    """The values of a type at which something goes wrong first."""
    if dtype.kind == "b":
        return np.array([False, True] * 20)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 0, 1, 100]
        return np.array([*near, *range(32)], dtype)
    numbers = [0.0, -0.0, 1, -1.5, 65504, 65520, 65519.99, 6e-8, 2.9e-8, 6.1e-5, 1e-40, 3.4e38]
    numbers += [1e300, -1e300, np.inf, -np.inf, np.nan, 1 / 3, 2049, 2051, 1.00048828125, np.pi]
    with np.errstate(all="ignore"):
        return np.resize(np.array(numbers).astype(dtype), 40)


def as_integers(values: Values, target: str, scale: float, offset: float, nan: float) -> Values:
    """The nearest integers of a type, computed with Python's integers."""
    limits, plain = np.iinfo(target), (scale, offset) == (1.0, 0.0)
    results = []
    for value in values.tolist():
        number = value if plain else float(value) * scale + offset
        if number != number:
            number = nan
        if number in (np.inf, -np.inf):
            number = limits.max if number > 0 else limits.min
        results.append(min(max(round(number), limits.min), limits.max))
    return np.array(results, target)


@pytest.mark.parametrize("target", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
@pytest.mark.parametrize("source", SOURCES)
def test_every_number_becomes_the_nearest_integer(source: str, target: str) -> None:
    values = extremes(np.dtype(source))
    z = zarr.array(values, chunks=7)
    for step in (1, 2):
        for scale, offset in ((1.0, 0.0), (0.5, 0.0), (-3.0, 0.25), (255.0, 0.5)):
            options = {"dtype": target, "scale": scale, "offset": offset, "nan": 5}
            out = np.zeros((1, 40 * step), target)[:, ::step]
            zarr.read_many([(z, [[0]], 40, out)], convert=options)
            wanted = as_integers(values, target, scale, offset, 5)
            assert (out[0] == wanted).all(), (scale, offset, out[0], wanted)


def test_floats_become_integers_with_a_number_for_nan() -> None:
    z = zarr.array(np.array([1.5, np.nan]))
    with pytest.raises(TypeError, match="needs a number for NaN"):
        zarr.read_many([(z, [[0]], 2)], convert="int32")
    (got,) = zarr.read_many([(z, [[0]], 2)], convert={"dtype": "int32", "nan": -1})
    assert got.tolist() == [[2, -1]]


@pytest.mark.parametrize("target", ["f2", "f4", "f8"])
@pytest.mark.parametrize("source", SOURCES)
def test_every_pair_of_types_is_converted_as_by_numpy(source: str, target: str) -> None:
    values = extremes(np.dtype(source))
    z = zarr.array(values, chunks=7)
    # Contiguous, and with a step on both sides: the engine has a loop for each.
    for step in (1, 2):
        for options in (
            {},
            {"scale": 1 / 255, "offset": -0.4},
            {"scale": -3.0, "clip": (-100, 50), "nan": 7.0},
        ):
            out = np.zeros((1, 40 * step), target)[:, ::step]
            zarr.read_many([(z, [0], 40, out)], convert={"dtype": target, **options})
            np.testing.assert_array_equal(out[0], converted(values, target, **options))
    plain = zarr.read_many([(z, [0], 40)], convert=target)[0][0]
    assert plain.dtype == target
    with np.errstate(all="ignore"):
        want = values.astype(target)
    np.testing.assert_array_equal(np.signbit(plain), np.signbit(want))


@pytest.mark.parametrize("source", SOURCES)
def test_bfloat16_is_rounded_to_the_nearest(source: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = extremes(np.dtype(source))
    z = zarr.array(values, chunks=7)
    (got,) = zarr.read_many([(z, [0], 40)], convert="bfloat16")
    assert got.dtype == ml_dtypes.bfloat16
    exact = values.astype("f8")
    with np.errstate(all="ignore"):
        # The two neighbours of each value: no other is nearer, and a tie goes to the even one.
        bits = got[0].view("u2").astype("i4")
        here = np.abs(got[0].astype("f8") - exact)
        for step in (-1, 1):
            other = ((bits + step) & 0xFFFF).astype("u2").view(ml_dtypes.bfloat16).astype("f8")
            far = np.abs(other - exact)
            bad = (far < here) | ((far == here) & (bits % 2 == 1))
            assert not (bad & np.isfinite(got[0].astype("f4"))).any()
    np.testing.assert_array_equal(np.isnan(got[0].astype("f4")), np.isnan(exact))
    out = np.zeros((1, 40), "u2")
    zarr.read_many([(z, [0], 40, out)], convert={"dtype": "bfloat16"})
    np.testing.assert_array_equal(out, got.view("u2"))
    stored = zarr.create_array({}, shape=40, chunks=9, dtype=got.dtype)
    stored[:] = got[0]
    back = zarr.read_many([(stored, [0], 40)], convert="f4")[0]
    np.testing.assert_array_equal(back, got.astype("f4"))


@given(st.data(), arrays(dtypes=NUMBERS), st.sampled_from((*BORDERS, "inside")))
def test_windows_are_converted_in_every_layout(
    data: st.DataObject, pair: tuple[Any, Values], border: str
) -> None:
    z, model = pair
    beyond = 0 if border == "inside" else 3
    shape = tuple(data.draw(st.integers(0, size + beyond)) for size in model.shape)
    rows = [
        [
            data.draw(st.integers(-beyond, n - size + beyond if n + beyond >= size else 0))
            for n, size in zip(model.shape, shape, strict=True)
        ]
        for _ in range(data.draw(st.integers(0, 3)))
    ]
    starts = np.array(rows, "i8").reshape(len(rows), model.ndim)
    axis = data.draw(st.integers(-model.ndim, model.ndim - 1))
    each = data.draw(st.booleans())
    scale: Any = np.arange(shape[axis]) + 0.25 if each else 0.25
    along = [-1 if number == axis % model.ndim else 1 for number in range(model.ndim)]
    factor = scale.reshape(along) if each else scale
    target = data.draw(st.sampled_from(("f2", "f4", "f8")))
    pad = 3 if border == "pad" and model.dtype.kind != "b" else None
    known = model.dtype.type(0 if pad is None else pad)
    reference = windows_of(model, starts, shape, known, border if beyond else "pad")
    want = converted(reference, target, factor, 1.5)
    strides = data.draw(st.sampled_from(("C", "F", "strided", "reversed")))
    out = out_like(want, np.dtype(target), strides)
    convert = {"dtype": target, "scale": scale, "offset": 1.5, "axis": axis if each else None}
    got = zarr.read_many([(z, starts, shape, out)], border=border, pad_value=pad, convert=convert)
    assert got[0] is out
    np.testing.assert_array_equal(out, want)


def test_entries_of_one_array_may_be_converted_in_several_ways() -> None:
    model = np.arange(400, dtype="u1").reshape(4, 10, 10)
    z = zarr.array(model, chunks=(2, 4, 4))
    starts = np.array([[0, 1, 2], [3, 5, 5]])
    got = zarr.read_many(
        [(z, starts, (1, 5, 5))] * 3, convert=[None, "float32", {"dtype": "f2", "scale": 1 / 4}]
    )
    want = windows_of(model, starts, (1, 5, 5))
    assert [result.dtype for result in got] == ["u1", "f4", "f2"]
    for result, factor in zip(got, (1, 1, 0.25), strict=True):
        np.testing.assert_array_equal(result, want * factor)


def test_missing_chunks_and_failed_windows_have_the_converted_fill_value() -> None:
    store: dict[str, bytes] = {}
    z = zarr.create_array(
        store, shape=(9, 2), chunks=(3, 2), dtype="i2", fill_value=-4,
        compressors=[zarr.codecs.Crc32cCodec()],
    )  # fmt: skip
    z[:6] = 1
    store["c/1/0"] = b"\0" * len(store["c/1/0"])
    failures: list[Any] = []
    (got,) = zarr.read_many(
        [(z, [[0, 0], [2, 0], [6, 0]], (3, 2))],
        convert={"dtype": "f4", "scale": [1, 10], "offset": 0.5, "axis": 1},
        on_error=failures.append,
    )
    assert [failure.window for failure in failures] == [1]
    np.testing.assert_array_equal(got[0], [[1.5, 10.5]] * 3)
    np.testing.assert_array_equal(got[1:], [[[-3.5, -39.5]] * 3] * 2)


def test_cached_chunks_are_converted() -> None:
    model = np.arange(40000, dtype="u2").reshape(200, 200)
    z = zarr.create((200, 200), chunks=(100, 100), dtype="u2")
    z[:] = model
    before = zarr.config.chunk_cache_bytes
    zarr.config.chunk_cache_bytes = 1 << 20
    try:
        for _ in range(3):
            (got,) = zarr.read_many([(z, [[30, 50], [99, 99]], 101)], convert="f4")
            want = windows_of(model, np.array([[30, 50], [99, 99]]), (101, 101))
            np.testing.assert_array_equal(got, want.astype("f4"))
    finally:
        zarr.config.chunk_cache_bytes = before


def bad(convert: Any, dtype: str = "i4", out: Any = None) -> Callable[[], Any]:
    z = zarr.zeros((6, 6), chunks=4, dtype=dtype)
    return lambda: zarr.read_many([(z, [[0, 0]], (2, 3), out)], convert=convert)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (bad("c8"), TypeError, "convert= to complex64; allowed are float16"),
    (bad({"dtyp": "f4"}), TypeError, "dtype"),
    (bad({"scale": 2}), TypeError, "convert= needs dtype"),
    (bad("f4", "c8"), TypeError, "not complex64"),
    (bad("f4", "S3"), TypeError, r"not \|S3"),
    (bad("f4", "M8[s]"), TypeError, "not datetime64"),
    (bad({"dtype": "f4", "scale": "x"}), ValueError, "scale='x'; a number"),
    (bad({"dtype": "f4", "scale": 1j}), ValueError, "scale=1j"),
    (bad({"dtype": "f4", "scale": [1, 2]}), ValueError, "axis= says along which"),
    (bad({"dtype": "f4", "scale": [1, 2], "axis": 1}), ValueError, "2 scales or offsets for"),
    (bad({"dtype": "f4", "offset": [1, 2], "axis": 2}), ValueError, "axis=2 of windows of 2 axes"),
    (bad({"dtype": "f4", "clip": 3}), ValueError, r"\(low, high\) is needed"),
    (bad({"dtype": "f4", "clip": (2, 1)}), ValueError, "low must not be above high"),
    (bad({"dtype": "f4", "clip": (float("nan"), 1)}), ValueError, "low must not be above high"),
    (bad({"dtype": "f4", "nan": "x"}), ValueError, "nan='x'; a number is needed"),
    (bad("f4", out=np.zeros((1, 2, 3), "i4")), ValueError, "out has dtype int32"),
    (bad("f2", out=np.zeros((1, 2, 3), "u2")), ValueError, "out has dtype uint16"),
    (
        lambda: zarr.read_many([(zarr.zeros(4).astype("f4"), [0], 2)], convert="f4"),
        TypeError,
        "a view made by astype",
    ),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_mistakes_are_one_sentence(number: int) -> None:
    read, error, words = BAD[number]
    with pytest.raises(error, match=words):
        read()
