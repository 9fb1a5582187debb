"""Make the rollouts that a plan asks for: a fixed number of workers over one iterator, each result journalled at once.

No task or semaphore a sample: memory is flat in the number of items. A failed call is an error rollout and the run
goes on; a permanent error stops it with the endpoint's own words. The first Ctrl-C finishes what is in flight, the
second gives up on it; either way everything finished is in the journal and `--resume` goes on.
Evidence of sandboxed items is gathered in threads as soon as their attempt is stored, a bounded number at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator

import msgspec

from steelyard.attempt import Attempt
from steelyard.errors import CallError, CapReachedError, FormatError, InputError, SandboxFaultError
from steelyard.item import Item, ask
from steelyard.judging import gather
from steelyard.ports import Kit, Model
from steelyard.run.journal import EvidenceLine, Journal, Rollout, RolloutError, RolloutIndex, subject
from steelyard.run.plan import Plan
from steelyard.solvers.chat import chat
from steelyard.solvers.tools import CALLS_AT_ONCE, run_tools
from steelyard.suite import Suite
from steelyard.verdict import Evidence
from steelyard.verifiers.registry import revision

PROBES_AT_ONCE = max(2, os.cpu_count() or 2)


class Outcome(msgspec.Struct):
    """How an engine's work ended."""

    wanted: int
    finished: int = 0
    errors: int = 0
    interrupted: bool = False
    stopped: str = ""
    """Why no further rollout was begun, where a cap was reached."""


class Engine:
    """One run's workers. `told` is called after each finished rollout."""

    def __init__(
        self, plan: Plan, suite: Suite, model: Model, kit: Kit, journal: Journal, told: Callable[[Outcome], None]
    ) -> None:
        self._plan, self._suite, self._model, self._kit, self._journal = plan, suite, model, kit, journal
        self._told = told
        self._stopping = False
        self._probes = asyncio.Semaphore(PROBES_AT_ONCE)
        self._calls = asyncio.Semaphore(CALLS_AT_ONCE)
        self.outcome = Outcome(wanted=len(suite.items) * plan.rollouts)

    async def work(self) -> Outcome:
        """Make every rollout that the journal lacks; raises PermanentError after stopping the others."""
        index = RolloutIndex(self._journal.folder)
        try:
            todo = self._todo(index)
            workers = [asyncio.create_task(self._worker(todo)) for _ in range(self._plan.concurrency)]
            with _Interrupts(self._interrupt, workers):
                await self._finish(workers)
        finally:
            index.close()
        return self.outcome

    def _todo(self, index: RolloutIndex) -> Iterator[tuple[Item, int]]:
        for rollout in range(self._plan.rollouts):
            for item in self._suite.items:
                if index.done(item.id, rollout):
                    self.outcome.finished += 1
                else:
                    yield item, rollout

    async def _finish(self, workers: list[asyncio.Task[None]]) -> None:
        try:
            await asyncio.gather(*workers)
        except asyncio.CancelledError:
            self.outcome.interrupted = True
        except BaseException:
            self._stopping = True
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            raise

    def _interrupt(self) -> None:
        self._stopping = self.outcome.interrupted = True

    async def _worker(self, todo: Iterator[tuple[Item, int]]) -> None:
        for item, number in todo:
            if self._stopping:
                return
            try:
                await self._rollout(item, number)
            except CapReachedError as reached:
                self._stopping, self.outcome.stopped = True, str(reached)

    async def _rollout(self, item: Item, number: int) -> None:
        started, seed = time.time(), self._plan.seed + number
        attempt: Attempt | None = None
        error: RolloutError | None = None
        try:
            attempt = await self._attempt(item, seed)
        except CallError as failure:
            error = RolloutError(failure.kind, str(failure))
        except SandboxFaultError as failure:
            error = RolloutError("sandbox", str(failure))
        except (InputError, FormatError) as failure:  # this item's setup or files; the others can still be asked
            error = RolloutError("item", str(failure))
        rollout = Rollout(
            item=item.id,
            rollout=number,
            seed=seed,
            ask=ask(item),
            attempt=attempt,
            error=error,
            started=round(started, 3),
            seconds=round(time.time() - started, 3),
        )
        self._journal.append(rollout)
        if attempt is not None and self._suite.bound[item.id].probes:
            await self._probe(item, number, attempt)
        self.outcome.finished += 1
        self.outcome.errors += error is not None
        self._told(self.outcome)

    async def _attempt(self, item: Item, seed: int) -> Attempt:
        plan = self._plan
        if plan.solver.name == "tools":
            return await run_tools(item, self._model, plan.sampling, seed, plan.solver, self._kit, self._calls)
        return await chat(item, self._model, plan.sampling, seed, plan.solver)

    async def _probe(self, item: Item, number: int, attempt: Attempt) -> None:
        """Gather evidence now; what fails here is gathered again when the run is judged."""
        async with self._probes:
            seen = await asyncio.to_thread(gather, item, self._suite.bound[item.id], attempt, self._kit)
        if isinstance(seen, Evidence):
            judge = revision(item, self._suite.bound[item.id])
            self._journal.append_evidence(EvidenceLine(item.id, number, judge, subject(item, attempt), seen))


class _Interrupts:
    """First SIGINT: stop taking work. Second: cancel what is in flight. Restores what was there before."""

    def __init__(self, interrupt: Callable[[], None], workers: list[asyncio.Task[None]]) -> None:
        self._interrupt, self._workers, self._seen = interrupt, workers, 0

    def __enter__(self) -> None:
        try:
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._on_signal)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread: plain Ctrl-C
            return

    def __exit__(self, *exc: object) -> None:
        try:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        except (NotImplementedError, RuntimeError, ValueError):
            return

    def _on_signal(self) -> None:
        self._seen += 1
        self._interrupt()
        if self._seen > 1:
            for worker in self._workers:
                worker.cancel()
