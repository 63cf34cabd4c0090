"""What the tests of the command share: quick settings."""

from frugalboost.cli import main

QUICK = ["--trees", "20", "--points", "5", "--splits", "2", "--depth", "2"]


def select(*arguments):
    return main(["select", *arguments, *QUICK])
