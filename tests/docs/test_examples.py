"""Every page of the gallery runs and ends in a picture."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore::frugalboost.NothingBoughtWarning")
def test_example_ends_in_a_picture(path, monkeypatch):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")  # what other tests left open
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(len(plt.get_fignums())))
    runpy.run_path(str(path))
    plt.close("all")
    assert shown == [1]
