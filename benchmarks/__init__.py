"""The instrument: zarrix and every peer on the same files, side by side, in one run.

A speed means nothing alone. Each row of the table is a ratio: in every round each contender does
the same work once, in turn, and the ratio of two contenders is taken round by round, so that what
slows the machine down slows both. The best peer of a row is the one that does best against us in
that row, not one chosen beforehand.

    python -m benchmarks setup     an environment with zarrix and all peers, in benchmarks/envs
    python -m benchmarks           builds the data once, then measures every row

What is where: `contenders` is who, `workloads` is what, `data` the files, `floor` what no store
could beat, `measure` the rounds, `memory` the peak of one read, `report` the table and the
picture, `run` one run of it all, `setup` the environment.
"""
