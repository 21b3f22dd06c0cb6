"""Batches of a loader as arrays of JAX that several devices and processes share.

jax is imported when something here needs it, and not before.
"""

from __future__ import annotations

from zarrix.ml._reading.jax import Sharded

__all__ = ["Sharded"]
