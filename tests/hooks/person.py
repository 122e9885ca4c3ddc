"""A confirmation service, and a person who denies all: `python -m tests.hooks.person HOME`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from seasoned.confirm.policy import Listen
from tests.confirm.keys import WORDS
from tests.confirm.serving import serving

REASON = "use the archive instead"


def main(home: Path) -> None:
    tokens = json.loads((home / "tokens.json").read_text())
    with serving(home / "service", listen=Listen(port=7327), tokens=tokens) as found, found.client("alice") as client:
        while True:
            for one in client.get("/confirm", params={"status": "pending"}).json()["requests"]:
                client.post(f"/confirm/{one['id']}/deny", json={"reason": REASON, "passphrase": WORDS})
            time.sleep(0.05)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
