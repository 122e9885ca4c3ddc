"""A confirmation service, and a person who denies all but what holds TEXT: `python -m tests.hooks.person HOME TEXT`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from seasoned.confirm.policy import Listen
from tests.confirm.keys import WORDS
from tests.confirm.serving import serving

REASON = "use the archive instead"


def main(home: Path, agreed: str = "") -> None:
    tokens = json.loads((home / "tokens.json").read_text())
    with serving(home / "service", listen=Listen(port=7327), tokens=tokens) as found, found.client("alice") as client:
        while True:
            for one in client.get("/confirm", params={"status": "pending"}).json()["requests"]:
                agrees = bool(agreed) and agreed in json.dumps(one)
                if agrees:
                    # What had happened by the time of the decision: the call is still held.
                    (home / "at-decision.json").write_text(json.dumps((home / "published").exists()))
                verb, reason = ("approve", {}) if agrees else ("deny", {"reason": REASON})
                client.post(f"/confirm/{one['id']}/{verb}", json={**reason, "passphrase": WORDS})
            time.sleep(0.1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
