"""Stores: what a user passes becomes a store that the engine can call."""
