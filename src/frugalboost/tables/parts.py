"""Parts of one table: what they must exchange before a fit."""

from __future__ import annotations

import json

from frugalboost import _core
from frugalboost.tables.kinds import Table
from frugalboost.tables.levels import Value


def with_common_vocabulary(table: Table, part: _core.ThreadPart) -> Table:
    """The part with the vocabulary of all parts.

    Every part then knows a level that only one part has, as if the table were in one piece.
    """
    own = {str(c): list(levels) for c, levels in table.vocabulary.items()}
    known: dict[int, set[Value]] = {c: set() for c in table.vocabulary}
    for sent in part.gather(json.dumps(own).encode()):
        for c, levels in json.loads(sent).items():
            known[int(c)].update(levels)
    return table.in_terms_of({c: tuple(sorted(levels)) for c, levels in known.items()})
