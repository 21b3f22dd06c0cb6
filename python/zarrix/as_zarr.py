"""Programs that import ``zarr`` run on zarrix: import this module before them.

    import zarrix.as_zarr                      # first
    import xarray

    python -m zarrix.as_zarr program.py        # no line changed
    dask worker --preload zarrix.as_zarr ADDRESS
    pytest -p zarrix.testing.as_zarr

``zarr`` and its submodules are then modules of zarrix's names, ``zarr.__version__`` is "3.4.2", and
new arrays and groups are v3, as in zarr-python 3. Never a mixture: the real package must not be
imported before. `support` prints what is promised for which project. Pickles name zarrix's classes,
so that a process without the alias reads them, too.
"""

from __future__ import annotations

import importlib
import sys

from zarrix._as_zarr import dialect
from zarrix._as_zarr.modules import FINDER, AliasModule, remove_modules
from zarrix._as_zarr.support import REFUSED, TIERS

__all__ = ["install", "is_installed", "support", "uninstall"]


def is_installed() -> bool:
    """Whether ``import zarr`` imports zarrix in this process.

    Returns
    -------
    bool

    Examples
    --------
    >>> import zarrix.as_zarr  # doctest: +SKIP
    >>> zarrix.as_zarr.is_installed()  # doctest: +SKIP
    True
    """
    return FINDER in sys.meta_path


def install() -> None:
    """Let ``import zarr`` import zarrix, which importing this module already does.

    Raises
    ------
    RuntimeError
        zarr-python itself is already imported; the message names the modules that use it.

    Examples
    --------
    >>> import zarrix.as_zarr  # doctest: +SKIP
    >>> import zarr  # doctest: +SKIP
    >>> zarr.Array is zarrix.Array  # doctest: +SKIP
    True
    """
    real = sys.modules.get("zarr")
    if real is not None and not isinstance(real, AliasModule):
        users = sorted(
            name
            for name, module in [*sys.modules.items()]
            if name.partition(".")[0] != "zarr" and _has(module, real)
        )
        raise RuntimeError(
            "zarr-python is already imported"
            + (f", by {', '.join(users[:5])}" if users else "")
            + "; import zarrix.as_zarr before everything that imports zarr"
        )
    if not is_installed():
        sys.meta_path.insert(0, FINDER)
        # At once: other finders may come before this one later, as that of pytest does. Submodules
        # are searched in the path of this module, which is empty.
        importlib.import_module("zarr")
        dialect.enter()


def _has(module: object, wanted: object) -> bool:
    # By identity: modules contain objects that cannot be compared.
    return any(value is wanted for value in getattr(module, "__dict__", {}).values())


def uninstall() -> None:
    """Undo `install`: the next ``import zarr`` is zarr-python's, where it is installed.

    Modules that have imported ``zarr`` keep the names that they have.

    Examples
    --------
    >>> import zarrix.as_zarr  # doctest: +SKIP
    >>> zarrix.as_zarr.uninstall()  # doctest: +SKIP
    """
    if is_installed():
        sys.meta_path.remove(FINDER)
        remove_modules()
        dialect.leave()


def support() -> None:
    """Print which projects run under the alias, and what of zarr-python is absent.

    Examples
    --------
    >>> import zarrix.as_zarr  # doctest: +SKIP
    >>> zarrix.as_zarr.support()  # doctest: +SKIP
    """
    for promise, projects in TIERS.items():
        print(f"{promise}:")
        for project, what in projects.items():
            print(f"  {project:<18} {what}")
    print("absent, with a message that says why:")
    for name, reason in REFUSED.items():
        print(f"  {name:<26} {reason}")


if __name__ == "__main__":
    # The module that programs import is not this one, which is ``__main__``.
    from zarrix import as_zarr as as_zarr
    from zarrix._as_zarr.program import run

    run(sys.argv[1:])
else:
    install()
