"""Attacks the core with many tables of each family: against the oracle, and screened against not screened.

python tests/attack.py 20000            # so many tables of each family, on all cores
python tests/attack.py 1 --first 4711 --family weighted   # one of them again
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from multiprocessing import Pool
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "engine")]

from families import FAMILIES, table  # noqa: E402
from test_families import check  # noqa: E402


def attempt(job):
    """The family, the seed, and the fault if there is one."""
    family, seed = job
    try:
        check(table(family, seed))
    except Exception:
        return family, seed, traceback.format_exc()
    return family, seed, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", type=int)
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--family", choices=sorted(FAMILIES), action="append")
    parser.add_argument("--processes", type=int)
    asked = parser.parse_args()
    faults = 0
    with Pool(asked.processes) as pool:
        for family in asked.family or sorted(FAMILIES):
            began, found = time.time(), 0
            jobs = ((family, seed) for seed in range(asked.first, asked.first + asked.tables))
            for _, seed, fault in pool.imap_unordered(attempt, jobs, chunksize=16):
                if fault:
                    found += 1
                    if found <= 3:
                        print(f"{family} {seed}:\n{fault}", flush=True)
            print(f"{family}: {asked.tables} tables, {found} faults, {time.time() - began:.0f} s", flush=True)
            faults += found
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
