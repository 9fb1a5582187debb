"""The doctor's words: its table, what it notes, its conclusion, and lines that cannot fail."""

from __future__ import annotations

from typing import get_args

import pytest

from steelyard.cli import doctor
from steelyard.cli.doctor import Backend, Fact, examine
from steelyard.ports import Guarantee, SandboxSpec
from steelyard.sandbox.guarantees import Probed, State

ALL = get_args(Guarantee)


def _backend(kind: str, held: tuple[Guarantee, ...] = ALL, **states: State) -> Backend:
    probed = [Probed(g, states.get(g, "enforced" if g in held else "not enforced"), g in held, "seen") for g in ALL]
    lacks = [g for g in SandboxSpec().require if g not in held or states.get(g, "enforced") != "enforced"]
    return Backend(kind, f"{kind} 1", "", probed, lacks)


GONE = Backend("docker", refusal="the docker program is not on this machine")


def test_the_table_has_a_row_a_backend_and_a_refusal_stands_in_its_row() -> None:
    """Every guarantee is a column; a backend that is not there says why in its own sentence. [F-21]"""
    head, bubblewrap, docker = doctor._table([_backend("bubblewrap"), GONE])
    assert list(ALL) == head.split()
    assert ["bubblewrap", "1", *["enforced"] * len(ALL)] == bubblewrap.split()
    assert "docker        the docker program is not on this machine" == docker


@pytest.mark.parametrize(
    ("probed", "said"),
    [
        (Probed("pids", "enforced", True, "seen"), ""),
        (Probed("pids", "not enforced", False, "seen"), ""),
        (Probed("pids", "untested", True, "the honest control failed: x"), "the honest control failed: x"),
        (Probed("pids", "not enforced", True, "seen"), "claimed, but the hostile program was not stopped (seen)"),
        (
            Probed("pids", "enforced", False, "seen"),
            "stopped this time, but not claimed, so a job that requires it is refused",
        ),
    ],
)
def test_a_probe_that_found_other_than_what_is_claimed_is_explained(probed: Probed, said: str) -> None:
    """What is as claimed needs no word; everything else has its reason. [F-21]"""
    assert said == doctor._odd(probed)


def test_a_backend_is_ready_when_it_enforces_what_a_job_requires() -> None:
    """A guarantee that is untested or not enforced is lacking; the unsafe backend is never ready. [F-21]"""
    assert _backend("bubblewrap").is_ready
    assert _backend("bubblewrap", SandboxSpec().require).is_ready
    assert not _backend("bubblewrap", network="untested").is_ready
    assert not _backend("docker", wall="not enforced").is_ready
    assert not _backend("unsafe-process").is_ready
    assert not GONE.is_ready


def test_the_conclusion_names_who_is_ready_or_what_everyone_lacks() -> None:
    """One line says which backend can run jobs, or why none can. [F-21]"""
    required = "filesystem, network, wall, output"
    assert f"ready: bubblewrap 1 (a job requires {required})" == doctor._conclusion([_backend("bubblewrap"), GONE])
    lacking = [_backend("bubblewrap", network="untested"), GONE, _backend("unsafe-process")]
    wanted = f"not ready: a job requires {required}; bubblewrap lacks network; docker is not here"
    assert wanted == doctor._conclusion(lacking)


def test_an_unknown_backend_is_a_refusal_and_not_an_error() -> None:
    """Whatever cannot be opened is told in its row. [F-21]"""
    assert "unknown sandbox 'dokcer'" in examine("dokcer").refusal


def test_a_line_that_informs_cannot_fail() -> None:
    """What could not be found out is said in its line. [F-21]"""

    def broken() -> str:
        raise KeyError("flags")

    assert "not known: KeyError: 'flags'" == doctor._told(broken)
    assert ["[INFO] cpu     two", "[INFO] memory  much"] == doctor._lines([Fact("cpu", "two"), Fact("memory", "much")])


@pytest.mark.parametrize("about", doctor._FACTS)
def test_every_fact_is_known_on_the_machines_that_are_tested(about: str) -> None:
    """Each line tells something here, in one line. [F-21]"""
    text = doctor._told(doctor._FACTS[about])
    assert "not known" not in text
    assert text
    assert "\n" not in text
