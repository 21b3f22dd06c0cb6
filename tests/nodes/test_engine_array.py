"""The engine's handle of an array is made in one place."""

from pathlib import Path

import zarrix


def test_one_file_makes_the_handle_of_an_array() -> None:
    package = Path(zarrix.__file__).parent
    sources = {path: path.read_text() for path in package.rglob("*.py")}
    makers = [
        str(path.relative_to(package)) for path, text in sources.items() if "ArrayIO(" in text
    ]
    assert makers == ["_nodes/engine_array.py"]
