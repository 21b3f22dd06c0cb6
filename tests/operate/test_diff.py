"""Diff and digests: what differs between hierarchies, and what has changed since."""

import json

import numpy as np
import pytest
import zarrix as zarr
from zarrix._array.access import io_of, metadata_of
from zarrix.cli import main


def test_diff_names_nodes_metadata_attributes_and_chunks(root, tmp_path):
    other = zarr.open_group(tmp_path / "y.zarr", mode="w")
    zarr.copy_all(root, other)
    other.attrs.update(root.attrs.asdict())
    same = zarr.diff(root, other)
    assert (same.same, same.nodes, same.chunks, bool(same)) == (True, 4, 24, False)
    assert "no difference" in str(same)
    other["a"][7, 25] = -1
    other["a"].attrs["unit"] = "cm"
    other.create_dataset("d", shape=3, dtype="i4")
    other["b/c"].resize(20, 29)
    found = zarr.diff(root, other)
    assert [(d.path, d.kind, d.name) for d in found.differences] == [
        ("a", "attribute", "unit"),
        ("a", "chunk", "(1, 2)"),
        ("b/c", "metadata", "shape"),
        ("d", "node", "kind"),
    ]
    assert "/a chunk (1, 2)" in str(found)
    assert json.loads(found.to_json())["same"] is False


def test_arrays_that_read_the_same_differ_only_in_how_they_are_stored(tmp_path):
    values = np.array([1.0, np.nan, -0.0, 3.0])
    a = zarr.array(values, chunks=2)
    b = zarr.array(values, chunks=3, compressor=None)
    names = [(d.kind, d.name) for d in zarr.diff(a, b).differences]
    assert names == [("metadata", "chunks"), ("metadata", "codecs")]
    c = zarr.array(np.array([1.0, np.nan, 0.0, 3.0]), chunks=2)
    assert [str(d) for d in zarr.diff(a, c).differences] == ["/ chunk (1,)"]


def test_diff_looks_at_stored_chunks_and_not_at_those_that_could_be():
    a, b = (
        zarr.zeros((10**5, 10**5), chunks=(3, 3), dtype="u1", store=zarr.MemoryStore())
        for _ in range(2)
    )
    a[50, 70] = b[50, 70] = 1
    b[99_998:, 5] = 2
    found = zarr.diff(a, b)
    assert [one.name for one in found.differences] == ["(33332, 1)", "(33333, 1)"]
    assert found.chunks == 3
    b.store[".zarray"] = b.store[".zarray"].replace(b'"fill_value": 0', b'"fill_value": 1')
    assert ("metadata", "fill_value") in [(d.kind, d.name) for d in zarr.diff(a, b).differences]


def test_chunks_of_another_grid_are_compared_where_either_stores_something():
    values = np.zeros((40, 50), "i4")
    values[11, 12], values[39, 49] = 1, 2
    a, b = zarr.array(values, chunks=(7, 50)), zarr.array(values, chunks=(16, 9))
    for one in (a, b):
        for key, _ in io_of(one).stored_chunks():
            if not one[metadata_of(one).chunk_region(io_of(one).stored_chunks([key])[0][1])].any():
                del one.store[key]
    assert [d.kind for d in zarr.diff(a, b).differences] == ["metadata"]
    b[20, 20], a[30, 0] = 5, 6
    chunks = [d.name for d in zarr.diff(a, b).differences if d.kind == "chunk"]
    assert chunks == ["(2, 0)", "(4, 0)"]


def test_diff_of_broken_metadata_is_an_error_of_this_package(root):
    root.store["a/.zarray"] = b"{"
    with pytest.raises(zarr.errors.ZarrixError, match=r"cannot compare: .*a/\.zarray"):
        zarr.diff(root, zarr.group())


def test_diff_and_digests_tell_how_far_they_are(root):
    seen = []
    zarr.diff(root, root, progress=lambda done, total: seen.append((done, total)))
    assert [one for one in seen if one[0] == one[1]] == [(7, 7), (7, 7), (48, 48)]
    seen.clear()
    zarr.digests(root, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (31, 31)


def test_the_progress_is_told_and_drawn(root, capsys):
    seen = []
    zarr.verify(root.store, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (24, 24)
    zarr.verify(root.store, progress=True)
    assert "24 of 24 chunks" in capsys.readouterr().err


def test_digests_name_what_was_swapped_changed_lost_or_came(root):
    def swap(a, b):
        root.store[a], root.store[b] = root.store[b], root.store[a]

    def told():
        found = zarr.verify(root.store, digests=before)
        return {problem.key: str(problem) for problem in found.problems}

    before = zarr.digests(root)
    assert list(before) == sorted(root.store)
    assert told() == {}
    swap("a/0.0", "a/1.2")
    assert zarr.verify(root.store).ok
    assert list(told()) == ["a/0.0", "a/1.2"]
    swap("a/0.0", "a/1.2")
    del root.store["a/3.1"]
    root.attrs["title"] = "another"
    root["b/c"].attrs.clear()
    root.create_group("new")
    assert told() == {
        ".zattrs": "'.zattrs' is not what the digests say was stored",
        "a/3.1": "'a/3.1' is gone; the digests have it",
        "b/c/.zattrs": "'b/c/.zattrs' is not what the digests say was stored",
        "new/.zgroup": "'new/.zgroup' is new; the digests do not have it",
    }
    inside = zarr.digests(root, path="a")
    assert set(inside) == {key for key in root.store if key.startswith("a/")}
    assert zarr.verify(root.store, path="a", digests=inside).ok


def test_the_command_line_writes_digests_and_compares_with_them(root, tmp_path, capsys):
    file = tmp_path / "digests.json"
    assert main(["verify", root.store.path, "--write-digests", str(file)]) == 0
    assert json.loads(file.read_text()) == zarr.digests(root)
    assert main(["verify", root.store.path, "--digests", str(file)]) == 0
    root["a"][0, 0] = -1
    assert main(["verify", root.store.path, "--digests", str(file)]) == 3
    assert "broken (digest): 'a/0.0' is not what the digests say" in capsys.readouterr().out
