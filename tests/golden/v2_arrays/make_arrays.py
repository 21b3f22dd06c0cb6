"""Make the golden arrays of Zarr v2, and the record that peers read what zarrix writes.

    python make_arrays.py cases
        cases.json and expected.tar.xz: what is stored, and its values as .npy. Needs NumPy.
    /peer/bin/python make_arrays.py write
        zarr-python-<version>.tar.xz: the cases as the zarr of that interpreter stores them, in v2.
    python make_arrays.py record /peer/bin/python ...
        ours.json: writes the cases with zarrix, lets the zarr-python and TensorStore of each given
        interpreter read them, and records a digest of our bytes with the names of those that read
        them equal. Fails where a peer reads other values.
    /peer/bin/python make_arrays.py read STORE
        What ``record`` starts in the peers: prints a verdict for each case as JSON.

The packs hold ``<case>/<key>`` and are the same bytes for the same input: no times, no owners. The
test never runs this script and needs no peer.
"""

import io
import itertools
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from packs import digest, pack, stored_files  # noqa: E402

BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}

PLAIN = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
TIMES = ["M8[ns]", "M8[D]", "M8[25us]", "m8[ms]", "m8[h]"]
STRUCTURED: dict[str, Any] = {
    "fields": [("a", "<i4"), ("b", ">f8"), ("c", "S3")],
    "subarrays": [("xy", "<f4", (2,)), ("m", ">u2", (2, 2)), ("t", "<M8[s]")],
    "nested": [("p", [("x", "<f4"), ("y", "<f4")]), ("flag", "?")],
}


def all_dtypes() -> dict[str, np.dtype[Any]]:
    """Every fixed-size dtype in either byte order, by a name that is a file name."""
    found: dict[str, np.dtype[Any]] = {}
    for code in [*PLAIN, *TIMES, "S1", "S5", "U3", "V1", "V7"]:
        for order, name in (("<", "le"), (">", "be")):
            dtype = np.dtype(order + code)
            if dtype.byteorder == "|":
                found[code.replace("?", "bool")] = dtype
            else:
                found[f"{code.replace('[', '_').rstrip(']')}-{name}"] = dtype
    return found | {name: np.dtype(fields) for name, fields in STRUCTURED.items()}


def random_values(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Any bits for numbers (all NaNs, infinities, NaT), sensible text and truth values."""
    random = np.random.RandomState(seed)
    count = int(np.prod(shape))
    if dtype.names:
        values = np.zeros(count, dtype)
        for i, name in enumerate(dtype.names):
            part = dtype[name]
            values[name] = random_values(part.base, (count, *part.shape), seed + i)
        return values.reshape(shape)
    if dtype.kind == "b":
        return random.randint(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        letters = ["", "a", "bé", "漢字", "\U0001f600z", "xyz"]
        return np.array([letters[i] for i in random.randint(0, 6, count)], dtype).reshape(shape)
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)


def smooth_values(dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """What compresses: slow steps, whose bytes every codec has something to do with."""
    count = int(np.prod(shape))
    steps = (np.arange(count) // 7 * 3 % 113).reshape(shape)
    if dtype.kind == "b":
        return (steps % 3 == 0).astype(dtype)
    if dtype.kind == "S":
        return np.char.add(b"s", steps.astype("S4")).astype(dtype)
    return steps.astype(dtype)


class Cases:
    """The table as it grows; a case's values go to expected.tar.xz under its name."""

    def __init__(self) -> None:
        self.table: dict[str, dict[str, Any]] = {}
        self.values: dict[str, np.ndarray[Any, Any]] = {}

    def add(
        self,
        name: str,
        values: np.ndarray[Any, Any],
        chunks: tuple[int, ...],
        compressor: dict[str, Any] | None = None,
        filters: list[dict[str, Any]] | None = None,
        fill: Any = 0,
        missing: tuple[tuple[int, ...], ...] = (),
        order: str = "C",
        separator: str = ".",
    ) -> None:
        assert name not in self.table, name
        values = values.copy()
        element = None
        if fill is not None:
            zero = isinstance(fill, int) and fill == 0
            one = np.zeros((), values.dtype) if zero else np.array(fill, values.dtype)
            element = one.tobytes().hex()
            for chunk in missing:
                here = tuple(slice(i * n, (i + 1) * n) for i, n in zip(chunk, chunks, strict=True))
                values[here] = one
        self.values[name] = values
        self.table[name] = {
            "chunks": chunks,
            "compressor": compressor,
            "filters": filters,
            "fill_hex": element,
            "missing": [separator.join(map(str, chunk)) for chunk in missing],
            "order": order,
            "separator": separator,
        }


def add_dtypes(cases: Cases) -> None:
    for i, (name, dtype) in enumerate(all_dtypes().items()):
        values = random_values(dtype, (5, 3), 100 + i)
        cases.add(f"dtype-{name}-blosc", values, (3, 2), BLOSC)
        cases.add(f"dtype-{name}-raw", values, (3, 2), order="F", separator="/")


def add_layouts(cases: Cases) -> None:
    shapes = {
        "0d": ((), ()),
        "1d": ((7,), (3,)),
        "3d": ((4, 3, 5), (2, 3, 2)),
        "4d": ((2, 3, 2, 3), (1, 2, 2, 2)),
        "zero": ((0,), (3,)),
        "zero-middle": ((3, 0, 2), (2, 1, 2)),
    }
    packers = {"raw": None, "zlib": {"id": "zlib", "level": 1}}
    for (name, (shape, chunks)), order, (separator, word), (
        packer,
        compressor,
    ) in itertools.product(shapes.items(), "CF", ((".", "dot"), ("/", "slash")), packers.items()):
        values = random_values(np.dtype("<i2"), shape, 7)
        case = f"layout-{name}-{order}-{word}-{packer}"
        cases.add(case, values, chunks, compressor, order=order, separator=separator)


def add_fills(cases: Cases) -> None:
    record = np.array([(3, 1.5, b"ab")], np.dtype(STRUCTURED["fields"]))[0]
    pair = np.array([([1, 2], [[3, 4], [5, 6]], "2020-01-02")], np.dtype(STRUCTURED["subarrays"]))
    fills: dict[str, tuple[str | np.dtype[Any], Any]] = {
        "nan": ("<f4", np.nan),
        "nan-be": (">f8", np.nan),
        "nan-half": ("<f2", np.nan),
        "inf": ("<f4", np.inf),
        "minus-inf": ("<f8", -np.inf),
        "fraction": ("<f4", 0.1),
        "minus": ("<i4", -7),
        "largest": ("<u8", 2**64 - 1),
        "smallest": (">i8", -(2**63)),
        "true": ("?", True),
        "complex": ("<c8", complex(1.5, -2)),
        "complex-nan": (">c16", complex(np.nan, np.inf)),
        "nat": ("<M8[s]", np.datetime64("NaT")),
        "day": (">M8[D]", np.datetime64("2020-02-29")),
        "delta": ("<m8[ms]", np.timedelta64(-5, "ms")),
        "bytes": ("S4", b"ab"),
        "text": ("<U3", "é"),
        "text-be": (">U3", "漢字"),
        "void": ("V3", np.void(b"\x00\xff\x01")),
        "record": (record.dtype, record),
        "subarrays": (pair.dtype, pair[0]),
    }
    for i, (name, (dtype, fill)) in enumerate(fills.items()):
        values = random_values(np.dtype(dtype), (5, 4), 300 + i)
        cases.add(f"fill-{name}", values, (3, 2), BLOSC, fill=fill, missing=((0, 0), (1, 1)))
    for code in ("<f4", "<i4", "?", "S3", "<U2", "<M8[ns]", "V4"):
        values = random_values(np.dtype(code), (5, 4), 400)
        name = np.dtype(code).name.split("[")[0]
        cases.add(f"fill-none-{name}", values, (3, 2), BLOSC, fill=None)
    empty = np.zeros((4, 6), "<f4")
    every = tuple(itertools.product(range(2), range(3)))
    cases.add("fill-no-chunk-at-all", empty, (2, 2), BLOSC, fill=2.5, missing=every)
    cases.add("fill-no-chunk-slash", empty, (2, 2), None, fill=1, missing=every, separator="/")


def add_blosc(cases: Cases) -> None:
    def blosc(**changes: Any) -> dict[str, Any]:
        return BLOSC | changes

    smooth = smooth_values(np.dtype("<f4"), (40, 30))
    names = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
    for name, shuffle in itertools.product(names, (-1, 0, 1, 2)):
        word = ("auto", "none", "byte", "bit")[shuffle + 1]
        config = blosc(cname=name, shuffle=shuffle)
        cases.add(f"blosc-{name}-{word}", smooth, (32, 20), config)
    for name, code in itertools.product(names, ("u1", "S3", "<c16")):
        small = smooth_values(np.dtype(code), (700,))
        for shuffle in (1, 2):
            config = blosc(cname=name, shuffle=shuffle, clevel=9)
            word = np.dtype(code).name
            cases.add(f"blosc-{name}-{word}-{shuffle}", small, (600,), config)
    for size in (128, 1000, 4096):
        for name in ("lz4", "zstd"):
            values = smooth_values(np.dtype("<f8"), (1500,))
            config = blosc(cname=name, blocksize=size, shuffle=2)
            cases.add(f"blosc-{name}-blocks-of-{size}", values, (1400,), config)
    for level in (0, 1, 9):
        cases.add(f"blosc-level-{level}", smooth, (32, 20), blosc(clevel=level))
    noise = np.frombuffer(np.random.RandomState(5).bytes(1800), "u1")
    cases.add("blosc-noise-is-copied", noise, (900,), blosc(shuffle=0))
    wide = smooth_values(np.dtype("S200"), (30,))
    cases.add("blosc-typesize-200-blocks-of-128", wide, (25,), blosc(blocksize=128))
    wider = smooth_values(np.dtype("S300"), (20,))
    cases.add("blosc-typesize-over-255", wider, (15,), blosc())
    truth = smooth_values(np.dtype("?"), (2003,))
    cases.add("blosc-bitshuffle-tail", truth, (1001,), blosc(shuffle=2))
    tail = smooth_values(np.dtype("<u2"), (1013,))
    cases.add("blosc-bitshuffle-tail-of-words", tail, (1013,), blosc(shuffle=2, cname="zstd"))


def add_codecs(cases: Cases) -> None:
    def keyed(id: str, **config: Any) -> dict[str, Any]:
        return {"id": id, **config}

    smooth = smooth_values(np.dtype("<f4"), (40, 30))
    compressors = {
        **{f"zstd-{n}": keyed("zstd", level=n) for n in (-5, 0, 1, 9, 22)},
        "zstd-checksum": keyed("zstd", level=3, checksum=True),
        **{f"gzip-{n}": keyed("gzip", level=n) for n in (0, 1, 9)},
        **{f"zlib-{n}": keyed("zlib", level=n) for n in (0, 1, 9)},
        **{f"lz4-{n}": keyed("lz4", acceleration=n) for n in (1, 10)},
        **{name: keyed("bz2", level=n) for name, n in (("bz2", 1), ("bz2-9", 9))},
        "lzma": keyed("lzma", format=1, check=-1, preset=None, filters=None),
        "lzma-alone": keyed("lzma", format=2, check=-1, preset=1, filters=None),
        "lzma-raw": keyed(
            "lzma", format=3, check=0, preset=None, filters=[{"id": 3, "dist": 4}, {"id": 33}]
        ),
    }
    for name, config in compressors.items():
        cases.add(f"codec-{name}", smooth, (32, 20), config)
    zstd = keyed("zstd", level=1)
    filters: dict[str, tuple[str, list[dict[str, Any]], dict[str, Any] | None]] = {
        **{
            f"shuffle-{n}": ("<f4" if n < 8 else "<f8", [keyed("shuffle", elementsize=n)], zstd)
            for n in (1, 2, 4, 8)
        },
        **{
            f"delta-{code.strip('<>|')}-{order}": (
                order_of + code,
                [keyed("delta", dtype=order_of + code, astype=order_of + code)],
                keyed("zlib", level=1),
            )
            for code in ("i2", "u4", "i8", "f4", "f8")
            for order, order_of in (("le", "<"), ("be", ">"))
        },
        "delta-u1": ("|u1", [keyed("delta", dtype="|u1", astype="|u1")], None),
        "delta-narrow": ("<i4", [keyed("delta", dtype="<i4", astype="<i2")], zstd),
        "delta-wide": ("<f4", [keyed("delta", dtype="<f4", astype="<f8")], None),
        "packbits": ("|b1", [keyed("packbits")], None),
        "packbits-zlib": ("|b1", [keyed("packbits")], keyed("zlib", level=1)),
        "crc32": ("<f4", [keyed("crc32")], None),
        "crc32-blosc": ("<f4", [keyed("crc32")], BLOSC),
        "adler32": ("<f4", [keyed("adler32")], None),
        "fletcher32": ("<f4", [keyed("fletcher32")], None),
        "fletcher32-zstd": ("<i2", [keyed("fletcher32")], zstd),
        "delta-then-shuffle": (
            "<i4",
            [keyed("delta", dtype="<i4", astype="<i4"), keyed("shuffle", elementsize=4)],
            zstd,
        ),
        "delta-then-fletcher32": (
            "<i4",
            [keyed("delta", dtype="<i4", astype="<i2"), keyed("fletcher32")],
            BLOSC,
        ),
        "fixed-scale-offset": (
            "<f8",
            [keyed("fixedscaleoffset", dtype="<f8", astype="|u1", scale=1, offset=0)],
            keyed("zlib", level=1),
        ),
        "fixed-scale-offset-be": (
            ">f4",
            [keyed("fixedscaleoffset", dtype=">f4", astype="<i2", scale=2, offset=1.5)],
            None,
        ),
        "astype": ("<f8", [keyed("astype", decode_dtype="<f8", encode_dtype=">i2")], None),
        "quantize": ("<f8", [keyed("quantize", digits=2, dtype="<f8", astype="<f4")], None),
        "bitround": ("<f4", [keyed("bitround", keepbits=7)], None),
        "base64": ("<i2", [keyed("base64")], None),
        "jenkins-lookup3": ("<i2", [keyed("jenkins_lookup3", initval=3, prefix=None)], None),
        "categorize": (
            "<U3",
            [keyed("categorize", labels=[str(n) for n in range(113)], dtype="<U3", astype="|u1")],
            zstd,
        ),
    }
    for (name, (code, chain, compressor)), order in itertools.product(filters.items(), "CF"):
        if name == "bitround" and order == "F":
            continue  # numcodecs hands it back in order C, so that zarr reads it transposed.
        values = smooth_values(np.dtype(code), (13, 30))
        cases.add(f"filter-{name}-{order}", values, (9, 17), compressor, chain, order=order)


def make_cases() -> None:
    cases = Cases()
    for add in (add_dtypes, add_layouts, add_fills, add_blosc, add_codecs):
        add(cases)
    lines = [f" {json.dumps(name)}: {json.dumps(case)}" for name, case in cases.table.items()]
    (HERE / "cases.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    packed = {}
    for name, values in cases.values.items():
        file = io.BytesIO()
        np.save(file, values)
        packed[f"{name}.npy"] = file.getvalue()
    pack(HERE / "expected.tar.xz", packed)


def expected_values() -> dict[str, np.ndarray[Any, Any]]:
    with tarfile.open(HERE / "expected.tar.xz") as archive:
        return {
            entry.name.removesuffix(".npy"): np.load(io.BytesIO(archive.extractfile(entry).read()))
            for entry in archive
        }


def store_case(zarr: Any, root: Path, case: dict[str, Any], values: Any, **keywords: Any) -> None:
    """Write one case with any of the three libraries, which share this API of zarr 2."""
    import numcodecs

    fill = None
    if case["fill_hex"] is not None:
        fill = np.frombuffer(bytes.fromhex(case["fill_hex"]), values.dtype)[0]
    compressor = case["compressor"]
    z = zarr.create(
        store=str(root),
        shape=values.shape,
        chunks=tuple(case["chunks"]),
        dtype=values.dtype,
        order=case["order"],
        fill_value=fill,
        dimension_separator=case["separator"],
        compressor=compressor and numcodecs.get_codec(dict(compressor)),
        filters=[numcodecs.get_codec(dict(one)) for one in case["filters"] or ()] or None,
        **keywords,
    )
    z[...] = values
    for key in case["missing"]:
        (root / key).unlink(missing_ok=True)


def write_with_peer() -> None:
    import zarr

    keywords = {} if zarr.__version__.startswith("2.") else {"zarr_format": 2}
    table = json.loads((HERE / "cases.json").read_text())
    expected = expected_values()
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in table.items():
            root = Path(folder) / name
            try:
                store_case(zarr, root, case, expected[name], **keywords)
            except Exception as error:
                print(f"left out {name}: {type(error).__name__}: {str(error)[:120]}")
                continue
            if not same(zarr.open_array(str(root), mode="r")[...], expected[name]):
                print(f"left out {name}: the peer itself reads other values")
                continue
            for key, value in stored_files(root).items():
                files[f"{name}/{key}"] = value
    pack(HERE / f"zarr-python-{zarr.__version__}.tar.xz", files)


def same(got: Any, want: np.ndarray[Any, Any]) -> bool:
    """Equal values; a peer may present them in its own byte order and with its own NaN."""
    got = np.asarray(got)
    if got.shape != want.shape:
        return False
    if got.dtype == want.dtype and got.tobytes() == want.tobytes():
        return True
    nan = want.dtype.kind in "fcmM"
    return want.dtype.kind in "biufcmM" and bool(np.array_equal(got, want, equal_nan=nan))


def read_with_peer(store: str) -> None:
    readers = {}
    import zarr

    readers[f"zarr-python {zarr.__version__}"] = lambda root: zarr.open_array(root, mode="r")[...]
    try:
        import tensorstore
    except ModuleNotFoundError:
        pass
    else:
        from importlib.metadata import version

        def read_tensorstore(root: str) -> Any:
            separator = json.loads((Path(root) / ".zarray").read_text()).get(
                "dimension_separator", "."
            )
            spec = {
                "driver": "zarr",
                "kvstore": {"driver": "file", "path": root},
                "metadata": {"dimension_separator": separator},
            }
            values = tensorstore.open(spec, open=True, read=True).result().read().result()
            if values.dtype.itemsize == 0:
                raise TypeError("text and raw bytes arrive in NumPy without their bytes")
            return values

        readers[f"TensorStore {version('tensorstore')}"] = read_tensorstore
    verdicts: dict[str, dict[str, str]] = {}
    for reader, read in readers.items():
        for name, want in expected_values().items():
            try:
                verdict = "equal" if same(read(f"{store}/{name}"), want) else "other values"
            except Exception as error:
                verdict = f"cannot: {type(error).__name__}: {str(error)[:100]}"
            verdicts.setdefault(name, {})[reader] = verdict
    print(json.dumps(verdicts))


def record(peers: list[str]) -> None:
    import zarrix

    table = json.loads((HERE / "cases.json").read_text())
    expected = expected_values()
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, case in table.items():
            store_case(zarrix, Path(folder) / name, case, expected[name])
            rows[name] = {"digest": digest(stored_files(Path(folder) / name)), "read_equal_by": []}
        wrong = []
        for peer in peers:
            command = [peer, str(HERE / "make_arrays.py"), "read", folder]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for name, verdicts in json.loads(output).items():
                for reader, verdict in verdicts.items():
                    if verdict == "equal":
                        rows[name]["read_equal_by"].append(reader)
                    elif verdict == "other values":
                        wrong.append(f"{name} by {reader}")
                    else:
                        print(f"{name}: {reader}: {verdict}")
    unread = [name for name, row in rows.items() if not row["read_equal_by"]]
    if wrong or unread:
        raise SystemExit(f"read differently: {wrong}; read by no library: {unread}")
    lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
    (HERE / "ours.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["cases"]:
            make_cases()
        case ["write"]:
            write_with_peer()
        case ["read", where]:
            read_with_peer(where)
        case ["record", *peers]:
            record(peers)
        case _:
            raise SystemExit(__doc__)
