"""Decoded chunks on a local disk, of which later epochs read the rows that they need."""
