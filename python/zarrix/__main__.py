"""``python -m zarrix`` is the command ``zarrix``."""

import sys

from zarrix.cli import main

sys.exit(main())
