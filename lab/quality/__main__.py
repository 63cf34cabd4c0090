"""``python -m lab.quality``: see running.py, whose functions fresh processes must be able to import by name."""

from lab.quality.running import main

raise SystemExit(main())
