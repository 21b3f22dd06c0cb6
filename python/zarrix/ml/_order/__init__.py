"""Which items an epoch has in which order, on which rank, and where a run stands in it."""
