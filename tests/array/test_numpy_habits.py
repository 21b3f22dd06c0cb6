"""Code written for NumPy's arrays: what works on stored ones, and what the error says instead."""

import re

import numpy as np
import pytest
import zarrix as zarr


@pytest.mark.parametrize("name", ["flatten", "reshape", "T", "transpose", "sum", "mean", "copy"])
def test_an_attribute_of_numpys_arrays_says_how_to_get_it(name):
    z = zarr.array(np.arange(6).reshape(2, 3))
    with pytest.raises(AttributeError, match=rf"read the elements first: array\[...\].{name}"):
        getattr(z, name)


def test_statistics_of_all_elements_name_what_needs_little_memory():
    with pytest.raises(AttributeError, match=r"zarrix\.jobs\.statistics"):
        zarr.zeros(3).sum()


@pytest.mark.parametrize("name", ["arange", "linspace", "concatenate"])
def test_a_function_of_numpy_is_named_as_numpys(name):
    with pytest.raises(AttributeError, match=rf"numpy.{name} exists"):
        getattr(zarr, name)


def test_a_misspelt_name_is_still_suggested():
    with pytest.raises(AttributeError, match="did you mean 'open'"):
        _ = zarr.opn
    with pytest.raises(AttributeError, match="did you mean 'shape'"):
        _ = zarr.zeros(3).shap


@pytest.mark.parametrize("dtype", ["i2", "f8", "?", ">u4", "c16"])
@pytest.mark.parametrize("value", [0, 1])
def test_an_array_without_axes_is_a_number(dtype, value):
    z, n = zarr.array(np.array(value, dtype)), np.array(value, dtype)
    assert bool(z) is bool(n)
    assert complex(z) == complex(n)
    if dtype != "c16":
        assert (int(z), float(z)) == (int(n), float(n))


@pytest.mark.parametrize("kind", [int, float, complex])
def test_an_array_with_axes_is_not_a_number(kind):
    with pytest.raises(TypeError, match=re.escape("shape (1,)")):
        kind(zarr.zeros(1))


def test_the_truth_of_an_array_with_axes_is_that_of_its_length():
    assert bool(zarr.zeros((2, 0)))
    assert not bool(zarr.zeros((0, 2)))


def test_a_comparison_as_a_key_says_what_it_compared():
    z = zarr.array([1, 2, 1])
    with pytest.raises(IndexError, match=re.escape("z[z[...] == 1], not z[z == 1]")):
        z[z == 1]
    assert z[z[...] == 1].tolist() == [1, 1]


@pytest.mark.parametrize("like", [zarr.zeros_like, zarr.ones_like, zarr.empty_like])
def test_an_array_like_a_list_has_its_shape_and_dtype(like):
    z = like([[1, 2, 3]])
    assert (z.shape, z.dtype) == ((1, 3), np.dtype("i8"))


@pytest.mark.parametrize("open_it", [zarr.open, zarr.open_array, zarr.consolidate_metadata])
@pytest.mark.parametrize("node", [zarr.zeros(3), zarr.array([1])])
def test_an_open_node_as_a_store_says_what_to_pass(open_it, node):
    with pytest.raises(ValueError, match=r"store=x\.store, path=x\.path"):
        open_it(node)


@pytest.mark.parametrize("kind", [zarr.Array, zarr.Group])
def test_a_class_without_arguments_names_itself_and_what_it_needs(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) missing .* 'store'"):
        kind()
