"""Training time and memory against LightGBM CEGB, LightGBM, XGBoost, CatBoost and scikit-learn.

    python -m lab.speed                        # everything, about 30 minutes on 2 cores
    python -m lab.speed --only spam colon      # what is known of other works stays
    python -m lab.speed --reuse                # with the penalties of the last run, where they still suit
    python -m lab.speed --quick                # tiny tables, a minute, writes nothing

Each measurement is a process of its own; rivals take turns, and medians are compared: on shared machines only ratios in
one run mean anything. mu and LightGBM's penalty are tuned until both use as many features (within 10 %), on the table
that is timed. Results go to lab/results/speed/speed.json, from which lab.speed.page makes docs/speed.md. Needs
the extra "lab" and Linux; real tables are read from the folder that FRUGALBOOST_DATA names, and left out where it
names none.
"""

from __future__ import annotations

from lab.data import Folder
from lab.output import SPEED
from lab.speed.compare import Results, compare, parsed
from lab.speed.works import QUICK, SETTING, WORKS

PATH = SPEED / "speed.json"


def main() -> int:
    options = parsed(__doc__, list(WORKS))
    works = QUICK if options.quick else {name: WORKS[name] for name in options.only or WORKS}
    if not Folder.set() and any(work.reads_data for work in works.values()):
        print("FRUGALBOOST_DATA names no folder: tables of files are left out")
        works = {name: work for name, work in works.items() if not work.reads_data}
    setting = {**SETTING, "threads": options.threads}
    results = Results(None if options.quick else PATH, setting, bool(options.only))
    for name, work in works.items():
        known = results.penalty("works", name) if options.reuse else None
        results.put("works", name, compare(work, setting, known))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
