"""The arrays whose documents are in ``documents.json``, as arguments of ``init_array``.

With an interpreter that has zarr-python 2.18, running this file writes ``documents.json`` beside
it; the tests import it for the arguments, and compare what zarrix writes for them.
"""

import itertools
import json
import math
import pathlib

import numcodecs
import numpy as np

NAN, INF = math.nan, math.inf

DTYPES = {
    "bool": [False, True, 0, 1],
    "|i1": [0, -7, 5.0],
    "|u1": [0, 255, np.uint8(3)],
    "<i2": [-300],
    ">i2": [-300],
    "<u2": [65535],
    "<i4": [0, -1, 2.0],
    ">i4": [-1],
    "<u4": [2**32 - 1],
    "<i8": [-(2**63), 2**63 - 1],
    "<u8": [2**64 - 1],
    ">u8": [1],
    "<f2": [0, 0.1, NAN, INF],
    "<f4": [0, 0.1, 1e-40, -0.0, NAN, INF, -INF, np.float32(3.3), "2.5"],
    ">f4": [0.1, NAN],
    "<f8": [0, 0.1, 1e300, 5e-324, 1 / 3, NAN, INF, -INF, 42],
    ">f8": [0.1],
    "<f16": [0, 1.5, NAN],
    "<c8": [0, 1 + 2j, 0.1, complex(NAN, INF), complex(-INF, 0)],
    "<c16": [0, 1 / 3 + 2j, complex(NAN, -INF), 7],
    ">c16": [1j],
    "<M8[ns]": [0, np.datetime64("2020-01-01T00:00:00", "ns"), np.datetime64("NaT", "ns")],
    ">M8[D]": [np.datetime64("1970-02-01")],
    "<M8[25s]": [np.datetime64(100, "s")],
    "<m8[us]": [0, np.timedelta64(5, "us"), np.timedelta64("NaT", "us"), 12],
    "|S1": [0, b"", b"x"],
    "|S5": [0, b"", b"abc", b"abcdefg", "text", b"\xff\x00\x01"],
    "<U4": [0, "", "a\u00e9\u4e2d\U0001f600", "longer than four"],
    ">U4": ["ab"],
    "|V3": [0, b"", b"\x01\x02\x03", b"\x01", np.void(b"abc")],
}

POINT = [("x", "<i4"), ("y", ">f8")]
NESTED = [("id", "|S4"), ("at", [("x", "<i2"), ("y", "<i2", (2, 3))]), ("v", "<f4", (2,))]
ALIGNED = np.dtype([("a", "i1"), ("b", "<f8"), ("c", "<i2")], align=True)
TITLED = np.dtype([(("a title", "a"), "<i4"), ("b", "<i4")])

COMPRESSORS = [
    None,
    "none",
    *(
        numcodecs.Blosc(cname=name, clevel=level, shuffle=shuffle, blocksize=block)
        for name, level, shuffle, block in [
            ("lz4", 5, 1, 0),
            ("zstd", 5, 2, 0),
            ("zlib", 1, -1, 0),
            ("blosclz", 9, 0, 1024),
            ("lz4hc", 3, 1, 65536),
        ]
    ),
    numcodecs.Zstd(),
    numcodecs.Zstd(level=9, checksum=True),
    numcodecs.GZip(level=6),
    numcodecs.Zlib(),
    numcodecs.LZ4(acceleration=3),
    numcodecs.BZ2(level=9),
    numcodecs.LZMA(),
    numcodecs.LZMA(format=3, filters=[{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]),
]

FILTERS = [
    [],
    [numcodecs.Delta("<f8")],
    [numcodecs.Delta("<f8", astype="<f4"), numcodecs.Shuffle(4)],
    [numcodecs.FixedScaleOffset(offset=1000, scale=10, dtype="<f8", astype="u1")],
    [numcodecs.Quantize(digits=2, dtype="<f8", astype="<f4")],
    [numcodecs.AsType("<f4", "<f8"), numcodecs.CRC32()],
    [numcodecs.BitRound(keepbits=7)],
    [numcodecs.Shuffle(8), numcodecs.Adler32(), numcodecs.Fletcher32()],
    [numcodecs.CRC32(location="end")],
    [numcodecs.AsType("?", "<f8"), numcodecs.PackBits()],
    [numcodecs.Base64()],
    [numcodecs.Zlib(3)],
]

SHAPES = [
    ((), True),
    ((), ()),
    (10, True),
    (10, 3),
    ((0,), True),
    ((0,), False),
    ((0, 5), (0, 2)),
    ((1000, 1000, 100), True),
    ((1000, 1000, 100), None),
    ((1000, 1000), False),
    ((1000, 1000), (100,)),
    ((1000, 1000), (None, 7)),
    ((1000, 1000), (-1, 7)),
    ((7, 5, 3), 4),
    ((10**9, 10**9), True),
    ((2**40,), 2**20),
    ((3,) * 12, True),
    ((100, 3, 2160, 3840), (1, 3, 960, 960)),
    ((123456, 7), True),
    ((1, 10**8, 1), True),
    ((99999999,), True),
]


def cases():
    """Names and keyword arguments."""
    for dtype, fills in DTYPES.items():
        for fill in [None, *fills]:
            yield f"dtype {dtype} fill {fill!r}", {"shape": 3, "dtype": dtype, "fill_value": fill}
    for name, dtype in {"point": POINT, "nested": NESTED}.items():
        for fill in [None, 0]:
            yield f"{name} fill {fill!r}", {"shape": 3, "dtype": dtype, "fill_value": fill}
    one = np.array((1, 2.5), dtype=POINT)[()]
    yield "point fill void", {"shape": 3, "dtype": POINT, "fill_value": one}
    yield "point fill tuple", {"shape": 3, "dtype": POINT, "fill_value": (1, 2.5)}
    yield "point fill bytes", {"shape": 3, "dtype": POINT, "fill_value": bytes(range(12))}
    yield "aligned", {"shape": 3, "dtype": ALIGNED, "fill_value": 0}
    yield "titled", {"shape": 3, "dtype": TITLED, "fill_value": 0}
    yield "dtype with shape", {"shape": 3, "dtype": "(2,5)<f4", "fill_value": 1}
    yield "dtype missing", {"shape": 3}
    yield "dtype type", {"shape": 3, "dtype": int}
    for number, compressor in enumerate(COMPRESSORS):
        yield f"compressor {number} {compressor}", {"shape": (5, 6), "compressor": compressor}
    for number, filters in enumerate(FILTERS):
        yield f"filters {number}", {"shape": (5, 6), "filters": filters, "compressor": None}
    for (shape, chunks), typesize in itertools.product(SHAPES, [1, 8, 300]):
        arguments = {"shape": shape, "chunks": chunks, "dtype": f"S{typesize}"}
        yield f"shape {shape} chunks {chunks} typesize {typesize}", arguments
    for order, separator in itertools.product(["C", "F", "f"], [None, ".", "/"]):
        arguments = {"shape": (5, 6), "order": order, "dimension_separator": separator}
        yield f"order {order} separator {separator}", arguments
    yield "0-d order F", {"shape": (), "order": "F"}
    yield "0-d compressor", {"shape": (), "compressor": numcodecs.Zstd()}


def main():
    """Write ``documents.json`` with the zarr that is installed here."""
    from zarr.storage import init_array

    documents = {}
    for name, arguments in cases():
        store = {}
        init_array(store, **arguments)
        documents[name] = store[".zarray"].decode()
    path = pathlib.Path(__file__).with_name("documents.json")
    path.write_text(json.dumps(documents, indent=0, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
