"""The elements that arrays are drawn of: every data type of either format, and values of each."""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numcodecs
import numpy as np
from zarrix._dtypes.v3 import ML_TYPES

Values = np.ndarray[Any, Any]
Pool = Callable[[np.random.RandomState], Any]


@dataclass(frozen=True)
class Elements:
    """What arrays of one data type are made with.

    Attributes
    ----------
    given : object
        Passed as ``dtype``.
    formats : tuple of int
        Those that have the data type.
    keywords : dict
        Passed beside it.
    pool : callable, optional
        Makes one element; only for variable-length elements.
    fills : tuple
        Fill values in addition to None and 0. Variable-length elements leave out 0, which their
        codec need not accept.
    bits : int
        Of each byte, those that values use.
    """

    given: Any
    formats: tuple[int, ...] = (2, 3)
    keywords: Mapping[str, Any] = field(default_factory=dict)
    pool: Pool | None = None
    fills: tuple[Any, ...] = ()
    bits: int = 8

    @property
    def kind(self) -> str:
        """NumPy's letter; "O" for all variable-length elements, "ML" for types of ml_dtypes."""
        if self.pool:
            return "O"
        return "ML" if isinstance(self.given, str) else np.dtype(self.given).kind

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's, in the byte order that is given."""
        if self.kind == "ML":
            return np.dtype(getattr(importlib.import_module("ml_dtypes"), self.given))
        return np.dtype("O") if self.pool else np.dtype(self.given)

    def values(self, dtype: np.dtype[Any], shape: tuple[int, ...], seed: int) -> Values:
        """Any that the data type can hold; of a third of the seeds few distinct ones."""
        random = np.random.RandomState(seed % 2**32)
        count = int(np.prod(shape))
        if self.pool is not None:
            some: list[Any] = [self.pool(random) for _ in range(min(count, 40))]
            made = np.empty(count, object)
            for place, which in enumerate(random.randint(0, max(len(some), 1), count)):
                made[place] = some[which]
            return made.astype(dtype).reshape(shape)
        if self.kind == "ML":
            bits = random.randint(0, 2**16, count * dtype.itemsize).astype("u1")
            if "int" in str(self.given):
                # A nibble has two spellings in a byte; the cast has the one that NumPy makes.
                low = 0 if dtype.name.startswith("u") else -(2 ** (self.bits - 1))
                return (
                    (bits.astype("i2") % 2**self.bits + low)
                    .astype("i1")
                    .astype(dtype)
                    .reshape(shape)
                )
            return (bits & (2**self.bits - 1)).view(dtype).reshape(shape)
        return _sized(dtype, shape, seed, random)


def _sized(
    dtype: np.dtype[Any], shape: tuple[int, ...], seed: int, random: np.random.RandomState
) -> Values:
    count = int(np.prod(shape))
    if dtype.names:
        values = np.zeros(count, dtype)
        for i, name in enumerate(dtype.names):
            part = dtype[name]
            inner = (count, *part.shape)
            values[name] = _sized(part.base, inner, seed + i, np.random.RandomState(seed + i))
        return values.reshape(shape)
    if dtype.kind == "b":
        return random.randint(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        words = np.array(["", "a", "éb", "漢字", "\U0001f600", "xyz"], dtype)
        return np.asarray(words[random.randint(0, 6, shape)], dtype)
    values = np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)
    if seed % 3 == 0 and count:
        values = values.reshape(-1)[random.randint(0, 2, count) % count].reshape(shape)
    return values.copy()


def _text(random: np.random.RandomState) -> str:
    letters = "aé漢\U0001f600\0 z"
    return "".join(letters[i] for i in random.randint(0, len(letters), random.randint(0, 20)))


def _bytes(random: np.random.RandomState) -> bytes:
    return bytes(random.bytes(random.randint(0, 24)))


def _ragged(code: str) -> Pool:
    def make(random: np.random.RandomState) -> Values:
        return random.randint(0, 100, random.randint(0, 9)).astype(code)

    return make


def _json(random: np.random.RandomState) -> Any:
    some: tuple[Any, ...] = (None, True, -7, 1.5, "é", [1, "a", None], {"a": [2]}, [], "")
    return some[random.randint(0, len(some))]


def _label(random: np.random.RandomState) -> str:
    return ("", "cat", "dög")[random.randint(0, 3)]


def _fixed() -> dict[str, Elements]:
    numbers = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
    others = ("M8[ns]", "M8[D]", "m8[ms]", "S1", "S6", "U3")
    ordered = [np.dtype(order + code) for order in "<>" for code in (*numbers, *others)]
    nested = [("p", [("x", "<f4"), ("y", ">c8")]), ("flag", "?")]
    with_arrays = [("xy", "<f4", (2,)), ("m", ">u2", (2, 2)), ("t", "<M8[s]")]
    return {
        **{dtype.str: Elements(dtype) for dtype in ordered},
        "|V5": Elements(np.dtype("V5")),
        "|S200": Elements(np.dtype("S200")),
        "fields": Elements(np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S3")])),
        "nested": Elements(np.dtype(nested)),
        # v3 has no data types with sub-arrays.
        "sub-arrays": Elements(np.dtype(with_arrays), formats=(2,)),
    }


def _unsized() -> dict[str, Elements]:
    labels = numcodecs.Categorize(["", "cat", "dög"], dtype=object)
    pickled = {"object_codec": numcodecs.Pickle(), "allow_pickle": True}
    return {
        "text": Elements(str, pool=_text, fills=("", "é")),
        "bytes": Elements(bytes, pool=_bytes, fills=(b"", b"\xff")),
        "ragged f4": Elements("array:f4", (2,), pool=_ragged("<f4"), fills=(None,)),
        "ragged i2": Elements("array:<i2", (2,), pool=_ragged("<i2"), fills=(None,)),
        "json": Elements(
            object, (2,), {"object_codec": numcodecs.JSON()}, _json, fills=(None, 0, "é")
        ),
        "categories": Elements(object, (2,), {"object_codec": labels}, _label, fills=("", "cat")),
        "pickle": Elements(object, (2,), pickled, _json, fills=(None, 0)),
    }


def _of_ml() -> dict[str, Elements]:
    if importlib.util.find_spec("ml_dtypes") is None:
        return {}
    bits = {"float4": 4, "float6": 6, "int2": 2, "uint2": 2, "int4": 4, "uint4": 4}
    return {
        name: Elements(name, (3,), bits=bits.get(name.split("_")[0], 8), fills=(1,))
        for name in ML_TYPES
    }


ELEMENTS: dict[str, Elements] = {**_fixed(), **_unsized(), **_of_ml()}


def fills_of(elements: Elements) -> list[Any]:
    """Fill values to draw from."""
    if elements.pool:
        return list(elements.fills)
    dtype, kind = elements.dtype, elements.kind
    if kind == "f":
        special: list[Any] = [np.nan, np.inf, -np.inf, 1.5]
    elif kind == "c":
        special = [complex(np.nan, -np.inf), complex(1.5, -2)]
    elif kind in "mM":
        special = [np.array("NaT", dtype)[()], np.array(7, "i8").astype(dtype)[()]]
    elif kind == "ML":
        special = list(elements.fills)
    else:
        special = [elements.values(dtype, (), seed)[()] for seed in (1, 2)]
    return [None, 0, *special]


def filled(layout_fill: Any, zarr_format: int, dtype: np.dtype[Any]) -> Values:
    """One element, as it is read where nothing was written."""
    element = np.zeros(1, dtype)
    if layout_fill is None and zarr_format == 3 and dtype.kind in "mM":
        element[0] = "NaT"
    # None and 0 both read as zero bytes, also where NumPy would make a 0 the text "0".
    elif dtype.kind == "O" or not (
        layout_fill is None or (type(layout_fill) is int and layout_fill == 0)
    ):
        element[0] = layout_fill
    return element.reshape(())


def _spelled(element: Any) -> Any:
    """An object as something that is equal where the object is the same."""
    if isinstance(element, np.ndarray):
        # A ragged element that was never written is an empty one, once its chunk is stored.
        return (element.dtype.str, element.tobytes()) if element.size else 0
    return 0 if element is None else (type(element).__name__, repr(element))


def assert_same_elements(got: Any, want: Values, dtype: np.dtype[Any]) -> None:
    """Shape, dtype and every bit; scalars, which NumPy makes native, in the byte order stored."""
    if not want.shape:
        # In a box, since an element may be an array itself.
        box = np.empty(1, dtype)
        box[0] = got[()] if isinstance(got, np.ndarray) and not got.shape else got
        got, want = box, want.reshape(1)
    assert got.shape == want.shape
    assert got.dtype == dtype
    if dtype.kind in "OT":
        pairs = zip(got.reshape(-1), want.reshape(-1), strict=True)
        wrong = [(a, b) for a, b in pairs if _spelled(a) != _spelled(b)]
        assert not wrong, f"(read, wanted): {wrong[:5]}"
    else:
        assert got.tobytes() == want.tobytes(), f"{got!r} is not {want!r}"
