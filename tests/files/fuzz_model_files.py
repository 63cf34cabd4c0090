"""Model files with something wrong in them, behind a right checksum.

``python tests/files/fuzz_model_files.py 20000 [SEED]`` makes models of many kinds, changes something in the header, the
description or the arrays of their files, loads them, and uses what loads. A file must be refused with a ModelFileError
or be as good as any other; all else is a finding: another error, much time, much memory. Case ``i`` of a seed is always
the same: ``python tests/files/fuzz_model_files.py --case I [SEED]`` runs it alone and shows what comes of it. The test
suite runs a few hundred.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import importlib.util
import json
import math
import os
import random
import re
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import frugalboost
from frugalboost import GBFSClassifier, GBFSClassifierCV, GBFSRegressor, GBFSSurvival, ModelFileError
from frugalboost.costs import Bags, Prices
from frugalboost.estimators.notebook import bought
from frugalboost.losses import Huber, Quantile, Tweedie
from frugalboost.report.tree import first_tree

KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "U8": "|u1"}
NAMES = {np.dtype(v): k for k, v in KINDS.items()}
MOST_SECONDS = 5.0
MOST_BYTES = 50e6  # beside fifty times the file
IN_THE_WAY = (TypeError, ValueError, KeyError, IndexError, OverflowError)  # an earlier change is, of a second one


# --------------------------------------------------------------------------------------------- files to begin with


def table(rows=120, columns=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns)).round(2)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] = rng.integers(0, 7, rows)
    score = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) * np.nan_to_num(X[:, 2]) + (X[:, 5] > 3)
    return X, score


def named(model, names):
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def models():
    X, score = table()
    two, three = (score > 0).astype(int), np.digitize(score, [-0.3, 0.8])
    small = {"max_iter": 4, "min_samples_leaf": 5, "n_jobs": 1}
    yield named(
        GBFSClassifier(0.0, costs=[1.0, 2.0, 1.0, 1.0, 0.5, 1.0], **small).fit(X, np.array(["no", "perhaps"])[two]),
        ["age", "weight", "größe", "<b>", "a b", "last"],
    )
    weights = {0: 1.0, 1: 2.0, 2: 1.0}
    yield GBFSClassifier(0.001, class_weight=weights, **small).fit(X, three, X_val=X, y_val=three)
    yield GBFSClassifier(0.0, **small).fit(X, np.array(["a", "b", "c"], dtype=object)[three])
    yield GBFSRegressor(0.0, loss=Quantile(0.7), warm_start=True, **small).fit(X, score)
    yield GBFSRegressor(0.0, loss=Huber(), categorical_features=[5], warm_start=True, **small).fit(X, score)
    yield GBFSRegressor(0.0, loss="poisson", max_depth=None, random_state=3, **small).fit(X, np.exp(score))
    yield GBFSRegressor(0.0, loss=Tweedie(1.2), **small).fit(X, np.maximum(score, 0.0))
    drawn_rows = {"subsample": 0.5, "max_features": "sqrt", "scoring": "accuracy", "warm_start": True}
    stopped = GBFSClassifier(0.0, **drawn_rows, callbacks=[lambda state: state.iteration == 3], **small)
    yield stopped.fit(X, two, X_val=X, y_val=two)
    yield GBFSRegressor(n_features_to_select=2, average=3, **small).fit(X, score)
    yield GBFSClassifier(0.001, refit=True, categorical_features=[5], **small).fit(X, two.astype(bool))
    yield GBFSClassifierCV(GBFSClassifier(**small), n_mus=3, cv=2, n_jobs=1).fit(X, two).estimator_
    prices = Bags([0, 0, 1, 1, 2, 2]) + Prices({0: 3.0}, unit="euro")
    yield GBFSRegressor(1e-4, costs=prices, budget=np.inf, **small).fit(X, score)
    drawn = {"new_features": 0.3, "warm_start": True, "random_state": 1}  # the file has where the draw stands
    yield GBFSRegressor(0.0, **drawn, **small).fit(X, score)
    yield GBFSClassifier(0.0, **drawn, **small).fit(X, three)
    yield GBFSRegressor(0.0, base="lines", categorical_features=[5], warm_start=True, **small).fit(X, score)
    yield GBFSClassifier(0.0, base="lines", **small).fit(X, three)
    yield GBFSRegressor(0.0, base="both", **{**small, "max_iter": 12}).fit(X, X[:, 5] + 4 * (score > 0))
    yield GBFSRegressor(n_features_to_select=2, base="lines", line_scale="values", **small).fit(X, score)
    yield GBFSRegressor(0.0, base="both", **small).fit(X, np.column_stack([score, X[:, 5], 1e6 * score]))
    yield GBFSSurvival(0.0, warm_start=True, **small).fit(X, np.where(two == 1, 1.0, -1.0) * np.exp(score))


@dataclass
class File:
    """A model file taken apart. ``description`` is JSON as it is stored, with its marks."""

    description: dict
    arrays: dict[str, np.ndarray]
    tinker: list = field(default_factory=list)  # what is to be done to header, texts and bytes when it is put together

    @classmethod
    def of(cls, content):
        (length,) = struct.unpack("<Q", content[:8])
        header, body = json.loads(content[8 : 8 + length]), content[8 + length :]
        description = json.loads(header.pop("__metadata__")["model"])
        arrays = {
            name: np.frombuffer(body[slice(*entry["data_offsets"])], dtype=KINDS[entry["dtype"]]).copy()
            for name, entry in header.items()
        }
        return cls(description, arrays)

    def content(self):
        body, header = b"", {}
        for name in sorted(self.arrays):
            array = self.arrays[name]
            block = array.tobytes()
            place = [len(body), len(body) + len(block)]
            header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": place}
            body += block
        parts = {"header": header, "body": body, "text": json.dumps(self.description), "version": "2"}
        for change in self.tinker:
            with contextlib.suppress(*IN_THE_WAY):
                change(parts)
        text = parts["text"]
        digest = hashlib.sha256(text.encode(errors="surrogatepass") + parts["body"]).hexdigest()
        meta = {"format": "frugalboost", "format_version": parts["version"], "model": text, "sha256": digest}
        head = json.dumps({**parts["header"], "__metadata__": meta})
        head = parts.get("raw_header", lambda h: h)(head).encode(errors="surrogatepass")
        return struct.pack("<Q", len(head)) + head + parts["body"]


# -------------------------------------------------------------------------------------------------------- mutations


# Values that do not belong where they are put, or that might; one is a word.
ODD_WORDS = r"""
null true false -1 0 1 2 255 2147483648 9223372036854775808 18446744073709551616 -1e30 0.0 1.5 -2.5 1e308 0.7
"" "x" "nan" "0" "\ud800" "a\u0000" "log_loss" "huber" "squared_error" "balanced" "auto" "absolute" "GBFSRegressor"
"GBFSSurvival" "cox"
[] {} [[]] [[1],[2,3]] [0,1,2] [1.5,2.5] ["a","b"] [true] {"":0} {"a":1} {"age":2.5} {"0":[]}
{"$float":"nan"} {"$float":"-inf"} {"$float":"inf"} {"$float":1} {"$float":[]} {"$float":"nan","more":1} {"$what":1}
{"$map":[[1,2]]} {"$map":[[1,2],[1.0,3]]} {"$map":[[[],2]]} {"$map":[1]} {"$map":3} {"$map":[[{"$float":"nan"},1]]}
{"$array":["<i8",[1,2]]} {"$array":["<U9",["a","b"]]} {"$array":["<U999999999",["a","b"]]} {"$array":["<U1",["ab","c"]]}
{"$array":["|O",[[1],[2,3]]]} {"$array":["|O",[1,"b",2.5]]} {"$array":["<i4",[1000000000000000000000000000000,1]]}
{"$array":["<f4",[1e300,1.0]]} {"$array":["<M8[s]",[0,1]]} {"$array":["|b1",[true,false]]} {"$array":["<i8",[1,1]]}
{"$array":["<f8",[{"$float":"nan"},1.0]]} {"$array":[]} {"$array":"x"}
{"$array":[[],[]]} {"$float":{"$array":["|O",[]]}}
{"built_in":"quantile","level":2} {"built_in":"quantile","level":0.2} {"built_in":"huber","delta":"x"} {"built_in":[]}
{"own":"Mine"} {"own":1} {"forward":1}
{"n_features":[1],"loss":[1.0],"sold":[[99]]} {"n_features":[1],"loss":[1],"sold":[]}
"""
ODD = [
    *ODD_WORDS.split(),
    str(10**400),
    json.dumps("x" * 3000),
    "[" * 20 + "]" * 20,
    "[" * 200 + "]" * 200,
    json.dumps(list(range(5000))),
]


def odd_value(rng):
    return json.loads(rng.choice(ODD))


def places(value, path=()):
    """Every place in a tree of lists and mappings, by the keys that lead there; long lists are sampled."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for i in range(min(len(value), 6)):
            yield from places(value[i], (*path, i))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def change_description(rng, file):
    path = rng.choice([p for p in places(file.description) if p])
    parent, key = at(file.description, path[:-1]), path[-1]
    value = parent[key]
    kind = rng.randrange(8)
    if kind <= 2:
        parent[key] = odd_value(rng)
    elif kind == 3:
        del parent[key]
    elif kind == 4:
        other = rng.choice([p for p in places(file.description) if p])
        parent[key] = copy.deepcopy(at(file.description, other))
    elif kind == 5 and isinstance(value, list):
        parent[key] = rng.choice(
            [value[::-1], value[:-1], [*value, *value], [value], value * 50, [*value, odd_value(rng)]]
        )
    elif kind == 5 and isinstance(value, dict):
        value[rng.choice(["n_jobs", "extra", "$float", "", *value])] = odd_value(rng)
    elif isinstance(value, bool):
        parent[key] = not value
    elif isinstance(value, int | float):
        parent[key] = rng.choice([value + 1, value - 1, -value, value * 1000, str(value), [value]])
    elif isinstance(value, str):
        parent[key] = rng.choice([value + "x", value[:-1], value.upper(), value * 100, [value]])
    else:
        parent[key] = odd_value(rng)


def change_param(rng, file):
    params = file.description.get("params")
    if isinstance(params, dict) and params:
        name = rng.choice([*params, "n_jobs", "verbose", "bins_folder", "screening", "surprise"])
        params[name] = odd_value(rng)


def change_draw(rng, file):
    """Where the draw of new features stands; in other files something of the description."""
    draw, gains = file.description.get("draw"), file.arrays.get("draw.gains")
    if not isinstance(draw, dict) or not draw:
        change_description(rng, file)
    elif gains is not None and len(gains) and rng.random() < 0.4:
        gains[rng.randrange(len(gains))] = rng.choice([np.inf, np.nan, -1.0, 1e308, 5e-324, -0.0])
        if rng.random() < 0.2:
            file.arrays["draw.gains"] = gains[:-1]
    else:
        limits = [0, 1, 2, 3, 5, 2**31, 2**62, 2**63 - 1, 2**63, 2**64, -1, True]
        draw[rng.choice(sorted(draw))] = odd_value(rng) if rng.random() < 0.5 else rng.choice(limits)


def change_text(rng, file):
    """Texts that json.dumps would not write."""

    def change(parts):
        text = parts["text"]
        spot = rng.randrange(max(1, len(text)))
        parts["text"] = rng.choice(
            [
                lambda: text.replace("{", '{"params": 1, "params": 2, ', 1),
                lambda: text.replace("0", "NaN", 1),
                lambda: text.replace("1.", "-Infinity, 1.", 1),
                lambda: text.replace(".0", "e999", 1),
                lambda: text.replace("0", "9" * 5000, 1),
                lambda: text.replace("0", "9" * 400, 1),
                lambda: text[:spot] + rng.choice('{}[]",:0x\\') + text[spot:],
                lambda: text[:spot] + text[spot + rng.randrange(1, 40) :],
                lambda: text[:spot],
                lambda: "[" * 100_000,
                lambda: '{"a":' * 100_000,
                lambda: text + " " * 1000,
                lambda: "[]",
                lambda: text.replace('"', "\ud800", 1),
            ]
        )()

    file.tinker.append(change)


def odd_number(rng, array):
    if rng.random() < 0.4:  # one that might be right
        return rng.choice(array.tolist())
    numbers = [0, 1, -1, 2, 3, len(array), 127, 255, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 31, 32]
    if array.dtype.kind == "f":
        numbers += [math.nan, math.inf, -math.inf, 1e308, -1e-300, 0.5]
    elif array.dtype.kind == "u":
        return rng.randrange(256)
    else:
        limits = np.iinfo(array.dtype)
        numbers = [min(max(v, limits.min), limits.max) for v in numbers]
    return rng.choice(numbers)


def change_array(rng, file):
    if not file.arrays:
        return
    name = rng.choice(sorted(file.arrays))
    array = file.arrays[name]
    kind = rng.randrange(10)
    if kind <= 3 and len(array):
        for _ in range(rng.choice([1, 1, 2, 5])):
            array[rng.randrange(len(array))] = odd_number(rng, array)
    elif kind == 4 and len(array) > 1:
        a, b = rng.sample(range(len(array)), 2)
        array[[a, b]] = array[[b, a]]
    elif kind == 5:
        file.arrays[name] = rng.choice([array[:-1], array[:0], np.concatenate([array, array[:3]]), array[::-1].copy()])
    elif kind == 6:
        with np.errstate(all="ignore"):
            file.arrays[name] = array.astype(KINDS[rng.choice(sorted(KINDS))])
    elif kind == 7:
        file.arrays[name] = file.arrays[rng.choice(sorted(file.arrays))].copy()
    elif kind == 8:
        file.arrays[rng.choice(["extra", "ensemble.", "thresholds.cuts", "thresholds.offsets"])] = array
    elif len(array):
        array[:] = odd_number(rng, array)
    if rng.random() < 0.03:
        del file.arrays[name]


NODES = ("feature", "left", "missing_left", "threshold", "value", "gain", "weight", "level_set")
OF_LINES = ("line", "slope")  # also by node, in models with lines
SCALES = ("feature", "begin", "cuts", "scores")


def change_tree(rng, file):
    """Changes that leave the lengths of the arrays in step."""
    by_node = (*NODES, *(n for n in OF_LINES if f"ensemble.{n}" in file.arrays))
    trees = {n: file.arrays.get(f"ensemble.{n}") for n in (*by_node, "tree_begin")}
    if any(a is None or not len(a) for a in trees.values()) or len({len(trees[n]) for n in by_node}) > 1:
        return
    node = rng.randrange(len(trees["feature"]))
    splits = np.flatnonzero(trees["feature"] >= 0)
    kind = rng.randrange(7)
    if kind == 0 and len(splits) > 1:  # children that are shared, or in each other's place
        a, b = rng.sample(splits.tolist(), 2)
        trees["left"][a], trees["left"][b] = trees["left"][b], rng.choice([trees["left"][a], trees["left"][b]])
    elif kind == 1:  # a split that leads somewhere
        trees["feature"][node], trees["left"][node] = 0, rng.choice([0, 1, 2, 5, node, node + 1])
    elif kind == 2:  # a leaf in place of a split
        trees["feature"][node] = trees["left"][node] = -1
    elif kind == 3:  # one node more, or less, at the end
        for name in by_node:
            array = trees[name]
            file.arrays[f"ensemble.{name}"] = rng.choice([np.concatenate([array, array[-1:]]), array[:-1]])
        trees["tree_begin"][-1] = len(file.arrays["ensemble.feature"])
    elif kind == 4 and len(splits):
        trees["level_set"][rng.choice(splits.tolist())] = rng.choice([-1, 0, 1, 5, 10**6])
    elif kind == 5:  # the last tree is missing
        cut = int(trees["tree_begin"][-2]) if len(trees["tree_begin"]) > 1 else 0
        for name in by_node:
            file.arrays[f"ensemble.{name}"] = trees[name][: max(cut, 0)]
        file.arrays["ensemble.tree_begin"] = trees["tree_begin"][:-1]
    elif len(splits):
        trees["feature"][rng.choice(splits.tolist())] = rng.choice([0, 1, 5, 6, 2**31 - 1])


def change_lines(rng, file):
    """Scales, and which lines are drawn on them; in files without lines something of a tree."""
    scales = {n: file.arrays.get(f"scales.{n}") for n in SCALES}
    line, slope = (file.arrays.get(f"ensemble.{n}") for n in OF_LINES)
    parts = [*scales.values(), line, slope]
    if any(a is None or not len(a) for a in parts):
        change_tree(rng, file)
        return
    node, scale = rng.randrange(len(line)), rng.randrange(len(scales["feature"]))
    kind = rng.randrange(9)
    if kind == 0:  # a line on another scale, or none, or one on a tree
        line[node] = rng.choice([-2, -1, 0, 1, len(scales["feature"]), 2**31 - 1])
    elif kind == 1:
        slope[rng.choice([slice(None), node])] = rng.choice([*EXTREMES, -1e308, np.nan, np.inf])
    elif kind == 2:
        scales["feature"][scale] = rng.choice([-1, 0, 1, 5, 6, 2**31 - 1])
    elif kind == 3:
        place = rng.randrange(len(scales["begin"]))
        scales["begin"][place] = rng.choice([-1, 0, 1, scales["begin"][place] + 1, len(scales["cuts"]), 2**62])
    elif kind == 4:
        array = scales[rng.choice(["cuts", "scores"])]
        array[rng.choice([slice(None), rng.randrange(len(array))])] = rng.choice([*EXTREMES, -1.0, np.nan, -np.inf])
    elif kind == 5:
        file.arrays["scales.cuts"] = scales["cuts"][::-1].copy()
    elif kind == 6:  # the last scale is missing, or a scale without thresholds is more
        fewer = rng.random() < 0.5
        end = len(scales["cuts"])
        end = int(np.clip(scales["begin"][-2], 0, end)) if fewer else end
        number = len(scales["feature"]) - 1 if fewer else len(scales["feature"]) + 1
        file.arrays["scales.feature"] = np.resize(scales["feature"], number)
        file.arrays["scales.begin"] = scales["begin"][:-1] if fewer else np.append(scales["begin"], end)
        file.arrays["scales.cuts"] = scales["cuts"][:end]
        file.arrays["scales.scores"] = np.resize(scales["scores"], end + number)
    elif kind == 7:  # a file of an earlier version, or half of one
        for name in rng.choice(
            [["ensemble.line", "ensemble.slope"], [f"scales.{n}" for n in SCALES], ["scales.begin"]]
        ):
            del file.arrays[name]
    else:  # equal scores, or scores on one side of zero
        scores = file.arrays["scales.scores"]
        scores[:] = rng.choice([0.0, 1.0, np.abs(scores), -np.abs(scores), scores[::-1].copy()])


EXTREMES = (0.0, 1.0, 1e-320, 1e-12, 0.5, 1e15, 1e308)


def change_gently(rng, file):
    """Changes that are allowed, some of them extreme."""
    arrays = file.arrays
    kind = rng.randrange(6)
    name = rng.choice([n for n in sorted(arrays) if arrays[n].dtype.kind == "f"] or [""])
    if kind <= 2 and name and len(arrays[name]):
        place = rng.choice([slice(None), rng.randrange(len(arrays[name]))])
        arrays[name][place] = rng.choice(EXTREMES) * rng.choice([1, 1, -1])
    elif kind == 3 and len(arrays.get("ensemble.missing_left", [])):
        arrays["ensemble.missing_left"][:] ^= 1
    elif kind == 4 and len(arrays.get("ensemble.sets", [])):
        arrays["ensemble.sets"][:] = rng.choice([0, 255, rng.randrange(256)])
    elif len(arrays.get("purchases.feature", [])) and len(arrays.get("ensemble.feature", [])):
        feature = arrays["ensemble.feature"]
        feature[feature >= 0] = arrays["purchases.feature"][0]
    if rng.random() < 0.3:
        file.description["best_iteration"] = rng.randrange(5)


def chain(rng, file):
    """One tree that is very deep."""
    depth = rng.choice([5, 100, 3000])
    split = np.arange(2 * depth + 1)
    is_split = (split % 2 == 1) | (split == 0)
    is_split[-2:] = False
    file.arrays |= {
        "ensemble.feature": np.where(is_split, 0, -1).astype(np.int32),
        "ensemble.left": np.where(is_split, 2 * np.cumsum(is_split) - 1, -1).astype(np.int32),
        "ensemble.missing_left": np.zeros(len(split), np.uint8),
        "ensemble.level_set": np.full(len(split), -1, np.int32),
        "ensemble.sets": np.zeros(0, np.uint8),
        "ensemble.tree_begin": np.array([0, len(split)]),
        "ensemble.start": np.zeros(1),
        "purchases.feature": np.zeros(1, np.int32),
        "purchases.iteration": np.ones(1, np.int32),
        "purchases.price": np.ones(1),
        "purchases.gain": np.ones(1),
        "curve.n_features": np.array([0, 1], np.int32),
    }
    file.arrays |= {f"ensemble.{n}": np.zeros(len(split)) for n in ("threshold", "value", "gain", "weight")}
    for name in [n for n in file.arrays if n.startswith("scales.") or n in ("ensemble.line", "ensemble.slope")]:
        del file.arrays[name]
    file.arrays |= {f"curve.{n}": np.zeros(2) for n in ("train_loss", "validation_loss", "cost", "prediction_cost")}
    file.description["best_iteration"] = 1


def change_header(rng, file):
    def change(parts):
        header = parts["header"]
        name = rng.choice(sorted(header))
        size = len(parts["body"])
        entry = header[name]
        begin, end = entry["data_offsets"]
        odd = [
            [],
            [0],
            [-1],
            [2**62],
            [1, 2],
            [0, 2**62],
            [2**40] * 3,
            [1] * 70,
            [10**400],
            [1.0],
            [True],
            ["1"],
            [[1]],
            None,
            "x",
            {},
        ]
        offsets = [
            [0, size],
            [begin, end + 1],
            [begin + 8, end],
            [end, begin],
            [-8, end],
            [begin - 8, end - 8],
            [size, size],
        ]
        rng.choice(
            [
                lambda: entry.update(dtype=rng.choice(["F64", "F32", "U8", "F16", "BOOL", "", None, [], {}, 1])),
                lambda: entry.update(shape=rng.choice(odd)),
                lambda: entry.update(data_offsets=rng.choice([*odd, *offsets, *offsets])),
                lambda: entry.pop(rng.choice(sorted(entry))),
                lambda: header.update({name: rng.choice([None, [], 1, "x", {}])}),
                lambda: header.update({f"z{i}": dict(entry) for i in range(rng.choice([1, 1000]))}),
                lambda: header.update({"none": {"dtype": "U8", "shape": [0], "data_offsets": [size, size]}}),
                lambda: parts.update(version=rng.choice(["1", "3", "0", "-1", "two", "9" * 5000, 2, None, [], "٣"])),
                lambda: parts.update(body=parts["body"] + bytes(rng.choice([1, 8, 10**6]))),
                lambda: parts.update(body=parts["body"][: -rng.choice([1, 8])]),
                lambda: parts.update(raw_header=lambda h: h.replace("{", '{"a": 1, "a": 1, ', 1)),
                lambda: parts.update(raw_header=lambda h: h[: rng.randrange(len(h))]),
                lambda: parts.update(raw_header=lambda h: "[" * 10**5 + h),
                lambda: parts.update(raw_header=lambda h: h + " " * rng.randrange(20)),
                lambda: parts.update(raw_header=lambda h: h.replace("0", "NaN", 1)),
            ]
        )()

    file.tinker.append(change)


BOMBS = [  # small texts that could stand for much
    lambda n: [{"": 0} for _ in range(n)],
    lambda n: [[0] for _ in range(n)],
    lambda n: {"$array": ["<U9999", ["y" * 9999] + ["n"] * n]},
    lambda n: {"x": {"$array": ["<U1", [["y" * n] + ["n"] * n]]}},
    lambda n: [{"$array": ["<U900", ["a"] * 100]} for _ in range(n // 100)],
    lambda n: {str(i): i for i in range(n)},
    lambda n: {"$map": [[i, i] for i in range(n)]},
    lambda n: ["😀" + "x" * n],
]


def bomb(rng, file):
    """Something that could take much memory."""
    where = rng.choice(["selling", "refit_scores", "classes", "feature_names", "unheard of", "levels", "params"])
    file.description[where] = rng.choice(BOMBS)(20_000)


MUTATIONS = [change_description] * 5 + [change_param] * 2 + [change_array] * 5 + [change_tree] * 4 + [change_lines] * 4
MUTATIONS += [change_header] * 3
MUTATIONS += [change_text, *[change_draw] * 2, *[change_gently] * 8]
SELDOM = [chain, bomb]


def mutated(rng, file):
    file = copy.deepcopy(file)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        with contextlib.suppress(*IN_THE_WAY):
            rng.choice(SELDOM if rng.random() < 0.02 else MUTATIONS)(rng, file)
    return file.content()


# ---------------------------------------------------------------------------------------------------------- the check


class Fuzzer:
    """Files, and what became of their mutations."""

    def __init__(self, seed, folder, *, check_memory=True):
        self.seed, self.path, self.again = seed, Path(folder) / "model.frugal", Path(folder) / "again.frugal"
        self.files = []
        self.counts, self.reasons = Counter(), Counter()
        self.findings = {}  # what was found: the first case of it, and how many
        self.X = table()[0][:7]
        self.X[0] = np.nan
        self.X[1] = 1e300
        for model in models():
            model.save(self.path)
            self.files.append(File.of(self.path.read_bytes()))
            self.path.write_bytes(self.files[-1].content())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.use(frugalboost.load(self.path), exports=True)
        self.memory = peak() if check_memory else None

    def content_of(self, case):
        rng = random.Random(f"{self.seed}-{case}")
        return mutated(rng, rng.choice(self.files))

    def run(self, case):
        content = self.content_of(case)
        self.path.write_bytes(content)
        began = time.perf_counter()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                outcome = self.attempt(exports=case % 10 == 0)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            self.found(f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {error}"[:200], case)
            outcome = "failed"
        self.counts[outcome] += 1
        if time.perf_counter() - began > MOST_SECONDS:
            self.found("it took long", case)
        if self.memory is not None and peak() > self.memory + 50 * len(content) + MOST_BYTES:
            self.found(f"it took {(peak() - self.memory) / 1e6:.0f} MB for {len(content) / 1e6:.1f} MB", case)
            self.memory = peak()

    def attempt(self, exports):
        try:
            model = frugalboost.load(self.path)
        except ModelFileError as error:
            self.reasons[check_sentence(str(error), str(self.path))] += 1
            return "refused"
        except ValueError as error:
            if "fitted with a user's own loss" in str(error):
                return "refused"
            raise
        self.use(model, exports)
        return "loaded"

    def use(self, model, exports):
        """Everything cheap that one does with a model; costly things now and then."""
        X = np.resize(self.X, (len(self.X), model.n_features_in_))
        model.predict(X)
        model.transform(X)
        list(model.staged_predict(X))
        model.get_feature_names_out()
        repr(model)
        bought(model)
        assert model.base_ in ("trees", "lines", "both")
        first_tree(model, [str(i) for i in range(model.n_features_in_)])
        assert (model.n_jobs, model.verbose, model.bins_folder, model.screening) == (None, 0, None, "auto")
        assert len(model.history_["bought"]) == model.n_iter_ + 1
        try:
            model.prediction_cost(X)
        except ValueError as error:
            if "cost" not in str(error):
                raise
        model.save(self.path)
        frugalboost.load(self.path).save(self.again)
        assert self.path.read_bytes() == self.again.read_bytes(), "saved again it is another file"
        if exports:
            self.export(model)

    def export(self, model):
        from frugalboost.export import to_lightgbm, to_onnx

        for needs, export in (("lightgbm", to_lightgbm), ("onnx", to_onnx)):
            if importlib.util.find_spec(needs):
                try:
                    export(model)
                except ValueError as error:
                    check_sentence(str(error), "")
        go_on(model)

    def found(self, what, case):
        first, number = self.findings.get(what, (case, 0))
        self.findings[what] = (first, number + 1)


def go_on(model):
    """A model is fitted further, or a new one with its settings."""
    X, score = table()
    if model.max_iter > 1000 or model.average > 50:
        return
    y = np.exp(score) if not hasattr(model, "classes_") else np.resize(model.classes_, len(X))
    names = getattr(model, "feature_names_in_", None)
    if names is not None or model.n_features_in_ != X.shape[1]:
        return
    with contextlib.suppress(ValueError, TypeError):
        model.set_params(max_iter=model.n_iter_ + 1, n_jobs=1).fit(X, y)


def check_sentence(text, path):
    """What a refusal says, without the path; it must read like a sentence."""
    said = text.replace(path, "").split(": ", 1)[-1] if path else text
    assert text.endswith((".", "instead.")), f"this is no sentence: {text}"
    assert len(text) < 1000, f"this is too long: {text[:100]}"
    return re.sub(r"Got .*|'[^']*'|parameter '\w+", "...", said)[:100]


def peak():
    """The most memory that this process has had, in bytes."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(arguments):
    alone = "--case" in arguments
    numbers = [int(a) for a in arguments if a.lstrip("-").isdigit()]
    number, seed = numbers[0] if numbers else 1000, numbers[1] if len(numbers) > 1 else 0
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(seed, folder, check_memory="ASAN_OPTIONS" not in os.environ)
        if alone:
            fuzzer.path.write_bytes(fuzzer.content_of(number))
            print(fuzzer.attempt(exports=number % 10 == 0), *fuzzer.reasons)
            return 0
        began = time.time()
        for case in range(number):
            fuzzer.run(case)
            if case % 1000 == 999:
                print(f"{case + 1} cases, {dict(fuzzer.counts)}, {len(fuzzer.findings)} findings", flush=True)
    print(
        f"seed {seed}: {dict(fuzzer.counts)} in {time.time() - began:.0f} s; {len(fuzzer.reasons)} reasons to refuse:"
    )
    for reason, times in fuzzer.reasons.most_common():
        print(f"{times:7d}  {reason}")
    for what, (first, times) in fuzzer.findings.items():
        print(f"FOUND {times} times, first in case {first}: {what}")
    return 1 if fuzzer.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
