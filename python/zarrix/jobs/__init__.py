"""Work on whole data sets, on one machine or a thousand: in tasks, resumable, in bounded memory.

A leaf room: it uses arrays, groups and stores, and no other room depends on it.
"""

from zarrix._errors import JobError, JobFailed, JobInterrupted, SourceChangedError
from zarrix.jobs._operations.copy import copy
from zarrix.jobs._operations.map import Where, map_chunks
from zarrix.jobs._operations.pyramid import pyramid
from zarrix.jobs._operations.rechunk import rechunk
from zarrix.jobs._operations.reserve import reserve
from zarrix.jobs._operations.stack import stack
from zarrix.jobs._operations.statistics import statistics
from zarrix.jobs._operations.summary import Statistics
from zarrix.jobs._operations.update_pyramid import update_pyramid
from zarrix.jobs._operations.verify import verify
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.report import Report, Task

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
