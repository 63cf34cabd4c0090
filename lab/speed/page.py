"""Writes docs/speed.md and its pictures from what lab/speed and lab/speed/growth.py found.

python -m lab.speed.page
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from lab.output import DOCS, IMAGES, SPEED
from lab.rivals.boosters import CEGB, COMPARED, OURS, PACKAGES
from lab.speed import plots
from lab.speed.compare import Record, ratio
from lab.speed.growth import TREES
from lab.speed.penalties import near
from lab.speed.works import WORKS

COMMANDS = """```bash
pip install ".[lab]"
python -m lab.speed                       # the works; about 30 minutes on 2 cores
python -m lab.speed.growth                # rows and columns; about 8 minutes
python -m lab.speed.busy                  # beside other processes; about 8 minutes
python -m lab.speed.waiting --only sizes  # the command; about 2 minutes
python -m lab.speed.page                  # this page
```
"""

SHORT = """A whole `fit`, binning included, on 2 threads: seconds, and how many times longer others take. LightGBM CEGB
is LightGBM with a price on the first use of each feature; both models buy as many features. The others have no prices
and use what they like.
"""
IN_SHORT = ("lightgbm_cegb", "lightgbm_plain", "xgboost_hist", "catboost_plain")

HOW = """Each measurement is a process of its own that reads the table from a file, bins it, trains, and notes how much
memory it ever had. Rivals take turns: in a round each of them runs once, and medians of rounds are compared, since
times on a shared machine drift. frugalboost and LightGBM CEGB run in every round, the others in fewer of them (on large
tables in one). Training on small tables is repeated within a process, and the median counts.

LightGBM CEGB is LightGBM with a price on the first use of each feature, the nearest relative of this algorithm. mu and
its penalty are tuned until both models use as many features, within 10 %. The other libraries have no prices and use
whatever features they like; they are here to show what training costs without selection.
"""

NOT_THE_SAME = """## Not the same

- **frugalboost** is called below its estimators, LightGBM, XGBoost and CatBoost by their own training functions, and
  scikit-learn by `fit`, which checks its input and copies it to double precision.
- **Thresholds of bins**: XGBoost looks at all rows; frugalboost, LightGBM, CatBoost and scikit-learn at a sample
  of at most 200,000.
- **XGBoost** bounds a leaf by its sum of hessians, not by its rows. The bound is 5, which is 20 rows where the
  probability is a half and more rows elsewhere: its leaves are larger. `reg_lambda` is 0, as in the others.
- **CatBoost** grows symmetric trees, its default: all nodes of a level split on the same threshold. They know no least
  number of rows a leaf. Samples of rows, noise in scores and repeated Newton steps are turned off, because the others
  have none; `l2_leaf_reg` stays at 3.
- **scikit-learn** bins inside `fit`: only its time with binning is known.
- **kddcup99** tiled has every row of the file ten times, and the file itself has 145,586 different rows of 494,021.
  frugalboost keeps equal rows once, so its time hardly grows with the tiling; the file as it is stands beside it.
- **LightGBM** puts columns that exclude each other into one (on by default; kddcup99 and adult have such columns), and
  tries at the start whether rows or columns first is faster. Both are in its time.
"""


def opened(name: str) -> Any:
    path = SPEED / name
    return json.loads(path.read_text()) if path.exists() else None


def names(entries: dict[str, Record]) -> dict[str, str]:
    """Module and name of every library that was run, in the order of tables."""
    known = {module: r["name"] for e in entries.values() for module, r in e["rivals"].items()}
    return {module: known[module] for module in PACKAGES if module in known}


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def shown(seconds: float) -> str:
    """Three digits that mean something."""
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.1f}"


def cell(entry: Record, module: str, key: str, features: bool) -> str:
    found = entry["rivals"].get(module)
    if found is None or found[key] is None:
        return "-"
    return shown(found[key]) + (f" ({found['features']})" if features else "")


def verdict(reached: bool) -> str:
    return "yes" if reached else "**no**"


def work_name(name: str, entry: Record) -> str:
    shape = f"{entry['rows']:,} x {entry['columns']:,}"
    return f"{name}, {entry['trees']} trees" if name == shape else f"{name}, {shape}, {entry['trees']} trees"


def in_short(entries: dict[str, Record]) -> list[str]:
    """What a user reads first: seconds of a whole fit, and the factors."""
    key, known = "seconds_with_binning", names(entries)
    others = [m for m in IN_SHORT if m in known]
    rows = []
    for name, entry in entries.items():
        mine = entry["rivals"][OURS]
        factors = [
            f"{entry['rivals'][m][key] / mine[key]:.1f}" if entry["rivals"].get(m, {}).get(key) else "-" for m in others
        ]
        rows.append([work_name(name, entry), str(mine["features"]), shown(mine[key]), *factors])
    return table(["work", "features", "seconds", *(known[m] for m in others)], rows)


def busy_part(found: Record | None) -> list[str]:
    """How a measured load changes the factors."""
    if not found:
        return []
    told: dict[str, list[str]] = {}
    for row in found["rows"]:
        times = row["seconds_with_binning"]
        beside = f"beside {row['busy']} busy processes" if row["busy"] else "idle"
        told.setdefault(f"{row['work']} with {row['trees']} trees", []).append(
            f"{times[CEGB] / times[OURS]:.1f} {beside}"
        )
    works = "; ".join(f"{work}: {', '.join(factors)}" for work, factors in told.items())
    return [f"**Beside other processes**, on the same two cores, LightGBM CEGB takes so many times longer: {works}.\n"]


def waiting_part(rows: list[Record] | None) -> list[str]:
    """How long the command takes."""
    if not rows:
        return []
    found = [[row["table"].split(", ")[0] + kind(row["table"]), f"{row['cpu_s']:.2g}"] for row in rows if plain(row)]
    return [
        "**The command.** CPU seconds of `frugalboost select` with its defaults, all of it: search, choice, report. "
        "[More](results/waiting_sizes.md).\n",
        *table(["table", "CPU s"], found),
    ]


def plain(row: Record) -> bool:
    return bool(row["search"] == "default")


def kind(name: str) -> str:
    """Classes of a table, where there are more than two."""
    classes = name.split(", ")[1]
    return "" if classes == "2 classes" else f", {classes}"


def training(entries: dict[str, Record]) -> list[str]:
    """Seconds without binning, and what was asked for."""
    timed = {m for e in entries.values() for m, r in e["rivals"].items() if r["seconds"] is not None}
    apart = {m: name for m, name in names(entries).items() if m in timed}
    rows = []
    for name, entry in entries.items():
        found, least = ratio(entry, "seconds"), entry["at_least"]
        asked = [
            f"**{found:.2f}**",
            "-" if least is None else f"{least:g}",
            "" if least is None else verdict(found >= least),
        ]
        rows.append([work_name(name, entry), *(cell(entry, m, "seconds", True) for m in apart), *asked])
    return table(["work", *apart.values(), "CEGB / frugalboost", "at least", "reached"], rows)


def unequal(entries: dict[str, Record]) -> list[str]:
    """Say where no penalty was found that gives as many features."""
    found = []
    for name, entry in entries.items():
        ours, theirs = (entry["rivals"][m]["features"] for m in COMPARED)
        if not near(theirs, ours):
            found.append(f"On {name} no penalty was found within 10 %: {ours} features of ours, {theirs} of CEGB's.")
    return [*found, ""] if found else []


def with_binning(entries: dict[str, Record]) -> list[str]:
    libraries = names(entries)
    key = "seconds_with_binning"
    rows = [
        [work_name(name, e), *(cell(e, m, key, False) for m in libraries), f"**{ratio(e, key):.2f}**"]
        for name, e in entries.items()
    ]
    return table(["work", *libraries.values(), "CEGB / frugalboost"], rows)


def memory(entries: dict[str, Record]) -> list[str]:
    """Peaks, and in brackets what of them is not the table and the libraries themselves."""
    libraries = names(entries)
    rows = []
    for name, entry in entries.items():
        cells = [
            f"{r['peak_bytes'] / 1e6:,.0f} ({r['bytes_beside_table'] / 1e6:,.0f})" if r else "-"
            for r in (entry["rivals"].get(module) for module in libraries)
        ]
        ours, theirs = (round(entry["rivals"][m]["peak_bytes"] / 1e6) for m in COMPARED)
        rows.append([work_name(name, entry), *cells, verdict(ours <= theirs)])
    return table(["work", *libraries.values(), "at most CEGB's"], rows)


def growth(entries: dict[str, Record], axis: str) -> list[str]:
    """Seconds without and with binning along one axis."""
    libraries = names(entries)
    rows = []
    for entry in entries.values():
        cells = [
            f"{cell(entry, m, 'seconds', False)} ({cell(entry, m, 'seconds_with_binning', False)})"
            if m in entry["rivals"]
            else "left out"
            for m in libraries
        ]
        features = " / ".join(str(entry["rivals"][m]["features"]) for m in COMPARED)
        rows.append([f"{entry[axis]:,}", features, *cells, f"**{ratio(entry, 'seconds'):.2f}**"])
    return table([axis, "features", *libraries.values(), "CEGB / frugalboost"], rows)


def about(result: Record) -> str:
    machine, setting = result["machine"], result["setting"]
    packages = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost", "scikit-learn": "scikit-learn"}
    versions = ", ".join(f"{title} {machine[name]}" for name, title in packages.items() if name in machine)
    return (
        f"Machine: {machine['cores']} cores ({machine['cpu']}, {machine['instruction_set']} kernels), "
        f"{machine['memory_gb']} GB. {versions}. {setting['threads']} threads each, depth {setting['depth']}, "
        f"{setting['bins']} bins, at least {setting['min_leaf']} rows a leaf, learning rate 0.1, log loss.\n"
    )


def works_part(works: dict[str, Record]) -> list[str]:
    title = names(works)
    missing = [
        f"{', '.join(title.get(m, m) for m in e['left_out'])} on {name}" for name, e in works.items() if e["left_out"]
    ]
    return [
        "## Training\n",
        "Seconds without binning; in brackets the number of features that the model uses.\n",
        *training(works),
        *unequal(works),
        "![How many times frugalboost's seconds each library takes](images/speed_works.png)\n",
        *([f"Left out because they would take too long: {'; '.join(missing)}.\n"] if missing else []),
        "## With binning\n",
        "Seconds for binning once and training once.\n",
        *with_binning(works),
        "## Memory\n",
        "Peak of the whole process in MB, the interpreter and the table included; in brackets what was added to it "
        "after the table had been read.\n",
        *memory(works),
    ]


def last_step(entries: dict[str, Record]) -> str:
    """How much longer each library takes on the largest table than on the one before."""
    before, last = list(entries.values())[-2:]
    grown = []
    for module, found in last["rivals"].items():
        first = before["rivals"].get(module)
        if first and first["seconds"] and found["seconds"]:
            grown.append(f"{found['name']} {found['seconds'] / first['seconds']:.1f}")
    return f"The last step, {before['columns']:,} to {last['columns']:,} columns, takes so many times longer: " + (
        f"{', '.join(grown)}. On 20,000 rows no sample of rows proves much, so all columns are searched; on a million "
        "rows it does, and from 60 to 500 columns (the first two works) frugalboost's time grows less than others'. "
        'new_features="auto" looks at a sample of the new features in each tree; with the same mu.\n'
    )


def growth_part(result: Record, machine: Record) -> list[str]:
    lines = [
        "## Growth\n",
        *([about(result)] if result["machine"] != machine else []),
        f"{TREES} trees on made tables (at most 20 informative columns). mu grows with the rows, so that models stay "
        "alike. Seconds without binning, in brackets with it; features of frugalboost and of LightGBM CEGB. A library "
        "that would take more than a minute, judged by the size before, is left out.\n",
    ]
    for axis, other in (("rows", "columns"), ("columns", "rows")):
        if axis in result:
            first = next(iter(result[axis].values()))
            lines += [
                f"### {axis.capitalize()}, {first[other]:,} {other}\n",
                *growth(result[axis], axis),
                *([last_step(result[axis])] if axis == "columns" else []),
                f"![Seconds against {axis}](images/speed_growth_{axis}.png)\n",
            ]
    return lines


def page(speed: Record, grown: Record | None, busy: Record | None = None, waiting: list[Record] | None = None) -> str:
    """The whole page: one screen to read, then the details."""
    lines = ["# Speed\n", SHORT, *in_short(speed["works"]), *busy_part(busy), *waiting_part(waiting)]
    lines += ["## How it was measured\n", "Made by `lab/speed/page.py`; to repeat it:\n", COMMANDS, about(speed), HOW]
    lines += works_part(speed["works"])
    if grown:
        lines += growth_part(grown, speed["machine"])
    lines += [NOT_THE_SAME, "Where our own time goes: [profile.md](profile.md).\n"]
    return "\n".join(lines)


def pictures(speed: Record, grown: Record | None, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    plots.works(speed["works"], folder / "speed_works.png")
    for axis in ("rows", "columns"):
        if grown and axis in grown:
            plots.growth(grown[axis], axis, folder / f"speed_growth_{axis}.png")


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    speed, grown = opened("speed.json"), opened("growth.json")
    if speed is None:
        print("lab/results/speed/speed.json is absent: run python -m lab.speed first")
        return 1
    speed["works"] = {name: speed["works"][name] for name in WORKS if name in speed["works"]}
    pictures(speed, grown, IMAGES)
    (DOCS / "speed.md").write_text(page(speed, grown, opened("busy.json"), opened("waiting_sizes.json")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
