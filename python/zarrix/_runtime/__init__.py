"""What the process has: settings, threads, event loops, and a memory limit."""
