"""``zarrix demo``: the tutorial as a program."""

from __future__ import annotations

import argparse
from pathlib import Path

from zarrix.cli._common import whole
from zarrix.cli._output import complain
from zarrix.cli._ui import Ui

EXAMPLES = ()
DESCRIPTION = (
    "Make a moving-picture data set, write it as Zarr, PNG, TIFF, HDF5, npy and npz, load\n"
    "random crops from each and print how they compare. Files of an earlier demo in the\n"
    "folder are replaced; a folder with other files is an error."
)
_EXTRAS = {"rich": "rich", "PIL": "pillow", "tifffile": "tifffile", "h5py": "h5py"}
_SIZES = (360, 720, 1080, 1440, 2160, 4320)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "--path",
        type=Path,
        default=Path("zarrix-demo"),
        metavar="DIR",
        help="folder for all output (default ./zarrix-demo)",
    )
    parser.add_argument(
        "--frames",
        type=whole(1, 9999),
        default=6,
        metavar="N",
        help="frames to make (default 6)",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=2.0,
        metavar="S",
        help="how long crops are loaded from each format (default 2)",
    )
    parser.add_argument(
        "--seed",
        type=whole(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="seed of the scene and of the crops",
    )
    parser.add_argument(
        "--size",
        choices=[f"{height}p" for height in _SIZES],
        default="2160p",
        help="height of the frames (default 2160p, in which crops are 960x960)",
    )
    parser.add_argument("--no-progress", action="store_true", help="draw no progress bars")
    parser.add_argument(
        "--json", action="store_true", help="print the results as JSON, not a table"
    )


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, and up to 3600")
    return number


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Run the demo."""
    try:
        # Optional packages: those of the extra [demo].
        from zarrix.cli._demo import demo
    except ImportError as error:
        missing = _EXTRAS.get((error.name or "").partition(".")[0])
        if missing is None:
            raise
        return complain(
            f'the demo needs {missing}, which is not installed: pip install "zarrix[demo]"', 2
        )
    return demo.main(
        demo.Options(
            path=arguments.path,
            frames=arguments.frames,
            seconds=arguments.seconds,
            seed=arguments.seed,
            height=int(arguments.size.removesuffix("p")),
            progress=not arguments.no_progress,
            json=arguments.json,
        ),
        ui.interrupts,
    )
