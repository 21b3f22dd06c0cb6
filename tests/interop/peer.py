"""What an implementation in Python does in its own environment: read arrays, and write them.

    /peer/bin/python peer.py NAME JOBS REPORT

JOBS is a JSON list of what to do, each with a name, the folder of an array, and a file for its
values. REPORT gets a line of JSON for each as it is done, so that what a crash leaves undone is
known. Values travel as the bytes of their elements, little-endian and in C order, or as JSON where
elements have no size. An array to be written has its metadata document and no chunk; a peer that
can rewrite the document in its own words does so first. No zarrix here, and nothing of pytest.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def open_zarr(path: str, mode: str) -> Any:
    """zarr-python, of either major version."""
    import zarr

    return zarr.open_array(path, mode=mode)


def read_zarr(path: str) -> Any:
    return open_zarr(path, "r")[...]


def write_zarr(path: str, values: Any) -> None:
    z = open_zarr(path, "r+")
    # Resizing, even to the same shape, writes the document anew.
    z.resize(z.shape)
    z = open_zarr(path, "r+")
    z[...] = values


def tensorstore_spec(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    root = Path(path)
    driver, key = ("zarr3", "zarr.json") if (root / "zarr.json").exists() else ("zarr", ".zarray")
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": path + "/"}}
    return spec, json.loads((root / key).read_bytes())


def read_tensorstore(path: str) -> Any:
    import tensorstore

    spec, _ = tensorstore_spec(path)
    return tensorstore.open(spec, open=True).result().read().result()


def write_tensorstore(path: str, values: Any) -> None:
    import tensorstore

    spec, document = tensorstore_spec(path)
    document.pop("attributes", None)
    spec["metadata"] = document
    store = tensorstore.open(spec, create=True, delete_existing=True).result()
    store.write(values).result()


def open_zarrista(path: str) -> Any:
    import zarrista

    return zarrista.Array.open(zarrista.store.FilesystemStore(path))


def read_zarrista(path: str) -> Any:
    array = open_zarrista(path)
    tensor = array.retrieve_array_subset(...)
    if hasattr(tensor, "to_numpy"):
        return tensor.to_numpy()
    return np.asarray(tensor)


def write_zarrista(path: str, values: Any) -> None:
    array = open_zarrista(path)
    array.store_metadata()
    if values.dtype.kind in "biuf" and values.dtype.isbuiltin == 1:
        array.store_array_subset(..., np.array(values, order="C"))
    else:
        array.store_array_subset(..., np.ascontiguousarray(values).tobytes())


PEERS: dict[str, Any] = {
    "zarr-python-2": (read_zarr, write_zarr),
    "zarr-python-3": (read_zarr, write_zarr),
    "zarrs": (read_zarr, write_zarr),
    "tensorstore": (read_tensorstore, write_tensorstore),
    "zarrista": (read_zarrista, write_zarrista),
}


def versions(name: str) -> str:
    from importlib.metadata import version

    packages = {"zarr-python-2": "zarr", "zarr-python-3": "zarr"}
    return version(packages.get(name, name))


def dtype_of(described: Any) -> Any:
    """The dtype of a job: its string, its fields, or a name that ml_dtypes has."""
    if isinstance(described, list):
        return np.dtype([(name, dtype_of(inner)) for name, inner in described])
    try:
        return np.dtype(described)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, described))


def load(job: dict[str, Any]) -> Any:
    data = Path(job["values"]).read_bytes()
    if job["dtype"] in ("text", "binary"):
        elements = json.loads(data)
        values = np.empty(len(elements), object)
        values[:] = elements if job["dtype"] == "text" else [bytes.fromhex(e) for e in elements]
        return values.reshape(job["shape"])
    return np.frombuffer(data, dtype_of(job["dtype"])).reshape(job["shape"])


def save(job: dict[str, Any], values: Any) -> dict[str, Any]:
    values = np.asarray(values)
    if values.dtype.kind in "OT":
        flat = values.reshape(-1).tolist()
        elements = [e.hex() if isinstance(e, bytes) else e for e in flat]
        Path(job["values"]).write_text(json.dumps(elements))
    else:
        little = values.astype(values.dtype.newbyteorder("<"), order="C")
        Path(job["values"]).write_bytes(little.tobytes())
    return {"shape": list(values.shape)}


def run(name: str, jobs: list[dict[str, Any]], report: Any) -> None:
    reads, writes = PEERS[name]
    for job in jobs:
        done: dict[str, Any] = {"name": job["name"], "way": job["way"]}
        try:
            if job["way"] == "read":
                done.update(save(job, reads(job["path"])))
            else:
                writes(job["path"], load(job))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            # Panics of Rust are not among the exceptions of Python.
            done["error"] = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(done), file=report, flush=True)


def main() -> None:
    name, jobs, report = sys.argv[1:]
    warnings.simplefilter("ignore")
    if name == "zarrs":
        import zarr

        strict = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
        zarr.config.set(strict)
    if name in ("zarr-python-3", "zarrs"):
        # Registers the data types of ml_dtypes with NumPy.
        import ml_dtypes  # noqa: F401
        import zarr

        zarr.config.set({"array.rectilinear_chunks": True})
    with open(report, "a") as file:
        print(json.dumps({"version": versions(name)}), file=file, flush=True)
        run(name, json.loads(Path(jobs).read_text()), file)


if __name__ == "__main__":
    main()
