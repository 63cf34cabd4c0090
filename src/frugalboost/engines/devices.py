"""GPUs: where the plugin is, which device a fit runs on, and what to say where it can't."""

from __future__ import annotations

import os
from functools import cache

from frugalboost import _core
from frugalboost.losses import BuiltIn, Cox, Loss

LIBRARY = "FRUGALBOOST_CUDA_LIBRARY"  # names another library than the plugin's, such as the emulator of the tests
INSTALL = 'pip install frugalboost-cuda, or set device="cpu".'


def plugin_library() -> str | None:
    """The library of the plugin, or None where it is not installed."""
    if given := os.environ.get(LIBRARY):
        return given
    try:
        import frugalboost_cuda
    except ModuleNotFoundError:
        return None
    return str(frugalboost_cuda.library())


@cache
def open_device(library: str) -> _core.Device:
    """The first GPU, through a library. CUDA_VISIBLE_DEVICES says which one is first."""
    return _core.Device(library, 0)


def why_not(loss: BuiltIn | Loss | None, part: _core.ThreadPart | None = None) -> str | None:
    """What of a loss or a table a GPU can't do."""
    if isinstance(loss, Cox):
        return "Cox's partial likelihood"
    if loss is not None and not isinstance(loss, BuiltIn):
        return "A loss written in Python"
    return None if part is None else "A part of a table"


def device_for(device: str, reason: str | None) -> _core.Device | None:
    """The GPU that a fit runs on; None: the CPU. Raises where a GPU was asked for and can't be used.

    ``reason``: what of the fit a GPU can't do.
    """
    if device == "cpu":
        return None
    library = plugin_library()
    if device == "auto":
        return None if reason or library is None else _if_it_works(library)
    if reason:
        raise ValueError(f'{reason} can\'t be fitted on a GPU. Set device="cpu".')
    if library is None:
        raise RuntimeError(f'device="cuda" needs the package frugalboost-cuda, which is not installed: {INSTALL}')
    return open_device(library)


def _if_it_works(library: str) -> _core.Device | None:
    try:
        found = open_device(library)
        found.free_bytes  # noqa: B018 - a fork of a process that has used the GPU has none
    except RuntimeError:
        return None
    return found


def name_of(device: _core.Device | None) -> str:
    """What a progress line says."""
    return "the CPU" if device is None else device.name
