"""State of the process: settings, threads, event loops, and the memory limit."""
