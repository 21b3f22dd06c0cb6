"""Batches of an epoch, read ahead in a thread, for loops and for other frameworks."""
