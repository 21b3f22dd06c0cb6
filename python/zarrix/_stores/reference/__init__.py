"""Stores whose values are parts of other files: kerchunk references."""
