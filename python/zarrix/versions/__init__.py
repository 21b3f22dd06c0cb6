"""Versions of a hierarchy: states that are kept under a name beside it."""
