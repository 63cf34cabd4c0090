"""``python -m frugalboost`` is the command ``frugalboost``."""

from frugalboost.cli import main

raise SystemExit(main())
