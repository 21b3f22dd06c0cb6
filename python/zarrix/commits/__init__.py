"""Changes of several nodes of one hierarchy that become visible together, or not at all."""
