"""Make the golden arrays of Zarr v3, and the record that peers read what zarrix writes.

    /peer/bin/python make_arrays.py write
        zarr-python-<version>.tar.xz: the cases as zarr-python 3 stores them; expected.tar.xz: their
        values as .npy, as zarr-python itself reads them.
    python make_arrays.py record /peer/bin/python ...
        ours.json: writes the cases with zarrix, lets the zarr-python and TensorStore of each given
        interpreter read them, and records a digest of our bytes with the names of those that read
        them equal. Fails where a peer reads other values.
    /peer/bin/python make_arrays.py read STORE
        What ``record`` starts in the peers: prints a verdict for each case as JSON.

A case is values and the keywords of ``create_array``, which both libraries have, so one table makes
the arrays of both. The packs hold ``<case>/<key>`` and are the same bytes for the same input. The
test runs `cases` and reads the packs; it needs no peer.
"""

import io
import itertools
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from packs import digest, pack, stored_files, unpack  # noqa: E402

Case = tuple[np.ndarray[Any, Any], dict[str, Any]]

NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = ["M8[ns]", "M8[D]", "M8[25us]", "m8[ms]", "m8[h]", "S1", "S5", "U3", "V1", "V7"]
STRUCTS: dict[str, Any] = {
    "fields": [("a", "<i4"), ("b", "<f8"), ("c", "S3")],
    "nested": [("p", [("x", "<f4"), ("y", "<f4")]), ("flag", "?"), ("t", "<M8[s]")],
}


def random_values(dtype: Any, shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    """Any bits for numbers (all NaNs, infinities, NaT), sensible text and truth values."""
    dtype = np.dtype(dtype)
    random = np.random.RandomState(seed)
    count = int(np.prod(shape))
    if dtype.names:
        values = np.zeros(count, dtype)
        for i, name in enumerate(dtype.names):
            values[name] = random_values(dtype[name], (count,), seed + i)
        return values.reshape(shape)
    if dtype.kind == "b":
        return random.randint(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        letters = ["", "a", "bé", "漢字", "\U0001f600z", "xyz"]
        return np.array([letters[i] for i in random.randint(0, 6, count)], dtype).reshape(shape)
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)


def smooth_values(dtype: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """What compresses: slow steps, whose bytes every codec has something to do with."""
    steps = (np.arange(int(np.prod(shape))) // 7 * 3 % 113).reshape(shape)
    return steps.astype(dtype)


def cases(zarr: Any) -> dict[str, Case]:
    """Values, and how they are stored, by name; ``zarr`` is zarr-python 3 or zarrix."""
    table: dict[str, Case] = {}
    for part in (_dtypes, _layouts, _fills, _codecs, _filters, _shards):
        for name, values, keywords in part(zarr):
            assert name not in table, name
            table[name] = (values, keywords)
    return table


def _dtypes(zarr: Any) -> Any:
    little, big = zarr.codecs.BytesCodec(endian="little"), zarr.codecs.BytesCodec(endian="big")
    for i, code in enumerate([*NUMBERS, *OTHERS, *STRUCTS]):
        dtype = np.dtype(STRUCTS.get(code, code))
        name = code.replace("[", "-").rstrip("]").replace("?", "bool")
        values = random_values(dtype, (5, 4), i)
        yield f"dtype-{name}", values, {"chunks": (3, 2)}
        if dtype.itemsize > 1 and dtype.kind not in "SV":
            for word, order in (("little", little), ("big", big)):
                keywords = {"chunks": (3, 2), "serializer": order, "compressors": None}
                yield f"dtype-{name}-{word}", values, keywords
    values = random_values("f4", (5, 4), 9)
    yield "dtype-f4-shard-big", values, {"chunks": (2, 2), "shards": (4, 4), "serializer": big}


def _layouts(zarr: Any) -> Any:
    shapes: dict[str, Any] = {
        "0d": ((), ()),
        "1d": ((7,), (3,)),
        "3d": ((4, 3, 5), (2, 3, 2)),
        "4d": ((2, 3, 2, 3), (1, 2, 2, 2)),
        "zero": ((0,), (3,)),
        "zero-middle": ((3, 0, 2), (2, 1, 2)),
    }
    for name, (shape, chunks) in shapes.items():
        for encoding, separator in itertools.product(("default", "v2"), "./"):
            word = "dot" if separator == "." else "slash"
            keywords = {
                "chunks": chunks,
                "chunk_key_encoding": {"name": encoding, "separator": separator},
                "compressors": None,
            }
            yield f"layout-{name}-{encoding}-{word}", random_values("<i2", shape, 7), keywords
    keywords = {"chunks": (3, 2), "dimension_names": ["x", None], "attributes": {"a": [1, "é"]}}
    yield "layout-named", random_values("u1", (5, 4)), keywords


def _fills(zarr: Any) -> Any:
    fills: dict[str, tuple[Any, Any]] = {
        "nan": ("f4", np.nan),
        "nan-half": ("f2", np.nan),
        "inf": ("f4", np.inf),
        "minus-inf": ("f8", -np.inf),
        "minus-zero": ("f8", -0.0),
        "fraction": ("f4", 0.1),
        "huge": ("f8", 1e300),
        "minus": ("i4", -7),
        "largest": ("u8", 2**64 - 1),
        "smallest": ("i8", -(2**63)),
        "true": ("?", True),
        "complex": ("c8", complex(1.5, -2)),
        "complex-nan": ("c16", complex(np.nan, np.inf)),
        "nat": ("M8[s]", np.datetime64("NaT", "s")),
        "day": ("M8[D]", np.datetime64("2020-02-29", "D")),
        "delta": ("m8[ms]", np.timedelta64(-5, "ms")),
        "bytes": ("S4", b"ab"),
        "text": ("U3", "é漢"),
        "raw": ("V3", np.void(b"\x00\xff\x01")),
    }
    for i, (name, (dtype, fill)) in enumerate(fills.items()):
        values = random_values(dtype, (5, 4), 300 + i).copy()
        values[:3, :2] = fill
        yield f"fill-{name}", values, {"chunks": (3, 2), "fill_value": fill}
    empty = np.full((4, 6), 2.5, "f4")
    yield "fill-no-chunk-at-all", empty, {"chunks": (2, 2), "fill_value": 2.5}


def _codecs(zarr: Any) -> Any:
    codecs, other = zarr.codecs, zarr.codecs.numcodecs
    smooth = smooth_values("f4", (40, 30))
    for cname, shuffle in itertools.product(
        ("blosclz", "lz4", "lz4hc", "zlib", "zstd"), ("noshuffle", "shuffle", "bitshuffle")
    ):
        codec = codecs.BloscCodec(cname=cname, shuffle=shuffle)
        yield f"blosc-{cname}-{shuffle}", smooth, {"chunks": (32, 20), "compressors": codec}
    packers: dict[str, Any] = {
        "none": None,
        "blosc-default": codecs.BloscCodec(),
        **{f"zstd-{n}": codecs.ZstdCodec(level=n) for n in (-5, 0, 1, 9, 22)},
        "zstd-checksum": codecs.ZstdCodec(level=3, checksum=True),
        **{f"gzip-{n}": codecs.GzipCodec(level=n) for n in (0, 1, 9)},
        "crc32c": codecs.Crc32cCodec(),
        "gzip-crc32c": [codecs.GzipCodec(), codecs.Crc32cCodec()],
        "crc32c-zstd": [codecs.Crc32cCodec(), codecs.ZstdCodec()],
        "numcodecs-blosc": other.Blosc(cname="lz4", clevel=5, shuffle=1),
        "numcodecs-lz4": other.LZ4(acceleration=1),
        "numcodecs-zstd": other.Zstd(level=1),
        "numcodecs-zlib": other.Zlib(level=1),
        "numcodecs-gzip": other.GZip(level=1),
        "numcodecs-bz2": other.BZ2(level=1),
        "numcodecs-lzma": other.LZMA(preset=0),
        "numcodecs-shuffle": [other.Shuffle(elementsize=4), codecs.ZstdCodec()],
        "numcodecs-crc32": other.CRC32(),
        "numcodecs-adler32": other.Adler32(),
        "numcodecs-fletcher32": other.Fletcher32(),
        "numcodecs-jenkins": other.JenkinsLookup3(),
    }
    for name, packer in packers.items():
        yield f"codec-{name}", smooth, {"chunks": (32, 20), "compressors": packer}


def _filters(zarr: Any) -> Any:
    codecs, other = zarr.codecs, zarr.codecs.numcodecs
    cube = random_values("i2", (5, 4, 3), 5)
    for order in itertools.permutations(range(3)):
        codec = codecs.TransposeCodec(order=order)
        name = "".join(map(str, order))
        yield f"transpose-{name}", cube, {"chunks": (3, 2, 2), "filters": codec}
    twice = [codecs.TransposeCodec(order=(1, 2, 0)), codecs.TransposeCodec(order=(0, 2, 1))]
    yield "transpose-twice", cube, {"chunks": (3, 2, 2), "filters": twice, "compressors": None}
    big = {"serializer": codecs.BytesCodec(endian="big"), "filters": twice[0]}
    yield "transpose-big", cube, {"chunks": (3, 2, 2), "compressors": None, **big}
    filters: dict[str, tuple[str, Any]] = {
        "delta": ("i4", other.Delta(dtype="<i4")),
        "delta-narrow": ("i4", other.Delta(dtype="<i4", astype="<i2")),
        "delta-float": ("f8", other.Delta(dtype="<f8")),
        "bitround": ("f4", other.BitRound(keepbits=10)),
        "fixed-scale-offset": (
            "f8",
            other.FixedScaleOffset(dtype="<f8", astype="|u1", scale=1, offset=0),
        ),
        "quantize": ("f4", other.Quantize(digits=2, dtype="<f4")),
        "astype": ("f8", other.AsType(encode_dtype="<f4", decode_dtype="<f8")),
    }
    for name, (code, codec) in filters.items():
        values = smooth_values(code, (13, 30))
        yield f"filter-{name}", values, {"chunks": (9, 17), "filters": codec}
        turned = [codecs.TransposeCodec(order=(1, 0)), codec]
        yield f"filter-transpose-{name}", values, {"chunks": (9, 17), "filters": turned}
    swapped = {"serializer": codecs.BytesCodec(endian="big"), "filters": filters["delta"][1]}
    yield "filter-delta-big", smooth_values("i4", (13, 30)), {"chunks": (9, 17), **swapped}
    last = [filters["delta"][1], codecs.TransposeCodec(order=(1, 0))]
    keywords = {"chunks": (9, 17), "filters": last}
    yield "filter-delta-then-transpose", smooth_values("i4", (13, 30)), keywords


def _shards(zarr: Any) -> Any:
    codecs, other = zarr.codecs, zarr.codecs.numcodecs
    values = random_values("u2", (13, 10), 8)
    holes = values.copy()
    holes[:6, :4] = 0
    holes[8:10, 4:6] = 0
    base = {"chunks": (2, 2), "shards": (6, 4)}
    yield "shard", values, base
    yield "shard-holes", holes, base
    yield "shard-raw", values, {**base, "compressors": None}
    yield "shard-empty", np.zeros((13, 10), "u2"), base
    yield "shard-0d", np.array(7, "i4"), {"chunks": (), "shards": ()}
    yield "shard-one-chunk", values, {"chunks": (6, 4), "shards": (6, 4)}
    for word in ("start", "end"):
        keywords = {"chunks": (2, 2), "shards": {"shape": (6, 4), "index_location": word}}
        yield f"shard-index-{word}", holes, keywords
    inside: dict[str, dict[str, Any]] = {
        "gzip": {"compressors": codecs.GzipCodec()},
        "blosc": {"compressors": codecs.BloscCodec(cname="lz4")},
        "crc32c": {"compressors": codecs.Crc32cCodec()},
        "bz2": {"compressors": other.BZ2()},
        "transpose": {"filters": codecs.TransposeCodec(order=(1, 0))},
        "delta": {"filters": other.Delta(dtype="<u2"), "compressors": None},
        "big": {"serializer": codecs.BytesCodec(endian="big"), "compressors": None},
    }
    for name, keywords in inside.items():
        yield f"shard-of-{name}", holes, {**base, **keywords}

    def shard(shape: tuple[int, ...], *inner: Any, **options: Any) -> Any:
        chain = inner or (codecs.BytesCodec(), codecs.ZstdCodec())
        return codecs.ShardingCodec(chunk_shape=shape, codecs=chain, **options)

    bare = [codecs.BytesCodec()]
    chains: dict[str, dict[str, Any]] = {
        "nested": {"serializer": shard((6, 4), shard((3, 2)))},
        "nested-start": {
            "serializer": shard((6, 4), shard((3, 2), index_location="start")),
        },
        "nested-three": {"serializer": shard((12, 8), shard((6, 4), shard((3, 2))))},
        "index-bare": {"serializer": shard((3, 2), index_codecs=bare)},
        "index-crc-twice": {
            "serializer": shard(
                (3, 2), index_codecs=[*bare, codecs.Crc32cCodec(), codecs.Crc32cCodec()]
            ),
        },
        "outer-crc": {"serializer": shard((3, 2)), "compressors": codecs.Crc32cCodec()},
        "outer-zstd": {"serializer": shard((3, 2)), "compressors": codecs.ZstdCodec()},
        "transposed": {
            "filters": codecs.TransposeCodec(order=(1, 0)),
            "serializer": shard((4, 2)),
        },
        "transposed-twice": {
            "filters": codecs.TransposeCodec(order=(1, 0)),
            "serializer": shard((4, 2), codecs.TransposeCodec(order=(1, 0)), codecs.BytesCodec()),
        },
    }
    for name, keywords in chains.items():
        given = {"chunks": (12, 8), "compressors": None, **keywords}
        yield f"shard-{name}", random_values("<i4", (20, 17), 3), given


def store_case(zarr: Any, root: Path, values: Any, keywords: dict[str, Any]) -> Any:
    """Write one case with either library, and open it again."""
    z = zarr.create_array(str(root), shape=values.shape, dtype=values.dtype, **keywords)
    z[...] = values
    return zarr.open_array(str(root), mode="r")


def expected_values() -> dict[str, np.ndarray[Any, Any]]:
    found = {name: files[""] for name, files in unpack(HERE / "expected.tar.xz").items()}
    return {name.removesuffix(".npy"): np.load(io.BytesIO(data)) for name, data in found.items()}


def write_with_peer() -> None:
    import zarr
    import zarr.codecs.numcodecs

    warnings.simplefilter("ignore")
    files: dict[str, bytes] = {}
    expected: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (values, keywords) in cases(zarr).items():
            root = Path(folder) / name
            try:
                got = np.asarray(store_case(zarr, root, values, keywords)[...])
            except Exception as error:
                print(f"left out {name}: {type(error).__name__}: {str(error)[:120]}")
                continue
            file = io.BytesIO()
            np.save(file, got.astype(got.dtype.newbyteorder("=")))
            expected[f"{name}.npy"] = file.getvalue()
            for key, value in stored_files(root).items():
                files[f"{name}/{key}"] = value
    pack(HERE / f"zarr-python-{zarr.__version__}.tar.xz", files)
    pack(HERE / "expected.tar.xz", expected)


def same(got: Any, want: np.ndarray[Any, Any]) -> bool:
    """Equal values; a peer may have its own NaN, and another dtype for raw bytes."""
    got = np.asarray(got)
    if want.dtype.kind == "V" and want.dtype.names is None:
        return got.tobytes() == want.tobytes()
    if got.shape != want.shape:
        return False
    if got.dtype == want.dtype and got.tobytes() == want.tobytes():
        return True
    nan = want.dtype.kind in "fcmM"
    return want.dtype.kind in "biufcmM" and bool(np.array_equal(got, want, equal_nan=nan))


def read_with_peer(store: str) -> None:
    import zarr

    warnings.simplefilter("ignore")
    readers: dict[str, Any] = {
        f"zarr-python {zarr.__version__}": lambda root: zarr.open_array(root, mode="r")[...]
    }
    try:
        import tensorstore
    except ModuleNotFoundError:
        pass
    else:
        from importlib.metadata import version

        def read_tensorstore(root: str) -> Any:
            spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": root}}
            return tensorstore.open(spec).result().read().result()

        readers[f"TensorStore {version('tensorstore')}"] = read_tensorstore
    expected = expected_values()
    verdicts: dict[str, dict[str, str]] = {}
    for name, values in expected.items():
        verdicts[name] = {}
        for reader, read in readers.items():
            try:
                got = read(f"{store}/{name}")
            except Exception as error:
                verdicts[name][reader] = f"cannot: {type(error).__name__}: {str(error)[:80]}"
                continue
            if np.asarray(got).dtype == "V0":
                # TensorStore hands raw bytes to NumPy without the bytes.
                verdicts[name][reader] = "cannot: elements of no bytes"
                continue
            verdicts[name][reader] = "equal" if same(got, values) else "OTHER VALUES"
    print(json.dumps(verdicts))


def record(peers: list[str]) -> None:
    import zarrix

    table = cases(zarrix)
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (values, keywords) in table.items():
            store_case(zarrix, Path(folder) / name, values, keywords)
            rows[name] = {"digest": digest(stored_files(Path(folder) / name)), "read_equal_by": []}
        for peer in peers:
            command = [peer, __file__, "read", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            for name, verdicts in json.loads(done.stdout).items():
                for reader, verdict in verdicts.items():
                    if verdict == "equal":
                        rows[name]["read_equal_by"].append(reader)
                    else:
                        print(f"{name}: {reader} {verdict}")
                    if verdict == "OTHER VALUES":
                        raise SystemExit(f"{reader} reads other values of {name}")
    lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
    (HERE / "ours.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write"]:
            write_with_peer()
        case ["read", store]:
            read_with_peer(store)
        case ["record", *peers]:
            record(peers)
        case _:
            print(__doc__)
