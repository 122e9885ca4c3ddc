"""The client for asynchronous callers: the same calls in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from seasoned.confirm.client.http import CancellableCall
from seasoned.confirm.client.sync import ConfirmClient, RequestView
from seasoned.confirm.request.request import Grant, NewRequest

_T = TypeVar("_T")


class AsyncConfirmClient:
    """The same for asynchronous callers. A call that is cancelled ends at once, in its thread as well."""

    def __init__(self, url: str, token: str | None) -> None:
        self.sync = ConfirmClient(url, token)

    async def submit(self, asked: NewRequest) -> RequestView:
        return await in_thread(lambda line: self.sync.submit(asked, line=line))

    async def look(self, request_id: str, *, wait_seconds: float = 0.0) -> RequestView:
        return await in_thread(lambda line: self.sync.look(request_id, wait_seconds=wait_seconds, line=line))

    async def wait(self, request_id: str, seconds: float) -> RequestView:
        return await in_thread(lambda line: self.sync.wait(request_id, seconds, line=line))

    async def redeem(self, request_id: str, digest: str) -> Grant:
        return await in_thread(lambda line: self.sync.redeem(request_id, digest, line=line))

    async def confirm(self, action: str, description: str, details: dict[str, Any] | None = None, **more: Any) -> Grant:
        """See `ConfirmClient.confirm`."""
        return await in_thread(lambda line: self.sync.confirm(action, description, details, line=line, **more))


async def in_thread(work: Callable[[CancellableCall], _T]) -> _T:
    """Run what waits in a thread; when the task is cancelled its line is cut, so that no thread is left behind."""
    line = CancellableCall()
    # One of its own: a wait may take an hour, and those that a program shares are few.
    thread = ThreadPoolExecutor(1, thread_name_prefix="seasoned-confirm")
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, copy_context().run, work, line)
    except asyncio.CancelledError:
        line.cut()
        raise
    finally:
        thread.shutdown(wait=False)
