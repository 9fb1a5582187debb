"""The invented notices, what may be asked about them, and reading a notice back from a prompt.

Nothing here names a real place. Every reason's noun can be asked for as a topic that the notice does mention.
Source: the form of the prompt is seed 004's; the catalogue is this project's own.
Easy to break: an apostrophe, or the words open and closed in a place or a reason, would mislead the checks.
"""

from __future__ import annotations

import re

import msgspec

from steelyard.errors import InputError

TOPICS = (
    "bike rack",
    "campsite",
    "detour",
    "drinking fountain",
    "fee",
    "guided walk",
    "map",
    "parking lot",
    "phone number",
    "picnic table",
    "ranger",
    "shuttle",
)
"""What visitors ask about and most notices do not say; each goes after `a`."""


class Notice(msgspec.Struct, frozen=True):
    """A posted notice; `noun` is the one thing in its reason that a question can name."""

    place: str
    state: str
    reason: str
    noun: str

    @property
    def name(self) -> str:
        """The place without its article, with dashes: the item's group."""
        return self.place.removeprefix("the ").replace(" ", "-")

    @property
    def text(self) -> str:
        """The sentence that prompts quote."""
        return f"The posted notice says {self.place} is {self.state}, because of {self.reason}."

    @property
    def ruled_out(self) -> str:
        """The state that the notice rules out."""
        return "open" if self.state.startswith("closed") else "closed"

    @property
    def accepted(self) -> list[str]:
        """The reason as it stands, and without its article."""
        bare = re.sub(r"^an? ", "", self.reason)
        return [self.reason] if bare == self.reason else [self.reason, bare]

    def mentions(self, topic: str) -> bool:
        """Whether the notice has the topic's words, as whole words."""
        return re.search(rf"\b{re.escape(topic)}\b", self.text, re.IGNORECASE) is not None


CATALOGUE = (
    Notice("the heron boardwalk", "closed until Thursday", "rotten planks", "planks"),
    Notice("the quarry rim path", "closed for the season", "loose rock", "rock"),
    Notice("the fern gully loop", "closed until further notice", "a fallen cedar", "cedar"),
    Notice("the lower ford", "closed until Monday", "a swollen creek", "creek"),
    Notice("the lookout tower", "closed until June", "a cracked stair", "stair"),
    Notice("the island landing", "closed until the weekend", "a drifting barge", "barge"),
    Notice("the moss cave", "closed to visitors", "a colony of sleeping bats", "bats"),
    Notice("the sand spit", "closed through August", "nesting terns", "terns"),
    Notice("the sawmill track", "open again", "a finished culvert", "culvert"),
    Notice("the alder camp", "open all week", "a mild spring", "spring"),
    Notice("the ridge hut", "open to everyone", "a newly hired warden", "warden"),
    Notice("the river steps", "open as usual", "an early thaw", "thaw"),
)
CLOSURES = tuple(notice for notice in CATALOGUE if notice.state.startswith("closed"))

_TEXT = re.compile(r"The posted notice says (the .+?) is ((?:open|closed)\b.*?), because of (.+?)\. ")


def read_notice(prompt: str) -> tuple[str, str, str]:
    """(place, state, reason) as a prompt quotes them."""
    found = _TEXT.search(prompt)
    if found is None:
        raise InputError(f"no posted notice in this prompt: {prompt[:80]!r}")
    return found[1], found[2], found[3]
