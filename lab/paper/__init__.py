"""The paper's results, run again: one file for each, ``python -m lab.paper all --data DIR --out DIR`` for all."""
