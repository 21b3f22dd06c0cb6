"""Arrays and groups as stored nodes: find, create, delete; attributes; consolidated metadata."""
