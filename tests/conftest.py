"""What tests share: hypothesis profiles, and real data where its folder exists."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
settings.register_profile("thorough", max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("FRUGALBOOST_HYPOTHESIS", "default"))


def data_folder() -> Path | None:
    """The folder of real data: FRUGALBOOST_DATA, or shared/data beside the checkout."""
    given = os.environ.get("FRUGALBOOST_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture
def real_data():
    """Load a data set by name, or skip where the data folder is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("the data folder is absent; set FRUGALBOOST_DATA to its path")
    return lambda name: np.load(folder / f"{name}.npz", allow_pickle=True)


@pytest.fixture(scope="module")
def tmp(tmp_path_factory):
    """A folder that the tests of a module share: hypothesis wants fixtures that outlive an example."""
    return tmp_path_factory.mktemp("shared")
