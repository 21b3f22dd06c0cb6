"""Virtual arrays: many arrays and files as one array or group, without a copy.

A virtual array is a list of pieces. It is read like any other array; `save` stores the list.
"""

from zarrix.virtual._concat import concat

__all__ = ["concat"]
