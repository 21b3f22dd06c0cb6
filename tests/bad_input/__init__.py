"""Bad input gets one clear sentence and the class that users catch, and loses nothing stored.

Each row of a table is a call that must fail. What is checked is the same for all: the class is the
builtin that callers of zarr 2.18 catch, the message is one sentence that names what it is about,
and the directory holds the same bytes before and after.
"""
