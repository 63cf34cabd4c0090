"""Ways to predict with at most k features, one file each.

Every module has ``NAME``, the title shown in tables, and

    run(split: Split, ks: Sequence[int], deadline: float) -> dict[int, Answer]

which answers for each k with the columns its model really uses and the model's prediction for ``split.X_test`` (class
labels 0 and 1, or numbers in regression). It fits on the training rows alone; validation rows only stop it early or
choose its penalty. It begins nothing more once ``time.monotonic()`` is past the deadline. A k that it cannot reach,
or not in time, is left out. One thread. `lab.quality` runs every module here except ``common``.
"""
