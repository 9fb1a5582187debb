"""How many calls are in flight at one endpoint: adapts to refusals, time-outs and slowness, and never stalls.

Source: additive increase, multiplicative decrease, as TCP does it (RFC 5681). A 429 or a time-out halves what may be
in flight, once for all calls that were sent before the last cut; every whole reply lets it grow by one part. While
replies take several times as long as the quickest ones did, it does not grow: more calls would only queue. After a
Retry-After nobody calls before that time. One call may always be in flight, so work goes on.
A retry takes from a budget that replies refill, so that a dead endpoint is not called for every item six times.
Easy to break: cutting for each of a hundred refusals that belong to one moment.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_CUT = 0.5
_SLOW = 4.0  # times the quickest reply: longer than that, the endpoint queues


class Pace:
    """One endpoint's gate; all of its methods belong to one event loop. `most` calls at once, None for any number."""

    def __init__(self, most: int | None = None, *, retry_budget: float = 1000.0) -> None:
        self._most = float(most) if most else float("inf")
        self._limit = self._most
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._last_cut = 0.0
        self._quiet_until = 0.0
        self._quickest_s = float("inf")
        self._recent_s = 0.0
        self._budget = retry_budget

    @property
    def limit(self) -> float:
        """Calls that may be in flight now; infinite until something was refused."""
        return self._limit

    @property
    def in_flight(self) -> int:
        return self._in_flight

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a turn; yields the time of the start, which `replied` and `refused` want back."""
        await self._enter()
        try:
            yield time.monotonic()
        finally:
            self._in_flight -= 1
            self._wake()

    def replied(self, started: float) -> None:
        """A whole reply came: one more part may be in flight, unless the endpoint has become slow."""
        seconds = time.monotonic() - started
        self._quickest_s = min(self._quickest_s, seconds)
        self._recent_s = seconds if not self._recent_s else 0.8 * self._recent_s + 0.2 * seconds
        self._budget += 1
        if self._recent_s <= _SLOW * max(self._quickest_s, 0.01):
            self._limit = min(self._most, self._limit + 1 / max(self._limit, 1.0))
            self._wake()

    def refused(self, started: float, wait_s: float | None = None) -> None:
        """Too many calls, or one that took too long: halve, unless that was done since this call began."""
        now = time.monotonic()
        if wait_s is not None:
            self._quiet_until = max(self._quiet_until, now + wait_s)
        if started < self._last_cut:
            return
        self._last_cut = now
        self._limit = max(1.0, min(self._limit, float(self._in_flight)) * _CUT)

    def may_retry(self) -> bool:
        """Take one retry from the budget; False when it is spent."""
        if self._budget < 1:
            return False
        self._budget -= 1
        return True

    async def _enter(self) -> None:
        while True:
            while self._in_flight >= max(1, int(min(self._limit, 2**31))):
                turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                try:
                    await turn
                except asyncio.CancelledError:
                    self._wake()  # the turn that came to nothing is somebody else's
                    raise
            quiet_s = self._quiet_until - time.monotonic()
            if quiet_s <= 0:
                break
            await asyncio.sleep(quiet_s)
        self._in_flight += 1

    def _wake(self) -> None:
        free = int(min(self._limit, 2**31)) - self._in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
