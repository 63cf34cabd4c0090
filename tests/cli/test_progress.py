"""One bar for the whole of select: its plan with a clock of its own, what is drawn, and what the recipe tells it."""

import io
import os
import re
import sys
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

import frugalboost
from frugalboost import GBFSRegressor, GBFSRegressorCV
from frugalboost._support import display as displays
from frugalboost._support.display import Lines, NotebookBar, Shown, TerminalBar, bar_text, display_for, line_text, shown
from frugalboost._support.plan import Estimate, Part, Plan, Standing, followed, foresee, reached
from frugalboost._support.progress import Stage, Work, counted_by, progress_counter
from frugalboost.cli import main

PIECES = Stage(Work.SUBSAMPLES)  # of equal length


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def plan_of(clock, *estimates):
    return Plan([Estimate(*given) for given in estimates], clock=clock)


def work(plan, clock, pieces, seconds, stage=PIECES):
    """Do pieces of work, each of which takes some seconds; what the plan says after each."""
    tally, said = plan.count(pieces, stage), []
    for _ in range(pieces):
        clock.now += seconds
        tally.step()
        said.append(plan.standing())
    return said


# ------------------------------------------------------------------------------------------------------------ the plan


def test_estimates_that_are_right_are_told_from_the_first_piece_on(clock):
    plan = plan_of(clock, (Part.SEARCH, 40), (Part.SELLING, 20), (Part.STEPS, 40))
    said = []
    for part, pieces in ((Part.SEARCH, 8), (Part.SELLING, 4), (Part.STEPS, 8)):
        plan.begin(part)
        said += work(plan, clock, pieces, 5.0)
    assert [s.left for s in said] == pytest.approx([95.0 - 5 * i for i in range(20)])
    assert [s.share for s in said[:-1]] == pytest.approx([0.05 * i for i in range(1, 20)])
    assert said[-1].share == 0.99  # all is done when the work says so
    plan.end()
    assert plan.standing().share == 1.0


def test_nothing_is_said_about_the_time_before_anything_is_measured(clock):
    plan = plan_of(clock, (Part.READING, 0), (Part.SEARCH, 10))
    plan.begin(Part.READING)
    clock.now = 7.0
    assert plan.standing() == Standing("reading the table", 0.0, None)
    plan.begin(Part.SEARCH)
    plan.count(5, PIECES)
    clock.now = 9.0
    assert plan.standing() == Standing("cross-validation", 0.0, None)


def test_a_part_that_takes_longer_than_estimated_is_believed_soon(clock):
    """The second part was thought to take 10 s and takes 100: after one of five pieces the error is small."""
    plan = plan_of(clock, (Part.SEARCH, 10), (Part.SELLING, 10))
    plan.begin(Part.SEARCH)
    assert work(plan, clock, 10, 1.0)[-1].left == pytest.approx(10.0)
    plan.begin(Part.SELLING)
    said = work(plan, clock, 5, 20.0)
    assert [s.left for s in said] == pytest.approx([80, 60, 40, 20, 0], rel=0.3)
    assert [s.share for s in said] == sorted(s.share for s in said)


def test_between_two_pieces_the_time_left_runs_down_then_waits(clock):
    plan = plan_of(clock, (Part.SEARCH, 10))
    plan.begin(Part.SEARCH)
    tally = plan.count(10, PIECES)
    clock.now = 4.0
    tally.step()
    assert plan.standing().left == pytest.approx(36.0)
    clock.now = 7.0
    assert plan.standing().left == pytest.approx(33.0)
    clock.now = 18.0  # the second piece has taken 14 s by now: all take longer than was thought
    left = plan.standing().left
    assert left > 36.0
    clock.now = 28.0
    assert plan.standing().left > left


def test_stages_of_equal_length_share_a_part(clock):
    """Two of three splits: the first fits of each take longer, which is known."""
    plan = plan_of(clock, (Part.SEARCH, 30))
    plan.begin(Part.SEARCH)
    said = []
    for split in (1, 2, 3):
        tally = plan.count(4, Stage(Work.CROSS_VALIDATION, "", split, 3))
        for seconds in (3.5, 3.0, 2.0, 1.5):
            clock.now += seconds
            tally.step()
            said.append(plan.standing().left)
    assert said == pytest.approx(
        [30 - t for t in (3.5, 6.5, 8.5, 10, 13.5, 16.5, 18.5, 20, 23.5, 26.5, 28.5, 30)], abs=2.5
    )


def test_stages_whose_number_is_not_known_are_counted_as_announced(clock):
    """Groups of the path on all rows: 20 pieces in all, announced a few at a time."""
    plan = plan_of(clock, (Part.PATH, 10, 0.0, 20))
    plan.begin(Part.PATH)
    said = [s for pieces in (3, 9, 8) for s in work(plan, clock, pieces, 1.0)]
    assert [s.left for s in said] == pytest.approx([20 - i for i in range(1, 21)])


def test_more_stages_than_were_expected_are_counted_when_they_come(clock):
    """A race: all candidates grow some trees, then those that are left grow more; how many is not known before."""
    plan = plan_of(clock, (Part.SEARCH, 10), (Part.STEPS, 5))
    plan.begin(Part.SEARCH)
    said = work(plan, clock, 20, 1.0)
    assert said[-1].left == pytest.approx(10)
    plan.count(10, PIECES)
    assert plan.standing().left == pytest.approx(10 + 15)
    said += work(plan, clock, 10, 1.0)
    assert [s.share for s in said] == sorted(s.share for s in said)


def test_stages_that_are_left_out_are_done(clock):
    """The second of four splits was enough."""
    plan = plan_of(clock, (Part.SELLING, 10))
    plan.begin(Part.SELLING)
    work(plan, clock, 1, 5.0, Stage(Work.CROSS_VALIDATION, "", 1, 4))
    plan.count(1, Stage(Work.CROSS_VALIDATION, "", 4, 4))
    assert plan.standing().left == pytest.approx(5 / 3)


def test_work_after_the_last_piece_counts(clock):
    plan = plan_of(clock, (Part.SEARCH, 10, 5.0), (Part.STEPS, 10))
    plan.begin(Part.SEARCH)
    assert work(plan, clock, 5, 1.0)[-1].left == pytest.approx(5 + 10)
    clock.now += 3
    assert plan.standing().left == pytest.approx(2 + 10)
    clock.now += 4  # overdue by 2 s
    assert plan.standing().left == pytest.approx(12.0)


def test_parts_that_are_skipped_or_end_early_do_not_spoil_what_follows(clock):
    works = (10, 50, 30, 10, 10)
    plan = plan_of(clock, *zip([part for part in Part if part is not Part.READING][:5], works), (Part.REPORT, 1))
    plan.begin(Part.SEARCH)
    assert work(plan, clock, 10, 1.0)[-1].left == pytest.approx(101)
    plan.begin(Part.SELLING)
    tally = plan.count(5, PIECES)
    clock.now += 10
    tally.step()  # and it gives up after one of five pieces, which took as long as was thought
    plan.begin(Part.PATH)  # all rows are fitted already
    assert plan.standing().left == pytest.approx(21)
    assert [s.left for s in work(plan, clock, 10, 1.0)] == pytest.approx([21 - i for i in range(1, 11)])
    plan.begin(Part.REPORT)  # errors with each feature are left out
    assert plan.standing().left == pytest.approx(1)


def test_better_estimates_replace_earlier_ones(clock):
    plan = plan_of(clock, (Part.SEARCH, 10), (Part.STEPS, 10))
    plan.begin(Part.SEARCH)
    plan.expect(Estimate(Part.SEARCH, 1000), Estimate(Part.STEPS, 20), Estimate(Part.REPORT, 5))
    assert work(plan, clock, 10, 1.0)[-1].left == pytest.approx(25)


def test_a_part_may_begin_twice(clock):
    plan = plan_of(clock, (Part.SEARCH, 10))
    plan.begin(Part.SEARCH)
    work(plan, clock, 5, 1.0)
    before = plan.standing().share
    plan.begin(Part.SEARCH)
    assert plan.standing().share == before


AMOUNTS = st.one_of(st.just(0.0), st.floats(1e-3, 1e6))
STEPS = st.lists(
    st.one_of(
        st.sampled_from(list(Part)),
        st.builds(
            Stage,
            st.sampled_from(list(Work)),
            number=st.integers(1, 4),
            total=st.integers(1, 4),
        ),
        st.just("step"),
        st.floats(0, 1e5),
    ),
    max_size=40,
)


@given(
    st.lists(st.builds(Estimate, st.sampled_from(list(Part)), AMOUNTS, AMOUNTS, st.integers(0, 9))),
    STEPS,
)
def test_whatever_happens_the_share_never_falls_and_times_are_times(estimates, steps):
    """Parts in any order or left out, stages that end early or count too much, pieces of parts that are over."""
    clock = Clock()
    plan, tallies, last = Plan(estimates, clock=clock), [], 0.0
    for step in steps:
        if isinstance(step, Part):
            plan.begin(step)
        elif isinstance(step, Stage):
            tallies.append(plan.count(3, step))
        elif step == "step":
            for tally in tallies[-2:]:
                tally.step()
        else:
            clock.now += step
        said = plan.standing()
        assert last <= said.share <= 0.99
        assert said.left is None or 0 <= said.left < float("inf")
        last = said.share


# --------------------------------------------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("left", [None, 0.0, 4.2, 88.0, 5000.0, 1e6])
@pytest.mark.parametrize("share", [0.0, 0.005, 0.5, 1.0])
def test_a_line_fits_into_any_terminal(share, left):
    for part in Part:
        for width in range(1, 200):
            text = bar_text(Standing(part.value, share, left), width, "#-")
            assert len(text) <= width
            if width >= 79:
                assert text.startswith(part.value)
                assert text.count("#") == round(share * len(re.search("[#-]+", text[25:])[0]))
                assert f"{100 * share:.0f} %" in text
                assert (left is None) == ("left" not in text)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def seen(written):
    """The line that a terminal shows after this."""
    line = []
    for text in written.split("\r"):
        line[: len(text)] = text
    return "".join(line).rstrip()


def test_a_bar_is_drawn_over_the_last_one_and_leaves_nothing():
    stream = Terminal()
    bar = TerminalBar(stream)
    for standing in (Standing("error with each feature", 0.5, 700), Standing("report", 0.99, 0.3)):
        bar.show(standing)
        assert seen(stream.getvalue()) == bar_text(standing, 79, bar._marks).rstrip()
    bar.clear()
    assert seen(stream.getvalue()) == ""
    assert "\n" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_a_terminal_without_such_letters_gets_others():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    TerminalBar(stream).show(Standing("report", 0.5, 1))
    assert b"####" in stream.buffer.getvalue()


def test_a_closed_stream_ends_nothing():
    for display in (TerminalBar(Terminal()), Lines(io.StringIO())):
        display._stream.close()
        display.show(Standing("report", 0.5, 1))
        display.clear()


def test_lines_for_pipes():
    assert line_text(Standing("reading the table", 0.0, None)) == "reading the table"
    assert line_text(Standing("report", 0.5, None)) == "report: 50 %"
    assert line_text(Standing("report", 0.5, 100.0)) == "report: 50 %, 2 min left"


def test_bars_are_for_terminals_that_can_draw_them(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(display_for(Terminal()), TerminalBar)
    assert isinstance(display_for(io.StringIO()), Lines)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(display_for(Terminal()), Lines)
    monkeypatch.setattr(displays, "in_notebook", lambda: True)
    assert isinstance(display_for(Terminal()), NotebookBar)


class Waits:
    """Stands for the event that ends the display's thread: waiting moves a clock, a number of times."""

    def __init__(self, clock, times):
        self.clock, self.left = clock, times

    def wait(self, seconds):
        self.clock.now += seconds
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(("kind", "every"), [(Lines, 10.0), (TerminalBar, 0.2)])
def test_how_often_something_is_shown(monkeypatch, clock, kind, every):
    """In a pipe ten seconds lie between two lines, and before the first."""
    shows = []

    class Slow(kind):
        def show(self, standing):
            shows.append(clock.now)
            super().show(standing)
            clock.now += 0.1

    monkeypatch.setattr(displays.time, "monotonic", clock)
    display = Shown.__new__(Shown)  # its thread is not started
    display.plan, display._display, display._lock = Plan(clock=clock), Slow(io.StringIO()), threading.Lock()
    display._over = Waits(clock, 4)
    display._run()
    assert len(shows) == 4
    assert shows[0] == kind.first >= every
    assert all(b - a == pytest.approx(every) for a, b in pairwise(shows))


def test_messages_do_not_stand_in_a_bar():
    stream = Terminal()
    display = Shown(Plan(), TerminalBar(stream))
    display._display.show(Standing("report", 0.5, 3))
    display.above(lambda text: stream.write(f"{text}\n"))("A message.")
    lines = stream.getvalue().split("\n")
    assert seen(lines[0]).rstrip() == "A message."
    display.close()


def test_notebooks_have_one_bar_too(monkeypatch):
    bars = []

    class Bar:
        def __init__(self, total, what, **options):
            self.total, self.states, self.closed = total, [], False
            bars.append(self)

        def set_description_str(self, text, refresh):
            self.label = text

        def set_postfix_str(self, text, refresh):
            self.left = text

        def refresh(self):
            self.states.append((self.label, self.n, self.left))

        def close(self):
            self.closed = True

    monkeypatch.setattr(displays, "notebook_bar", Bar)
    bar = NotebookBar()
    bar.show(Standing("cross-validation", 0.25, 5))
    bar.clear()
    bar.close(Standing("report", 1.0, 0.0))
    assert len(bars) == 1
    assert bars[0].states == [("cross-validation", 25, "5 s left"), ("report", 100, "1 s left")]
    assert bars[0].closed


# ------------------------------------------------------------------------------------------- what the recipe tells it


class Told(Plan):
    """A plan that notes what it is told."""

    def __init__(self):
        super().__init__()
        self.began, self.pieces, self.first = [], {}, {}

    def begin(self, part):
        if part not in self.began:
            self.began.append(part)
        super().begin(part)

    def expect(self, *estimates):
        for estimate in estimates:
            self.first.setdefault(estimate.part, estimate.work)
        super().expect(*estimates)

    def count(self, total, stage):
        part = self.began[-1]
        tally = super().count(total, stage)
        self.pieces.setdefault(part, [0, 0])
        self.pieces[part][0] += total
        step = tally.step

        def counted():
            self.pieces[part][1] += 1
            step()

        tally.step = counted
        return tally


QUICK = {"trees": 10, "points": 4, "splits": 2, "threads": 1}
EVERY = [Part.READING, Part.SEARCH, Part.SELLING, Part.ALL_ROWS, Part.PATH, Part.STEPS, Part.REPORT]


@pytest.mark.parametrize(
    ("options", "selling", "all_rows"),
    [
        ({}, True, False),
        ({"k": 2}, True, False),
        ({"mu": 0.01}, True, False),
        ({"sell": False}, False, False),
        ({"sample": 300}, True, True),
    ],
)
def test_the_recipe_tells_all_its_parts_in_order(options, selling, all_rows):
    """All of them are foreseen before the search begins, and as many pieces are done as were announced."""
    plan = Told()
    plan.begin(Part.READING)
    table = load_breast_cancer(as_frame=True).frame
    with followed(plan), counted_by(plan.count):
        frugalboost.select(table, "target", **QUICK, **options, verbose=1)
    assert plan.began == EVERY
    assert list(plan.first) == EVERY[1:]
    assert (plan.first[Part.SELLING] > 0, plan.first[Part.ALL_ROWS] > 0) == (selling, all_rows)
    assert all(plan.first[part] > 0 for part in (Part.SEARCH, Part.PATH, Part.STEPS, Part.REPORT))
    for part, (announced, done) in plan.pieces.items():
        assert announced == done > 0, part
    assert plan.standing().label == "report"


def test_select_shows_one_bar(monkeypatch, capsys):
    """On a terminal each picture is drawn over the last, and nothing is left at the end."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(TerminalBar, "first", 0.0)
    monkeypatch.setattr(TerminalBar, "every", 0.01)
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    frugalboost.select(load_diabetes(as_frame=True).frame, "target", **QUICK, verbose=1)
    written = stream.getvalue()
    assert "\n" not in written
    assert seen(written) == ""
    shares = [int(share) for share in re.findall(r"(\d+) %", written)]
    assert shares == sorted(shares)
    assert "table: 442 rows" in capsys.readouterr().out


def test_nothing_is_shown_that_was_not_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(Lines, "first", 0.0)
    monkeypatch.setattr(Lines, "every", 0.01)
    frugalboost.select(load_diabetes(as_frame=True).frame, "target", **QUICK)
    assert capsys.readouterr() == ("", "")


def test_programs_that_count_themselves_see_no_bar(monkeypatch, capsys):
    monkeypatch.setattr(Lines, "first", 0.0)
    stages = []

    class Noted:
        def __init__(self, total, stage):
            stages.append(stage.work)

        def step(self):
            pass

    with counted_by(Noted):
        frugalboost.select(load_diabetes(as_frame=True).frame, "target", **QUICK, verbose=1)
    assert capsys.readouterr().err == ""
    assert {Work.CROSS_VALIDATION, Work.PATH, Work.FIRST_FEATURES} <= set(stages)


@pytest.mark.parametrize("quiet", [False, True])
def test_the_command_writes_lines_into_a_pipe(tmp_path, monkeypatch, capsys, quiet):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Lines, "first", 0.0)
    monkeypatch.setattr(Lines, "every", 0.05)
    load_breast_cancer(as_frame=True).frame.to_csv("table.csv", index=False)
    call = ["select", "table.csv", "-t", "target", "--trees", "10", "--points", "4", "--splits", "2"]
    assert main([*call, *(["--quiet"] if quiet else [])]) == 0
    said = capsys.readouterr().err
    assert "\r" not in said
    assert "\x1b" not in said
    progress = [line for line in said.splitlines() if re.fullmatch(r"[a-z -]+: \d+ %, .* left", line)]
    if quiet:
        assert said == ""
    else:
        assert progress
        shares = [int(re.search(r"(\d+) %", line)[1]) for line in progress]
        assert shares == sorted(shares)
        assert os.listdir(tmp_path / "table_selected")


def test_a_bar_ends_with_the_work_whatever_happens(monkeypatch):
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")

    def interrupted():
        with shown(Part.READING, stream) as display:
            displays.append(display)
            display._display.show(Standing("report", 0.5, 3))
            raise KeyboardInterrupt

    displays = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    display = displays[0]
    assert not display._thread.is_alive()
    assert seen(stream.getvalue()) == ""
    reached(Part.PATH)  # nobody listens
    foresee(Estimate(Part.PATH, 1.0))


def test_only_the_outer_of_two_bars_is_shown():
    with shown(Part.READING, io.StringIO()) as outer, shown(Part.READING, io.StringIO()) as inner:
        reached(Part.SEARCH)
        progress_counter(3, Stage(Work.PATH)).step()
        assert inner is None
        assert outer.plan.standing().label == "cross-validation"
        assert outer.plan.standing().left is not None or outer.plan._running.share > 0


def test_a_search_tells_its_stages():
    """Whoever shows progress needs no text: stages count on over splits and depths."""
    stages = []

    class Noted:
        def __init__(self, total, stage):
            stages.append((total, stage.work, stage.number, stage.total))

        def step(self):
            pass

    X, y = load_diabetes(return_X_y=True)
    search = GBFSRegressorCV(GBFSRegressor(max_iter=3), n_mus=4, max_depths=[1, 2], cv=3, verbose=1, random_state=0)
    with counted_by(Noted):
        search.fit(X, y)
    assert stages == [(4, Work.CROSS_VALIDATION, number, 6) for number in range(1, 7)]
