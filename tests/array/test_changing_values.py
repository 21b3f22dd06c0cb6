"""A value that changes while it is written may be torn; it is never a crash or an unreadable chunk.

Several cases run in one process, which names each before it begins: the last one named is the one
that crashed. No case waits for luck: what it asserts holds however the threads are scheduled. An
engine that reads the array twice fails each of those cases whose codec does so: it made 17 to 87 of
100 chunks unreadable, and a case writes 80. With ``--long`` it writes ten times as many.
"""

import subprocess
import sys

import pytest

WRITER = """
import sys, tempfile, threading, numcodecs, numpy, zarrix

def run(case, chunk_bytes, count, rounds):
    item = numpy.dtype(case.pop("dtype", "u1"))
    raw = numpy.empty(chunk_bytes * count, "u1")
    # Few values, each of which gets a short code, and many that are rare and get a long one.
    random = numpy.random.default_rng(0)
    common = random.integers(1, 17, raw.size, dtype="u1")
    common[::200] = random.integers(17, 256, common[::200].size, dtype="u1")
    rare = random.integers(17, 256, raw.size, dtype="u1")
    raw[:] = common
    over = threading.Event()

    def change():
        while not over.is_set():
            for values in (rare, common):
                for start in range(0, raw.size, 20_000):
                    numpy.copyto(raw[start : start + 20_000], values[start : start + 20_000])

    create = zarrix.create_array if case.pop("format", 2) == 3 else zarrix.create
    archive = tempfile.NamedTemporaryFile(suffix=".zip") if case.pop("zip", False) else None
    store = zarrix.ZipStore(archive.name, mode="w") if archive else zarrix.MemoryStore()
    step = chunk_bytes // item.itemsize
    z = create(store=store, **{"shape": step * count, "chunks": step, "dtype": item, **case})
    thread = threading.Thread(target=change)
    thread.start()
    unreadable = 0
    try:
        for _ in range(rounds):
            z[:] = raw.view(item)
            for start in range(0, step * count, step):
                try:
                    z[start : start + step]
                except zarrix.errors.CorruptChunkError:
                    unreadable += 1
    finally:
        over.set()
        thread.join()
        if archive:
            store.close()
            archive.close()
    print(unreadable, "unreadable", flush=True)

for name, case, *amount in eval(sys.argv[1]):
    print(name, end=": ", flush=True)
    run(eval(case), *amount)
"""

# Bytes of a chunk, chunks, and rounds of writes.
MANY, ONE = (60_000, 40, 2), (4 << 20, 1, 10)
FILTERS = "{'compressor': None, 'filters': [numcodecs.%s]}"
CASES = {
    "no codec": ("{'compressor': None}", MANY),
    "no codec, in a zip archive": ("{'compressor': None, 'zip': True}", MANY),
    "gzip": ("{'compressor': numcodecs.GZip(5)}", MANY),
    "gzip of level 0": ("{'compressor': numcodecs.GZip(0)}", MANY),
    "gzip of v3": ("{'format': 3, 'compressors': zarrix.codecs.GzipCodec(level=3)}", MANY),
    "zlib": ("{'compressor': numcodecs.Zlib(6)}", MANY),
    "zlib of level 1": ("{'compressor': numcodecs.Zlib(1)}", MANY),
    "bz2": ("{'compressor': numcodecs.BZ2(1)}", (60_000, 10, 4)),
    "lzma": ("{'compressor': numcodecs.LZMA(preset=0)}", (60_000, 10, 4)),
    "lz4": ("{'compressor': numcodecs.LZ4()}", MANY),
    "zstd": ("{'compressor': numcodecs.Zstd(1)}", MANY),
    "zstd with a checksum": ("{'compressor': numcodecs.Zstd(1, checksum=True)}", MANY),
    "the default of v3": ("{'format': 3}", MANY),
    "crc32c": ("{'format': 3, 'compressors': zarrix.codecs.Crc32cCodec()}", MANY),
    "shards": ("{'format': 3, 'chunks': 15_000, 'shards': 60_000}", MANY),
    "one shard": ("{'format': 3, 'chunks': 1 << 16, 'shards': 4 << 20}", ONE),
    "crc32": (FILTERS % "CRC32()", MANY),
    "adler32": (FILTERS % "Adler32()", MANY),
    "fletcher32": (FILTERS % "Fletcher32()", MANY),
    "delta and gzip": (
        "{'filters': [numcodecs.Delta('u1')], 'compressor': numcodecs.GZip(1)}",
        MANY,
    ),
    "shuffle and zlib": (
        "{'dtype': 'i4', 'filters': [numcodecs.Shuffle(4)], 'compressor': numcodecs.Zlib(1)}",
        MANY,
    ),
    "pcodec": (
        "{'format': 3, 'dtype': 'i4', 'serializer': zarrix.codecs.numcodecs.PCodec()}",
        MANY,
    ),
} | {
    f"Blosc of {name}, {shuffle}, {kind}": (
        f"{{'dtype': 'i4', 'compressor': numcodecs.Blosc({name!r}, 5, {shuffle})}}",
        amount,
    )
    for name in ("lz4", "zlib")
    for shuffle in (0, 1)
    for kind, amount in (("many", MANY), ("one", (4 << 20, 1, 3)))
}

PROCESSES = 3


@pytest.mark.parametrize("first", range(PROCESSES))
def test_a_value_that_changes_while_it_is_written_gives_chunks_that_can_be_read(
    first: int, is_long: bool
) -> None:
    names = list(CASES)[first::PROCESSES]
    longer = 10 if is_long else 1
    cases = [
        (name, CASES[name][0], *CASES[name][1][:2], CASES[name][1][2] * longer) for name in names
    ]
    command = [sys.executable, "-W", "error", "-c", WRITER, repr(cases)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    expected = [f"{name}: 0 unreadable" for name in names]
    assert (done.stdout.splitlines(), done.returncode, done.stderr) == (expected, 0, "")
