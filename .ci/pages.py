"""Run the Python blocks of the pages of the documentation, and compare or write what they print.

    python .ci/pages.py docs/howto/*.md            # compare; exit 1 and a diff where it differs
    python .ci/pages.py --write docs/howto/*.md    # write what the blocks print into the pages

The blocks of a page run in their order, in one namespace and in an empty folder. A fenced block of
the language ``text`` directly below a Python block is what that block prints. As in a doctest,
"..." in it stands for any text, so that times and addresses can be left out. A picture that the
blocks save as NAME.png is compared with the images/NAME.png that the page shows.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import io
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
CHECKER = doctest.OutputChecker()


@dataclass(frozen=True)
class Block:
    """A Python block, what the page says that it prints, and the lines where it stands."""

    code: str
    output: str | None
    line: int


def blocks(text: str) -> list[Block]:
    """The Python blocks of a page, in their order."""
    return [
        Block(one["code"], one["output"], text.count("\n", 0, one.start()) + 1)
        for one in BLOCK.finditer(text)
    ]


def printed(page: Path, found: list[Block], names: dict[str, object] | None = None) -> list[str]:
    """What each block prints; the blocks run in the folder that is the working directory.

    Their names are left in ``names``.
    """
    names = {} if names is None else names
    names["__name__"] = "document"
    outputs = []
    for one in found:
        # Line numbers in a traceback are those of the page.
        code = compile("\n" * one.line + one.code, str(page), "exec")
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(code, names)
        outputs.append(stream.getvalue())
    return outputs


def differences(page: Path, found: list[Block], outputs: list[str]) -> str:
    """Where blocks print something else than the page says, as a text; empty if nowhere."""
    text = ""
    for one, output in zip(found, outputs, strict=True):
        said = one.output
        if said is None or CHECKER.check_output(said, output, doctest.ELLIPSIS):
            continue
        lines = difflib.unified_diff(said.splitlines(), output.splitlines(), "page", "run", n=1)
        text += f"{page}:{one.line}\n" + "\n".join(line.rstrip("\n") for line in lines) + "\n"
    return text


PICTURE = re.compile(r"!\[[^\]]*\]\(((?:\.\./)?images/([\w-]+\.png))\)")


def pictures(page: Path, text: str, folder: Path) -> list[tuple[Path, Path]]:
    """The pictures of a page that its blocks have saved: the page's file and the saved one."""
    return [
        (page.parent / shown, folder / name)
        for shown, name in PICTURE.findall(text)
        if (folder / name).is_file()
    ]


def looks_different(shown: Path, saved: Path) -> bool:
    """Whether two pictures differ by more than a rounding in any pixel."""
    # Installed with the extra "demo"; pages without pictures do not need them.
    import numpy as np
    from PIL import Image

    if not shown.is_file():
        return True
    with Image.open(shown) as first, Image.open(saved) as second:
        one, other = np.asarray(first, dtype=int), np.asarray(second, dtype=int)
    return one.shape != other.shape or int(abs(one - other).max(initial=0)) > 2


def written(text: str, outputs: list[str]) -> str:
    """The text of a page with these outputs below its blocks; an equal one is left as it is."""
    rest = iter(outputs)

    def replaced(match: re.Match[str]) -> str:
        output, said = next(rest), match["output"]
        if said is not None and CHECKER.check_output(said, output, doctest.ELLIPSIS):
            return match[0]
        block = f"```python\n{match['code']}```\n"
        return block + (f"\n```text\n{output}```\n" if output else "")

    return BLOCK.sub(replaced, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the outputs into the pages")
    parser.add_argument("pages", nargs="+", type=Path)
    asked = parser.parse_args()
    failed = False
    for page in map(Path.absolute, asked.pages):
        text = page.read_text(encoding="utf-8")
        found = blocks(text)
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            outputs = printed(page, found)
            changed = [
                pair for pair in pictures(page, text, Path(folder)) if looks_different(*pair)
            ]
            for shown, saved in changed if asked.write else ():
                shutil.copyfile(saved, shown)
        if asked.write:
            page.write_text(written(text, outputs), encoding="utf-8")
            continue
        difference = differences(page, found, outputs)
        difference += "".join(f"{page}: {shown.name} looks different\n" for shown, _ in changed)
        failed |= bool(difference)
        print(difference, end="")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
