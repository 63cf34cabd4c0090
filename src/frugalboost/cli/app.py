"""The commands: options in, results out."""

from __future__ import annotations

import shlex
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import frugalboost.cli.options as o
from frugalboost.cli.messages import (
    NOTHING,
    command_spelling,
    errors_in_one_sentence,
    exit_with,
    own_warnings_only,
    print_result,
    say,
)
from frugalboost.recipe.options import Device, Messages, Rule, TaskKind

if TYPE_CHECKING:
    from frugalboost.recipe.request import Request
    from frugalboost.recipe.text import LoadedTable

app = typer.Typer(
    help="Boosted trees that buy the few features they need.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _version(wanted: bool) -> None:
    if wanted:
        from frugalboost import __version__

        with errors_in_one_sentence():
            print_result(f"frugalboost {__version__}\n")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Boosted trees that buy the few features they need."""


@app.command()
def select(
    table: o.TableArgument,
    target: o.Target = None,
    out: o.OutFolder = None,
    k: o.K = None,
    fewer: o.Fewer = False,
    mu: o.Mu = None,
    rule: o.RuleOption = Rule.ONE_STANDARD_ERROR,
    sell: o.Sell = True,
    costs: o.Costs = None,
    bags: o.BagsOption = None,
    budget: o.Budget = None,
    ids: o.Ids = None,
    weight: o.Weight = None,
    group: o.Group = None,
    time: o.Time = None,
    test: o.Test = None,
    task: o.TaskOption = TaskKind.AUTO,
    scoring: o.Scoring = None,
    trees: o.Trees = 500,
    depth: o.Depth = None,
    learning_rate: o.LearningRate = 0.1,
    leaf: o.Leaf = None,
    splits: o.Splits = None,
    points: o.Points = None,
    sample: o.Sample = None,
    thorough: o.Thorough = False,
    seed: o.Seed = 0,
    threads: o.ThreadsOfSelect = None,
    device: o.DeviceOption = Device.CPU,
    header: o.Header = True,
    sheet: o.Sheet = None,
    json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Choose the features worth paying for, and write a model and a report.

    Writes selected.csv, path.csv, model.frugal and report.html into a folder. Exit codes: 0; 2 if something is wrong
    with the call or the table; 3 if no feature is worth its price.
    """
    rule_of_choice = {"k": k, "fewer": fewer, "mu": mu, "rule": rule.value, "sell": sell, "budget": budget}
    fits = {"trees": trees, "depth": depth, "learning_rate": learning_rate, "leaf": leaf}
    search = {"splits": splits, "points": points, "sample": sample, "thorough": thorough, "seed": seed}
    search |= {"threads": threads}
    machine = {"device": device.value, "verbose": int(not quiet)}
    # Given twice, it is an error and not the last one.
    column: Any = target[0] if target and len(target) == 1 else target or None
    roles = {"target": column, "weight": weight, "ids": tuple(ids or ()), "task": task.value, "scoring": scoring}
    roles |= {"group": group, "time": time}
    files = {"table": table, "test": test or None, "costs": costs or None, "bags": bags or None, "header": header}
    files |= {"sheet": sheet}
    with errors_in_one_sentence():
        run_select(roles | files, rule_of_choice | fits | search | machine, out, json, quiet)


def run_select(asked: dict[str, Any], settings: dict[str, Any], out: str | None, json: bool, quiet: bool) -> None:
    """Run the recipe, write the folder, print."""
    from frugalboost._support.display import shown
    from frugalboost._support.plan import Part
    from frugalboost.cli.folders import check_earlier, default_folder
    from frugalboost.recipe import folder
    from frugalboost.recipe.request import Request, Settings

    request = Request(**asked, settings=Settings(**settings), call={"command": command()})
    request.check()
    tell = (lambda text: None) if quiet else say
    place = folder.check_folder(out or default_folder(request.table))
    check_earlier(place, request.table, request.target, named=out is not None, say=tell)
    with nullcontext() if quiet else shown(Part.READING) as display:
        loaded = early_table(request)

        from frugalboost._support import loading  # noqa: F401  # before another library loads OpenMP
        from frugalboost.cli.printing import as_json, table_text
        from frugalboost.recipe import select as recipe

        above = (lambda show: show) if display is None else display.above
        with own_warnings_only(above(say)):
            done = recipe.run(request, Messages(above(tell), command_spelling), loaded)
        done._write(place)
    contents = done.report.contents
    print_result(f"{as_json(contents, place)}\n" if json else table_text(contents, place))
    if not done.features:
        exit_with(recipe.nothing_bought(contents, request.settings).spelled(command_spelling), NOTHING)


def early_table(request: Request) -> LoadedTable | None:
    """A table of text whose columns are checked, before all that fits models is loaded; None for other kinds."""
    from frugalboost.recipe.text import is_text_file, load_text

    if not is_text_file(request.table):
        return None
    loaded = load_text(request.table, header=request.header)
    request.roles.check(loaded)
    return loaded


def command() -> str:
    """The command line of this call, for the report."""
    return shlex.join(["frugalboost", *sys.argv[1:]]) if "select" in sys.argv[1:] else ""


@app.command()
def predict(
    model: o.ModelArgument,
    table: o.TableArgument,
    out: o.OutTable = None,
    proba: o.Proba = False,
    ids: o.CopiedIds = None,
    header: o.Header = True,
    sheet: o.Sheet = None,
    threads: o.Threads = None,
) -> None:
    """Predict with a model, from the columns it bought. Other columns are not needed."""
    with errors_in_one_sentence():
        from frugalboost.recipe import folder
        from frugalboost.recipe.places import check_place

        file = folder.model_file(model)
        check_place(table)

        from frugalboost._support import loading  # noqa: F401  # before another library loads OpenMP
        from frugalboost.recipe.predicting import predictions

        text = predictions(model, table, ids or [], proba, header, threads, sheet, Messages(say, command_spelling))
        if out is None:
            print_result(text)
        else:
            folder.replace(out, text, inputs=[table, file])


@app.command()
def report(
    run: o.RunArgument,
    out: o.OutPage = None,
    show: o.Show = False,
) -> None:
    """Write the report of a run again, and open it with --open."""
    with errors_in_one_sentence():
        from frugalboost.recipe import folder

        place = folder.report_of(run) if out is None else Path(out).expanduser()
        page = folder.page_of_run(run)
        folder.replace(place, page, inputs=[folder.record_of(run), folder.record_of(run).with_name(folder.MODEL)])
        print_result(f"{place}\n")
        if show:
            typer.launch(str(place))


@app.command()
def demo(
    mu: o.DemoMu = 0.003,
    seed: o.DemoSeed = 0,
) -> None:
    """Choose features on a data set bundled with scikit-learn."""
    with errors_in_one_sentence(), warnings.catch_warnings():
        from frugalboost._support import loading  # noqa: F401  # before another library loads OpenMP
        from frugalboost.cli.demo import demo_report

        print_result(f"{demo_report(mu, seed)}\n")
