"""The verbs of ``zarrix``: their group, and one line about each.

The module of a verb is imported when it is used, so that ``zarrix info`` does not load the
arguments of thirty verbs. Each has ``EXAMPLES``, ``add_arguments(parser)`` and
``run(arguments, ui)``.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GROUPS", "OTHER_WORDS", "READING", "VERBS", "Verb"]


class Verb(NamedTuple):
    """A verb: the group that lists it, and what it does in one line."""

    group: str
    what: str


GROUPS = {
    "look": "Look",
    "check": "Check",
    "copy": "Copy",
    "convert": "Convert",
    "measure": "Measure",
    "tool": "The tool",
}

VERBS: dict[str, Verb] = {
    "info": Verb("look", "print shape, data type, chunks, codecs and stored bytes"),
    "ls": Verb("look", "list the members of a group"),
    "tree": Verb("look", "print the groups and arrays below a path"),
    "attrs": Verb("look", "print attributes, or change them"),
    "cat": Verb("look", "print the values of an array"),
    "stats": Verb("look", "print minimum, maximum, mean and more of an array"),
    "show": Verb("look", "draw a plane of an array in the terminal, or as a PNG file"),
    "view": Verb("look", "show arrays in the browser"),
    "serve": Verb("look", "serve the stored keys over HTTP, for other viewers"),
    "plan": Verb("look", "print what a read touches and costs"),
    "verify": Verb("check", "check that everything stored can be read; exit code 3 if not"),
    "repair": Verb("check", "rename what is broken, so that the rest can be read"),
    "recover": Verb("check", "finish or remove what a killed commit has left"),
    "sweep": Verb("check", "delete chunks that commits have replaced, after their grace"),
    "digest": Verb("check", "print the SHA-256 of every stored value, or compare with a file"),
    "diff": Verb("check", "name what differs; exit code 3 if anything does"),
    "doctor": Verb("check", "print versions, threads and locks, for a bug report"),
    "cp": Verb("copy", "copy stored bytes as they are, from any store to any store"),
    "sync": Verb("copy", "make a copy equal to its source again, by copying what differs"),
    "snapshot": Verb("copy", "keep the present state of a hierarchy as a version"),
    "restore": Verb("copy", "make a version the present state again, by one commit"),
    "versions": Verb("copy", "list, check or delete the versions of a hierarchy"),
    "mv": Verb("copy", "rename an array or a group"),
    "rm": Verb("copy", "remove an array or a group"),
    "rechunk": Verb("copy", "copy with other chunks, shards or codecs"),
    "pyramid": Verb("copy", "write smaller copies of an image, with OME-Zarr metadata"),
    "append": Verb("copy", "add rows of groups and files, by the labels of a coordinate"),
    "stack": Verb("copy", "make one array of many files, one after the other"),
    "virtual": Verb("copy", "show many arrays and files as one, without a copy"),
    "map": Verb("copy", "compute an array from blocks of others by a function of Python"),
    "consolidate": Verb("copy", "write all metadata of a hierarchy to one document"),
    "migrate": Verb("copy", "change a hierarchy from Zarr v2 to v3 or back"),
    "import": Verb("convert", "import files of other formats"),
    "export": Verb("convert", "export an array or a group to a file of another format"),
    "formats": Verb("convert", "list the formats of other files, and the options of each"),
    "bench": Verb("measure", "time random reads of an array"),
    "advise": Verb("measure", "measure which chunks and codec would be better"),
    "trace": Verb("measure", "run a Python program, and print what its calls spent their time on"),
    "suggest": Verb("measure", "suggest chunks for an array that does not exist yet"),
    "compare": Verb("measure", "save an array in each format, and compare size and speed"),
    "demo": Verb("tool", "make a data set, load crops from it, compare"),
    "help": Verb("tool", "print this list, or the help of a verb"),
    "completion": Verb("tool", "print the completion script of a shell"),
}

READING = {
    **dict.fromkeys(
        [
            "info",
            "ls",
            "tree",
            "cat",
            "stats",
            "show",
            "serve",
            "plan",
            "verify",
            "digest",
            "bench",
            "advise",
            "compare",
            "attrs",
        ],
        ("path",),
    ),
    **dict.fromkeys(("cp", "sync", "rechunk", "export"), ("source",)),
    "diff": ("path", "other"),
    "map": ("sources",),
    "view": ("paths",),
}
"""The arguments of verbs that only read what they name: ``PATH@NAME`` is a version there."""

OTHER_WORDS = {
    "check": "verify",
    "compress": "rechunk",
    "convert": "import' or 'zarrix export",
    "copy": "cp",
    "delete": "rm",
    "dir": "ls",
    "du": "ls -lS",
    "dump": "cat",
    "fsck": "verify",
    "head": "cat",
    "hist": "stats --hist",
    "histogram": "stats --hist",
    "list": "ls",
    "move": "mv",
    "open": "view",
    "plot": "show",
    "print": "cat",
    "remove": "rm",
    "rename": "mv",
    "sha256sum": "digest",
    "size": "ls -lS",
    "unzip": "cp",
    "validate": "verify",
    "version": "--version",
    "zip": "cp",
}
"""Verbs of other programs, and what does it here."""
