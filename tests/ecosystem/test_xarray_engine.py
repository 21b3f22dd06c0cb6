"""xarray's own tests of its Zarr engine, with ``zarrix.xarray`` in the place of that engine.

What passes with xarray's own engine and fails here is listed with its reason.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_ecosystem
from suites import FOLDER, SUITES

HERE = str(Path(__file__).resolve().parent)
RUN = "import sys, pytest; sys.path.insert(0, {!r}); sys.exit(pytest.main(sys.argv[1:]))"

_MOCKED = "it expects calls of a coroutine of zarr-python, which this engine does not make"
_COUNTED = "it counts requests to a store of zarr-python; creating a node takes more of them here"
LISTED = {
    "::test_indexing[": _MOCKED,
    "test_async_load_multiple_variables": _MOCKED,
    "test_concurrent_load_multiple_objects": _MOCKED,
    "test_avoid_excess_metadata_calls": _MOCKED,
    "TestInstrumentedZarrStore::test_append": _COUNTED,
    "TestInstrumentedZarrStore::test_region_write": _COUNTED,
    "test_read_non_consolidated_warning": "opening without consolidated metadata is not slow here",
    "test_to_zarr_not_consolidated": "opening without consolidated metadata is not slow here",
    "test_zarr_engine_recognised": "it lets xarray choose the engine, which this one never is",
    "test_zarr_encoding[zarr_format=3]": "codecs are dicts in encodings, for every backend",
    "test_compressor_encoding": "codecs are dicts in encodings, so that every backend takes them",
    "test_default_zarr_fill_value": "it lets xarray choose the engine, which this one never is",
    "test_zarr_fill_value_setting[2": "xarray's engine ignores use_zarr_fill_value_as_mask=False",
}


@pytest.mark.long
def test_the_tests_of_xarray_pass_on_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: pytest.FixtureRequest
) -> None:
    suite = SUITES["xarray"]
    if not (FOLDER / "xarray" / "bin" / "python").exists():
        pytest.skip("its environment is not there: tests/ecosystem/setup xarray")
    way = ("-c", RUN.format(HERE), "-p", "under_engine")
    monkeypatch.setitem(test_ecosystem.WAYS, "engine", way)
    found = {}
    for name in ("zarr-python", "engine"):
        (tmp_path / name).mkdir()
        found[name] = test_ecosystem.outcomes("xarray", suite, name, tmp_path / name)
    expected = {test for test, passed in found["zarr-python"].items() if passed}
    assert expected, "xarray's engine passes none of the tests, so that they say nothing"
    lost = sorted(test for test in expected if not found["engine"].get(test, False))
    listed: dict[str, list[str]] = {}
    unlisted = []
    for test in lost:
        reason = next((why for part, why in LISTED.items() if part in test), None)
        if reason is None:
            unlisted.append(test)
        else:
            listed.setdefault(reason, []).append(test)
    row = ("xarray", "engine", len(expected) - len(lost), len(expected), listed)
    record_property("ecosystem", row)  # type: ignore[operator]
    assert unlisted == []
    others = len(expected) - sum(len(listed.get(why, ())) for why in (_MOCKED, _COUNTED))
    assert len(expected) - len(lost) >= 0.98 * others
