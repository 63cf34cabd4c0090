"""What is wrong with the rows, and what other versions of the libraries have changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lab.parameters.rows import Row
from lab.parameters.signatures import PARTS, TITLES

FILE = "lab/parameters/rows.py"


def faults(
    rows: Iterable[Row], alone: Mapping[str, str], ours: Iterable[str], in_fit: Iterable[str], kept: Mapping[str, Any]
) -> list[str]:
    """Sentences, none where every parameter has its place."""
    rows, own = list(rows), set(ours)
    found = []
    for distribution, parts in PARTS.items():
        for part in parts:
            said = Counter(name for row in rows for name in row.names(part))
            known = set(kept[distribution][part])
            title = TITLES[distribution]
            found += [f"{title}: {name!r} is in no row of {FILE}." for name in sorted(known - set(said))]
            found += [f"{title}: {name!r} is in {FILE}, but there is none." for name in sorted(set(said) - known)]
            found += [f"{title}: {name!r} is in {n} rows of {FILE}." for name, n in sorted(said.items()) if n > 1]
    for row in rows:
        theirs = ", ".join(name for part in ("hist", "lgbm", "native", "xgb") for name in row.names(part))
        found += [
            f"{name!r} is no parameter of ours any more ({theirs})." for name in row.names("ours") if name not in own
        ]
        if row.later and row.later in own | set(in_fit):
            found.append(f"{row.later!r} is a parameter of ours now: its row in {FILE} says 'later' ({theirs}).")
        if not row.ours and not row.note:
            found.append(f"A row of {FILE} says neither what we have nor why not ({theirs}).")
    told = {name for row in rows for name in row.names("ours")}
    found += [f"Our {name!r} is in no row of {FILE}, nor in OURS_ALONE." for name in sorted(own - told - set(alone))]
    found += [f"{name!r} is in OURS_ALONE of {FILE}, but also in a row." for name in sorted(told & set(alone))]
    found += [f"{name!r} is in OURS_ALONE of {FILE}, but no parameter." for name in sorted(set(alone) - own)]
    return found


def drift(kept: Mapping[str, Any], installed: Mapping[str, Any | None]) -> tuple[list[str], list[str]]:
    """Faults, where an installed library is of the version that is kept; notes, where it is of another one."""
    wrong, notes = [], []
    for distribution, now in installed.items():
        if now is None:
            continue
        before = kept[distribution]
        changes = [change for part in PARTS[distribution] for change in _changes(before[part], now[part])]
        title = TITLES[distribution]
        if now["version"] == before["version"]:
            wrong += [f"{title} {now['version']}: {change}, unlike in signatures.json." for change in changes]
        elif changes:
            since = f"{title} {now['version']}, since {before['version']}"
            notes += [f"{since}: {change}. To follow: python -m lab.parameters --read" for change in changes]
    return wrong, notes


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    changed = [n for n in sorted(before.keys() & now.keys()) if before[n] != now[n]]
    return [
        *(f"{name!r} is new" for name in sorted(now.keys() - before.keys())),
        *(f"{name!r} is gone" for name in sorted(before.keys() - now.keys())),
        *(f"the default of {name!r} is {now[name]}" for name in changed),
    ]
