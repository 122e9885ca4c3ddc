"""Whether this is `make torture`: tests then take longer, kill more often and look at all cases."""

from __future__ import annotations

import os

TORTURE = bool(os.environ.get("SEASONED_TORTURE"))
