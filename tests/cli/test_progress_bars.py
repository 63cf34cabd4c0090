"""Bars of the command: how far the work has come."""

from sklearn.datasets import load_diabetes

from frugalboost import GBFSRegressor, GBFSRegressorCV
from frugalboost._support.progress import Stage, Work, counted_by
from frugalboost.cli.progress_bars import Bars


class Drawn:
    """Stands for the bars of rich."""

    def __init__(self):
        self.titles, self.totals, self.done = [], [], []

    def add_task(self, title, total):
        self.titles.append(title)
        self.totals.append(total)
        self.done.append(0)
        return len(self.titles) - 1

    def update(self, task, total):
        self.totals[task] = total

    def advance(self, task):
        self.done[task] += 1


def test_bars_are_full_when_the_work_is_done():
    """Two searches, one of two splits and two depths: each has a bar, as long as all of its fits from the start."""
    drawn = Drawn()
    bars, seen = Bars(drawn), []

    def work(total, stage):
        step = bars.count(total, stage)
        seen.append(list(drawn.totals))
        for _ in range(total):
            step.step()

    for number in range(1, 5):
        work(3, Stage(Work.CROSS_VALIDATION, f"split {(number + 1) // 2}/2, fit", number, 4))
    for number in (1, 2):
        work(1, Stage(Work.CROSS_VALIDATION, f"split {number}/2, fit", number, 2))
    for _ in range(2):
        work(5, Stage(Work.PATH))
    work(7, Stage(Work.FIRST_FEATURES))
    assert drawn.titles == ["cross-validation", "cross-validation", "the path", "features so far"]
    assert drawn.totals == drawn.done == [12, 2, 10, 7]
    assert seen[0] == [12]


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
