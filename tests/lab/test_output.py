"""Results are rounded and whole, pictures are small and look the same."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

plt = pytest.importorskip("matplotlib.pyplot")
Image = pytest.importorskip("PIL.Image")

from lab.output import IMAGES, RESULTS, ROOT, compress, lines, rounded, save_figure, write_atomically, write_json  # noqa: E402


def test_floats_are_rounded_at_any_depth_and_nothing_else_is():
    found = rounded(
        {"a": [1 / 3, (2e-9 / 3, True)], "b": np.float64(2 / 3), "c": np.int64(7), "d": "0.123456789", "e": None}
    )
    assert found == {"a": [0.3333333, [6.666667e-10, True]], "b": 0.6666667, "c": 7, "d": "0.123456789", "e": None}
    assert type(found["c"]) is int
    assert found["a"][1][1] is True
    assert rounded(123456789) == 123456789


def test_what_is_written_can_be_read(tmp_path):
    write_json(tmp_path / "deep" / "one.json", {"x": np.pi})
    assert json.loads((tmp_path / "deep" / "one.json").read_text()) == {"x": 3.141593}
    assert json.loads(lines([{"x": np.pi}, {"y": 1}])) == [{"x": 3.141593}, {"y": 1}]
    assert lines([1, 2]).count("\n") == 3


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "one.md"
    write_atomically(path, "old")
    with pytest.raises(TypeError):
        write_atomically(path, 7)
    assert path.read_text() == "old"


def test_a_figure_is_small_and_looks_the_same(tmp_path):
    figure, axes = plt.subplots()
    for i in range(8):
        axes.plot(np.sin(np.arange(50) / (i + 1)), label=str(i))
    axes.legend()
    figure.savefig(tmp_path / "plain.png", dpi=110)
    save_figure(figure, tmp_path / "small.png")
    plt.close(figure)
    plain, small = (
        np.asarray(Image.open(tmp_path / f"{n}.png").convert("RGB")).astype(int) for n in ("plain", "small")
    )
    assert plain.shape == small.shape
    assert np.mean(np.abs(plain - small).max(axis=2) > 24) < 3e-3
    assert small[0, 0].tolist() == [255, 255, 255]
    sizes = [(tmp_path / f"{n}.png").stat().st_size for n in ("plain", "small")]
    assert sizes[1] < sizes[0] / 2


@pytest.mark.parametrize("colours", [1, 100, 5000])
def test_pictures_of_few_and_of_many_colours(colours, tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (colours, 3), dtype=np.uint8)[rng.integers(0, colours, (80, 90))]
    compress(Image.fromarray(pixels), tmp_path / "few.png")
    found = Image.open(tmp_path / "few.png")
    assert found.mode == "P"
    worst = np.abs(np.asarray(found.convert("RGB")).astype(int) - pixels).max()
    assert worst <= (3 if colours <= 100 else 80)


def test_results_and_pictures_stay_small():
    """What is kept in the repository: 2 MB at most."""
    kept = [*RESULTS.rglob("*"), *IMAGES.iterdir()]
    assert sum(path.stat().st_size for path in kept if path.is_file()) < 2e6


def test_no_file_of_the_repository_unpickles_data():
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    word = "allow_pickle" + "=True"
    assert [name for name in listed.stdout.split() if word in (Path(ROOT) / name).read_text()] == []
