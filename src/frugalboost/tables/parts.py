"""Parts of one table: what each must know of the others before a fit begins."""

from __future__ import annotations

import json

from frugalboost import _core
from frugalboost.tables.kinds import Table
from frugalboost.tables.levels import Value


def with_common_vocabulary(table: Table, part: _core.ThreadPart) -> Table:
    """The part with the numbers that all levels of all parts have together.

    A level that only one part has is known to all then, as it is where the table lies in one piece.
    """
    own = {str(c): list(levels) for c, levels in table.vocabulary.items()}
    known: dict[int, set[Value]] = {c: set() for c in table.vocabulary}
    for sent in part.gather(json.dumps(own).encode()):
        for c, levels in json.loads(sent).items():
            known[int(c)].update(levels)
    return table.in_terms_of({c: tuple(sorted(levels)) for c, levels in known.items()})
