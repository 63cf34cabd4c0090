"""Loads the core with OpenMP threads that spin only briefly while they wait, unless the user has set it differently.

By default GCC's runtime lets them spin for milliseconds. On a machine that is busy with other work, every short
parallel loop then waits for a thread that is not running: a fit of 569 x 30 took 6 s instead of 0.1 s. If threads sleep
at once, small fits on an idle machine take 40 % longer. With ten thousand turns neither happens. The runtime reads the
variable once, when it is loaded; afterwards it is removed, so that no other library sees it.
"""

import os

_TURNS = "GOMP_SPINCOUNT"

# Not "from frugalboost import _core", which would call this module.
if _TURNS in os.environ or "OMP_WAIT_POLICY" in os.environ:
    import frugalboost._core as _core
else:
    os.environ[_TURNS] = "10000"
    try:
        import frugalboost._core as _core
    finally:
        del os.environ[_TURNS]

__all__ = ["_core"]
