"""How fast every page answers with 100,000 sessions and 5 million calls, and how that compares with 1,000 sessions."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2

from bench.web_more import fill_more
from bench.web_store import CALLS, make_store

FOLDER = Path("build/bench-web")
FEW, MANY = 1_000, 100_000
ROUNDS = 30
MOST_SECONDS = 0.5
MOST_RATIO = 3.0
PAGES = (
    "overview",
    "sessions",
    "sessions?agent=codex",
    "sessions?task=code&length=long&outcome=failures",
    "sessions?q=flaky",
    # Searches that find nothing: what no session has, two letters, words that many have, one that many have twice.
    "sessions?q=nowhere-to-be-found",
    "sessions?q=zq",
    "sessions?q=add+flaky+query+release+notes+tests",
    "sessions?q=fix+fix+fix+fix+fix+fix",
    "sessions?sort=-messages",
    "sessions?sort=-failed&agent=hermes",
    "sessions?sort=-rate",
    "sessions?sort=-cost",
    "sessions?tool=Task",
    "sessions?mistake=7",
    "projects",
    "projects/%2Fhome%2Fmira%2Fproject-3",
    "templates",
    "templates/work-3",
    "templates/work-3?format=skill&form=guidance",
    "experiments",
    "experiments/autumn",
    "experiments/autumn/sessions?arm=warm",
    "confirmations",
    "schedule",
    "learned",
    "learned/changes/1",
    "usage",
    "usage?by=session&days=all",
    "usage?by=model&days=all",
    "usage?by=key&days=90",
    "settings",
    # The last: they have something computed beside them, which takes minutes.
    "insight",
    "backtest",
)
_SERVE = """
import sys
from pathlib import Path
import uvicorn
from seasoned.config import Config
from seasoned.confirm.service import ConfirmService
from seasoned.web.app import create_web
import socket
listening = socket.create_server(("127.0.0.1", 0))
base = f"http://127.0.0.1:{listening.getsockname()[1]}"
app = create_web(ConfirmService(Config(home=Path(sys.argv[1])), base_url=base))
print(f"{base}/login/{app.state.visits.invite_onlooker()}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
"""


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    for sessions in (FEW, MANY):
        began = time.perf_counter()
        make_store(FOLDER / str(sessions), sessions)
        fill_more(FOLDER / str(sessions))
        yield f"{sessions:,} sessions, {sessions * CALLS:,} calls (made in {time.perf_counter() - began:.0f} s)"
    yield "page: median, 95th percentile and work of the server in ms a page, with 1,000 sessions, then with 100,000;"
    yield "ratio of medians, ratio of work (both servers are asked in turn, so that both meet the same machine):"
    slow = []
    with _served(FOLDER / str(FEW)) as few, _served(FOLDER / str(MANY)) as many:
        for page in ("sessions, pages all the way down", "sessions/…", *PAGES):
            a, b = _compared(few, many, page)
            ratio, work = statistics.median(b.seconds) / statistics.median(a.seconds), b.work / a.work
            # On a machine that others use as well, the ratio of the work is the steadier one.
            if _late(b.seconds) > MOST_SECONDS or min(ratio, work) > MOST_RATIO:
                slow.append(page)
            yield f"  {page:<48}{a.line()}  {b.line()}  {ratio:5.1f} {work:5.1f}"
    wanted = f"wanted: at most {MOST_RATIO:g} times, 95 % within {1e3 * MOST_SECONDS:.0f} ms"
    yield f"{wanted}: {'not met by ' + ', '.join(slow) if slow else 'met by every page'}"


class Served(NamedTuple):
    """A server of its own, and a browser that is logged in."""

    client: httpx2.Client
    path: str
    pid: int

    def address(self, page: str, share: float) -> str:
        if page == "sessions/…":
            session = re.search(r'href="[^"]*/(sessions/[^"?#]+)"', self.client.get(f"{self.path}/sessions").text)
            assert session is not None
            page = session[1]
        elif page.startswith("sessions, "):
            page = f"sessions?after={1_760_000_000.0 + 500 * 86_400 * (1 - share)}_1"
        return f"{self.path}/{page}"

    def spent(self) -> float:
        """Seconds of a processor that it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    """How long each answer took, and the mean work for one."""

    seconds: list[float]
    work: float

    def line(self) -> str:
        return f"{1e3 * statistics.median(self.seconds):7.1f} {1e3 * _late(self.seconds):7.1f} {1e3 * self.work:6.1f}"


def _compared(few: Served, many: Served, page: str) -> tuple[Measured, Measured]:
    both = (few, many)
    times: tuple[list[float], list[float]] = ([], [])
    for one in both:
        one.client.get(one.address(page, 0.0)).raise_for_status()
    addresses = [_addresses(one, page) for one in both]
    began = [one.spent() for one in both]
    for number in range(ROUNDS):
        for one, taken, way in zip(both, times, addresses, strict=True):
            start = time.perf_counter()
            one.client.get(way[number]).raise_for_status()
            taken.append(time.perf_counter() - start)
    # The clock of the system ticks a hundred times a second: less than one tick is none.
    work = [max(one.spent() - at, 0.01) / ROUNDS for one, at in zip(both, began, strict=True)]
    return Measured(times[0], work[0]), Measured(times[1], work[1])


def _addresses(one: Served, page: str) -> list[str]:
    if page.startswith("sessions, "):
        return [one.address(page, share / ROUNDS) for share in range(ROUNDS)]
    return [one.address(page, 0.0)] * ROUNDS


def _late(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


@contextmanager
def _served(home: Path) -> Iterator[Served]:
    """The pages of a store in a process of their own, and a browser that is logged in."""
    with subprocess.Popen([sys.executable, "-c", _SERVE, str(home)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            base = link.partition("/login")[0]
            with httpx2.Client(base_url=base, timeout=60, trust_env=False, headers={"accept": "text/html"}) as client:
                for _ in range(100):
                    try:
                        visit = client.post(link).headers["location"]
                        break
                    except httpx2.ConnectError:
                        time.sleep(0.1)
                yield Served(client, visit.rpartition("/")[0], process.pid)
        finally:
            process.terminate()
