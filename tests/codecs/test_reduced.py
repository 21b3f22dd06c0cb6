"""Pictures in smaller sizes: those of libjpeg's scaled decoding, which Pillow's draft mode has."""

import io
import pickle

import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import JpegCodec

Image = pytest.importorskip("PIL.Image")


def photograph(height, width, seed=0, channels=3):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    waves = np.stack([127 + 90 * np.sin(x / 9 + k + y / 13) for k in range(channels)], -1)
    return (waves + rng.normal(0, 12, waves.shape)).clip(0, 255).astype("u1")


def in_draft(data, factor):
    """What Pillow decodes at a fraction of the size."""
    with Image.open(io.BytesIO(data)) as image:
        width, height = image.size
        image.draft(image.mode, (width // factor, height // factor))
        return np.asarray(image)


def files(shape, count=3, **options):
    height, width, *_ = shape
    found = []
    for n in range(count):
        file = io.BytesIO()
        pixels = photograph(height, width, n, 3 if len(shape) == 3 else 1)
        Image.fromarray(pixels if len(shape) == 3 else pixels[..., 0]).save(file, "JPEG", **options)
        found.append(file.getvalue())
    return found


@pytest.mark.parametrize("factor", [2, 4, 8])
@pytest.mark.parametrize("shape", [(64, 96, 3), (61, 83, 3), (40, 56)])
@pytest.mark.parametrize(
    "options", [{"subsampling": 2}, {"subsampling": 0}, {"subsampling": 1}, {"progressive": True}]
)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_smaller_pictures_are_those_of_pillow(factor, shape, options, zarr_format):
    data = files(shape, quality=90, **options)
    store = {}
    chunks = {"shape": (3, *shape), "chunks": (1, *shape), "dtype": "u1"}
    rest = ".".join("0" * len(shape))
    if zarr_format == 2:
        zarr.create(**chunks, store=store, compressor="jpeg:90", zarr_format=2)
        store.update({f"{n}.{rest}": one for n, one in enumerate(data)})
    else:
        zarr.create_array(store, **chunks, serializer=JpegCodec(), compressors=None)
        store.update({f"c/{n}/{rest.replace('.', '/')}": one for n, one in enumerate(data)})
    z = zarr.open_array(store).reduced(factor)
    want = np.stack([in_draft(one, factor) for one in data])
    assert z.shape == want.shape
    assert np.array_equal(z[...], want)
    assert np.array_equal(z[1, 2:5, 3:6], want[1, 2:5, 3:6])
    assert np.array_equal(pickle.loads(pickle.dumps(z))[2], want[2])


@pytest.mark.parametrize("shards", [None, (4, 64, 64, 3)])
def test_several_chunks_windows_and_edges(shards):
    frames = np.stack([photograph(100, 130, n) for n in range(4)])
    z = zarr.create_array(
        {}, data=frames, chunks=(1, 32, 32, 3), shards=shards, compressors="jpeg:95"
    )
    small = z.reduced(4)
    assert small.shape == (4, 25, 33, 3)
    assert small.chunks == (1, 8, 8, 3)
    whole = small[...]
    # About the means, far from the edges, beside which chunks have fill values.
    means = frames[:, :96, :128].reshape(4, 24, 4, 32, 4, 3).mean((2, 4))
    assert np.abs(whole[:, :24, :32].astype(float) - means).mean() < 4
    starts = np.array([[0, 3, 5, 0], [3, 15, 20, 0]])
    for start, window in zip(starts, small.read_windows(starts, (1, 10, 10, 3)), strict=True):
        n, y, x, _ = start
        assert np.array_equal(window, whole[n : n + 1, y : y + 10, x : x + 10])
    with pytest.raises(zarr.errors.ReadOnlyError):
        small[0] = 0
    with pytest.raises(PermissionError):
        small.resize((4, 10, 33, 3))
    assert np.array_equal(z[...], zarr.open_array(z.store)[...])


def test_a_loader_reads_smaller_pictures():
    frames = np.stack([photograph(64, 64, n) for n in range(8)])
    z = zarr.create_array({}, data=frames, chunks=(1, 64, 64, 3), compressors="jpeg:95")
    small = z.reduced(2)
    loader = zarr.ml.Loader(zarr.ml.Rows({"image": small}), batch_size=4, shuffle=False)
    batches = [np.asarray(batch["image"]) for batch in loader]
    assert np.array_equal(np.concatenate(batches), small[...])


def test_a_stream_of_another_size_is_an_error():
    z = zarr.create_array(
        {}, shape=(64, 64, 3), chunks=(64, 64, 3), dtype="u1", serializer=JpegCodec(),
        compressors=None,
    )  # fmt: skip
    z.store["c/0/0/0"] = files((32, 32, 3), 1)[0]
    with pytest.raises(zarr.errors.CorruptChunkError, match="32 x 32"):
        z.reduced(2)[...]


@pytest.mark.parametrize(
    ("options", "factor", "words"),
    [
        ({"compressors": "jpeg:90"}, 3, "2, 4 or 8"),
        ({"compressors": "jpeg:90", "chunks": (1, 12, 16, 3)}, 8, "multiples of 8"),
        ({"compressors": "png"}, 2, "downsample"),
        ({"compressors": "jpeg:90", "chunks": ([1, 1], [16, 16], [8, 24], [3])}, 2, "one length"),
        ({}, 2, "downsample"),
    ],
)
def test_what_has_one_size_is_refused(options, factor, words):
    given = {"shape": (2, 32, 32, 3), "chunks": (1, 16, 16, 3), "dtype": "u1", **options}
    z = zarr.create_array({}, **given)
    with pytest.raises(ValueError, match=words):
        z.reduced(factor)
