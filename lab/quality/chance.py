"""What a split and a line gain by chance: gradients that have nothing to do with the column.

python -m lab.quality.chance
"""

from __future__ import annotations

import argparse

import numpy as np

ROWS, DRAWS = 80, 2000


def gains(rng: np.random.Generator, leaf: int) -> tuple[float, float]:
    """Gain of the line, and of the best split with this number of rows in a leaf, on random gradients."""
    g = rng.normal(size=ROWS)
    g -= g.mean()
    z = np.sort(rng.normal(size=ROWS))
    z = (z - z.mean()) / z.std()
    left = np.arange(1, ROWS)
    splits = 0.5 * np.cumsum(g)[:-1] ** 2 * (1 / left + 1 / (ROWS - left))
    return float(0.5 * (g @ z) ** 2 / ROWS), float(splits[(left >= leaf) & (left <= ROWS - leaf)].max())


def main() -> None:
    """Print how much more a split gains on average."""
    argparse.ArgumentParser("python -m lab.quality.chance", description=__doc__.splitlines()[0]).parse_args()
    for leaf in (20, 5):
        rng = np.random.default_rng(0)
        line, split = np.mean([gains(rng, leaf) for _ in range(DRAWS)], axis=0)
        print(
            f"{ROWS} rows, leaves of {leaf} or more: the best split gains {split / line:.1f} times as much as the line"
        )


if __name__ == "__main__":
    main()
