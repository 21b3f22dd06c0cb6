"""Signatures that are computed when they are asked for."""

import copy
import functools
import inspect
import pickle
import subprocess
import sys

import zarrix as zarr


def test_an_import_computes_no_signature():
    program = """
import zarrix
zarrix.open, zarrix.zeros
assert zarrix.Group.zeros.__signature__._whole is None
assert zarrix.zeros.__signature__._whole is None
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_late_signature_behaves_like_every_other():
    late = inspect.signature(zarr.zeros)
    plain = inspect.Signature(
        list(late.parameters.values()), return_annotation=late.return_annotation
    )
    assert late == plain
    assert hash(late) == hash(plain)
    assert str(late) == str(plain)
    assert late.bind(3, chunks=2).arguments == {"shape": 3, "chunks": 2}
    for copied in (copy.copy(late), copy.deepcopy(late), pickle.loads(pickle.dumps(late))):
        assert copied == plain
    assert late.replace(return_annotation=int).return_annotation is int
    if sys.version_info >= (3, 13):
        assert copy.replace(late, return_annotation=int).return_annotation is int


def test_methods_and_partial_functions_have_the_signature_without_what_is_bound():
    group = zarr.group()
    assert "self" not in inspect.signature(group.zeros).parameters
    assert "chunks" in inspect.signature(group.zeros).parameters
    assert "shape" not in inspect.signature(functools.partial(zarr.zeros, 3)).parameters
