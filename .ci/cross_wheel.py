"""Build the wheel for another Linux on this machine: zig is its C compiler and its linker.

    pip install "maturin>=1.9,<2" cargo-zigbuild ziglang
    rustup target add aarch64-unknown-linux-gnu
    python .ci/cross_wheel.py aarch64-unknown-linux-gnu dist
    python .ci/cross_wheel.py x86_64-unknown-linux-gnu dist --no-hdfs

``--build-std`` compiles Rust's standard library too, from its sources, where the toolchain has none
for the target. `.ci/try_wheel` tries what was built on the system that it is for.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# It leaves the paths of this machine out of what is built.
import build_backend

# What pip looks for: the oldest C library that the wheel runs with.
TARGETS = {
    "x86_64-unknown-linux-gnu": "manylinux_2_28",
    "aarch64-unknown-linux-gnu": "manylinux_2_28",
    "x86_64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-unknown-linux-musl": "musllinux_1_2",
}
# What Rust calls of the library that unwinds stacks.
UNWINDER = (
    *("Backtrace", "DeleteException", "FindEnclosingFunction", "ForcedUnwind", "GetCFA"),
    *("GetDataRelBase", "GetGR", "GetIP", "GetIPInfo", "GetLanguageSpecificData"),
    *("GetRegionStart", "GetTextRelBase", "RaiseException", "Resume", "Resume_or_Rethrow"),
    *("SetGR", "SetIP"),
)


def system_unwinder(target: str, folder: Path) -> Path:
    """A library to link with, for which the system's libgcc_s.so.1 is loaded.

    zig would link one of its own. Python up to 3.13 ends daemon threads by pthread_exit, for
    which glibc unwinds their stacks with libgcc_s; what Rust then asks must be asked of that one.
    """
    source, library = folder / "unwinder.c", folder / "libgcc_s.so.1"
    source.write_text("".join(f"void _Unwind_{name}(void) {{}}\n" for name in UNWINDER))
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target.replace("-unknown", "")]
    command += ["-shared", "-nostdlib", f"-Wl,-soname,{library.name}", "-o", library, source]
    subprocess.run(command, check=True)
    return library


def build(target: str, out: Path, hdfs: bool, build_std: bool) -> None:
    """Build the wheel of this source tree for `target` and write it to `out`."""
    arguments = ["build", "--release", "--locked", "--zig", "--target", target]
    arguments += ["--compatibility", TARGETS[target], "-i", sys.executable, "--out", str(out)]
    if not hdfs:
        arguments.append("--no-default-features")
    if build_std:
        arguments.append("-Zbuild-std=std")
        # The sources of the standard library are on this machine too.
        sysroot = subprocess.check_output(
            [os.environ.get("RUSTC", "rustc"), "--print", "sysroot"], text=True
        )
        build_backend.shorten(Path(sysroot.strip()), "rust")
        os.environ["RUSTC_BOOTSTRAP"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        if target.endswith("-gnu"):
            library = system_unwinder(target, Path(folder))
            arguments += ["--", "-C", f"link-arg={library}"]
        maturin = Path(sysconfig.get_path("scripts"), "maturin")
        subprocess.run([maturin, *arguments], check=True, cwd=Path(__file__).resolve().parents[1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("out", type=Path)
    parser.add_argument("--no-hdfs", action="store_true", help="leave hdfs:// addresses to fsspec")
    parser.add_argument("--build-std", action="store_true", help="compile Rust's standard library")
    given = parser.parse_args()
    build(given.target, given.out.resolve(), not given.no_hdfs, given.build_std)
