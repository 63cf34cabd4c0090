"""The commands and their options."""

from __future__ import annotations

import shlex
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from frugalboost.cli.bar import shown
from frugalboost.cli.speaking import put, say, told, warnings_said
from frugalboost.recipe.problems import NOTHING, Problem

if TYPE_CHECKING:
    from frugalboost.recipe.select import Wanted

app = typer.Typer(
    help="Boosted trees that buy the few features they need.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


class Task(StrEnum):
    """What kind of target it is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Rule(StrEnum):
    """How the model is chosen from the path."""

    least = "min"
    one_standard_error = "1se"
    paired = "paired"


def _version(wanted: bool) -> None:
    if wanted:
        from frugalboost import __version__

        with told():
            put(f"frugalboost {__version__}\n")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Boosted trees that buy the few features they need."""


TABLE = (
    "CSV, TSV, Parquet, Arrow/Feather or LIBSVM file; - for CSV from standard input; a folder or pattern of Parquet "
    "files."
)
RULES = "min: the lowest error; 1se: the cheapest within one standard error of it; paired: the same by differences."


@app.command()
def select(
    table: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="Folder for the results.  [default: TABLE's name + '_selected']")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", "-k", min=1, help="Exactly so many features.")] = None,
    mu: Annotated[float | None, typer.Option(min=0.0, help="This price of a feature instead of a chosen one.")] = None,
    rule: Annotated[
        Rule,
        typer.Option(help=RULES),
    ] = Rule.one_standard_error,
    sell: Annotated[
        bool, typer.Option("--sell/--no-sell", help="Try as many features by buying more and selling the weakest back.")
    ] = True,
    costs: Annotated[str | None, typer.Option(help="CSV (feature,price) or TOML file with prices.")] = None,
    bags: Annotated[
        str | None, typer.Option(help="CSV (feature,bag) or TOML file: the first feature of a bag pays for all.")
    ] = None,
    budget: Annotated[float | None, typer.Option(min=0.0, help="The most that may be paid in all.")] = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="A column that is no feature; may be given again.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="The column of weights.")] = None,
    test: Annotated[str | None, typer.Option(help="A table to judge by besides, as TABLE.")] = None,
    task: Annotated[Task, typer.Option(help="What kind of target it is.")] = Task.auto,
    scoring: Annotated[str | None, typer.Option(help="Any score of scikit-learn, such as roc_auc.")] = None,
    trees: Annotated[int, typer.Option(min=1, help="The most trees.")] = 500,
    depth: Annotated[
        int | None, typer.Option(min=1, help="The deepest tree.  [default: 4; with more columns than rows 1, 2 or 4]")
    ] = None,
    learning_rate: Annotated[float, typer.Option(min=1e-6, help="Factor on every tree.")] = 0.1,
    leaf: Annotated[
        int | None, typer.Option(min=1, help="Rows in a leaf at least.  [default: 20, fewer on small tables]")
    ] = None,
    splits: Annotated[int, typer.Option(min=2, help="Random splits of cross-validation.")] = 5,
    points: Annotated[int, typer.Option(min=2, help="Models on the path.")] = 20,
    sample: Annotated[
        int | None,
        typer.Option(min=0, help="Rows to choose by; 0: all.  [default: 50,000, fewer for more than 2 classes]"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Decides the splits.")] = 0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads; results do not depend on it.  [default: all cores]")
    ] = None,
    header: Annotated[bool, typer.Option("--header/--no-header", help="Whether CSV begins with names.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result and errors.")] = False,
) -> None:
    """Choose the features worth paying for, and write a model and a report.

    Writes selected.csv, path.csv, model.frugal and report.html into a folder. Ends with 0; 2 where something is wrong
    with the call or the table, 3 where no feature is worth its price.
    """
    with told():
        from frugalboost.recipe.choosing import Settings
        from frugalboost.recipe.select import Wanted

        settings = Settings(
            k=k,
            mu=mu,
            rule=rule.value,
            sell=sell,
            budget=budget,
            trees=trees,
            depth=depth,
            learning_rate=learning_rate,
            leaf=leaf,
            splits=splits,
            points=points,
            sample=sample,
            seed=seed,
            threads=threads,
        )
        wanted = Wanted(
            table=table,
            target=target,
            weight=weight,
            ids=tuple(ids or ()),
            test=test,
            costs=costs,
            bags=bags,
            task=task.value,
            scoring=scoring,
            header=header,
            settings=settings,
            command=command(),
        )
        carried_out(wanted, out, json, quiet)


def carried_out(wanted: Wanted, out: str | None, json: bool, quiet: bool) -> None:
    """Run, write the folder, print."""
    from frugalboost.cli.printing import as_json, table_text
    from frugalboost.recipe import folder
    from frugalboost.recipe.select import origin_of
    from frugalboost.recipe.select import select as run

    wanted.settings.check()
    tell = (lambda text: None) if quiet else say
    place = folder.ready(out or default_folder(wanted.table))
    folder.check_earlier(place, *origin_of(wanted, place), chosen=out is not None, say=tell)
    with shown(quiet, wanted.settings.splits), warnings_said():
        done = run(wanted, tell, place)
    folder.write(place, done.contents, done.model)
    put(f"{as_json(done.contents, place)}\n" if json else table_text(done.contents, place))
    if not done.contents["chosen"]["features"]:
        raise Problem(
            "No feature is worth its price, or prices, --budget and --leaf allow none: the model is a constant.",
            NOTHING,
        )


def command() -> str:
    """The call, so that it can be made again."""
    return shlex.join(["frugalboost", *sys.argv[1:]]) if "select" in sys.argv[1:] else ""


def default_folder(table: str) -> str:
    """In the working directory, named after the table."""
    from frugalboost.recipe.files import PACKED

    if table == "-":
        return "frugalboost_selected"
    name = Path(table).name
    for ending in (*PACKED, Path(name.removesuffix(".gz")).suffix):
        name = name.removesuffix(ending)
    return f"{name.replace('*', '').strip('-_') or 'frugalboost'}_selected"


@app.command()
def predict(
    model: Annotated[str, typer.Argument(help="A model file, or the folder of a run.", show_default=False)],
    table: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    out: Annotated[str | None, typer.Option("--out", "-o", help="CSV file.  [default: standard output]")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="The probability of every class besides.")] = False,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="A column to copy beside the predictions; may be given again.")
    ] = None,
    header: Annotated[bool, typer.Option("--header/--no-header", help="Whether CSV begins with names.")] = True,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads.  [default: all cores]")] = None,
) -> None:
    """Predict with a model, from the columns it bought. Others need not be there."""
    with told():
        from frugalboost.recipe import folder
        from frugalboost.recipe.predicting import model_file, predictions

        text = predictions(model, table, ids or [], proba, header, threads)
        if out is None:
            put(text)
        else:
            folder.replace(out, text, inputs=[table, model_file(model)])


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="The folder of a run.", show_default=False)],
    out: Annotated[str | None, typer.Option("--out", "-o", help="HTML file.  [default: report.html there]")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write the report of a run again, and open it where asked for."""
    with told():
        from frugalboost.recipe import folder

        place = folder.report_of(run) if out is None else Path(out).expanduser()
        page = folder.page_of_run(run)
        folder.replace(place, page, inputs=[folder.record_of(run), folder.record_of(run).with_name(folder.MODEL)])
        put(f"{place}\n")
        if show:
            typer.launch(str(place))


@app.command()
def demo(
    mu: Annotated[float, typer.Option(min=0.0, help="Price of a feature.")] = 0.003,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Which patients are held out.")] = 0,
) -> None:
    """Choose features on a data set bundled with scikit-learn."""
    with told(), warnings.catch_warnings():
        from frugalboost.cli.demo import demo_report

        put(f"{demo_report(mu, seed)}\n")
