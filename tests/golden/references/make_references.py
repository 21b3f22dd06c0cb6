"""References in parquet, as kerchunk writes them and fsspec reads them; run in this folder.

pip install kerchunk==0.2.10 fastparquet pandas
python make_references.py
"""

import base64
import json

import fsspec
import numpy as np


def array(shape: list[int], chunks: list[int]) -> str:
    more = {"fill_value": 7, "order": "C", "filters": None, "compressor": None}
    return json.dumps({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i2", **more})


def write_targets() -> None:
    """The files that the references name."""
    data = np.arange(60, dtype="<i2")
    with open("data.bin", "wb") as file:
        file.write(b"head" + data.tobytes())
    with open("whole.bin", "wb") as file:
        file.write(data[:4].tobytes())


def references() -> dict[str, object]:
    """Two arrays and one of a single element, with values of every kind."""
    refs: dict[str, object] = {
        ".zgroup": '{"zarr_format": 2}',
        ".zattrs": '{"title": "text"}',
        "a/.zarray": array([10, 6], [2, 2]),
        "a/.zattrs": "{}",
        "g/.zgroup": '{"zarr_format": 2}',
        "g/b/.zarray": array([12], [4]),
        "g/one/.zarray": array([], []),
    }
    for number in range(15):
        refs[f"a/{number // 3}.{number % 3}"] = ["data.bin", 4 + 8 * number, 8]
    refs["a/1.1"] = "base64:" + base64.b64encode(b"\x01\x00" * 4).decode()
    refs["a/2.0"] = ["whole.bin"]
    del refs["a/3.2"]
    for number in range(3):
        refs[f"g/b/{number}"] = ["data.bin", 4 + 8 * number, 8]
    refs["g/one/0"] = "ab"
    return refs


def main() -> None:
    """Writes the folder, and what its writers read from it."""
    from kerchunk.df import refs_to_dataframe

    write_targets()
    refs = references()
    refs_to_dataframe({"version": 1, "refs": refs}, "refs.parq", record_size=4)
    found = fsspec.filesystem("reference", fo="refs.parq", remote_protocol="file")
    values = {key: base64.b64encode(found.cat_file(key)).decode() for key in refs}
    with open("values.json", "w") as file:
        json.dump(values, file, indent=1)


if __name__ == "__main__":
    main()
