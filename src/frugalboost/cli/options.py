"""The options of the commands: names, bounds and help."""

from __future__ import annotations

from typing import Annotated

import typer

from frugalboost.recipe.options import LARGEST_SEED, Rule, TaskKind

TABLE = (
    "CSV, TSV, Parquet, Arrow/Feather or LIBSVM file; - for CSV from standard input; a folder or pattern of Parquet "
    "files."
)
RULES = "min: the lowest error; 1se: the cheapest within one standard error of it; paired: the same by differences."

TableArgument = Annotated[str, typer.Argument(help=TABLE, show_default=False)]
ModelArgument = Annotated[str, typer.Argument(help="A model file, or the folder of a run.", show_default=False)]
RunArgument = Annotated[str, typer.Argument(help="The folder of a run.", show_default=False)]

Target = Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")]
OutFolder = Annotated[
    str | None, typer.Option("--out", "-o", help="Folder for the results.  [default: TABLE's name + '_selected']")
]
K = Annotated[int | None, typer.Option("--k", "-k", min=1, help="Exactly so many features.")]
Mu = Annotated[float | None, typer.Option(min=0.0, help="This price of a feature instead of a chosen one.")]
RuleOption = Annotated[Rule, typer.Option(help=RULES)]
Sell = Annotated[
    bool, typer.Option("--sell/--no-sell", help="Try as many features by buying more and selling the weakest back.")
]
Costs = Annotated[str | None, typer.Option(help="CSV (feature,price) or TOML file with prices.")]
BagsOption = Annotated[
    str | None, typer.Option(help="CSV (feature,bag) or TOML file: the first feature of a bag pays for all.")
]
Budget = Annotated[float | None, typer.Option(min=0.0, help="The most that may be paid in all.")]
Ids = Annotated[list[str] | None, typer.Option("--id", help="A column that is no feature; may be given again.")]
Weight = Annotated[str | None, typer.Option(help="The column of weights.")]
Test = Annotated[str | None, typer.Option(help="A table to judge by besides, as TABLE.")]
TaskOption = Annotated[TaskKind, typer.Option(help="What kind of target it is.")]
Scoring = Annotated[str | None, typer.Option(help="Any score of scikit-learn, such as roc_auc.")]
Trees = Annotated[int, typer.Option(min=1, help="The most trees.")]
Depth = Annotated[
    int | None, typer.Option(min=1, help="The deepest tree.  [default: 4; with more columns than rows 1, 2 or 4]")
]
LearningRate = Annotated[float, typer.Option(min=1e-6, help="Factor on every tree.")]
Leaf = Annotated[int | None, typer.Option(min=1, help="Rows in a leaf at least.  [default: 20, fewer on small tables]")]
Splits = Annotated[int, typer.Option(min=2, help="Random splits of cross-validation.")]
Points = Annotated[int, typer.Option(min=2, help="Models on the path.")]
Sample = Annotated[
    int | None,
    typer.Option(min=0, help="Rows to choose by; 0: all.  [default: 50,000, fewer for more than 2 classes]"),
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Decides the splits.")]
ThreadsOfSelect = Annotated[
    int | None, typer.Option(min=1, help="Threads; results do not depend on it.  [default: all cores]")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads.  [default: all cores]")]
Header = Annotated[bool, typer.Option("--header/--no-header", help="Whether CSV begins with names.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result and errors.")]

OutTable = Annotated[str | None, typer.Option("--out", "-o", help="CSV file.  [default: standard output]")]
Proba = Annotated[bool, typer.Option("--proba", help="The probability of every class besides.")]
CopiedIds = Annotated[
    list[str] | None, typer.Option("--id", help="A column to copy beside the predictions; may be given again.")
]
OutPage = Annotated[str | None, typer.Option("--out", "-o", help="HTML file.  [default: report.html there]")]
Show = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]
DemoMu = Annotated[float, typer.Option(min=0.0, help="Price of a feature.")]
DemoSeed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Which patients are held out.")]
