"""How a job runs: its tasks, executors, claim, journal, parts and report."""
