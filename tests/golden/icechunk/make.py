"""Makes a golden repository: ``python make.py SPECIFICATION ARCHIVE`` with Icechunk 1 or 2.

An environment for it: ``pip install icechunk==1.1.21 zarr==3.4.2`` or ``icechunk==2.3.0``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import icechunk
import zarr
from contents import LOCATION, states

IS_2 = int(icechunk.__version__.partition(".")[0]) >= 2


def configuration(specification: int) -> Any:
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = 64
    splitting = icechunk.ManifestSplittingConfig.from_dict(
        {
            icechunk.ManifestSplitCondition.path_matches("/split"): {
                icechunk.ManifestSplitDimCondition.Axis(0): 1,
                icechunk.ManifestSplitDimCondition.Axis(1): 2,
            }
        }
    )
    options: dict[str, Any] = {"splitting": splitting}
    if specification == 2:
        kind = icechunk.ManifestVirtualChunkLocationCompressionConfig
        options["virtual_chunk_location_compression"] = kind(min_num_chunks=10)
    config.manifest = icechunk.ManifestConfig(**options)
    store = icechunk.local_filesystem_store("/golden/outside")
    container = icechunk.VirtualChunkContainer("file:///golden/outside/", store)
    config.set_virtual_chunk_container(container)
    return config


def first(session: Any) -> None:
    root = zarr.open_group(session.store, mode="a", attributes={"title": "größe", "n": 1})
    state = states(moves=False)["tag:v1"]
    layouts: dict[str, dict[str, Any]] = {
        "wave": {"chunks": (10, 10), "attributes": {"unit": "m"}},
        "group/small": {"chunks": (2,)},
        "split": {"chunks": (5, 5)},
        "shards": {"chunks": (8, 8), "shards": (32, 32)},
        "unwritten": {"chunks": (2, 2), "fill_value": 9},
        "virtual": {"chunks": (1, 10), "compressors": None},
        "texts": {"chunks": (2,), "dtype": "string"},
        "größe/数据": {"chunks": (2, 2), "dimension_names": ("y", "x")},
    }
    for path, values in state.items():
        layout = {"dtype": values.dtype, **layouts.get(path, {})}
        array = root.create_array(path, shape=values.shape, **layout)
        if path == "virtual":
            for number in range(40):
                key = f"virtual/c/{number // 2}/{number % 2}"
                session.store.set_virtual_ref(key, LOCATION, offset=4 + 40 * number, length=40)
        elif path == "texts":
            array[:] = values.astype(object)
        elif path != "unwritten":
            array[...] = values


def second(session: Any) -> None:
    root = zarr.open_group(session.store, mode="a")
    root["wave"][0, :] = -1.0
    root["wave"][30:, 30:] = 0.0
    root["group/small"].resize((7,))
    root["group/small"][5:] = [50, 60]
    del root["unwritten"]
    root.attrs["n"] = 2


def main(specification: int, archive: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="golden-"))
    storage = icechunk.local_filesystem_storage(str(folder / "repository"))
    options: dict[str, Any] = {"spec_version": specification} if IS_2 else {}
    repository = icechunk.Repository.create(storage, configuration(specification), **options)
    session = repository.writable_session("main")
    first(session)
    snapshot = session.commit("first")
    repository.create_tag("v1", snapshot_id=snapshot)
    repository.create_tag("gone", snapshot_id=snapshot)
    repository.delete_tag("gone")
    repository.create_branch("dev", snapshot_id=snapshot)
    session = repository.writable_session("dev")
    zarr.open_group(session.store)["group/small"][:] = -5
    session.commit("dev")
    session = repository.writable_session("main")
    second(session)
    snapshot = session.commit("second")
    if specification == 2:
        session = repository.rearrange_session("main")
        session.move("/shards", "/renamed")
        snapshot = session.commit("move")
    repository.create_tag("späte", snapshot_id=snapshot)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted((folder / "repository").rglob("*")):
            name = path.relative_to(folder / "repository").as_posix()
            # What readers never look at is left out.
            if path.is_file() and name.split("/")[0] not in ("overwritten", "transactions"):
                packed.write(path, name)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
