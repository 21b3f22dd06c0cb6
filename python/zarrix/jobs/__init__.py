"""Work on whole data sets, on one machine or a thousand: in tasks, resumable, in bounded memory.

A leaf room: it uses arrays, groups and stores, and no other room depends on it.
"""

from zarrix._errors import JobError, JobFailed, JobInterrupted, SourceChangedError
from zarrix.jobs._copy import copy
from zarrix.jobs._job import Job
from zarrix.jobs._map import Where, map_chunks
from zarrix.jobs._pyramid import pyramid
from zarrix.jobs._rechunk import rechunk
from zarrix.jobs._report import Report, Task
from zarrix.jobs._reserve import reserve
from zarrix.jobs._stack import stack
from zarrix.jobs._statistics import statistics
from zarrix.jobs._summary import Statistics
from zarrix.jobs._update_pyramid import update_pyramid
from zarrix.jobs._verify import verify

__all__ = [
    "Job",
    "JobError",
    "JobFailed",
    "JobInterrupted",
    "Report",
    "SourceChangedError",
    "Task",
    "Where",
    "Statistics",
    "copy",
    "map_chunks",
    "pyramid",
    "rechunk",
    "reserve",
    "stack",
    "statistics",
    "update_pyramid",
    "verify",
]
