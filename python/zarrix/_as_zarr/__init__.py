"""zarrix under the name ``zarr``: the modules, the installed version, and what it supports.

Importing this room changes nothing; `zarrix.as_zarr` installs it.
"""
