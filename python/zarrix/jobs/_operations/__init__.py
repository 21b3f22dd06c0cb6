"""What jobs do: rechunk, pyramids, stacks, statistics, maps, copies and checks."""
