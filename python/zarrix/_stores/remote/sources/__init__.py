"""Sources of credentials that expire, one file each: each has a function that fetches new ones."""
