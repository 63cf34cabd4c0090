"""The paper's results, run again: one file for each, ``python -m experiments all --data DIR --out DIR`` for all."""
