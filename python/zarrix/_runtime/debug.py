"""What a bug report should contain, and the level of the package's logger."""

from __future__ import annotations

import logging
import os
import platform
from importlib import metadata

from zarrix import _engine

__all__ = ["print_debug_info", "set_format", "set_log_level"]

_PACKAGES = ("numpy", "numcodecs", "ml_dtypes", "fsspec", "s3fs", "dask", "xarray", "torch", "zarr")


def print_debug_info() -> None:
    """Print versions and settings, for bug reports.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.print_debug_info()
    platform: ...
    python: ...
    zarrix: ..., ... threads
    numpy: ...
    """
    print(f"platform: {platform.platform()}")
    print(f"python: {platform.python_version()}")
    print(f"zarrix: {_engine.__version__}, {_engine.threads()} threads")
    for name in _PACKAGES:
        try:
            print(f"{name}: {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            print(f"{name}: not installed")
    for name in sorted(os.environ):
        if name.startswith("ZARRIX_"):
            print(f"{name}={os.environ[name]}")


def set_log_level(level: str) -> None:
    """Set the level of the logger ``zarrix`` and of its handler, which is created if there is none.

    Parameters
    ----------
    level : {"NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}

    Raises
    ------
    ValueError
        ``level`` is not a level of ``logging``.

    Examples
    --------
    >>> import logging, zarrix as zarr
    >>> zarr.set_log_level("WARNING")
    >>> logging.getLogger("zarrix").level == logging.WARNING
    True
    """
    logging.getLogger("zarrix").setLevel(level)
    _handler().setLevel(level)


def set_format(log_format: str) -> None:
    """Set the message format of the logger ``zarrix``, in the syntax of `logging.Formatter`.

    Parameters
    ----------
    log_format : str
        Such as ``"%(levelname)s %(message)s"``.

    Raises
    ------
    ValueError
        The format has no field of a log record.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.set_format("%(asctime)s %(name)s: %(message)s")
    """
    _handler().setFormatter(logging.Formatter(fmt=log_format))


def _handler() -> logging.Handler:
    logger = logging.getLogger("zarrix")
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler())
    return logger.handlers[0]


for _function in (print_debug_info, set_format, set_log_level):
    _function.__module__ = "zarrix"
