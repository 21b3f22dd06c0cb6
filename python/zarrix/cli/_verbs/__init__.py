"""One file for each verb of ``zarrix``."""
