"""One writer with group commit: what arrives during a commit goes into the next one."""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import apsw

from potluck.dynamo.errors import CLOSED, FULL, DynamoError
from potluck.dynamo.storage.catalog import Catalog
from potluck.dynamo.storage.clean_close import is_marked_open, mark_open
from potluck.dynamo.storage.commits import Commits
from potluck.dynamo.storage.connection import transaction
from potluck.dynamo.storage.damage import DAMAGE, Damage
from potluck.dynamo.storage.reserve import Reserve, is_full
from potluck.dynamo.storage.rows import Rows, StaleTable, Stored
from potluck.metrics import COMMIT_SECONDS, COMMIT_WRITES, WRITE_SECONDS
from potluck.states import WORK_FAILING, WRITES_FAILING, Trouble

logger = logging.getLogger(__name__)

LARGEST_BATCH = 1024
WATCH_SECONDS = 0.02
"""How often an idle writer checks for other processes' commits while a caller waits for changes."""

SHARED_SECONDS = 1.0
TURN_SECONDS = 0.001

CHECKPOINT_PAGES = 2_000
LONGEST_LOG_PAGES = 16_000
SCARCE_LOG_PAGES = 250
"""How long the log may become while the disk is full: a megabyte."""

Work = Callable[[Rows], Any]
OnCommit = Callable[[list[Stored] | None], "list[HandOver] | None"]
"""Called with a commit's changes, in order; with None for commits by other processes.

Its event loop makes each returned call before the writes are answered.
"""
HandOver = tuple[asyncio.AbstractEventLoop, Callable[[], None]]
Outcome = tuple["WriteJob", Any, BaseException | None]


class WriteJob:
    __slots__ = ("began", "future", "loop", "work")

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self.work = work
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.began = time.perf_counter()


class Writer:
    """Runs each piece of work alone and in order, and answers it once it is durable or has failed.

    Work must be repeatable: if a batch fails for any reason other than a refusal, each piece is retried on its own.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        catalog: Catalog,
        commits: Commits,
        damage: Damage,
        reserve: Reserve,
        checkpoint: Callable[[], None],
        on_commit: OnCommit,
        marks: bool,
    ) -> None:
        self.connection = connection
        self.catalog = catalog
        self.commits = commits
        self.damage = damage
        self.reserve = reserve
        self.checkpoint = checkpoint
        self.on_commit = on_commit
        self.rows = Rows(connection, catalog)
        self.watching = 0
        self._queue: queue.SimpleQueue[list[WriteJob] | None] = queue.SimpleQueue()
        self._arriving: dict[asyncio.AbstractEventLoop, list[WriteJob]] = {}
        self._closed = False
        self._log_pages = 0
        self._checkpointed_pages = 0
        self._seen_version = 0
        self._shared_until = 0.0
        self._handed_over: list[HandOver] = []
        self._marks = marks
        self._mark_due = False
        self._submitted = self._answered = 0
        self._writes_fail = Trouble(WRITES_FAILING, logger, "writes fail", level=logging.ERROR)
        self._chores_fail = Trouble(WORK_FAILING, logger, "the writer's chores fail", level=logging.ERROR)
        connection.wal_autocheckpoint(0)
        connection.set_wal_hook(self._note_log)
        self._thread = threading.Thread(target=self._run, name="potluck-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many writes wait for their commit."""
        return max(0, self._submitted - self._answered)

    def submit(self, work: Work) -> asyncio.Future[Any]:
        """Do the work in the next commit; must be called on the event loop that awaits it."""
        loop = asyncio.get_running_loop()
        if self._closed:
            raise DynamoError(CLOSED, "The store is closed")
        job = WriteJob(work, loop)
        self._submitted += 1
        arriving = self._arriving.get(loop)
        if arriving is None:
            # Everything submitted in this iteration of the loop is handed over together and wakes the writer once.
            self._arriving[loop] = [job]
            loop.call_soon(self._hand_over, loop)
        else:
            arriving.append(job)
        return job.future

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        self._queue.put(self._arriving.pop(loop))

    def watch(self) -> None:
        """Keep checking for other processes' commits until `unwatch`."""
        self.watching += 1
        if self.watching == 1:
            self._queue.put([])

    def unwatch(self) -> None:
        self.watching -= 1

    def close(self) -> None:
        """Finish what was submitted, then stop."""
        if not self._closed:
            self._closed = True
            for loop in list(self._arriving):
                self._hand_over(loop)
            self._queue.put(None)
        self._thread.join()
        self._writes_fail.forget()
        self._chores_fail.forget()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            try:
                arrived = self._queue.get(timeout=WATCH_SECONDS if self.watching else None)
            except queue.Empty:
                self._beside(self._look_for_others)
                self._beside(self._stay_marked)
                if self._handed_over:
                    self._tell([], self._handed_over)
                continue
            jobs: list[WriteJob] = []
            while True:
                if arrived is None:
                    stopping = True
                else:
                    jobs += arrived
                if len(jobs) >= LARGEST_BATCH:
                    break
                try:
                    arrived = self._queue.get_nowait()
                except queue.Empty:
                    break
            if jobs:
                self._commit(jobs)
                self._beside(self._stay_marked)
                self._beside(self._keep_log_short)

    def _beside(self, chore: Callable[[], None]) -> None:
        """Do a chore that no caller waits for; if it fails, the writer carries on."""
        try:
            chore()
        except DAMAGE as error:
            self.damage.noticed(error)
        except apsw.Error as error:
            if is_full(error):
                self.reserve.full.met(error, traceback=False)
            else:
                self._chores_fail.met(error)
        else:
            self._chores_fail.over()

    def _commit(self, jobs: list[WriteJob]) -> None:
        try:
            outcomes = self._try_with_room(jobs)
        except Exception as trouble:
            if len(jobs) == 1 or isinstance(trouble, apsw.BusyError):
                refusal = self._refusal(trouble)
                outcomes = [(job, None, refusal) for job in jobs]
            else:
                # One piece of work must not fail the others with it.
                for job in jobs:
                    self._commit([job])
                return
        self._tell(outcomes, self._handed_over)

    def _refusal(self, trouble: Exception) -> DynamoError:
        if isinstance(trouble, DAMAGE):
            return self.damage.noticed(trouble)
        if is_full(trouble):
            self.reserve.full.met(trouble, traceback=False)
        else:
            self._writes_fail.met(trouble)
        return internal(trouble)

    def _tell(self, outcomes: list[Outcome], handed_over: list[HandOver]) -> None:
        """Wake each event loop once with all its results."""
        self._answered += len(outcomes)
        now = time.perf_counter()
        for outcome in outcomes:
            WRITE_SECONDS.observe(now - outcome[0].began)
        by_loop: dict[asyncio.AbstractEventLoop, tuple[list[Callable[[], None]], list[Outcome]]] = {}
        for loop, call in handed_over:
            by_loop.setdefault(loop, ([], []))[0].append(call)
        for outcome in outcomes:
            by_loop.setdefault(outcome[0].loop, ([], []))[1].append(outcome)
        handed_over.clear()
        for loop, results in by_loop.items():
            try:
                loop.call_soon_threadsafe(answer, *results)
            except RuntimeError:
                if results[1]:
                    logger.warning("%d writes were committed whose callers' event loop is closed", len(results[1]))

    def _try_with_room(self, jobs: list[WriteJob]) -> list[Outcome]:
        """Try; on a full disk, reuse the space that the log takes, then that of the reserve."""
        for make_room in (self._merge_log, self._use_reserve):
            try:
                return self._try(jobs)
            except apsw.Error as error:
                if not is_full(error):
                    raise
                self.reserve.full.met(error, traceback=False)
                self._beside(make_room)
        return self._try(jobs)

    def _merge_log(self) -> None:
        """Copy the log into the file, so that the next write begins it again in the space that it has."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def _use_reserve(self) -> None:
        if self.reserve.release():
            self._merge_log()

    def _try(self, jobs: list[WriteJob]) -> list[Outcome]:
        execute = self.connection.execute
        rows = self.rows
        began = time.perf_counter()
        execute("BEGIN IMMEDIATE")
        try:
            self._look_for_others()
            self.commits.begin(rows)
            outcomes: list[Outcome] = []
            for job in jobs:
                try:
                    outcomes.append((job, job.work(rows), None))
                except (DynamoError, StaleTable) as refusal:
                    outcomes.append((job, None, refusal))
            rows.save_counts()
            if rows.stored:
                # A commit without changes does not show in the file: the next one to show would be another process's.
                self.commits.coming(rows.stored)
            execute("COMMIT")
        except BaseException:
            rows.counts.clear()
            rows.stored.clear()
            if not self.connection.get_autocommit():
                execute("ROLLBACK")
            self.catalog.refresh(self.connection, undone=True)
            self.commits.ended(committed=False)
            raise
        COMMIT_SECONDS.observe(time.perf_counter() - began)
        COMMIT_WRITES.observe(len(jobs))
        self.reserve.has_room()
        self._writes_fail.over()
        stored, rows.stored = rows.stored, []
        try:
            self.commits.ended(committed=True)
            if stored:
                self._handed_over += self.on_commit(stored) or ()
        except Exception:
            # It is committed: reporting a failure would make the callers write it again.
            logger.exception("a commit was not reported to followers")
            self.commits.doubt()
        return outcomes

    def _look_for_others(self) -> None:
        """Notice commits by other processes: refresh the definitions, and notify those who wait for changes."""
        version = self.connection.execute("PRAGMA data_version").get
        if version != self._seen_version:
            first = self._seen_version == 0
            self._seen_version = version
            self.catalog.refresh(self.connection)
            self._mark_due = self._marks and not is_marked_open(self.connection)
            if not first:
                self._shared_until = time.monotonic() + SHARED_SECONDS
                self._handed_over += self.on_commit(None) or ()

    def _stay_marked(self) -> None:
        """Mark the store as open again, after another process has closed it."""
        if self._mark_due:
            with transaction(self.connection):
                mark_open(self.connection)
            self._mark_due = False
            self.checkpoint()

    def _note_log(self, connection: apsw.Connection, name: str, pages: int) -> int:
        self._log_pages = pages
        return 0

    def _keep_log_short(self) -> None:
        if self._log_pages > (SCARCE_LOG_PAGES if self.reserve.is_spent else LONGEST_LOG_PAGES):
            self._merge_log()
        elif self._log_pages < self._checkpointed_pages:
            self._checkpointed_pages = 0  # the log was restarted
        elif self._log_pages > self._checkpointed_pages + CHECKPOINT_PAGES:
            self._checkpointed_pages = self._log_pages
            self.checkpoint()
        if time.monotonic() < self._shared_until:
            # SQLite's lock is not fair: without a pause, a busy process would starve the others.
            time.sleep(TURN_SECONDS)


def internal(trouble: Exception) -> DynamoError:
    if is_full(trouble):
        return DynamoError(FULL, "The disk is full: nothing was written")
    if isinstance(trouble, apsw.BusyError):
        return DynamoError("InternalServerError", "Another process keeps the store busy: nothing was written")
    return DynamoError("InternalServerError", "The write failed: nothing was written")


def answer(handed_over: list[Callable[[], None]], answers: list[Outcome]) -> None:
    for call in handed_over:
        try:
            call()
        except Exception:
            # The writes are answered all the same.
            logger.exception("a commit was not handed over")
    for job, result, refusal in answers:
        if job.future.cancelled():
            continue
        if refusal is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(refusal)
