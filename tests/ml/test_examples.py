"""The five examples by which the loader was specified, as written there, on small arrays."""

import itertools
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml

ROOT = Path(zarr.__file__).parents[1]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def root(tmp_path: Path) -> Any:
    random = np.random.default_rng(0)
    group = zarr.open_group(tmp_path / "multi_res.zarr", mode="w")
    group["gt"] = random.integers(0, 255, (10, 3, 216, 384)).astype("u1")
    group["mask"] = np.arange(384) < 200 + np.zeros((10, 216, 1))
    group["lr/1080p/rgb"] = random.integers(0, 255, (10, 3, 108, 192)).astype("u1")
    group["lr/1080p/flow"] = random.standard_normal((10, 2, 108, 192)).astype("f2")
    group["lr/720p/depth"] = random.integers(0, 9999, (10, 1, 72, 128)).astype("u2")
    return zarr.open_group(tmp_path / "multi_res.zarr", mode="r")


def aligned(root: Any) -> ml.Crops:
    return ml.Crops(
        {
            "gt": root["gt"],
            "rgb": root["lr/1080p/rgb"],
            "flow": root["lr/1080p/flow"],
            "depth": ml.Field(root["lr/720p/depth"], dtype="float32", scale=1e-3),
        },
        dims="tcyx",
        size={"y": 48, "x": 48},
        per_item=4,
        where=ml.fraction(root["mask"], ">", 0.5),
    )


def test_random_aligned_crops_at_several_resolutions(root: Any) -> None:
    values = {name: root[name][...] for name in ("gt", "lr/1080p/rgb", "lr/720p/depth", "mask")}
    loader = ml.Loader(aligned(root), batch_size=16, shuffle="block", seed=0)
    for epoch in range(2):
        loader.set_epoch(epoch)
        for batch in loader:
            for row, (t, _, y, x) in enumerate(batch["start"].tolist()):
                assert np.array_equal(batch["gt"][row], values["gt"][t, :, y : y + 48, x : x + 48])
                half = values["lr/1080p/rgb"][t, :, y // 2 : y // 2 + 24, x // 2 : x // 2 + 24]
                assert np.array_equal(batch["rgb"][row], half)
                third = values["lr/720p/depth"][t, :, y // 3 : y // 3 + 16, x // 3 : x // 3 + 16]
                assert np.allclose(batch["depth"][row], third * 1e-3, rtol=1e-6)
                assert values["mask"][t, y : y + 48, x : x + 48].mean() > 0.5
        assert batch["gt"].shape[1:] == (3, 48, 48)
    assert "waited" in str(loader.stats())


def test_clips_in_time_inside_episodes_under_the_stock_data_loader(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    v = zarr.open_group(tmp_path / "video.zarr", mode="w", zarr_format=3)
    for name, shape, names in (
        ("rgb", (60, 3, 32, 40), ("t", "c", "y", "x")),
        ("flow", (60, 2, 32, 40), ("t", "c", "y", "x")),
    ):
        v.create_array(name, shape=shape, chunks=(4, *shape[1:]), dtype="u1", dimension_names=names)
        v[name][...] = np.arange(60)[:, None, None, None]
    v.create_array("action", shape=(60, 7), chunks=(60, 7), dtype="f4")
    v.create_array("meta/episode_ends", shape=(2,), chunks=(2,), dtype="i8")
    v["meta/episode_ends"][...] = [25, 60]
    clips = ml.Clips(
        {"rgb": v["rgb"], "flow": v["flow"], "action": v["action"]},
        dims={"action": "tc"},
        frames=16,
        every=2,
        stride=8,
        episodes=v["meta/episode_ends"],
        border="edge",
        size={"y": 24, "x": 24},
    )
    loader = torch.utils.data.DataLoader(
        clips,
        batch_sampler=ml.torch.BatchSampler(clips, 4, seed=0),
        num_workers=2,
        persistent_workers=True,
        collate_fn=ml.torch.collate,
    )
    for _ in range(2):
        items = []
        for batch in loader:
            assert batch["rgb"].shape[1:] == (16, 3, 24, 24)
            assert batch["action"].shape[1:] == (16, 7)
            for row, start in enumerate(batch["start"][:, 0].tolist()):
                end = 25 if start < 25 else 60
                wanted = np.minimum(start + 2 * np.arange(16), end - 1)
                assert batch["rgb"][row, :, 0, 0, 0].tolist() == wanted.tolist()
            items += batch["item"].tolist()
        assert sorted(items) == list(range(len(clips)))


def test_rows_of_many_groups_mixed_and_split() -> None:
    def group(number: int, count: int) -> dict[str, Any]:
        return {
            "image": zarr.full((count, 4, 4), number, chunks=(3, 4, 4), dtype="u1"),
            "label": zarr.array(np.arange(count), chunks=5),
        }

    lab = ml.Rows([group(number, 9 + number) for number in range(10)])
    web = ml.Rows([group(number, 6) for number in range(100, 110)])
    mix = ml.Mix({"lab": lab, "web": web}, weights={"lab": 3, "web": 1})
    train, val = mix.split({"train": 0.9, "val": 0.1}, by="group")
    loader = ml.Loader(train, batch_size=16, shuffle="block", memory="2 GiB")
    assert "Read amplification" in str(loader.plan())
    seen: list[set[int]] = [set(), set()]
    shares = []
    for number, part in enumerate((train, val)):
        for batch in ml.Loader(part, batch_size=4, shuffle="block"):
            seen[number] |= set(batch["image"][:, 0, 0].tolist())
            shares.append((batch["source"] == 0).mean())
    assert not seen[0] & seen[1]
    assert set(shares) == {0.75}


def test_a_run_is_saved_on_eight_ranks_and_resumed_on_six(root: Any) -> None:
    crops = aligned(root)
    whole = [i for b in ml.Loader(crops, 1, seed=7, partitions=8) for i in b["item"].tolist()]
    ranks = [ml.Loader(crops, 2, seed=7, rank=rank, world=8) for rank in range(8)]
    running = [iter(one) for one in ranks]
    seen = [i for one in running for i in next(one)["item"].tolist()]
    states = [one.state_dict() for one in ranks]
    assert all(state == states[0] for state in states)
    for rank in range(6):
        loader = ml.Loader(crops, 2, seed=7, rank=rank, world=6, drop_last=False)
        loader.load_state_dict(states[0])
        for epoch in range(loader.epoch, 1):
            loader.set_epoch(epoch)
            for batch in loader:
                seen += batch["item"][batch["valid"]].tolist()
    assert sorted(seen) == sorted(whole) == list(range(len(crops)))


def era() -> ml.Clips:
    g = {name: zarr.array(np.arange(240.0).reshape(20, 3, 4)) for name in ("t2m", "z500")}
    return ml.Clips(g, frames=4, dims=("time", "lat", "lon"))


def test_jax_takes_batches() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    for batch in ml.Loader(era(), batch_size=8, seed=0, to="jax"):
        assert isinstance(batch["t2m"], jax.Array)
        wanted = np.arange(240.0).reshape(20, 3, 4)
        for row, start in enumerate(batch["start"][:, 0].tolist()):
            assert np.allclose(batch["t2m"][row], wanted[start : start + 4])


def test_grain_takes_a_dataset_as_its_source() -> None:
    grain = pytest.importorskip("grain", reason="grain is not installed")
    pipe = grain.MapDataset.source(era()).shuffle(0).batch(8)
    assert pipe[0]["z500"].shape == (8, 4, 3, 4)


def test_numpy_needs_neither_torch_nor_jax() -> None:
    program = (
        "import sys, numpy as np, zarrix as zarr\n"
        "from zarrix import ml\n"
        "rows = ml.Rows({'x': zarr.zeros((8, 2))})\n"
        "assert sum(len(b['x']) for b in ml.Loader(rows, 3)) == 8\n"
        "ml.torch.BatchSampler(rows, 2)\n"
        "assert not {'torch', 'jax', 'grain'} & sys.modules.keys()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120, env=environment)


@pytest.mark.parametrize(("name", "needs"), [("train_numpy", "numpy"), ("train_depth", "torch")])
def test_the_training_scripts_run_and_their_loss_falls(
    tmp_path: Path, name: str, needs: str
) -> None:
    pytest.importorskip(needs, reason=f"{needs} is not installed")
    random = np.random.default_rng(0)
    depth = 1 + 30 * random.random((6, 1, 1)) + np.zeros((6, 72, 96))
    frames = zarr.open_group(tmp_path / "demo.zarr", mode="w").require_group("lr/36p")
    frames["rgb"] = (8 * depth[:, None] + random.integers(0, 8, (6, 3, 72, 96))).astype("u1")
    frames["depth"] = depth.astype("f2")
    small = ["--per-frame", "8", "--crop", "16", "--epochs", "3"] if needs == "torch" else []
    found = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), str(tmp_path / "demo.zarr"), *small],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    lines = [line for line in found.stdout.splitlines() if line.startswith("epoch")]
    losses = [float(line.rpartition(" ")[2]) for line in lines]
    assert len(losses) == 3
    assert losses[2] < losses[0] / 2


def ran(script: str, *words: str) -> str:
    """What an example prints; a line of its error stream is not an error."""
    environment = {**os.environ, "PYTHONPATH": str(Path(zarr.__file__).parents[1])}
    command = [sys.executable, "-W", "ignore", str(EXAMPLES / f"{script}.py"), *words]
    process = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_lightning_saves_the_state_of_a_loader_and_resumes_exactly(workers: str) -> None:
    """Lightning#20550: asked for its length first, a loader forgot its position."""
    pytest.importorskip("lightning", reason="lightning is not installed")
    assert "640 samples; weights [[ 1.  -2.   0.5  3. ]]" in ran(
        "train_lightning", "--workers", workers
    )


def test_accelerate_saves_the_state_of_a_loader_and_resumes_exactly(tmp_path: Path) -> None:
    """accelerate#4165: states of loaders were lost."""
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    assert "70 samples on 1" in ran("train_accelerate", str(tmp_path), "--steps", "7")
    assert "730 samples on 1" in ran("train_accelerate", str(tmp_path), "--steps", "73")
    lines = (tmp_path / "items.jsonl").read_text().splitlines()
    items = [item for line in lines for item in json.loads(line)]
    assert sorted(items[:400]) == sorted(items[400:]) == list(range(400))


def test_ddp_resumes_on_another_number_of_ranks_with_the_samples_that_follow(
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch", reason="torch is not installed")

    def on(world: int, steps: int) -> str:
        ports = socket.create_server(("127.0.0.1", 0))
        port = ports.getsockname()[1]
        ports.close()
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(zarr.__file__).parents[1]),
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-W", "ignore", str(EXAMPLES / "train_ddp.py"), str(tmp_path)]
        processes = [
            subprocess.Popen(
                [*command, "--steps", str(steps)],
                env={**environment, "RANK": str(rank)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(world)
        ]
        results = [process.communicate(timeout=300) for process in processes]
        for process, (_, errors) in zip(processes, results, strict=True):
            assert process.returncode == 0, errors
        return "".join(output for output, _ in results)

    assert "step 6 on 1 processes" in on(1, 6)
    assert "step 10 on 2 processes" in on(2, 10)
    parts = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [[len(items) for items in part] for part in parts] == [[48], [32, 32]]
    # The same order in one process.
    root = zarr.open_group(tmp_path / "points.zarr", mode="r")
    rows = ml.Rows({"x": root["x"]}).join(ml.Table({"kind": root.attrs["kinds"]}))
    train, _ = rows.split({"train": 0.8, "val": 0.2}, stratify="kind", seed=1)
    alone = next(iter(ml.Loader(train, 112, weights="kind", samples=1200, seed=1)))
    wanted = alone["item"].tolist()
    assert parts[0][0] == wanted[:48]
    assert sorted(itertools.chain(*parts[1])) == sorted(wanted[48:])
    assert 36 < (alone["kind"] == "rare").sum() < 76
