"""Stores in databases: SQLite, LMDB, DBM, Redis, MongoDB."""
