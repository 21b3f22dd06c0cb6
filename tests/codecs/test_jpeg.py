"""Pictures as chunks: JPEG, equal to Pillow's, and refused where it is damaged or lies."""

import io
import json
import time
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from golden.packs import place, unpack
from zarrix.codecs import JpegCodec

Image = pytest.importorskip("PIL.Image")
try:
    import imagecodecs
except ImportError:
    imagecodecs = None

GOLDEN = Path(__file__).parents[1] / "golden" / "pictures"
PEERS = unpack(GOLDEN / "zarr-python-3.4.2-imagecodecs.tar.xz")
EXPECTED = unpack(GOLDEN / "expected.tar.xz")


def picture(rng, height, width, channels=3):
    """Waves, with noise or without."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / rng.uniform(3, 20) + k + y / rng.uniform(5, 12)) for k in range(channels)]
    noise = rng.normal(0, rng.choice([0, 5, 40]), (height, width, channels))
    return (127 + 120 * np.stack(waves, -1) + noise).clip(0, 255).astype("u1")


def jpeg_file(pixels, **options):
    file = io.BytesIO()
    flat = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    Image.fromarray(flat).save(file, "JPEG", **options)
    return file.getvalue()


def decoded(data, shape):
    """What Pillow reads."""
    return np.asarray(Image.open(io.BytesIO(data))).reshape(shape)


def array_of(files, shape):
    """An array whose chunks are the files."""
    height, width, channels = shape
    store = {}
    zarr.create_array(
        store,
        shape=(len(files), height, width, channels),
        chunks=(1, height, width, channels),
        dtype="u1",
        serializer=JpegCodec(),
        compressors=None,
    )
    store.update({f"c/{n}/0/0/0": data for n, data in enumerate(files)})
    return zarr.open_array(store)


def generated(rng):
    """A file of random size, subsampling, tables and restart markers, and its shape."""
    height, width = (int(n) for n in rng.integers(2, 71, 2))
    channels = int(rng.choice([1, 3]))
    options = {
        "quality": int(rng.integers(1, 101)),
        "progressive": bool(rng.integers(2)),
        "optimize": bool(rng.integers(2)),
    }
    if channels == 3:
        options["subsampling"] = int(rng.integers(3))
    if rng.integers(2):
        options["restart_marker_rows"] = int(rng.integers(1, 3))
    shape = (height, width, channels)
    return jpeg_file(picture(rng, *shape), **options), shape


@pytest.mark.parametrize("name", PEERS)
def test_an_array_of_imagecodecs_reads_equal(name, tmp_path):
    place(PEERS[name], tmp_path / name)
    z = zarr.open_array(str(tmp_path / name), mode="r")
    want = np.load(io.BytesIO(EXPECTED[f"{name}.npy"][""]))
    assert np.array_equal(z[...], want)


def test_files_and_their_crops_read_as_in_pillow(request):
    rng = np.random.default_rng(41)
    for _ in range(10_000 if request.config.getoption("--long") else 300):
        data, shape = generated(rng)
        want, z = decoded(data, shape), array_of([data], shape)
        assert np.array_equal(z[0], want), shape
        if imagecodecs is not None:
            assert np.array_equal(imagecodecs.jpeg8_decode(data).reshape(shape), want), shape
        top, left = (int(rng.integers(n)) for n in shape[:2])
        bottom, right = (
            int(rng.integers(a, n)) + 1 for a, n in zip((top, left), shape, strict=False)
        )
        crop = np.s_[top:bottom, left:right]
        assert np.array_equal(z[(0, *crop)], want[crop]), (shape, crop)
        step = np.s_[0, ::3, ::-2, -1]
        assert np.array_equal(z[step], want[step[1:]])
        points = ([0], [bottom - 1], [left], [0])
        assert np.array_equal(z.vindex[points], want[[bottom - 1], [left], [0]])


@pytest.mark.parametrize("shape", [(160, 96, 3), (100, 130, 1)])
def test_a_crop_of_what_we_wrote_is_that_of_the_whole(shape):
    rng = np.random.default_rng(1)
    height, width, channels = shape
    z = zarr.create_array(
        {}, shape=(2, *shape), chunks=(1, *shape), dtype="u1", compressors="jpeg:90"
    )
    z[...] = np.stack([picture(rng, *shape)] * 2)
    whole = z[...]
    data = bytes(z.store["c/0/0/0/0"])[:-4]
    assert np.array_equal(whole[0], decoded(data, shape))
    starts = np.array(
        [(n % 2, *(int(rng.integers(0, m - 20)) for m in (height, width)), 0) for n in range(60)]
    )
    for start, window in zip(starts, z.read_windows(starts, (1, 20, 20, channels)), strict=True):
        n, y, x, _ = start
        assert np.array_equal(window, whole[n : n + 1, y : y + 20, x : x + 20])


def test_what_is_written_is_what_pillow_would_keep():
    pixels = picture(np.random.default_rng(2), 120, 90)
    z = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors="jpeg:90:444")
    theirs = jpeg_file(pixels, quality=90, subsampling=0)
    assert np.array_equal(z[...], decoded(theirs, pixels.shape))
    stored = bytes(z.store["c/0/0/0"])
    assert len(stored) < len(theirs) * 1.02 + 4 + 2 * (120 // 8)


def test_names_and_short_forms():
    pixels = np.zeros((2, 16, 16, 3), "u1")
    chunks = (1, 16, 16, 3)
    z = zarr.array(pixels, chunks=chunks, compressor="jpeg:80")
    member = json.loads(z.store[".zarray"])["compressor"]
    assert member["id"] == "imagecodecs_jpeg"
    assert member["level"] == 80
    z = zarr.create_array({}, data=pixels, chunks=chunks, compressors="jpeg")
    names = [one["name"] for one in json.loads(z.store["zarr.json"])["codecs"]]
    assert names == ["imagecodecs_jpeg", "crc32c"]
    assert z.serializer == JpegCodec(level=90)
    bare = zarr.create_array(
        {}, data=pixels, chunks=chunks, serializer=JpegCodec(), compressors=None
    )
    assert len(json.loads(bare.store["zarr.json"])["codecs"]) == 1
    sharded = zarr.create_array(
        {}, data=pixels, chunks=chunks, shards=(2, 16, 16, 3), compressors="jpeg:95"
    )
    assert np.array_equal(sharded[...], pixels)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"compressors": "jpeg:101"}, "quality"),
        ({"compressors": "jpeg:x"}, "quality"),
        ({"compressors": "jpeg:90:999"}, "subsampling"),
        ({"compressors": "jpeg:90", "dtype": "f4"}, "uint8"),
        ({"compressors": "jpeg:90", "chunks": (2, 8, 8, 3)}, "one picture"),
        ({"compressors": "jpeg:90", "chunks": (1, 8, 8, 2)}, "one picture"),
    ],
)
def test_what_is_not_a_picture_is_refused(arguments, words):
    given = {"shape": (4, 8, 8, 3), "chunks": (1, 8, 8, 3), "dtype": "u1", **arguments}
    with pytest.raises(ValueError, match=words):
        zarr.create_array({}, **given)


def test_a_write_of_a_part_is_refused_unless_told():
    pixels = picture(np.random.default_rng(3), 40, 30)
    z = zarr.create_array({}, data=pixels, chunks=(32, 32, 3), compressors="jpeg:90")
    before = dict(z.store)
    for part in (np.s_[0, 0, 0], np.s_[:10], np.s_[:, 3:]):
        with pytest.raises(zarr.errors.LossyWriteError, match="reencode"):
            z[part] = 0
    assert dict(z.store) == before
    # Chunks at the edge are whole if all of their elements are inside.
    z[32:] = 7
    z[:] = pixels
    with zarr.config(lossy_writes="reencode"):
        z[0, 0] = 255
    assert dict(z.store) != before
    assert np.abs(z[8:].astype(int) - pixels[8:]).mean() < 20


def test_a_flipped_bit_is_an_error(request):
    rng = np.random.default_rng(4)
    pixels = picture(rng, 48, 40)
    z = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors="jpeg:90")
    stored = bytes(z.store["c/0/0/0"])
    for _ in range(100_000 if request.config.getoption("--long") else 500):
        bit = int(rng.integers(8 * len(stored)))
        damaged = bytearray(stored)
        damaged[bit // 8] ^= 1 << bit % 8
        z.store["c/0/0/0"] = bytes(damaged)
        with pytest.raises(zarr.errors.CorruptChunkError):
            z[...]


def test_without_a_checksum_damage_never_gives_another_error():
    rng = np.random.default_rng(5)
    shape = (48, 40, 3)
    for options in ({}, {"progressive": True}, {"restart_marker_rows": 1}):
        stored = jpeg_file(picture(rng, *shape), quality=90, **options)
        z = array_of([stored], shape)
        for _ in range(150):
            damaged = bytearray(stored)
            for at in rng.integers(len(stored), size=rng.integers(1, 4)):
                damaged[at] = rng.integers(256)
            z.store["c/0/0/0/0"] = bytes(damaged[: rng.integers(1, len(stored) + 1)])
            for part in (np.s_[...], np.s_[0, 20:30, 3:9]):
                try:
                    assert z[part].dtype == np.uint8
                except zarr.errors.CorruptChunkError:
                    continue


@pytest.mark.parametrize("cut", [1, 2, 50, 400])
def test_a_truncated_stream_is_an_error(cut):
    data = jpeg_file(picture(np.random.default_rng(6), 40, 40), quality=90)
    z = array_of([data[:-cut]], (40, 40, 3))
    with pytest.raises(zarr.errors.CorruptChunkError, match="jpeg"):
        z[...]


@pytest.mark.parametrize("options", [{}, {"restart_marker_rows": 1}, {"optimize": True}])
def test_an_undefined_code_is_an_error_where_much_follows(options):
    data = bytearray(jpeg_file(picture(np.random.default_rng(11), 256, 256), quality=90, **options))
    middle = len(data) // 2
    # Sixteen bits of 1 are never a code; a zero follows each byte of them.
    data[middle : middle + 16] = b"\xff\x00" * 8
    z = array_of([bytes(data)], (256, 256, 3))
    with pytest.raises(zarr.errors.CorruptChunkError, match="bad Huffman code"):
        z[...]


@pytest.mark.parametrize("end", [b"\x00" * 5, b"\xff" * 40, b"\xff\x00" * 3])
def test_bytes_between_the_last_code_and_the_end_are_read_as_in_pillow_or_refused(end):
    data = jpeg_file(picture(np.random.default_rng(12), 200, 120), quality=90)
    padded = data[:-2] + end + data[-2:]
    z = array_of([padded], (200, 120, 3))
    assert np.array_equal(z[0], decoded(padded, (200, 120, 3)))


@pytest.mark.parametrize("before", [b"\xff\xd8", b"\xff\xff\x21\x00\x00?;"])
def test_a_scan_without_a_header_is_an_error_for_parts(before):
    z = array_of([before + b"\xff\xda\x08\x00" + bytes(3000)], (40, 40, 3))
    begun = array_of([b"\xff\xd8\xff\xda\x00\x08" + bytes(3000)], (40, 40, 3))
    for part in (np.s_[0, 3:9], np.s_[...]):
        for array in (z, begun):
            with pytest.raises(zarr.errors.CorruptChunkError, match="jpeg"):
                array[part]


def test_a_header_of_another_size_is_refused_before_its_memory():
    data = bytearray(jpeg_file(picture(np.random.default_rng(7), 16, 16), quality=90))
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = b"\xff\xdc\xff\xdc"
    z = array_of([bytes(data)], (16, 16, 3))
    with pytest.raises(zarr.errors.CorruptChunkError, match="65500 x 65500"):
        z[...]
    gray = array_of([jpeg_file(picture(np.random.default_rng(7), 16, 16, 1))], (16, 16, 3))
    with pytest.raises(zarr.errors.CorruptChunkError, match="1 components"):
        gray[...]


def test_many_scans_are_refused():
    data = jpeg_file(picture(np.random.default_rng(8), 64, 64), progressive=True)
    scan = data.rindex(b"\xff\xda")
    last = data[scan:-2]
    z = array_of([data[:-2] + last * 3000 + b"\xff\xd9"], (64, 64, 3))
    begin = time.thread_time()
    with pytest.raises(zarr.errors.CorruptChunkError):
        z[...]
    assert time.thread_time() - begin < 5


@pytest.mark.parametrize("shards", [None, (64, 32, 3)])
def test_a_resize_that_cuts_a_picture_is_refused_before_anything_is_deleted(shards):
    pixels = picture(np.random.default_rng(9), 96, 32)
    z = zarr.create_array(
        {}, data=pixels[:70], chunks=(32, 32, 3), shards=shards, compressors="jpeg:95"
    )
    before, kept = dict(z.store), z[:64]
    for shape in ((20, 32, 3), (70, 9, 3)):
        with pytest.raises(zarr.errors.LossyWriteError, match="reencode"):
            z.resize(shape)
        assert dict(z.store) == before
    z.resize((64, 32, 3))
    assert np.array_equal(z[...], kept)
    z.resize((96, 32, 3))
    z[64:] = pixels[64:]
    with zarr.config(lossy_writes="reencode"):
        z.resize((70, 32, 3))
    assert np.array_equal(z[:64], kept)
