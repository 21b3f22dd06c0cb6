"""From fields of arrays to batches in memory: what is fetched, and where it goes."""
