"""Chunks by names of dimensions, in functions and verbs, and one name for each argument."""

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.cli import main

SHAPE = (8, 12, 20)


@pytest.fixture(params=[2, 3])
def source(tmp_path, request):
    """An array whose axes have names, in either format."""
    path = str(tmp_path / "g" / "a")
    group = zarr.open_group(tmp_path / "g", mode="w", zarr_format=request.param)
    names = {"dimension_names": ("t", "y", "x")} if request.param == 3 else {}
    attributes = {"_ARRAY_DIMENSIONS": ["t", "y", "x"]} if request.param == 2 else {}
    data = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE)
    group.create_array("a", data=data, chunks=(2, 12, 20), attributes=attributes, **names)
    return path


def _calls(source, dest, chunks):
    yield lambda n: jobs.rechunk(source, f"{dest}{n}", chunks=chunks)
    yield lambda n: jobs.map_chunks(np.negative, source, dest=f"{dest}{n}", chunks=chunks)
    yield lambda n: jobs.pyramid(source, f"{dest}{n}", axes="tyx", levels=1, chunks=chunks)["0"]


def test_functions_take_names_of_dimensions(source, tmp_path):
    for number, call in enumerate(_calls(source, tmp_path / "d", {"t": 4, "x": 5})):
        assert call(number).chunks == (4, 12, 5)
    for number, call in enumerate(_calls(source, tmp_path / "e", {"t": 4, "q": 5})):
        with pytest.raises(ValueError, match="chunks: the array has no dimension 'q'"):
            call(number)


def test_verbs_take_names_of_dimensions_and_the_names_of_the_functions(source, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["rechunk", source, f"{out}1", "--chunks", "t=8,y=3", "--max-memory", "1M"]) == 0
    assert zarr.open_array(f"{out}1").chunks == (8, 3, 20)
    assert main(["rechunk", source, f"{out}2", "--chunks", "8,3,20", "--memory", "1M"]) == 0
    assert zarr.open_array(f"{out}2").chunks == (8, 3, 20)
    assert main(["map", "numpy:negative", source, f"{out}3", "--chunks", "t=1"]) == 0
    assert zarr.open_array(f"{out}3").chunks == (1, 12, 20)
    factors = ["--factors", "y=2", "--factor", "x=2"]
    assert main(["pyramid", source, f"{out}4", "--axes", "tyx", "--chunks", "y=6", *factors]) == 0
    assert zarr.open_group(f"{out}4")["0"].chunks == (8, 6, 20)
    capsys.readouterr()
    for names in (("--bins", "--quantiles"), ("--hist", "--quantile")):
        assert main(["stats", source, names[0], "4", names[1], "0.5"]) == 0
        assert "quantile 0.5" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["t=4,5", "t=", "=4", "t=4,t=5", "t=-1", "t=x"])
def test_lengths_that_are_none_are_told(text, source, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["rechunk", source, str(tmp_path / "out"), "--chunks", text])
    assert "by names of dimensions" in capsys.readouterr().err
