"""Training time against the number of rows and of columns, beside the rivals of lab/speed.

    python -m lab.speed.growth                   # about 8 minutes on 2 cores
    python -m lab.speed.growth --only columns    # what is known of the other axis stays
    python -m lab.speed.growth --reuse           # with the penalties of the last run, where they still suit
    python -m lab.speed.growth --quick           # tiny tables, a minute, writes nothing

mu grows with the rows, so that models stay alike; LightGBM CEGB is tuned to use as many features. A rival that would
take longer than a minute, judged by the size before, is left out. Results go to lab/results/speed/growth.json, from
which lab.speed.page makes plots and tables. Needs the extra "lab" and Linux.
"""

from __future__ import annotations

from typing import Any

from lab.output import SPEED
from lab.rivals.boosters import COMPARED
from lab.speed.compare import Results, compare, parsed
from lab.speed.works import SETTING, Work, made

PATH = SPEED / "growth.json"
TREES = 50
MU_A_ROW = 2.56e-4
MOST_SECONDS = 60.0
SHAPES = {
    "rows": [(n, 60) for n in (10_000, 100_000, 1_000_000, 4_000_000)],
    "columns": [(20_000, d) for d in (10, 100, 1_000, 10_000)],
}
QUICK = {"rows": [(1_000, 60), (10_000, 60)], "columns": [(2_000, 10), (2_000, 100)]}


def sized(rows: int, columns: int, quick: bool) -> Work:
    """A made table; the larger, the fewer times it is trained on."""
    large = rows * columns > 10_000_000
    return made(
        rows,
        columns,
        TREES,
        MU_A_ROW * rows,
        rounds=1 if quick or large else 3,
        other_rounds=1,
        trainings=1 if large else 3,
        part=10 if rows >= 1_000_000 else 1,
    )


def too_slow(before: dict[str, Any] | None, cells: int) -> tuple[str, ...]:
    """Rivals that were left out at the size before, or would take too long if time grows with the cells."""
    if before is None:
        return ()
    growth = cells / (before["rows"] * before["columns"])
    slow = [name for name, r in before["rivals"].items() if growth * r["seconds_with_binning"] > MOST_SECONDS]
    return (*before["left_out"], *(name for name in slow if name not in COMPARED))


def main() -> int:
    options = parsed(__doc__, list(SHAPES))
    setting = {**SETTING, "threads": options.threads}
    results = Results(None if options.quick else PATH, setting, bool(options.only))
    for axis in options.only or SHAPES:
        before = None
        for rows, columns in (QUICK if options.quick else SHAPES)[axis]:
            name = f"{rows:,} x {columns:,}"
            known = results.penalty(axis, name) if options.reuse else None
            slow = too_slow(before, rows * columns)
            before = compare(sized(rows, columns, options.quick), setting, known, slow, sampled=axis == "columns")
            results.put(axis, name, before)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
