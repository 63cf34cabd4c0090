"""What measurements share: the machine's description, versions of packages, clock and memory."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from frugalboost import _core

BOOSTERS = ("frugalboost", "lightgbm", "xgboost", "catboost", "scikit-learn", "numpy")

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[float, T]:
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def process_bytes(field: str) -> int:
    """A line of this process's status (Linux): VmRSS is its memory now, VmHWM the most since it was last forgotten."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) * 1024


def forget_peak() -> None:
    """Let VmHWM start again from what the process has now."""
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")


def machine() -> dict[str, Any]:
    """Describe the machine, and the versions of what is installed."""
    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), cpu)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    about = {"cpu": cpu, "cores": os.cpu_count(), "instruction_set": _core.instruction_set()}
    return {**about, "memory_gb": round(memory / 1e9), **versions(BOOSTERS)}


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of those of the packages that are installed."""
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
