"""Every cell of docs/support.md is true, and the page is what the code says."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr


def load_table() -> Any:
    path = Path(__file__).parents[1] / "support_table.py"
    spec = importlib.util.spec_from_file_location("support_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLE = load_table()
HAS_ML_TYPES = TABLE.has_ml_types()
HAS_ZFPY = importlib.util.find_spec("zfpy") is not None
ROWS = [(zarr_format, row) for zarr_format in TABLE.COLUMNS for row in TABLE.ROWS]


def plain(values: Any) -> Any:
    """Values that compare with ``==``, bit by bit for fixed-size elements."""
    values = np.asarray(values)
    if values.dtype.kind not in "OT":
        return values.dtype.newbyteorder("<").str, values.shape, values.tobytes()
    return [one.tolist() if isinstance(one, np.ndarray) else one for one in values.reshape(-1)]


@pytest.mark.parametrize(("zarr_format", "row"), ROWS)
def test_every_codec_that_the_table_promises_writes_and_reads(
    zarr_format: int, row: str, tmp_path: Path
) -> None:
    if row in TABLE.ML_TYPES and not HAS_ML_TYPES and zarr_format == 3:
        pytest.skip("needs ml_dtypes")
    for column in TABLE.COLUMNS[zarr_format]:
        if TABLE.forbidden(zarr_format, row, column.name):
            continue
        if column.name in ("zfp", "zfpy", "numcodecs.zfpy") and not HAS_ZFPY:
            continue
        path = str(tmp_path / column.name)
        z = TABLE.create(zarr_format, row, column, path)
        values = TABLE.values_of(row, column.name, z.dtype)
        z[...] = values
        again = zarr.open_array(path, mode="r+")
        assert plain(again[...]) == plain(values), column.name
        part = (slice(1, 5), slice(2, 6))
        again[part] = values[part]
        assert plain(zarr.open_array(path, mode="r")[...]) == plain(values), column.name


@pytest.mark.parametrize(("zarr_format", "row"), ROWS)
def test_what_the_table_rules_out_is_refused_where_it_is_made(zarr_format: int, row: str) -> None:
    if row in TABLE.ML_TYPES and not HAS_ML_TYPES:
        pytest.skip("needs ml_dtypes")
    for column in TABLE.COLUMNS[zarr_format]:
        if TABLE.forbidden(zarr_format, row, column.name):
            store: dict[str, Any] = {}
            with pytest.raises((ValueError, TypeError)):
                TABLE.create(zarr_format, row, column, store)
            assert store == {}, column.name


@pytest.mark.skipif(not HAS_ZFPY, reason="needs zfpy")
def test_the_page_is_what_the_code_says() -> None:
    page = TABLE.PAGE.read_text(encoding="utf-8").splitlines()
    if not HAS_ML_TYPES:
        names = tuple(f"| {name} |" for name in TABLE.ML_TYPES)
        page = [line for line in page if not line.startswith(names)]
    assert list(TABLE.lines(HAS_ML_TYPES)) == page
