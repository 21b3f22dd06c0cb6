"""An ``out=`` whose class says something else than its memory is taken by its memory."""

import subprocess
import sys

LIAR = """
import numpy, zarrix

class Liar(numpy.ndarray):
    dtype = property(lambda self: numpy.dtype(object))

z = zarrix.create(4, dtype=str, fill_value="text", store=zarrix.MemoryStore())
out = numpy.full(4, 2**40 + 1, "i8").view(Liar)
try:
    z.get_basic_selection(slice(None), out=out)
except ValueError as error:
    print(error)

class Shaped(numpy.ndarray):
    shape = property(lambda self: (1 << 20,))

n = zarrix.ones(1 << 20, dtype="i8", store=zarrix.MemoryStore())
try:
    n.get_basic_selection(slice(None), out=numpy.zeros(4, "i8").view(Shaped))
except ValueError as error:
    print(error)

class Plain(numpy.ndarray):
    pass

out = numpy.zeros(1 << 20, "i8").view(Plain)
print(n.get_basic_selection(slice(None), out=out) is out, int(out.sum()))
"""


def test_a_subclass_of_arrays_that_says_another_dtype_or_shape_is_refused() -> None:
    done = subprocess.run([sys.executable, "-c", LIAR], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "out has dtype int64, and the array has dtype object",
        "out has shape (4,), and the selection has shape (1048576,)",
        f"True {1 << 20}",
    ]
