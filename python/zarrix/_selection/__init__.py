"""A NumPy key becomes a selection that the engine executes."""
