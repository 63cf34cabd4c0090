"""Tables as users hold them, and as the core reads them: dense, sparse, with categories, or batch by batch.

A table answers a few questions (how large, some of its rows, its values for the core), whatever it is made of. Users
do not meet these objects.
"""

from frugalboost.tables.kinds import DenseTable, FrameTable, SparseTable, Table
from frugalboost.tables.levels import Levels

__all__ = ["DenseTable", "FrameTable", "Levels", "SparseTable", "Table"]
