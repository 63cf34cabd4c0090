"""Which process runs which test: files stay together, long tests are given out one by one and first.

Tests of a file share fixtures, and imports that no other file needs. So a file is given to one process, but for those
listed here, whose tests take so long that all processes share them. They come first, so that small files are left for
the end, when all processes should be done at the same time.
"""

from xdist.scheduler import LoadGroupScheduling

# Begun first, and given out as a whole: what its tests share takes half a minute to make.
FIRST = ("tests/lab/test_rivals.py",)
# From long to short. Groups (xdist_group) of the first are given out as a whole.
LONG = (
    "tests/docs/test_docs.py",
    "tests/report/test_browser.py",
    "tests/lab/test_paper.py",
    "tests/engine/test_families.py",
    "tests/cli/test_run_endings.py",
    "tests/cli/test_run_oddities.py",
    "tests/cli/test_run.py",
    "tests/cli/test_run_inputs.py",
    "tests/selection/test_selection.py",
    "tests/selection/test_budgets.py",
    "tests/engine/test_screening.py",
    "tests/engine/test_renaming.py",
    "tests/docs/test_examples.py",
    "tests/cli/test_processes.py",
    "tests/estimators/test_cross_validation.py",
    "tests/lab/test_speed.py",
    "tests/lab/test_quality.py",
    "tests/tables/test_tables.py",
)
# Files of five seconds and more that are given out as a whole: they come next.
WHOLE = (
    "tests/recipe/test_select.py",
    "tests/selection/test_exactly_k.py",
    "tests/report/test_report.py",
    "tests/cli/test_cli.py",
    "tests/plotting/test_plotting.py",
    "tests/engine/test_parts.py",
    "tests/files/test_hostile_files.py",
    "tests/engine/test_lines.py",
    "tests/files/test_export_lines.py",
    "tests/files/test_export.py",
    "tests/engine/test_naive_engine.py",
    "tests/engine/test_determinism.py",
)
# Files that make pages of reports. To load what draws them takes two seconds: in a quick look one process does.
PAGES = ("tests/cli/test_run", "tests/report/", "tests/recipe/")


def place(name):
    """Where a test stands: those of long files first, in the order of the lists."""
    file, listed = name.split("::")[0], FIRST + LONG + WHOLE
    return listed.index(file) if file in listed else len(listed)


class ByFile(LoadGroupScheduling):
    """Units of work are groups, tests of long files, and other files as a whole."""

    def _split_scope(self, nodeid):
        group = super()._split_scope(nodeid)
        quick = self.config.option.markexpr == "not slow"
        file = nodeid.split("::")[0]
        if group != nodeid or (file in LONG and not quick):
            return group
        return "pages" if quick and nodeid.startswith(PAGES) else file
