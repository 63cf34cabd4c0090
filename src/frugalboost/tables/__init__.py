"""Tables of every form as the core reads them: dense, sparse, with categories, or batch by batch.

All kinds of tables have the same few methods: their size, some of their rows, their values for the core. Users do not
see these objects.
"""

from frugalboost.tables.kinds import DenseTable, FrameTable, SparseTable, Table
from frugalboost.tables.levels import Levels

__all__ = ["DenseTable", "FrameTable", "Levels", "SparseTable", "Table"]
