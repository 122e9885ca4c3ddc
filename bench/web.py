"""How fast every page answers with 20,000 sessions and a million calls, and how that compares with 1,000 sessions.

The stores are kept below `SEASONED_BENCH_FOLDER`, else `build`, for the next time: 20,000 sessions take 600 MB.
"""

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
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx2

from bench.web_live import live_figures
from bench.web_more import fill_more
from bench.web_store import CALLS, DAYS, make_store

FOLDER = Path(os.environ.get("SEASONED_BENCH_FOLDER", "build")) / "bench-web"
FEW, MANY = 1_000, 20_000
ROUNDS = 30
MOST_SECONDS = 0.15
MOST_RATIO = 3.0
_REST_SECONDS = 20.0
_PROJECT = "%2Fhome%2Fmira%2Fproject-3"
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
    "search?q=flaky",
    "search?q=parser+retry",
    "search?q=nowhere-to-be-found",
    "search?q=fla*",
    "search?q=make&tool=Bash&verdict=failed",
    f"search?q=make&project={_PROJECT}",
    f"sessions?project={_PROJECT}",
    "advice",
    f"advice?project={_PROJECT}",
    "live",
    "projects",
    f"projects/{_PROJECT}",
    "confirmations",
    "learned",
    "learned/changes/1",
    "usage",
    "sessions?sort=-cost",
    "usage?by=model&days=all",
    "usage?by=project&days=all",
    f"usage?project={_PROJECT}&days=all",
    "usage?by=key&days=90",
    # The last: they have something computed beside them, which takes minutes.
    "insight",
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
config = Config(home=Path(sys.argv[1]), claude_config_dir=Path(sys.argv[2]))
app = create_web(ConfirmService(config, base_url=base))
print(f"{base}/login/{app.state.visits.link}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
"""


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    for sessions in (FEW, MANY):
        began = time.perf_counter()
        make_store(FOLDER / str(sessions), sessions)
        fill_more(FOLDER / str(sessions))
        yield f"{sessions:,} sessions, {sessions * CALLS:,} calls (made in {time.perf_counter() - began:.0f} s)"
    yield "page: median, 95th percentile and work of the server in ms a page, with 1,000 sessions, then with 20,000;"
    yield "ratio of medians, ratio of work (both servers are asked in turn, so that both meet the same machine); the"
    yield "first answer with 20,000 sessions in ms, before anything is kept:"
    slow, busy = [], []
    with serve(FOLDER / str(FEW)) as few, serve(FOLDER / str(MANY)) as many:
        for page in ("sessions, pages all the way down", "sessions/…", *PAGES):
            a, b, first = _compared(few, many, page)
            ratio, work = statistics.median(b.seconds) / statistics.median(a.seconds), b.work / a.work
            # On a machine that others use as well, the ratio of the work is the steadier one.
            if _late(b.seconds) > MOST_SECONDS or min(ratio, work) > MOST_RATIO:
                slow.append(page)
            if b.work > MOST_SECONDS or work > MOST_RATIO:
                busy.append(page)
            yield f"  {page:<48}{a.line()}  {b.line()}  {ratio:5.1f} {work:5.1f} {1e3 * first:7.0f}"
        # Before the servers end: the most that each has held so far.
        memory = [one.memory() for one in (few, many)]
    wanted = f"wanted: at most {MOST_RATIO:g} times, 95 % within {1e3 * MOST_SECONDS:.0f} ms"
    yield f"{wanted}: {'not met by ' + ', '.join(slow) if slow else 'met by every page'}"
    yield f"the same by the work of the server: {'not met by ' + ', '.join(busy) if busy else 'met by every page'}"
    load = f"{os.getloadavg()[1]:.0f} processes wanted to run on {os.cpu_count()} cores"
    yield f"meanwhile {load}: to wait for a core is part of the times, and not of the work"
    yield f"memory of the server: {memory[0]:.0f} MB with 1,000 sessions, {memory[1]:.0f} MB with 20,000"
    with TemporaryDirectory(prefix="seasoned-live-", dir=FOLDER) as name:
        yield from live_figures(Path(name), FOLDER / str(MANY), MANY, serve)


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
            page = f"sessions?after={time.time() - DAYS * 86_400 * share}_1"
        return f"{self.path}/{page}"

    def memory(self) -> float:
        """The most MB that it has held."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3

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


def _compared(few: Served, many: Served, page: str) -> tuple[Measured, Measured, float]:
    both = (few, many)
    times: tuple[list[float], list[float]] = ([], [])
    addresses = [_addresses(one, page) for one in both]
    for one, way in zip(both, addresses, strict=True):
        start = time.perf_counter()
        one.client.get(way[0]).raise_for_status()
        first = time.perf_counter() - start
        # What the first look began beside it is not part of the next ones.
        end = time.monotonic() + _REST_SECONDS
        while "data-working" in one.client.get(way[0]).text and time.monotonic() < end:
            time.sleep(0.2)
    began = [one.spent() for one in both]
    for number in range(ROUNDS):
        for one, taken, way in zip(both, times, addresses, strict=True):
            start = time.perf_counter()
            one.client.get(way[number]).raise_for_status()
            taken.append(time.perf_counter() - start)
    # The clock of the system ticks a hundred times a second: less than one tick is none.
    work = [max(one.spent() - at, 0.01) / ROUNDS for one, at in zip(both, began, strict=True)]
    return Measured(times[0], work[0]), Measured(times[1], work[1]), first


def _addresses(one: Served, page: str) -> list[str]:
    if page.startswith("sessions, "):
        return [one.address(page, share / ROUNDS) for share in range(ROUNDS)]
    return [one.address(page, 0.0)] * ROUNDS


def _late(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


@contextmanager
def serve(home: Path, claude: Path = Path("/nowhere")) -> Iterator[Served]:
    """The pages of a store in a process of their own, and a browser that is logged in."""
    command = [sys.executable, "-c", _SERVE, str(home), str(claude)]
    # No history of the person who measures is followed.
    environ = {**os.environ, "HOME": str(claude)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
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
