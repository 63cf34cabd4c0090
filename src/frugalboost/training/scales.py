"""What the lines of a model are drawn on: thresholds of columns, and a score for each bin between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frugalboost import _core

Floats = NDArray[np.float64]
STEP = 2.0**-10  # scores are whole numbers of these


@dataclass(frozen=True)
class Scales:
    """Scales one after another. A missing value has a score of 0, which is also the mean over the training rows.

    The thresholds of scale ``s`` are ``cuts[begin[s]:begin[s + 1]]``; its scores, one more, begin at ``begin[s] + s``.
    """

    feature: NDArray[np.int32]
    begin: NDArray[np.int64]
    cuts: Floats
    scores: Floats

    @classmethod
    def none(cls) -> Scales:
        """Of a model without lines."""
        return cls(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(0), np.zeros(0))

    @classmethod
    def of_columns(cls, binned: _core.BinnedMatrix, columns: NDArray[np.integer]) -> Scales:
        """The scales of some columns of a table in bins."""
        if not len(columns):
            return cls.none()
        steps, bins = np.asarray(binned.scores), np.asarray(binned.n_bins)
        begins = np.concatenate([[0], np.cumsum(bins)])
        cuts = [np.asarray(binned.cuts(int(c))) for c in columns]
        scores = [(steps[begins[c] : begins[c + 1]] * STEP).astype(np.float64) for c in columns]
        return cls._of_lists(columns.tolist(), cuts, scores)

    @classmethod
    def _of_lists(cls, feature: list[int], cuts: Sequence[Floats], scores: Sequence[Floats]) -> Scales:
        begin = np.cumsum([0, *(len(c) for c in cuts)]).astype(np.int64)
        return cls(
            np.array(feature, dtype=np.int32),
            begin,
            np.concatenate([np.zeros(0), *cuts]),
            np.concatenate([np.zeros(0), *scores]),
        )

    def __len__(self) -> int:
        return len(self.feature)

    def cuts_of(self, scale: int) -> Floats:
        """Thresholds of one scale."""
        return self.cuts[self.begin[scale] : self.begin[scale + 1]]

    def scores_of(self, scale: int) -> Floats:
        """Scores of its bins."""
        return self.scores[self.begin[scale] + scale : self.begin[scale + 1] + scale + 1]

    @staticmethod
    def joined(parts: Sequence[Scales]) -> tuple[Scales, list[NDArray[np.int32]]]:
        """All scales of several models, equal ones once; and for each model the new numbers of its scales.

        They are in the order of their features, so that a continued fit is one long fit, byte for byte.
        """
        known: dict[tuple[int, bytes, bytes], tuple[Floats, Floats]] = {}
        keys = []
        for part in parts:
            own = [(int(f), part.cuts_of(s).tobytes(), part.scores_of(s).tobytes()) for s, f in enumerate(part.feature)]
            for s, key in enumerate(own):
                known.setdefault(key, (part.cuts_of(s), part.scores_of(s)))
            keys.append(own)
        order = sorted(known, key=lambda key: key[0])
        number = {key: i for i, key in enumerate(order)}
        scales = Scales._of_lists([k[0] for k in order], [known[k][0] for k in order], [known[k][1] for k in order])
        return scales, [np.array([number[key] for key in own], dtype=np.int32) for own in keys]
