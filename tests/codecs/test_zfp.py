"""The codec zfp: through zfpy where that is installed, and a clear word where it is not."""

import sys
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CorruptChunkError, MetadataError, UnknownCodecError


def zfp(mode: str, **parameters: Any) -> dict[str, Any]:
    return {"name": "zfp", "configuration": {"mode": mode, **parameters}}


def array(values: np.ndarray[Any, Any], codec: Any, **keywords: Any) -> Any:
    return zarr.create_array(
        {}, data=values, serializer=codec, compressors=None, filters=None, **keywords
    )


def waves(*shape: int, dtype: str = "f8") -> np.ndarray[Any, Any]:
    """What zfp is for."""
    count = int(np.prod(shape))
    return (np.cos(np.arange(count) / 7) * 1000).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("shape", [(), (13,), (8, 9), (4, 5, 6), (3, 4, 5, 6)])
def test_reversible_chunks_read_as_written(dtype: str, shape: tuple[int, ...]) -> None:
    zfpy = pytest.importorskip("zfpy")
    values = waves(*shape, dtype=dtype)
    z = array(values, zfp("reversible"))
    again = zarr.open_array(z.store, mode="r")
    assert again[...].tobytes() == values.tobytes()
    key = "c/" + "/".join("0" for _ in shape) if shape else "c"
    assert z.store[key] == zfpy.compress_numpy(values.reshape(shape or (1,)), write_header=False)


@pytest.mark.parametrize(
    ("codec", "off"),
    [
        (zfp("fixed_accuracy", tolerance=0.5), 0.5),
        (zfp("fixed_rate", rate=24), 0.1),
        (zfp("fixed_precision", precision=32), 0.1),
    ],
)
def test_lossy_modes_keep_what_they_promise(codec: Any, off: float) -> None:
    pytest.importorskip("zfpy")
    values = waves(40, 50)
    for shards in (None, (40, 50)):
        z = array(values, codec, chunks=(20, 25), shards=shards)
        got = zarr.open_array(z.store, mode="r")[...]
        assert 0 < np.abs(got - values).max() <= off
    assert "Not native" in repr(z.info)


def test_more_axes_are_reshaped() -> None:
    pytest.importorskip("zfpy")
    values = waves(2, 2, 2, 3, 4)
    with pytest.raises(MetadataError, match="4 axes at most, not 5; put 'reshape' before it"):
        array(values, zfp("reversible"))
    reshape = {"name": "reshape", "configuration": {"shape": [[0, 1], [2], [3], [4]]}}
    z = zarr.create_array({}, data=values, filters=reshape, serializer=zfp("reversible"))
    assert zarr.open_array(z.store, mode="r")[...].tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("dtype", "codec", "words"),
    [
        ("f8", zfp("expert", minbits=1), "has the mode 'expert', which zfpy does not have"),
        ("f8", zfp("lossless"), "has the mode 'lossless'; allowed are 'reversible'"),
        ("f8", {"name": "zfp"}, "has the mode None"),
        ("f8", zfp("fixed_rate"), "has 'rate' = None"),
        ("f8", zfp("fixed_rate", rate=0), "has 'rate' = 0"),
        ("f8", zfp("fixed_precision", precision=2.5), "has 'precision' = 2.5"),
        ("f8", zfp("fixed_accuracy", tolerance=-1), "has 'tolerance' = -1"),
        ("f8", zfp("fixed_accuracy", tolerance=True), "has 'tolerance' = True"),
        ("f8", zfp("reversible", rate=3), "has 'rate', which the mode 'reversible' does not have"),
        ("f2", zfp("reversible"), "not for float16"),
        ("u4", zfp("reversible"), "not for uint32"),
    ],
)
def test_what_zfp_cannot_do_is_refused(dtype: str, codec: Any, words: str) -> None:
    with pytest.raises(MetadataError, match=words) as caught:
        array(np.zeros(3, dtype), codec)
    assert str(caught.value).startswith("zarr.json: key 'codecs': codec 'zfp'")


def test_without_zfpy_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zfpy", None)
    with pytest.raises(UnknownCodecError, match=r"zfpy; get it with: pip install 'zarrix\[zfp\]'"):
        array(np.zeros(3), zfp("reversible"))


def test_damage_is_an_error_or_other_values_and_never_a_crash() -> None:
    pytest.importorskip("zfpy")
    random = np.random.RandomState(1)
    values = np.frombuffer(random.bytes(8 * 7 * 9), "f8").reshape(7, 9)
    z = array(values, zfp("reversible"))
    whole = bytes(z.store["c/0/0"])
    for length in range(1, len(whole)):
        z.store["c/0/0"] = whole[:length]
        assert zarr.open_array(z.store, mode="r")[...].shape == (7, 9)
    for stored in (random.bytes(len(whole)), b"\xff" * len(whole), b"\xff"):
        z.store["c/0/0"] = stored
        assert zarr.open_array(z.store, mode="r")[...].shape == (7, 9)
    for stored in (b"", whole * 10):
        z.store["c/0/0"] = stored
        with pytest.raises(CorruptChunkError, match="zfp"):
            zarr.open_array(z.store, mode="r")[...]
