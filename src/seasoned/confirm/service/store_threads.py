"""The threads between the event loop and the store: several that read, one that writes and commits in groups.

Two threads that both compute only take the interpreter from each other. So what a group of changes computes is done
in the event loop while the writing thread holds the transaction; that thread waits for locks and the disk, and
writes out what was added, during which the database needs no interpreter.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from seasoned.confirm.request.book import Book
from seasoned.confirm.service.group import Group
from seasoned.errors import CannotDo, SeasonedError, Unsure
from seasoned.store import Database

_T = TypeVar("_T")
_GROUP = 64
"""Changes that one commit may hold: more would make the first of them wait for the last."""


class StoreConnection(NamedTuple):
    """What one thread works with: its own connection, and the book on it."""

    database: Database
    book: Book


class _Job(NamedTuple):
    do: Callable[[StoreConnection], Any]
    answer: asyncio.Future[Any]
    grouped: bool


class StoreThreads:
    """Takes work from the event loop to threads with their own connections, and brings back what came of it."""

    def __init__(
        self, open_database: Callable[[], Database], make_book: Callable[[Database], Book], *, readers: int = 3
    ) -> None:
        self._open_database = open_database
        self._make_book = make_book
        self._readers = readers
        self._reading: SimpleQueue[_Job | None] = SimpleQueue()
        self._writing: SimpleQueue[_Job | None] = SimpleQueue()
        self._gathered: list[_Job] = []
        self._threads: list[threading.Thread] = []
        self._edition = 0
        self._is_open = False
        self.largest_group = 0

    async def start(self) -> None:
        """Open every connection; an error of the first one is raised here."""
        loop = asyncio.get_running_loop()
        queues = [self._writing, *[self._reading] * self._readers]
        opened: list[asyncio.Future[Any]] = [loop.create_future() for _ in queues]
        for queue, future in zip(queues, opened, strict=True):
            thread = threading.Thread(target=self._work, args=(queue, loop, future), name="seasoned-desk", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._is_open = True
        try:
            await asyncio.gather(*opened)
        except BaseException:
            await asyncio.gather(*opened, return_exceptions=True)
            await self.stop()
            raise

    async def stop(self) -> None:
        """Finish what was begun, then close every connection in the thread that opened it."""
        self._is_open = False
        # What came in this very turn is before the end, not behind it, where nobody would answer it.
        self._hand_over()
        self._writing.put(None)
        for _ in range(self._readers):
            self._reading.put(None)
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        self._threads.clear()

    def renew(self) -> None:
        """Have every thread make its book anew, as a changed policy asks for."""
        self._edition += 1

    def read(self, ask: Callable[[StoreConnection], _T]) -> Coroutine[Any, Any, _T]:
        """What a question gives, asked in one of the reading threads."""
        return self._put(self._reading, ask, grouped=False)

    def write(self, do: Callable[[StoreConnection], _T], *, grouped: bool = True) -> Coroutine[Any, Any, _T]:
        """What a change gives; the answer comes after its commit and never before.

        Grouped ones share a transaction with whatever else is there; what takes long is better left alone.
        """
        return self._put(self._writing, do, grouped=grouped)

    async def _put(self, queue: SimpleQueue[_Job | None], do: Callable[[StoreConnection], _T], *, grouped: bool) -> _T:
        if not self._is_open:
            raise CannotDo("The service is stopping: try again when it runs.")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()
        job = _Job(do, answer, grouped)
        if queue is self._reading:
            queue.put(job)
        else:
            if not self._gathered:
                loop.call_soon(self._hand_over)
            self._gathered.append(job)
        return await answer

    def _hand_over(self) -> None:
        """Give the writer what came in this turn of the loop: it works while the loop sleeps, not against it."""
        for job in self._gathered:
            self._writing.put(job)
        self._gathered.clear()

    def _work(
        self, queue: SimpleQueue[_Job | None], loop: asyncio.AbstractEventLoop, opened: asyncio.Future[Any]
    ) -> None:
        _, group, error = outcome = _tried(opened, lambda: Group(self._open_database()))
        loop.call_soon_threadsafe(_settle, [outcome])
        if error is not None:
            return
        place, edition = StoreConnection(group, self._make_book(group)), self._edition
        try:
            while (job := queue.get()) is not None:
                if edition != self._edition:
                    place, edition = StoreConnection(group, self._make_book(group)), self._edition
                jobs = [job, *(_more(queue) if queue is self._writing else ())]
                grouped = [one for one in jobs if one.grouped]
                self.largest_group = max(self.largest_group, len(grouped))
                if grouped:
                    done: Callable[[], list[_Outcome]] = partial(_until_broken, grouped, place)
                    # Over a network every statement is a wait, and the loop must not.
                    done = partial(_done_there, loop, done) if group.kind == "sqlite" else done
                    each = partial(_each, grouped, place)
                    _, outcomes, error = _tried(job.answer, partial(_together, group, done, each))
                    loop.call_soon_threadsafe(_settle, outcomes or [(one.answer, None, error) for one in grouped])
                for one in jobs:
                    if not one.grouped:
                        loop.call_soon_threadsafe(_settle, [_tried(one.answer, partial(one.do, place))])
        finally:
            group.close()


_Outcome = tuple["asyncio.Future[Any]", Any, BaseException | None]


def _more(queue: SimpleQueue[_Job | None]) -> Iterator[_Job]:
    """What came in the meantime."""
    for _ in range(_GROUP - 1):
        try:
            job = queue.get_nowait()
        except Empty:
            return
        if job is None:
            # The end is for the one who asks next.
            queue.put(None)
            return
        yield job


def _together(group: Group, done: Callable[[], list[_Outcome]], each: Callable[[], list[_Outcome]]) -> list[_Outcome]:
    """One commit for all; where one of them met more than a no, nothing of it is kept and each is done by itself."""
    is_open = False
    try:
        with group.whole():
            is_open = True
            outcomes = done()
            if _is_broken(outcomes[-1][2]):
                raise CannotDo("Nothing of this group is kept.")
            return outcomes
    except Exception as error:
        # A store that lets nobody in would be waited for once more by each; what may have been kept is not done twice.
        if not is_open or isinstance(error, Unsure):
            raise
        return each()


def _each(jobs: list[_Job], place: StoreConnection) -> list[_Outcome]:
    return [_tried(job.answer, partial(job.do, place)) for job in jobs]


def _until_broken(jobs: list[_Job], place: StoreConnection) -> list[_Outcome]:
    """The same inside of a transaction, which may have ended with the first that met more than a no."""
    outcomes: list[_Outcome] = []
    for job in jobs:
        outcomes.append(_tried(job.answer, partial(job.do, place)))
        if _is_broken(outcomes[-1][2]):
            break
    return outcomes


def _done_there(loop: asyncio.AbstractEventLoop, do: Callable[[], _T]) -> _T:
    """What something gives that is done in the event loop, at its next turn, while this thread waits for it."""
    given: Future[_T] = Future()

    def there() -> None:
        try:
            given.set_result(do())
        except BaseException as error:
            given.set_exception(error)
            raise

    loop.call_soon_threadsafe(there)
    return given.result()


def _is_broken(error: BaseException | None) -> bool:
    """Whether the transaction may be unusable: refusals are raised in passing, all else is not."""
    return error is not None and (isinstance(error, CannotDo) or not isinstance(error, SeasonedError))


def _tried(answer: asyncio.Future[Any], do: Callable[[], Any]) -> _Outcome:
    """What came of it; an error of any kind goes to the one who asked, and never ends the thread."""
    try:
        return answer, do(), None
    except Exception as error:  # noqa: BLE001
        return answer, None, error


def _settle(outcomes: list[_Outcome]) -> None:
    for answer, result, error in outcomes:
        if answer.done():
            continue  # whoever asked is gone
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)
