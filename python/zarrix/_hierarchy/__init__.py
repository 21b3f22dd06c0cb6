"""`Group`, functions on hierarchies (open, save, copy), and their asynchronous counterparts."""
