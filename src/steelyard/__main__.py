"""`python -m steelyard`."""

from steelyard.cli import main

raise SystemExit(main())
