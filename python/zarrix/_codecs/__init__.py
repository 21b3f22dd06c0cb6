"""Codecs: what a user passes and what a document names becomes one chain that the engine binds."""
