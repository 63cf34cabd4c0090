"""The compiled core of frugalboost."""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class ThreadPart:
    """One part of a table, connected with the others."""

    @property
    def part(self) -> int: ...

    @property
    def parts(self) -> int: ...

    def leave(self) -> None:
        """Leave: all other parts stop with an error."""

    def sum(self, values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Replace whole numbers by their sums over all parts."""

    def gather(self, own: bytes) -> list[bytes]:
        """The bytes of each part, in the order of parts."""

class CarriedPart(ThreadPart):
    """A part of a table whose values an object carries to the others."""

    def __init__(self, part: int, parts: int, carrier: object) -> None: ...

def thread_parts(parts: int) -> list[ThreadPart]:
    """Parts of a table in threads of this process."""

class Source:
    @property
    def shape(self) -> tuple[int, int]: ...

class Table(Source):
    @overload
    def __init__(self, X: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)]) -> None: ...

    @overload
    def __init__(self, rows: int, columns: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]]) -> None: ...

class SparseTable(Source):
    def __init__(self, rows: int, columns: int, values: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], indices: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)], begins: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]) -> None:
        """By column: values, their rows, and where each column begins."""

def weight_shift(weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], part: ThreadPart | None = None) -> int:
    """The grid of all weights of a table: weight = unit / 2^shift."""

class ThresholdFinder:
    def __init__(self, columns: int, most_cells: int, sampled_from: int, rows: int) -> None:
        """rows: of the whole table; 0: not known yet."""

    @overload
    def add(self, X: Table, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shift: int, threads: int) -> None:
        """Add rows, each with its number in the whole table."""

    @overload
    def add(self, X: SparseTable, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shift: int, threads: int) -> None: ...

    def add_parts(self, part: ThreadPart) -> None:
        """Add what other parts of the table have added."""

    def thresholds(self, max_bins: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Thresholds between the bins of every column: (cuts, offsets)."""

@overload
def thresholds_of(X: Table, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shift: int, max_bins: int, most_cells: int, sampled_from: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    The same for a table in memory, some columns at a time. Tables of more than sampled_from rows are sampled.
    """

@overload
def thresholds_of(X: SparseTable, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, shift: int, max_bins: int, most_cells: int, sampled_from: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]: ...

class LineScale(enum.Enum):
    ranks = 0

    values = 1

class BinnedMatrix(Source):
    @overload
    def __init__(self, rows: int, cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], memory: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')] | None) -> None:
        """A matrix of this many rows, to be filled."""

    @overload
    def __init__(self, X: SparseTable, cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], categorical: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int, part: ThreadPart | None = None) -> None: ...

    def fill(self, batch: Table, places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None:
        """
        Bin some rows: row i becomes row places[i]; rows with a negative place are left out.
        """

    def list_sparse(self, threads: int, part: ThreadPart | None = None) -> None:
        """
        After all rows were filled in: make columns sparse in which nearly all rows have the same bin.
        """

    def take(self, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> BinnedMatrix:
        """
        Some columns and rows, None for all; the same as binning that part of the table.
        """

    def score_bins(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scale: LineScale, threads: int, part: ThreadPart | None = None) -> None:
        """Give every bin a score, on which lines are drawn."""

    @property
    def scores(self) -> Annotated[NDArray[numpy.int16], dict(shape=(None,))]:
        """
        The scores of all bins of values, one column after another; empty without lines.
        """

    @scores.setter
    def scores(self, arg: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

    @property
    def n_bins(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
        """How many bins of values each column has."""

    def bins(self, column: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        The bin of every row; missing values are in the bin after those of all values.
        """

    def cuts(self, column: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The thresholds between its bins."""

    def is_categorical(self, column: int) -> bool: ...

    @property
    def bytes(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]:
        """The memory of the bins of dense columns."""

    @property
    def listed_bins(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]:
        """The bins of sparse columns."""

    @property
    def listed_rows(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """The rows of these bins."""

class PriceRule:
    @property
    def prices(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Prices before anything is bought."""

class FeaturePrices(PriceRule):
    def __init__(self, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float, most: float) -> None: ...

class BagPrices(PriceRule):
    def __init__(self, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bags: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bag_prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: float, only_counts: bool = False) -> None: ...

class StagePrices(PriceRule):
    def __init__(self, own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], stage_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stages: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], stage_prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wait_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], waits_for: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], cheaper_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cheaper: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class CallablePrices(PriceRule):
    def __init__(self, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], phi: Callable) -> None: ...

class BagPayer:
    """Which bag pays for each feature, bought one after another."""

    def __init__(self, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bags: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bag_prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def bag_of(self, feature: int) -> int:
        """The bag that would pay now."""

    def buy(self, feature: int) -> int:
        """Buy a feature; returns the bag that pays, which is owned from now on."""

def buy_all(rules: Sequence[PriceRule], features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], budget: float = float('inf'), cheapest_first: bool = False) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Buy features one after another: (features, prices); those that can't be bought are left out.
    """

class Device:
    """A GPU, through the library of a plugin."""

    def __init__(self, library: str, number: int = 0) -> None: ...

    @property
    def name(self) -> str: ...

    @property
    def free_bytes(self) -> int: ...

    @property
    def total_bytes(self) -> int: ...

    @property
    def is_emulated(self) -> bool: ...

class CpuEngine:
    """Computes everything that has one entry per row, on the CPU."""

    def __init__(self, X: BinnedMatrix, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, raw: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, X_val: BinnedMatrix | None, y_val: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights_val: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, raw_val: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: object, loss_parameter: float, outputs: int, min_samples_leaf: float, seed: int, threads: int, part: ThreadPart | None = None, merge: bool = True, targets: int = 1, device: Device | None = None) -> None: ...

    def table(self) -> dict: ...

    def outputs(self) -> int: ...

    def step_limit(self) -> float: ...

    def leaf_quantile(self) -> float: ...

    def best_constant(self) -> list[float]: ...

    def scale(self, output: int) -> tuple: ...

    def constrain(self, trends: Sequence[int]) -> None: ...

    def confine(self, ranges: Sequence[tuple[float, float]]) -> None: ...

    def predict(self, constants: Sequence[float]) -> None: ...

    def predict_as_before(self) -> None: ...

    def losses(self) -> tuple: ...

    def validation_raw(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The raw predictions of the validation rows, output after output."""

    def derive(self) -> None: ...

    def gradients(self, output: int) -> tuple: ...

    def impurity(self, output: int) -> float: ...

    def moved(self, full: Sequence[float], step: Sequence[float]) -> tuple: ...

    def begin_trees(self, signs: Sequence[int], key: int = 0, share: float = 1.0) -> None: ...

    def root(self, tree: int) -> object: ...

    def tree_gradients(self, tree: int) -> tuple: ...

    def probe(self, number: int) -> list[int]: ...

    def gradient_move(self, output: int) -> float: ...

    def begin_level(self, open: Sequence[int], squares: bool) -> list: ...

    def split(self, splits: list, leaves: Sequence[int]) -> list: ...

    def keep_looks(self) -> None: ...

    def remember(self, columns: Sequence[int], flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Rows that looked at columns in a fit that is continued."""

    def looked(self, columns: Sequence[int]) -> list: ...

    def unseen(self, nodes: Sequence[int], columns: Sequence[int]) -> list: ...

    def look(self, node: int, column: int) -> None: ...

    def route(self, splits: list, leaves: Sequence[int]) -> None: ...

    def columns(self, pool: str) -> list: ...

    def own(self, columns: Sequence[int]) -> None: ...

    def offer(self, columns: Sequence[int]) -> None: ...

    def search(self, pool: str, nodes: Sequence[int], deeper: bool) -> list: ...

    def best_split(self, node: int, column: int) -> object: ...

    def cells(self, node: int, column: int) -> list[int]: ...

    def listed(self, tree: int, columns: Sequence[int]) -> list: ...

    def leaf_sums(self, output: int) -> list: ...

    def leaf_quantiles(self, output: int, level: float) -> list[float]: ...

    def score_sums(self, columns: Sequence[int]) -> list: ...

    def score_gradients(self, output: int, columns: Sequence[int]) -> list: ...

    def line_sums(self, output: int, column: int) -> tuple: ...

    def line_quantile(self, output: int, column: int, intercept: float, level: float) -> float: ...

    def curvatures(self, output: int, columns: Sequence[int]) -> list[float]: ...

    def add_line(self, output: int, column: int, value: float, slope: float) -> None: ...

class MuUnit(enum.Enum):
    share = 0

    absolute = 1

class LeafValues(enum.Enum):
    newton = 0

    gradient = 1

class Init(enum.Enum):
    prior = 0

    zero = 1

class Stop(enum.Enum):
    paid = 0

    never = 1

class Screening(enum.Enum):
    off = 0

    exact = 1

    probable = 2

class Base(enum.Enum):
    trees = 0

    lines = 1

    both = 2

class MultiStrategy(enum.Enum):
    one_output_per_tree = 0

    multi_output_tree = 1

class Interactions(enum.Enum):
    all = 0

    none = 1

    pairs = 2

    groups = 3

class Constraints:
    """Trends of columns, and which columns may meet on the way to a leaf."""

    def __init__(self) -> None: ...

    @property
    def trends(self) -> list[int]: ...

    @trends.setter
    def trends(self, arg: Sequence[int], /) -> None: ...

    @property
    def interactions(self) -> Interactions: ...

    @interactions.setter
    def interactions(self, arg: Interactions, /) -> None: ...

    @property
    def groups(self) -> list[list[int]]: ...

    @groups.setter
    def groups(self, arg: Sequence[Sequence[int]], /) -> None: ...

class Params:
    def __init__(self) -> None: ...

    @property
    def mu(self) -> float: ...

    @mu.setter
    def mu(self, arg: float, /) -> None: ...

    @property
    def mu_unit(self) -> MuUnit: ...

    @mu_unit.setter
    def mu_unit(self, arg: MuUnit, /) -> None: ...

    @property
    def learning_rate(self) -> float: ...

    @learning_rate.setter
    def learning_rate(self, arg: float, /) -> None: ...

    @property
    def max_iter(self) -> int: ...

    @max_iter.setter
    def max_iter(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def max_leaf_nodes(self) -> int: ...

    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...

    @property
    def base(self) -> Base: ...

    @base.setter
    def base(self, arg: Base, /) -> None: ...

    @property
    def multi_strategy(self) -> MultiStrategy: ...

    @multi_strategy.setter
    def multi_strategy(self, arg: MultiStrategy, /) -> None: ...

    @property
    def min_samples_leaf(self) -> float: ...

    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: float, /) -> None: ...

    @property
    def l2_regularization(self) -> float: ...

    @l2_regularization.setter
    def l2_regularization(self, arg: float, /) -> None: ...

    @property
    def leaf_values(self) -> LeafValues: ...

    @leaf_values.setter
    def leaf_values(self, arg: LeafValues, /) -> None: ...

    @property
    def init(self) -> Init: ...

    @init.setter
    def init(self, arg: Init, /) -> None: ...

    @property
    def stop(self) -> Stop: ...

    @stop.setter
    def stop(self, arg: Stop, /) -> None: ...

    @property
    def early_stopping(self) -> bool: ...

    @early_stopping.setter
    def early_stopping(self, arg: bool, /) -> None: ...

    @property
    def n_iter_no_change(self) -> int: ...

    @n_iter_no_change.setter
    def n_iter_no_change(self, arg: int, /) -> None: ...

    @property
    def tol(self) -> float: ...

    @tol.setter
    def tol(self, arg: float, /) -> None: ...

    @property
    def screening(self) -> Screening: ...

    @screening.setter
    def screening(self, arg: Screening, /) -> None: ...

    @property
    def new_features(self) -> float: ...

    @new_features.setter
    def new_features(self, arg: float, /) -> None: ...

    @property
    def subsample(self) -> float: ...

    @subsample.setter
    def subsample(self, arg: float, /) -> None: ...

    @property
    def max_features(self) -> float: ...

    @max_features.setter
    def max_features(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

class Progress:
    def __init__(self) -> None: ...

    @property
    def iterations(self) -> int: ...

    @iterations.setter
    def iterations(self, arg: int, /) -> None: ...

    @property
    def validation_losses(self) -> list[float]: ...

    @validation_losses.setter
    def validation_losses(self, arg: Sequence[float], /) -> None: ...

    @property
    def start(self) -> list[float]: ...

    @start.setter
    def start(self, arg: Sequence[float], /) -> None: ...

    @property
    def features(self) -> list[int]: ...

    @features.setter
    def features(self, arg: Sequence[int], /) -> None: ...

    @property
    def prices(self) -> list[float]: ...

    @prices.setter
    def prices(self, arg: Sequence[float], /) -> None: ...

    @property
    def gains(self) -> list[float]: ...

    @gains.setter
    def gains(self, arg: Sequence[float], /) -> None: ...

    @property
    def draw(self) -> DrawState: ...

    @draw.setter
    def draw(self, arg: DrawState, /) -> None: ...

    @property
    def split_last(self) -> bool: ...

    @split_last.setter
    def split_last(self, arg: bool, /) -> None: ...

class DrawState:
    """The state of the draw of features, for a continued fit."""

    def __init__(self) -> None: ...

    @property
    def iterations(self) -> int: ...

    @iterations.setter
    def iterations(self, arg: int, /) -> None: ...

    @property
    def last_look(self) -> int: ...

    @last_look.setter
    def last_look(self, arg: int, /) -> None: ...

    @property
    def bought_then(self) -> int: ...

    @bought_then.setter
    def bought_then(self, arg: int, /) -> None: ...

    @property
    def look_at_all(self) -> bool: ...

    @look_at_all.setter
    def look_at_all(self, arg: bool, /) -> None: ...

    @property
    def gains(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @gains.setter
    def gains(self, arg: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], /) -> None: ...

class Ending(enum.Enum):
    max_iter = 0

    converged = 1

    early_stopping = 2

    callback = 3

class Boosted:
    @property
    def impurity(self) -> float: ...

    @property
    def mu(self) -> float: ...

    @property
    def mu_max(self) -> float: ...

    @property
    def iterations(self) -> int: ...

    @property
    def best_iteration(self) -> int: ...

    @property
    def ending(self) -> Ending: ...

    @property
    def draw(self) -> DrawState: ...

    @property
    def train_loss(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def validation_loss(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def features(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def cost(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def row_cost(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def bought(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def bought_price(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def bought_gain(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def bought_iteration(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def start(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def tree_begin(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def left(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def missing_left(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def value(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def gain(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def weight(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def level_set(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def sets(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]: ...

    @property
    def line(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def slope(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def boost(engine: object, rules: Sequence[PriceRule], budget: float, params: Params, constraints: Constraints, progress: Progress, observer: Callable | None, threads: int, judge: Callable | None = None, row_prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Boosted:
    """Boost trees on an engine; the whole loop runs without Python."""

class RidgeFit:
    @property
    def start(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def slopes(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """By output and column."""

    @property
    def gains(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def train_loss(self) -> float: ...

    @property
    def validation_loss(self) -> float: ...

    @property
    def constant_loss(self) -> float: ...

def fit_ridge(engine: object, columns: Sequence[int], l2s: Sequence[float], start: Sequence[float], threads: int) -> list[RidgeFit]:
    """
    Lines on given columns, all at once, with a penalty on their squared slopes; a fit for each l2.
    """

def fit_one_step(engine: object, columns: Sequence[int], shrinkage: float, start: Sequence[float], threads: int) -> RidgeFit:
    """
    Lines on given columns, all at once: one Newton step with shrunken curvatures, stretched to the least loss.
    """

def best_iteration(validation_losses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tol: float) -> int:
    """The iteration that early stopping keeps."""

def rows_to_sample(X: BinnedMatrix, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, threads: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    The rows that a fit with screening="auto" draws, given the first gradients, in the order in which it searches them.
    """

class Trees:
    def __init__(self, start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tree_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing_left: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], level_set: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], line: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], slope: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale_feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scale_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale_cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale_scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def check(self, features: int) -> None:
        """Raise ValueError where the arrays do not describe trees."""

def add_trees(trees: Trees, X: Source, first: int, last: int, raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], threads: int) -> None:
    """Add trees [first, last) to raw, in place."""

def leaves_of_rows(trees: Trees, X: Source, last: int, threads: int) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """The leaf of every row in the first trees, row after row."""

def path_prices(trees: Trees, X: Source, rules: Sequence[PriceRule], bought: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], paid: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], last: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Cost of the features that each row's paths need: for each row, and the mean after each iteration.
    """

def looked_rows(trees: Trees, X: Source, columns: Sequence[int], last: int, threads: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Whether each row's paths look at each column: flags, column after column.
    """

def row_costs(trees: Trees, X: Source, prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, last: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Prices of the features that each row's paths look at: for each row, and the mean after each iteration.
    """

def losses_without(trees: Trees, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Source, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, fitted_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fitted_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: object, loss_parameter: float, hidden_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], hidden: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], last: int, threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """Mean loss with all features, and with each list of features hidden."""

def mean_loss(raw: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, fitted_y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], fitted_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, loss: object, loss_parameter: float, threads: int) -> float:
    """Mean loss of raw predictions, one row per output."""

def exp(v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """exp with the same bits on every machine."""

def log(v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Natural logarithm of positive, normal numbers, with the same bits on every machine.
    """

def usable_threads(requested: int) -> int:
    """Threads a fit may use; 0 asks for all."""

def instruction_set() -> str:
    """Which copy of the kernels runs here."""
