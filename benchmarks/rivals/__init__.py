"""Boosters to be timed, one file each.

Every module has ``NAME``, ``bin(X, y, setting)``, which returns the table in that library's bins, and
``train(binned, setting, penalty)``, which trains on it and returns how many features the model uses. A penalty is in
that library's own units; with 0 features cost nothing.
"""
