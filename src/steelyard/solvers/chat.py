"""The chat solver: one request, one reply, the reply is the answer.

Not covered: tools (see `tools`), several choices from one request (n rollouts are n requests).
Easy to break: rendering a prompt anywhere but in `item.messages`.
"""

from __future__ import annotations

from steelyard.attempt import Attempt
from steelyard.item import Item, messages
from steelyard.ports import Model, Sampling
from steelyard.solvers.replies import reply_message, reply_text, stop_reason, total_usage
from steelyard.solvers.settings import SolverSettings, reply_sampling


async def chat(item: Item, model: Model, sampling: Sampling, seed: int | None, settings: SolverSettings) -> Attempt:
    """One attempt by one model call; CallError and PermanentError pass through."""
    asked = messages(item, settings.system)
    output = await model.generate(asked, reply_sampling(sampling, settings), seed=seed)
    return Attempt(
        answer=reply_text(output),
        messages=[*asked, reply_message(output)],
        outputs=[output],
        stop=stop_reason(output),
        usage=total_usage([output]),
    )
