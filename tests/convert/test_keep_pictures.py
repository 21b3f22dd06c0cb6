"""JPEG files and tiles of TIFF as chunks: byte for byte in, and byte for byte out."""

import hashlib
import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix.convert._picture_files import picture_header, picture_headers
from zarrix.errors import ConversionError

Image = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")


def photograph(seed, height=48, width=40, channels=3):
    y, x = np.mgrid[:height, :width]
    waves = [127 + 100 * np.sin((x + seed) / 7 + k + y / 9) for k in range(channels)]
    return np.stack(waves, -1).astype("u1")


def write_folder(folder, count=4, **options):
    """JPEG files of one size, and their digests by name."""
    folder.mkdir()
    found = {}
    for n in range(count):
        path = folder / f"photo {n}.jpg"
        given = {"quality": 80 + n, "progressive": bool(n % 2), **options}
        Image.fromarray(photograph(n)).save(path, **given)
        found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def opened(path):
    """What Pillow reads."""
    with Image.open(path) as image:
        return np.asarray(image)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("listed", [False, True])
def test_files_become_chunks_and_files_again(tmp_path, zarr_format, listed):
    digests = write_folder(tmp_path / "photos")
    source = [tmp_path / "photos" / name for name in digests] if listed else tmp_path / "photos"
    made = zarr.import_(
        source, tmp_path / "p.zarr", keep_chunks=True, zarr_format=zarr_format, verify="full"
    )
    assert made.arrays["image"]["how"] == "chunks kept"
    group = zarr.open(tmp_path / "p.zarr")
    assert list(group["name"][:]) == list(digests)
    for n, name in enumerate(digests):
        pixels = np.asarray(Image.open(tmp_path / "photos" / name))
        assert np.array_equal(group["image"][n], pixels)
        assert np.array_equal(group["image"][n, 17:30, 5:20], pixels[17:30, 5:20])
    kept = [bytes(value) for key, value in group.store.items() if "image/" in key]
    stored = {hashlib.sha256(value).hexdigest() for value in kept}
    assert set(digests.values()) <= stored
    zarr.export(group, tmp_path / "again", format="images", keep_chunks=True)
    again = {path.name: path for path in (tmp_path / "again").iterdir()}
    assert digests == {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in again.items()
    }


def test_one_file_is_one_chunk(tmp_path):
    write_folder(tmp_path / "photos", 1)
    file = tmp_path / "photos" / "photo 0.jpg"
    zarr.import_(file, tmp_path / "one.zarr", keep_chunks=True)
    z = zarr.open(tmp_path / "one.zarr")
    assert np.array_equal(z[...], np.asarray(Image.open(file)))
    zarr.export(z, tmp_path / "out.jpg", keep_chunks=True)
    assert (tmp_path / "out.jpg").read_bytes() == file.read_bytes()


def test_what_we_encoded_comes_out_as_files_without_the_checksum(tmp_path):
    pixels = np.stack([photograph(n) for n in range(3)])
    z = zarr.create_array(
        tmp_path / "z.zarr", data=pixels, chunks=(1, 48, 40, 3), compressors="jpeg:90"
    )
    zarr.export(z, tmp_path / "out", format="images", keep_chunks=True)
    for n, path in enumerate(sorted((tmp_path / "out").iterdir())):
        assert np.array_equal(np.asarray(Image.open(path)), z[n])


def test_without_the_option_nothing_changes(tmp_path):
    write_folder(tmp_path / "photos")
    zarr.import_(tmp_path / "photos", tmp_path / "p.zarr")
    group = zarr.open(tmp_path / "p.zarr")
    assert "jpeg" not in str(group["image"].metadata.to_dict())


def test_sizes_that_differ_are_named(tmp_path):
    write_folder(tmp_path / "photos")
    Image.fromarray(photograph(9, 50)).save(tmp_path / "photos" / "odd.jpg")
    with pytest.raises(ConversionError, match="differ"):
        zarr.import_(tmp_path / "photos", tmp_path / "p.zarr", keep_chunks=True)


def test_headers_of_many_files_are_those_of_each_alone(tmp_path):
    # Files that begin with the bytes of the first one are not looked at any further.
    write_folder(tmp_path / "a", 20)
    write_folder(tmp_path / "b", 10, quality=80, progressive=False)
    first = (tmp_path / "b" / "photo 0.jpg").read_bytes()
    size = first.index(b"\xff\xc0")
    for n, cut in enumerate((0, 1, size, size + 5, size + 8, size + 9, size + 10, len(first))):
        (tmp_path / "b" / f"cut {n}.jpg").write_bytes(first[:cut])
    Image.fromarray(photograph(3, 50)).save(tmp_path / "b" / "odd.jpg", quality=80)
    Image.fromarray(photograph(3)).save(tmp_path / "b" / "other.png")
    files = sorted(str(path) for folder in "ab" for path in (tmp_path / folder).iterdir())
    for order in (files, files[::-1], files[20:]):
        assert picture_headers(order) == [picture_header(one) for one in order]


def test_a_picture_of_one_row_and_other_formats_are_encoded_anew(tmp_path):
    for name, pixels in (("row.jpg", photograph(0, 1)), ("lossless.bmp", photograph(0))):
        (tmp_path / name).mkdir()
        Image.fromarray(pixels).save(tmp_path / name / name)
        made = zarr.import_(tmp_path / name, tmp_path / f"{name}.zarr", keep_chunks=True)
        assert "anew" in made.arrays["image"]["how"]
        z = zarr.open(tmp_path / f"{name}.zarr")["image"]
        assert np.array_equal(z[0], np.asarray(Image.open(tmp_path / name / name)))


@pytest.mark.parametrize("name", ["../x.jpg", "/x.jpg", "", "a.jpg"])
def test_names_that_leave_the_folder_are_refused(tmp_path, name):
    write_folder(tmp_path / "photos", 2)
    zarr.import_(tmp_path / "photos", tmp_path / "p.zarr", keep_chunks=True)
    group = zarr.open(tmp_path / "p.zarr", mode="r+")
    group["name"][:] = np.array(["a.jpg", name], dtype=object)
    with pytest.raises(ConversionError, match="name"):
        zarr.export(group, tmp_path / "out", format="images", keep_chunks=True)
    assert not (tmp_path / "out").exists()


def test_an_array_that_is_not_pictures_is_refused(tmp_path):
    z = zarr.array(np.zeros((2, 8, 8, 3), "u1"), chunks=(1, 8, 8, 3))
    with pytest.raises(ConversionError, match="one picture each"):
        zarr.export(z, tmp_path / "out", format="images", keep_chunks=True)


def tiled_tiff(path, tiles, grid, *, tables, photometric):
    """A TIFF of JPEG tiles, written by hand: tifffile needs imagecodecs to write it."""
    rows, columns = grid
    tile = 64
    values = [
        (256, 4, 1, columns * tile - 10),
        (257, 4, 1, rows * tile - 20),
        (258, 3, 3, [8, 8, 8]),
        (259, 3, 1, 7),
        (262, 3, 1, photometric),
        (277, 3, 1, 3),
        (284, 3, 1, 1),
        (322, 4, 1, tile),
        (323, 4, 1, tile),
        (324, 4, len(tiles), None),
        (325, 4, len(tiles), [len(one) for one in tiles]),
    ]
    if photometric == 6:
        values.append((530, 3, 2, [2, 2]))
    if tables:
        values.append((347, 7, len(tables), tables))
    values.sort()
    at = 8 + 2 + 12 * len(values) + 4
    extra, entries = b"", []
    sizes = {3: "H", 4: "I"}
    lengths = {key: count * (1 if kind == 7 else struct.calcsize(sizes[kind]))
               for key, kind, count, _ in values}  # fmt: skip
    pixels_at = at + sum(n for n in lengths.values() if n > 4)
    offsets = [pixels_at + sum(map(len, tiles[:n])) for n in range(len(tiles))]
    for key, kind, count, value in values:
        value = offsets if key == 324 else value
        if kind == 7:
            packed = value
        else:
            numbers = value if isinstance(value, list) else [value]
            packed = struct.pack(f"<{count}{sizes[kind]}", *numbers)
        if len(packed) > 4:
            entries.append(struct.pack("<HHII", key, kind, count, at + len(extra)))
            extra += packed
        else:
            entries.append(struct.pack("<HHI", key, kind, count) + packed.ljust(4, b"\0"))
    head = b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(entries))
    path.write_bytes(head + b"".join(entries) + bytes(4) + extra + b"".join(tiles))


def jpeg_of(pixels, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90, **options)
    return file.getvalue()


def split_tables(stream):
    """The tables of a stream as a stream of their own, and the stream without them."""
    tables, rest, at = b"\xff\xd8", b"\xff\xd8", 2
    while stream[at + 1] != 0xDA:
        length = 2 + int.from_bytes(stream[at + 2 : at + 4], "big")
        part = stream[at : at + length]
        if stream[at + 1] in (0xC4, 0xDB):
            tables += part
        elif stream[at + 1] != 0xE0:
            rest += part
        at += length
    return tables + b"\xff\xd9", rest + stream[at:]


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_tiles_of_tiff_are_kept(tmp_path, apart, zarr_format):
    whole = [jpeg_of(photograph(n, 64, 64), subsampling=2) for n in range(4)]
    split = [split_tables(one) for one in whole]
    tables = split[0][0] if apart else b""
    tiles = [rest for _, rest in split] if apart else whole
    tiled_tiff(tmp_path / "t.tif", tiles, (2, 2), tables=tables, photometric=6)
    made = zarr.import_(
        tmp_path / "t.tif", tmp_path / "t.zarr", keep_chunks=True, verify="none",
        zarr_format=zarr_format,
    )  # fmt: skip
    assert made.arrays[""]["how"] == "chunks kept"
    z = zarr.open(tmp_path / "t.zarr")
    assert z.shape == (108, 118, 3)
    pixels = [np.asarray(Image.open(io.BytesIO(one))) for one in whole]
    want = np.vstack([np.hstack(pixels[:2]), np.hstack(pixels[2:])])
    assert np.array_equal(z[...], want[:108, :118])
    prefix = "c/" if zarr_format == 3 else ""
    separator = "/" if zarr_format == 3 else "."
    first = z.store[prefix + separator.join("000")]
    assert bytes(first) == tiles[0]
    document = json.loads(z.store["zarr.json" if zarr_format == 3 else ".zarray"])
    assert ("tables" in str(document)) == apart


def many_kinds():
    rgba = np.dstack([photograph(1), photograph(2)[..., 0]])
    wide = photograph(3)[..., 0].astype("u2") * 257
    return {
        "rgb.png": (photograph(0), {}),
        "gray.png": (photograph(0)[..., 0], {}),
        "wide.png": (wide, {}),
        "alpha.png": (rgba, {}),
        "lossy.webp": (photograph(0), {"quality": 70}),
        "lossless.webp": (photograph(0), {"lossless": True}),
        "alpha.webp": (rgba, {"lossless": True}),
        "progressive.jpg": (photograph(0), {"progressive": True}),
        "gray.jpg": (photograph(0)[..., 0], {}),
        # EXIF before the size.
        "exif.jpg": (photograph(0), {"exif": b"Exif\0\0" + bytes(30_000)}),
    }


@pytest.mark.parametrize("name", many_kinds())
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_png_and_webp_are_kept_too(tmp_path, name, zarr_format):
    pixels, options = many_kinds()[name]
    (tmp_path / "in").mkdir()
    for n in range(3):
        Image.fromarray(np.roll(pixels, n, 0)).save(tmp_path / "in" / f"{n} {name}", **options)
    made = zarr.import_(
        tmp_path / "in", tmp_path / "p.zarr", keep_chunks=True, zarr_format=zarr_format,
        verify="full",
    )  # fmt: skip
    assert made.arrays["image"]["how"] == "chunks kept"
    z = zarr.open(tmp_path / "p.zarr")["image"]
    for n in range(3):
        want = opened(tmp_path / "in" / f"{n} {name}")
        assert np.array_equal(z[n], want)
        assert np.array_equal(z[n, 3:9, 5:20], want[3:9, 5:20])
    zarr.export(zarr.open(tmp_path / "p.zarr"), tmp_path / "out", format="images", keep_chunks=True)
    for path in (tmp_path / "in").iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "name",
    ["palette.png", "bits.png", "transparent.png", "animated.png", "animated.webp", "cmyk.jpg"],
)
def test_files_that_pillow_reads_in_another_way_are_encoded_anew(tmp_path, name):
    image, options = Image.fromarray(photograph(0)), {}
    if name == "palette.png":
        image = image.convert("P")
    elif name == "bits.png":
        image = image.convert("1")
    elif name == "cmyk.jpg":
        image = image.convert("CMYK")
    elif name == "transparent.png":
        options = {"transparency": (1, 2, 3)}
    else:
        options = {"save_all": True, "append_images": [Image.fromarray(photograph(1))]}
    (tmp_path / "in").mkdir()
    image.save(tmp_path / "in" / name, **options)
    made = zarr.import_(tmp_path / "in", tmp_path / "p.zarr", keep_chunks=True)
    assert "anew" in made.arrays["image"]["how"]
    want = opened(tmp_path / "in" / name)
    assert np.array_equal(zarr.open(tmp_path / "p.zarr")["image"][0], want)


def test_formats_that_are_mixed_are_encoded_anew(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("0.png", "1.webp"):
        Image.fromarray(photograph(0)).save(tmp_path / "in" / name, lossless=True)
    made = zarr.import_(tmp_path / "in", tmp_path / "p.zarr", keep_chunks=True)
    assert "anew" in made.arrays["image"]["how"]
    z = zarr.open(tmp_path / "p.zarr")["image"]
    assert all(np.array_equal(one, photograph(0)) for one in z[:])


def test_a_name_that_is_not_a_key_is_stored_all_the_same(tmp_path):
    (tmp_path / "in").mkdir()
    Image.fromarray(photograph(0)).save(tmp_path / "in" / "a\\b.jpg")
    zarr.import_(tmp_path / "in", tmp_path / "p.zarr", keep_chunks=True)
    want = opened(tmp_path / "in" / "a\\b.jpg")
    assert np.array_equal(zarr.open(tmp_path / "p.zarr")["image"][0], want)


def test_files_that_end_in_their_header_are_errors(tmp_path):
    for name, options in (("a.jpg", {}), ("a.png", {}), ("a.webp", {"lossless": True})):
        Image.fromarray(photograph(0)).save(tmp_path / name, **options)
        data = (tmp_path / name).read_bytes()
        for length in (0, 1, 2, 3, 8, 12, 16, 25, 29, 33):
            (tmp_path / name).write_bytes(data[:length])
            with pytest.raises(ConversionError):
                zarr.import_(tmp_path / name, tmp_path / f"{name}.zarr", verify="full")


@pytest.mark.parametrize(("verify", "count"), [("sample", 8), ("full", 20), ("none", 0)])
def test_a_sample_of_kept_files_is_decoded_and_not_the_first_ones(
    tmp_path, monkeypatch, verify, count
):
    from zarrix.convert import _images

    write_folder(tmp_path / "photos", 20)
    read, decode = [], _images.decoded

    def counted(file, *more):
        read.append(Path(file).name)
        return decode(file, *more)

    monkeypatch.setattr(_images, "decoded", counted)
    zarr.import_(tmp_path / "photos", tmp_path / "p.zarr", keep_chunks=True, verify=verify)
    assert len(read) == len(set(read)) == count
    assert verify != "sample" or set(read) != {f"photo {n}.jpg" for n in range(8)}


def test_files_in_folders_of_labels_and_behind_links_are_kept(tmp_path):
    write_folder(tmp_path / "elsewhere", 3)
    photos = tmp_path / "photos"
    photos.mkdir()
    for label in ("cat", "dog"):
        write_folder(photos / label, 2)
    (photos / "cat" / "photo 7.jpg").symlink_to(tmp_path / "elsewhere" / "photo 2.jpg")
    (photos / "cat" / "photo 9.jpg").mkdir()
    zarr.import_(photos, tmp_path / "p.zarr", keep_chunks=True, labels="folder", verify="full")
    group = zarr.open(tmp_path / "p.zarr")
    assert list(group["name"][:]) == [
        *(f"cat/photo {n}.jpg" for n in (0, 1, 7)), *(f"dog/photo {n}.jpg" for n in (0, 1)),
    ]  # fmt: skip
    assert np.array_equal(group["image"][2], opened(tmp_path / "elsewhere" / "photo 2.jpg"))


@pytest.mark.parametrize("listed", [False, True])
def test_a_file_that_changes_during_the_import_is_an_error(tmp_path, listed):
    names = write_folder(tmp_path / "photos", 20)
    files = [str(tmp_path / "photos" / name) for name in names]

    def change(done, total):
        with open(files[13], "ab") as file:
            file.write(b"x")

    with pytest.raises(ConversionError, match="has changed while it was read"):
        zarr.import_(
            files if listed else tmp_path / "photos", tmp_path / "p.zarr", keep_chunks=True,
            progress=change, verify="none",
        )  # fmt: skip
    assert not (tmp_path / "p.zarr" / "zarr.json").exists()


def test_listed_files_that_are_not_regular_are_refused_and_gone_ones_named(tmp_path):
    names = write_folder(tmp_path / "photos", 3)
    files = [tmp_path / "photos" / name for name in names]
    (tmp_path / "folder.jpg").mkdir()
    with pytest.raises(ConversionError, match="is not a regular file"):
        zarr.import_([*files, tmp_path / "folder.jpg"], tmp_path / "p.zarr", keep_chunks=True)
    with pytest.raises(FileNotFoundError, match=r"gone\.jpg"):
        zarr.import_([*files, tmp_path / "gone.jpg"], tmp_path / "p.zarr", keep_chunks=True)
    assert not (tmp_path / "p.zarr").exists()


@pytest.mark.parametrize("number", [0, 7, 19])
def test_a_stored_chunk_that_differs_from_its_file_is_found(tmp_path, monkeypatch, number):
    from zarrix.convert import _import_job

    write_folder(tmp_path / "photos", 20)
    store_parts = _import_job.store_parts

    def damaging(encoded, array, store, stored):
        store_parts(encoded, array, store, stored)
        key = next(key for key in store if f"c.{number}." in key)
        # A picture of the same size, which decodes.
        store[key] = jpeg_of(photograph(50))

    monkeypatch.setattr(_import_job, "store_parts", damaging)
    with pytest.raises(ConversionError, match="is not what the source has"):
        zarr.import_(
            tmp_path / "photos", tmp_path / "p.zarr", keep_chunks=True, zarr_format=3, verify="full"
        )


def test_a_damaged_file_among_many_is_found_by_a_full_verification(tmp_path):
    write_folder(tmp_path / "photos", 20)
    path = tmp_path / "photos" / "photo 11.jpg"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises((ConversionError, zarr.errors.CorruptChunkError)):
        zarr.import_(tmp_path / "photos", tmp_path / "p.zarr", keep_chunks=True, verify="full")


def test_pictures_are_kept_beside_their_files_and_behind_links(tmp_path):
    digests = write_folder(tmp_path / "photos", 20)
    files = [str(tmp_path / "photos" / name) for name in digests]
    (tmp_path / "photos" / "link.jpg").symlink_to(files[3])
    zarr.import_(
        [*files, str(tmp_path / "photos" / "link.jpg")], tmp_path / "photos" / "p.zarr",
        keep_chunks=True, verify="full",
    )  # fmt: skip
    with pytest.raises(zarr.errors.OverlapError):
        zarr.import_(files, tmp_path / "photos", keep_chunks=True, overwrite=True)
