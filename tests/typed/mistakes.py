"""Mistakes that a checker of types flags; each is on a line of its own that ends in "wrong"."""

import zarrix as zarr

z = zarr.zeros(3)
g = zarr.group()
a = zarr.open_array("x")

zarr.zeros(3, chnks=2)  # wrong
zarr.zeros(3, fill_value=2)  # wrong
zarr.empty(3, shpae=2)  # wrong
zarr.zeros()  # wrong
zarr.create(3, order="K")  # wrong
zarr.create(3, dimension_separator="-")  # wrong
zarr.create(3, zarr_format=4)  # wrong
zarr.create(3, durability="power")  # wrong
zarr.create_array(shape=3, chunk=2)  # wrong
zarr.full_like(z, fill=2)  # wrong
zarr.open("x", mode="rw")  # wrong
zarr.open("x", shpae=3)  # wrong
zarr.open_array("x", mode="wr")  # wrong
zarr.open_group("x", mode="w+")  # wrong
zarr.open_group("x", shape=3)  # wrong
zarr.open_consolidated("x", mode="w")  # wrong
zarr.create_group("x", atributes={})  # wrong
g.create_dataset("x", shpae=3)  # wrong
g.create_dataset("x", (3,), maxshape=(None,))  # wrong
g.create_array("x", shape=3, chnks=2)  # wrong
g.require_dataset("x", (3,), exct=True)  # wrong
g.zeros("x", shape=3, store="y")  # wrong
z.atrs["unit"] = "mm"  # wrong
zarr.opn("x")  # wrong
zarr.Bolsc()  # wrong
zarr.Blosc(level=3)  # wrong
zarr.config.thread = 4  # wrong
zarr.config.durability = "power"  # wrong
zarr.copy(z, g, if_exists="overwrite")  # wrong
zarr.consolidate_metadata("x", zarr_format=1)  # wrong
zarr.DirectoryStore("x", dimension_seperator="/")  # wrong
