"""A real server with its pages, and a visitor that does what a browser without scripts does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2
from fastapi import FastAPI

from seasoned.confirm.service import ConfirmService
from seasoned.web.app import create_web
from seasoned.web.browser_session import BrowserSessions
from tests.confirm.keys import WORDS
from tests.confirm.serving import Serving, serving

HTML = {"accept": "text/html"}


class Site:
    """The server, and its parts that a test reaches into."""

    def __init__(self, serving: Serving, apps: list[FastAPI]) -> None:
        self.serving = serving
        self._apps = apps

    @property
    def url(self) -> str:
        return self.serving.url

    @property
    def visits(self) -> BrowserSessions:
        found: BrowserSessions = self._apps[0].state.visits
        return found

    def visitor(self, name: str | None = "alice") -> Visitor:
        """Somebody at a browser, logged in with the token of this name."""
        visitor = Visitor(self.url)
        if name is not None:
            visitor.log_in(self.serving.tokens[name])
        return visitor

    def reader(self) -> Visitor:
        """Somebody who came by the link that only reads."""
        visitor = Visitor(self.url)
        assert visitor.client.post(f"/login/{self.visits.link}").status_code == 303
        return visitor


class Visitor:
    """A browser without scripts."""

    def __init__(self, url: str) -> None:
        self.client = httpx2.Client(base_url=url, timeout=30.0, trust_env=False, headers=HTML)
        self.path = ""
        """Where this visit's pages lie."""

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.client.close()

    def log_in(self, token: str) -> httpx2.Response:
        answer = self.client.post("/login", data={"token": token})
        if answer.status_code == 303:
            self.path = answer.headers["location"].rpartition("/")[0]
        return answer

    def look(self, path: str) -> httpx2.Response:
        """A page, by its address below those of this visit."""
        return self.client.get(f"{self.path}/{path}")

    def get(self, path: str = "", **options: Any) -> httpx2.Response:
        return self.client.get(f"{self.path}/confirmations{path}", **options)

    def check(self) -> str:
        """What the forms of the page hold."""
        found = re.search(r'name="check" value="([^"]+)"', self.get().text)
        assert found is not None
        return found[1]

    def decide(self, request_id: str, verb: str, **fields: str) -> httpx2.Response:
        data = {"check": self.check(), "passphrase": WORDS, **fields}
        return self.client.post(f"{self.path}/confirmations/{request_id}/{verb}", data=data)


@contextmanager
def site(home: Path, *, samples: Path | None = None, **options: Any) -> Iterator[Site]:
    """The confirmation service with its pages, until the block ends; with `samples`, they show that store."""
    apps: list[FastAPI] = []

    def create(service: ConfirmService) -> FastAPI:
        apps.append(create_web(service, histories=samples))
        return apps[-1]

    with serving(home, create=create, **options) as found:
        yield Site(found, apps)
