"""Conversion between Zarr and other formats of arrays, in both directions, without loss.

Readers say what is in a file, and read regions of it; `import_` stores them, and `open_file` shows
them as a group without storing anything. `export` writes a file region by region. A door: nothing
below depends on it.
"""

from zarrix.convert._export import export
from zarrix.convert._file_store import open_file
from zarrix.convert._formats import Format, formats
from zarrix.convert._import import Conversion, import_
from zarrix.convert._same import same_values
from zarrix.convert._virtual import virtual

__all__ = [
    "Conversion",
    "Format",
    "export",
    "formats",
    "import_",
    "open_file",
    "same_values",
    "virtual",
]

for _public in (Format, formats, Conversion, open_file, same_values):
    _public.__module__ = "zarrix.convert"
