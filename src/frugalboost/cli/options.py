"""The options of the commands: names, bounds and help."""

from __future__ import annotations

from typing import Annotated

import typer

from frugalboost.recipe.options import LARGEST_SEED, Device, Rule, TaskKind

TABLE = (
    "CSV, TSV, Excel, Parquet, Arrow/Feather or LIBSVM file, CSV also as .gz or .zip; - for CSV from standard input; a "
    "folder or pattern of Parquet files."
)
RULES = "min: the lowest error; 1se: the cheapest within one standard error of it; paired: the same, split by split."

TableArgument = Annotated[str, typer.Argument(help=TABLE, show_default=False)]
ModelArgument = Annotated[str, typer.Argument(help="A model file, or the folder of a run.", show_default=False)]
RunArgument = Annotated[str, typer.Argument(help="The folder of a run.", show_default=False)]

Target = Annotated[list[str] | None, typer.Option("--target", "-t", help="The column to predict.")]
OutFolder = Annotated[
    str | None, typer.Option("--out", "-o", help="Folder for the results.  [default: TABLE's name + '_selected']")
]
K = Annotated[int | None, typer.Option("--k", "-k", min=1, help="Exactly this number of features.")]
Fewer = Annotated[bool, typer.Option("--fewer", help="With --k: at most that many; held-out rows say where to stop.")]
Mu = Annotated[
    float | None, typer.Option(min=0.0, help="A fixed mu, what a price of 1 weighs, instead of a chosen one.")
]
RuleOption = Annotated[Rule, typer.Option(help=RULES)]
Sell = Annotated[
    bool,
    typer.Option("--sell/--no-sell", help="Also try as many features, chosen by buying more and selling the weakest."),
]
Costs = Annotated[str | None, typer.Option(help="CSV (feature,price) or TOML file with prices.")]
BagsOption = Annotated[
    str | None, typer.Option(help="CSV (feature,bag) or TOML file: the first feature of a bag pays for all.")
]
Budget = Annotated[float | None, typer.Option(min=0.0, help="The highest total cost.")]
Ids = Annotated[list[str] | None, typer.Option("--id", help="A column that is not a feature; may be repeated.")]
Weight = Annotated[str | None, typer.Option(help="The column of weights.")]
Group = Annotated[str | None, typer.Option(help="Rows with the same value in this column share a fold.")]
Time = Annotated[
    str | None, typer.Option(help="Models are judged on later rows than they were fitted on, by this column.")
]
Test = Annotated[str | None, typer.Option(help="A second table, only to measure errors on.")]
TaskOption = Annotated[
    TaskKind, typer.Option(help="The kind of target; count: whole numbers from 0 up, with Poisson loss.")
]
Scoring = Annotated[str | None, typer.Option(help="Any score of scikit-learn, such as roc_auc.")]
Trees = Annotated[int, typer.Option(min=1, help="Maximum number of trees.")]
Depth = Annotated[
    int | None,
    typer.Option(
        min=1, help="Maximum depth of a tree.  [default: 4; with more columns than rows 1, and lines are tried]"
    ),
]
LearningRate = Annotated[float, typer.Option(min=1e-6, help="Factor on every tree.")]
Leaf = Annotated[
    int | None, typer.Option(min=1, help="Minimum number of rows in a leaf.  [default: 20, fewer on small tables]")
]
Splits = Annotated[
    int | None,
    typer.Option(min=2, help="Number of splits of cross-validation.  [default: 5]"),
]
Points = Annotated[
    int | None, typer.Option(min=2, help="Number of models on the path.  [default: 20, on large tables fewer]")
]
Sample = Annotated[
    int | None,
    typer.Option(
        min=0, help="Number of rows used to choose; 0: all.  [default: at most 50,000, fewer on large tables]"
    ),
]
Thorough = Annotated[
    bool, typer.Option("--thorough", help="Fit every model of the path to the end; several times the work.")
]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the random splits.")]
ThreadsOfSelect = Annotated[
    int | None, typer.Option(min=1, help="Number of threads; results do not depend on it.  [default: all cores]")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Number of threads.  [default: all cores]")]
DeviceOption = Annotated[
    Device,
    typer.Option(help="Where trees are grown: cuda is an NVIDIA GPU; results do not depend on it."),
]
Header = Annotated[bool, typer.Option("--header/--no-header", help="Whether the first line of a CSV file holds names.")]
Sheet = Annotated[str | None, typer.Option(help="The sheet of an Excel file.  [default: the first]")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result and errors.")]

OutTable = Annotated[str | None, typer.Option("--out", "-o", help="CSV file.  [default: standard output]")]
Proba = Annotated[bool, typer.Option("--proba", help="Also write the probability of every class.")]
CopiedIds = Annotated[
    list[str] | None, typer.Option("--id", help="A column to copy beside the predictions; may be repeated.")
]
OutPage = Annotated[str | None, typer.Option("--out", "-o", help="HTML file.  [default: report.html there]")]
Show = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]
DemoMu = Annotated[float, typer.Option(min=0.0, help="What a price of 1 weighs.")]
DemoSeed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed that decides which images are held out.")]
