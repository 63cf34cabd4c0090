"""The library with which frugalboost grows trees on an NVIDIA GPU."""

from pathlib import Path

__all__ = ["library"]


def library() -> Path:
    """Return where the library is; frugalboost loads it."""
    return Path(__file__).with_name("libfrugalboost_cuda.so")
