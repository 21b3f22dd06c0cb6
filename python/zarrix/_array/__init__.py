"""`Array`: reading, writing, creating, resizing, lazy views, plans and writers."""
