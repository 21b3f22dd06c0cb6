"""PNG and WebP as chunks: equal to Pillow's pixels, and refused where they are damaged or lie."""

import io
import json
import struct
import time
import zlib

import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import PngCodec, WebpCodec

Image = pytest.importorskip("PIL.Image")
try:
    import imagecodecs
except ImportError:
    imagecodecs = None

MODES = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def picture(rng, height, width, channels, dtype="u1"):
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / rng.uniform(3, 20) + k + y / rng.uniform(5, 12)) for k in range(channels)]
    noise = rng.normal(0, rng.choice([0, 5, 40]), (height, width, channels))
    values = (127 + 120 * np.stack(waves, -1) + noise).clip(0, 255)
    return (values * (257 if dtype == "u2" else 1)).astype(dtype)


def file_of(pixels, format, **options):
    file = io.BytesIO()
    mode = list(MODES)[pixels.shape[2] - 1]
    flat = pixels[..., 0] if pixels.shape[2] == 1 else pixels
    image = Image.fromarray(flat) if flat.dtype == np.uint16 else Image.fromarray(flat, mode=mode)
    image.save(file, format, **options)
    return file.getvalue()


def decoded(data, shape):
    return np.asarray(Image.open(io.BytesIO(data))).reshape(shape)


def array_of(data, shape, serializer, dtype="u1"):
    """An array whose only chunk is ``data``."""
    store = {}
    zarr.create_array(
        store, shape=shape, chunks=shape, dtype=dtype, serializer=serializer, compressors=None
    )
    store["c/" + "/".join("0" * len(shape))] = data
    return zarr.open_array(store)


def of_imagecodecs(data, shape):
    """What imagecodecs reads, where it is installed."""
    if imagecodecs is None:
        return None
    decode = imagecodecs.png_decode if data[:4] == b"\x89PNG" else imagecodecs.webp_decode
    alpha = {} if data[:4] == b"\x89PNG" else {"hasalpha": shape[2] == 4}
    return decode(data, **alpha).reshape(shape)


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
def test_files_of_pillow_and_their_parts_read_as_there(format, request):
    rng = np.random.default_rng(1)
    for _ in range(10_000 if request.config.getoption("--long") else 60):
        webp = format == "WEBP"
        channels = int(rng.choice([3, 4] if webp else [1, 2, 3, 4]))
        shape = (*(int(n) for n in rng.integers(2, 71, 2)), channels)
        wide = channels == 1 and bool(rng.integers(2))
        pixels = picture(rng, *shape, "u2" if wide else "u1")
        options = {"lossless": bool(rng.integers(2)), "quality": 70} if webp else {}
        data = file_of(pixels, format, **options)
        codec = WebpCodec() if webp else PngCodec()
        z = array_of(data, shape, codec, "u2" if wide else "u1")
        peer = of_imagecodecs(data, shape)
        assert peer is None or np.array_equal(z[...], peer), shape
        if webp and channels == 4 and not options["lossless"]:
            # Pillow's decoder of animations has other colors where alpha is 0.
            want = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
            seen = want[..., 3:] > 0
            assert np.array_equal(z[...] * seen, want * seen), shape
            continue
        want = decoded(data, shape)
        assert np.array_equal(z[...], want), shape
        top, left = (int(rng.integers(n)) for n in shape[:2])
        crop = np.s_[top : top + 9, left : left + 9]
        assert np.array_equal(z[crop], want[crop]), (shape, crop)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_png_keeps_what_is_written_and_pillow_reads_it(channels, dtype):
    pixels = picture(np.random.default_rng(2), 40, 30, channels, dtype)
    z = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors="png")
    assert np.array_equal(z[...], pixels)
    assert np.array_equal(z[3:9, 20:25], pixels[3:9, 20:25])
    if dtype == "u1" or channels == 1:
        assert np.array_equal(decoded(bytes(z.store["c/0/0/0"]), pixels.shape), pixels)
    z[:5, 2] = 7
    assert (z[:5, 2] == 7).all()


@pytest.mark.parametrize("channels", [3, 4])
def test_webp_keeps_what_is_written_also_where_alpha_is_zero(channels):
    rng = np.random.default_rng(3)
    pixels = picture(rng, 40, 30, channels)
    if channels == 4:
        pixels[..., 3] = 255 * rng.integers(0, 2, (40, 30))
    z = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors="webp")
    assert np.array_equal(z[...], pixels)
    stored = bytes(z.store["c/0/0/0"])[:-4]
    assert np.array_equal(decoded(stored, pixels.shape), pixels)
    z[0, 0] = 9
    assert (z[0, 0] == 9).all()


def test_lossy_webp_is_what_pillow_writes_and_no_part_is_written():
    pixels = picture(np.random.default_rng(4), 64, 48, 3)
    z = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors="webp:80")
    assert np.array_equal(z[...], decoded(file_of(pixels, "WEBP", quality=80), pixels.shape))
    with pytest.raises(zarr.errors.LossyWriteError, match="webp"):
        z[0, 0] = 1
    with pytest.raises(zarr.errors.LossyWriteError, match="codec"):
        z.resize((20, 48, 3))
    lossless = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors="webp")
    lossless.resize((20, 48, 3))
    assert np.array_equal(lossless[...], pixels[:20])


def test_palettes_few_bits_and_transparent_colors_become_channels():
    rng = np.random.default_rng(5)
    rgb = Image.fromarray(picture(rng, 33, 21, 3))
    masks = rng.integers(0, 2, (33, 21)).astype(bool)
    cases = [
        (rgb.convert("P"), {}, rgb.convert("P").convert("RGB")),
        (rgb.convert("P"), {"transparency": 0}, None),
        (Image.fromarray(masks), {}, Image.fromarray(masks).convert("L")),
        (rgb, {"transparency": (0, 0, 0)}, None),
    ]
    for image, options, same in cases:
        file = io.BytesIO()
        image.save(file, "PNG", **options)
        want = np.asarray(same or Image.open(io.BytesIO(file.getvalue())).convert("RGBA"))
        z = array_of(file.getvalue(), want.shape, PngCodec())
        assert np.array_equal(z[...], want)


def test_names_and_short_forms():
    pixels = np.zeros((2, 16, 16, 3), "u1")
    chunks = (1, 16, 16, 3)
    z = zarr.array(pixels, chunks=chunks, compressor="png:9")
    member = json.loads(z.store[".zarray"])["compressor"]
    assert member["id"] == "imagecodecs_png"
    assert member["level"] == 9
    named = {
        "png": (["imagecodecs_png"], PngCodec()),
        "webp": (["imagecodecs_webp", "crc32c"], WebpCodec()),
        "webp:75": (["imagecodecs_webp", "crc32c"], WebpCodec(lossless=False, level=75)),
    }
    for text, (names, codec) in named.items():
        z = zarr.create_array({}, data=pixels, chunks=chunks, compressors=text)
        assert [one["name"] for one in json.loads(z.store["zarr.json"])["codecs"]] == names
        assert z.serializer == codec
        assert np.array_equal(z[...], pixels)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"compressors": "png:10"}, "level"),
        ({"compressors": "webp:x"}, "quality"),
        ({"compressors": "webp:101"}, "quality"),
        ({"compressors": "png", "dtype": "f4"}, "uint16"),
        ({"compressors": "webp", "dtype": "u2"}, "uint8"),
        ({"compressors": "png", "chunks": (2, 8, 8, 4), "shape": (4, 8, 8, 4)}, "one picture"),
        ({"compressors": "webp", "chunks": (1, 8, 8, 1)}, "one picture"),
    ],
)
def test_what_is_not_a_picture_is_refused(arguments, words):
    given = {"shape": (4, 8, 8, 3), "chunks": (1, 8, 8, 3), "dtype": "u1", **arguments}
    with pytest.raises(ValueError, match=words):
        zarr.create_array({}, **given)


@pytest.mark.parametrize(("text", "turns"), [("png", 600), ("webp", 300), ("webp:90", 300)])
def test_a_flipped_bit_is_an_error(text, turns, request):
    rng = np.random.default_rng(6)
    pixels = picture(rng, 24, 20, 3)
    z = zarr.create_array({}, data=pixels, chunks=pixels.shape, compressors=text)
    stored = bytes(z.store["c/0/0/0"])
    for _ in range(100_000 if request.config.getoption("--long") else turns):
        bit = int(rng.integers(8 * len(stored)))
        damaged = bytearray(stored)
        damaged[bit // 8] ^= 1 << bit % 8
        z.store["c/0/0/0"] = bytes(damaged)
        with pytest.raises(zarr.errors.CorruptChunkError):
            z[...]


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
@pytest.mark.parametrize("lossless", [True, False])
def test_cut_and_damaged_streams_give_no_other_error(format, lossless):
    rng = np.random.default_rng(7)
    shape = (30, 24, 4)
    codec = PngCodec() if format == "PNG" else WebpCodec()
    options = {"lossless": lossless} if format == "WEBP" else {}
    stored = file_of(picture(rng, *shape), format, **options)
    z = array_of(stored, shape, codec)
    for cut in (1, 2, 40, len(stored) // 2, len(stored) - 3, len(stored)):
        z.store["c/0/0/0"] = stored[:-cut]
        with pytest.raises(zarr.errors.CorruptChunkError):
            z[...]
    for _ in range(200):
        damaged = bytearray(stored)
        for at in rng.integers(len(stored), size=rng.integers(1, 4)):
            damaged[at] = rng.integers(256)
        z.store["c/0/0/0"] = bytes(damaged)
        for part in (np.s_[...], np.s_[3:9, 2:5]):
            try:
                assert z[part].dtype == np.uint8
            except zarr.errors.CorruptChunkError:
                continue


def png_chunk(kind, body):
    head = kind + body
    return struct.pack(">I", len(body)) + head + struct.pack(">I", zlib.crc32(head))


def png_of(width, height, body, *before, color=2, interlaced=0):
    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, interlaced)
    parts = [png_chunk(b"IHDR", header), *before, png_chunk(b"IDAT", body), png_chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


ADAM7 = [
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
]


@pytest.mark.parametrize("shape", [(13, 11, 3), (3, 2, 3), (40, 33, 3)])
def test_an_interlaced_file_is_read(shape):
    pixels = picture(np.random.default_rng(10), *shape)
    rows = b"".join(
        b"\0" + row.tobytes()
        for top, left, down, across in ADAM7
        for row in pixels[top::down, left::across]
        if row.size
    )
    data = png_of(shape[1], shape[0], zlib.compress(rows), interlaced=1)
    assert np.array_equal(decoded(data, shape), pixels)
    z = array_of(data, shape, PngCodec())
    assert np.array_equal(z[...], pixels)
    assert np.array_equal(z[1:2], pixels[1:2])


def test_bombs_are_refused_before_their_memory():
    begin = time.thread_time()
    zeros = zlib.compress(bytes(50_000_000), 9)
    text = png_chunk(b"zTXt", b"a\0\0" + zeros)
    profile = png_chunk(b"iCCP", b"a\0\0" + zeros)
    row = b"\0" + bytes(48)
    good = zlib.compress(row * 16)
    shape = (16, 16, 3)
    plain = array_of(png_of(16, 16, good, text, profile), shape, PngCodec())
    assert not plain[...].any()
    # What follows the last row is skipped, and not decompressed.
    assert not array_of(png_of(16, 16, zeros), shape, PngCodec())[...].any()
    for data, words in (
        (png_of(60_000, 60_000, zeros), "60000 x 60000"),
        (png_of(16, 16, good, color=0), "1 channels"),
        (png_of(16, 16, zlib.compress(row * 15)), "png"),
        (png_of(16, 16, good, png_chunk(b"eXIf", bytes(3_000_000))), "limits"),
    ):
        with pytest.raises(zarr.errors.CorruptChunkError, match=words):
            array_of(data, shape, PngCodec())[...]
    webp = bytearray(file_of(picture(np.random.default_rng(8), 16, 16, 3), "WEBP", lossless=True))
    webp[21:25] = struct.pack("<I", 16382 | 16382 << 14)
    with pytest.raises(zarr.errors.CorruptChunkError, match="16383 x 16383"):
        array_of(bytes(webp), shape, WebpCodec())[...]
    assert time.thread_time() - begin < 5


def test_an_animation_and_alpha_that_the_chunk_lacks_are_refused():
    rng = np.random.default_rng(9)
    frames = [Image.fromarray(picture(rng, 16, 16, 3)) for _ in range(3)]
    file = io.BytesIO()
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:])
    with pytest.raises(zarr.errors.CorruptChunkError, match="animation"):
        array_of(file.getvalue(), (16, 16, 3), WebpCodec())[...]
    pixels = picture(rng, 16, 16, 4)
    data = file_of(pixels, "WEBP", lossless=True, exact=True)
    with pytest.raises(zarr.errors.CorruptChunkError, match="4 channels"):
        array_of(data, (16, 16, 3), WebpCodec())[...]
    without = array_of(data, (16, 16, 3), WebpCodec(hasalpha=False))
    assert np.array_equal(without[...], pixels[..., :3])
