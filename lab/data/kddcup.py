"""KDD Cup 1999: two Parquet files and a schema become one table of 122 columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.data.files import Arrays

NORMAL = "normal."


@dataclass(frozen=True)
class Schema:
    """Which columns the table gets, and how many rows of each kind the full training file has."""

    numeric: list[str]
    symbolic: dict[str, list[str]]
    full_counts: dict[str, int]

    @classmethod
    def read(cls, path: Path) -> Schema:
        """Take what is needed from the JSON file."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            numeric = [str(name) for name in found["numeric"]]
            symbolic = {str(name): [str(level) for level in levels] for name, levels in found["symbolic"].items()}
            counts = {str(label): int(count) for label, count in found["full_train_class_counts"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"The file {str(path)!r} should be JSON with numeric, symbolic and full_train_class_counts: "
                f"{type(error).__name__}, {error}."
            ) from None
        return cls(numeric, symbolic, counts)

    @property
    def names(self) -> list[str]:
        """The names of all columns, one for each level of a symbolic attribute."""
        return self.numeric + [f"{name}={level}" for name, levels in self.symbolic.items() for level in levels]


def read(train: Path, test: Path, schema_file: Path) -> Arrays:
    """Join the two parts; training rows weigh what they stand for in the full file, test rows 1."""
    schema = Schema.read(schema_file)
    parts = [_table(path, schema) for path in (train, test)]
    cut, rows = parts[0].num_rows, sum(part.num_rows for part in parts)
    X = np.zeros((rows, len(schema.names)), dtype=np.float32)
    y, weights, texts = np.empty(rows, dtype=np.int64), np.ones(rows), []
    for path, part, place in ((train, parts[0], slice(cut)), (test, parts[1], slice(cut, rows))):
        try:
            _fill(X[place], part, schema)
            kinds, labels = _labels(part)
        except (ValueError, TypeError, NotImplementedError) as error:  # those of pyarrow are all one of these
            raise ValueError(f"The file {str(path)!r} does not hold what the schema says: {error}.") from None
        y[place] = np.where(np.array([label != NORMAL for label in labels], dtype=bool)[kinds], 1, -1)
        texts.append(np.array(labels)[kinds])
        if part is parts[0]:
            weights[place] = _weights(kinds, labels, schema, path)
    more = {"is_test": np.arange(rows) >= cut, "labels": np.concatenate(texts), "weights": weights}
    return {"X": X, "y": y, "feature_names": schema.names, **more}


def _table(path: Path, schema: Schema) -> Any:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ImportError("The files of kddcup99 need pyarrow: pip install 'frugalboost[parquet]'.") from None
    wanted = [*schema.numeric, *schema.symbolic, "label"]
    try:
        lacking = set(wanted) - set(parquet.read_schema(path).names)
        table = None if lacking else parquet.read_table(path, columns=wanted)
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise ValueError(f"The file {str(path)!r} can't be read as Parquet: {reason}.") from None
    if lacking:
        raise ValueError(f"The file {str(path)!r} lacks the column {min(lacking)!r}.")
    return table


def _fill(X: NDArray[np.float32], table: Any, schema: Schema) -> None:
    """Write the columns of one part; a level that is not in the schema has no column."""
    import pyarrow
    import pyarrow.compute

    for j, name in enumerate(schema.numeric):
        X[:, j] = table.column(name).to_numpy()
    begin = len(schema.numeric)
    for name, levels in schema.symbolic.items():
        texts = table.column(name).cast(pyarrow.string())
        place = pyarrow.compute.index_in(texts, value_set=pyarrow.array(levels, pyarrow.string()))
        level = place.fill_null(-1).to_numpy()
        known = np.flatnonzero(level >= 0)
        X[known, begin + level[known]] = 1
        begin += len(levels)


def _labels(table: Any) -> tuple[NDArray[np.int32], list[str]]:
    """For each row the place of its label in a list, and that list."""
    import pyarrow

    texts = table.column("label").cast(pyarrow.string())
    if texts.null_count:
        raise ValueError(f"{texts.null_count} rows have no label")
    coded = texts.combine_chunks().dictionary_encode()
    kinds: NDArray[np.int32] = coded.indices.to_numpy()
    return kinds, coded.dictionary.to_pylist()


def _weights(kinds: NDArray[np.int32], labels: list[str], schema: Schema, path: Path) -> NDArray[np.float64]:
    unknown = [label for label in labels if schema.full_counts.get(label, 0) <= 0]
    if unknown:
        raise ValueError(
            f"The file {str(path)!r} has rows labelled {unknown[0]!r}, of which the schema does not tell how many "
            "there are in the full training file."
        )
    counts = np.bincount(kinds, minlength=len(labels))
    each: NDArray[np.float64] = np.array([schema.full_counts[label] for label in labels]) / counts
    return each[kinds]
