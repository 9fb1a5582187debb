"""`states`: what a reply asserts, denies, supposes or withdraws; and seed 004's window."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading
from steelyard.verifiers.registry import bind_spec


def passes(answer: str, target: str, **config: object) -> bool | None:
    """Whether an answer passes."""
    bound = bind_spec({"name": "states", **config}, target)
    return bound.decide(bound.read(Attempt(answer=answer))).passed


ASSERTED = [
    ("The trail is open.", "open"),
    ("It is open, not closed.", "open"),
    ("The lift runs daily.", "lift"),
    ("Not only is it open, it is free.", "open"),
    ("It's not just open but free.", "open"),
    ("Undoubtedly the port is 8042.", "8042"),
    ("The port can only be 8042.", "8042"),
    ("Nobody doubts that the port is 8042.", "8042"),
    ("I don't deny that it is 42.", "42"),
    ("There's no question: it's 42.", "42"),
    ("It is none other than 42.", "42"),
    ("No value other than 42 fits.", "42"),
    ("Nothing but 42 will do.", "42"),
    ("It is not true that the value isn't 42.", "42"),
    ("It is not impossible that it is 42.", "42"),
    ("Neither 5 nor 6 fits; it is 7.", "7"),
    ("Rather than 5, the answer is 7.", "7"),
    ("Instead of 5 it is 7.", "7"),
    ("It was 5 last year, but now it is 7.", "7"),
    ("I guessed 5, yet the log says 7.", "7"),
    ("5? No, 7.", "7"),
    ("The value is 5. No wait, it is 7.", "7"),
    ("Scratch that: the port is 80.", "80"),
    ("Some say 5, but it is 7.", "7"),
    ("If I'm not mistaken, it's 42.", "42"),
    ("Make no mistake: it is 42.", "42"),
    ("The config does not set it, but the default is 42.", "42"),
    ("Although it isn't listed, the port is 8042.", "8042"),
    ("Is it open? Yes, it is open.", "open"),
    ("It is open, isn't it?", "open"),
    ("The notice says the trail is open.", "open"),
    ("No, the trail is open.", "open"),
    ("No. The trail is open.", "open"),
    ("It's 42, without a doubt.", "42"),
    ("It is certainly not closed; it is open.", "open"),
    ("It isn't closed, it's open.", "open"),
    ("It isn't closed. It's open.", "open"),
    ("The gate is not shut and is open to all.", "open"),
    ("It's 21 rather than 12.", "21"),
    ("21, as opposed to 12.", "21"),
    ("One cannot but conclude that it is 42.", "42"),
    ("It never fails to be 42.", "42"),
    ("It cannot be denied that it is 42.", "42"),
    ("I'm not sure, but I believe it is 42.", "42"),
    ("The answer isn't 5, 6 or 8: it is 7.", "7"),
    ("Beyond doubt, 42.", "42"),
    ("42 it is.", "42"),
    ("42 is the port, nothing else.", "42"),
    ("42 is not wrong.", "42"),
    ("The number is 42!", "42"),
    ("**42** is right", "42"),
    ("The total is 1,234.", "1234"),
    ("It was thought to be 5. In fact it is 7.", "7"),
    ("Bob claims it is 5, but in fact it is 7.", "7"),
    ("The server uses port 8042 and never port 80.", "8042"),
    ("There is no reason to doubt that it is 42.", "42"),
    ("Without question the bridge is closed.", "closed"),
    ("The bridge has not reopened; it remains closed.", "closed"),
    ("It couldn't be anything but 42.", "42"),
    ("It is nothing other than 42.", "42"),
    ("Far from being closed, the trail is open.", "open"),
    ("I retract my earlier 5; it is 7.", "7"),
    ("Not 5 — 7.", "7"),
    ("It's no longer 5: it's 7.", "7"),
    ("Contrary to the rumour, it is open.", "open"),
    ("The port isn't 80 because it was moved to 8042.", "8042"),
    ("It is undeniable that it's 42.", "42"),
    ("No one disputes that the code is 42.", "42"),
    ("It's beyond dispute: 42.", "42"),
    ("It can't be anything except 42.", "42"),
    ("There's no denying it is 42.", "42"),
    ("It must be 42 and nothing else.", "42"),
    ("None but 42 fits.", "42"),
    ("There is not a shadow of a doubt that it is 42.", "42"),
    ("It isn't untrue that it is 42.", "42"),
    ("I don't think it isn't 42.", "42"),
    ("It is never not 42.", "42"),
    ("It's not raining and the trail is open.", "open"),
    ("12 isn't it; 21 is.", "21"),
    ("7 and not 5.", "7"),
    ("7 - not 5.", "7"),
    ("7 instead of 5.", "7"),
    ("Not five. 7!", "7"),
    ("My earlier answer of 8 was a mistake; it's 9.", "9"),
    ("Ignore the 8 above; it's 9.", "9"),
    ("Let me correct myself: not 8 but 9.", "9"),
    ("8—no, 9.", "9"),
    ("I said 8 earlier, but it's actually 9.", "9"),
    ("8? Make that 9.", "9"),
    ("The port was 80, but it has been changed to 8042.", "8042"),
    ("There can be no other answer than 42.", "42"),
    ("It is by no means closed, it is open.", "open"),
    ("The gate is never closed: it stays open.", "open"),
    ("It's open, no question.", "open"),
    ("It's open, no doubt about it.", "open"),
    ("Certainly it is not 5. It is 7.", "7"),
    ("We didn't get 5. We got 7.", "7"),
    ("Neither the first nor the second; it is 7.", "7"),
    ("Contrary to what people say, it is 7.", "7"),
    ("People say it is 5. They are wrong: it is 7.", "7"),
    ("It's 7, though some claim 5.", "7"),
    ("I cannot imagine it being anything other than 7.", "7"),
    ("The value could not be other than 7.", "7"),
    ("It is 7 (not 5).", "7"),
    ("(7)", "7"),
    ("No fewer than three tests confirm it is 7.", "7"),
    ("The trail isn't just open, it's busy.", "open"),
    ("It's not that hard: 7.", "7"),
    ("I have no objection: it is 7.", "7"),
    ("Don't worry, it is open.", "open"),
    ("Do not panic: the answer is 7.", "7"),
    ("No problem, it's 7.", "7"),
    ("There is nothing wrong with 7.", "7"),
    ("Nothing is wrong: the port is 80.", "80"),
    ("Never mind the rest; the port is 80.", "80"),
    ("If you look at line 3, you will see that the port is 80.", "80"),
    ("As if by magic, it is open.", "open"),
    ("It won't be anything but 7.", "7"),
    ("Not 5, not 6, but 7.", "7"),
    ("The answer is no longer 5; it is 7.", "7"),
    ("The bridge is closed because it is not safe.", "closed"),
    ("The bridge is closed, so do not go.", "closed"),
    ("It is closed and not open.", "closed"),
    ("It's closed (don't go).", "closed"),
    ("Don't forget: it's closed.", "closed"),
    ("You can't miss it: it is 7.", "7"),
    ("It's impossible that it is not 7.", "7"),
    ("It is false that it is not 7.", "7"),
    ("The opposite is false: it is 7.", "7"),
    ("7, no more and no less.", "7"),
    ("It's not 5 anymore, it's 7.", "7"),
    ("Yes, 7.", "7"),
    ("Is it 7? Yes.", "7"),
    ("I'm wrong about 5. It's 7.", "7"),
    ("Wait, 5 is wrong. It's 7.", "7"),
    ("The server doesn't use 80 but 8042.", "8042"),
    ("The server does not use 80, it uses 8042.", "8042"),
    ("Nicht 5, sondern 7.", "7"),
]
NOT_ASSERTED = [
    ("The trail is not open.", "open"),
    ("It's not open.", "open"),
    ("The trail isn’t open today.", "open"),
    ("The trail cannot be open.", "open"),
    ("The trail never is open.", "open"),
    ("No trail is open.", "open"),
    ("None of the trails is open.", "open"),
    ("Nothing here is open.", "open"),
    ("The trail is not, as far as we can tell from here, open.", "open"),
    ("It is wrong that the port is 80.", "80"),
    ("I deny that it is 42.", "42"),
    ("I doubt it is 42.", "42"),
    ("It is untrue that it's 42.", "42"),
    ("It's a myth that it is 42.", "42"),
    ("It is anything but 42.", "42"),
    ("Any port but 80 works.", "80"),
    ("It could be any number other than 42.", "42"),
    ("Everything except 42 fits.", "42"),
    ("It is neither 5 nor 6.", "6"),
    ("It is neither 5 nor 6.", "5"),
    ("Rather than 5, the answer is 7.", "5"),
    ("Instead of 5 it is 7.", "5"),
    ("5 is wrong.", "5"),
    ("80 is not the port.", "80"),
    ("80 was never the port.", "80"),
    ("80 can't be right.", "80"),
    ("The port is 80. That is false.", "80"),
    ("The port is 80? No.", "80"),
    ("Is the port 80?", "80"),
    ("If the port were 80, it would fail.", "80"),
    ("Suppose it is 80.", "80"),
    ("Whether it is 80 is unknown.", "80"),
    ("Assuming the port is 80, we continue.", "80"),
    ("It is 5. No wait, 7.", "5"),
    ("It is 5 — scratch that, it is 7.", "5"),
    ("I thought it was 5, but it is 7.", "5"),
    ("My first guess was 5; it is 7.", "5"),
    ("Some say it is 5.", "5"),
    ("My friend thinks it is 5.", "5"),
    ("Bob claims it is 5.", "5"),
    ("A user on the forum said it is 5, which is false.", "5"),
    ("The value is not 5, not 6 but 7.", "6"),
    ("The value is not 5, nor 6.", "6"),
    ("It's not 5 or 6.", "6"),
    ("It isn't 5, 6 or 8: it is 7.", "8"),
    ("It reopened.", "open"),
    ("The open-air stage", "open"),
    ("The value is 420.", "42"),
    ("", "42"),
    ("It is not the case that it is 42.", "42"),
    ("I can't say that it is 42.", "42"),
    ("I do not think that it is 42.", "42"),
    ("42 has been ruled out.", "42"),
    ("42 is out of the question.", "42"),
    ("We can rule out 42.", "42"),
    ("We excluded 42.", "42"),
    ("It fails to be 42.", "42"),
    ("The port used to be 80.", "80"),
    ("At first it looked like 80, but it is 8042.", "80"),
    ("It hardly is 42.", "42"),
    ("There's no way it is 42.", "42"),
    ("No, it isn't 42.", "42"),
    ("No it is not 42.", "42"),
    ("The trail doesn't open.", "open"),
    ("It would be open if the bridge held.", "open"),
    ("The value is ~~5~~ 7.", "5"),
    ("<think>It is 5</think>It is 7.", "5"),
    ("The answer is ≠ 5.", "5"),
    ("Unless it is 5, we fail.", "5"),
    ("It is 5. Correction: it is 7.", "5"),
    ("It is 5, I mean 7.", "5"),
    ("You might think it is 5.", "5"),
    ("One could say it is 5, but that is wrong.", "5"),
    ("It isn't true that 5 fits.", "5"),
    ("5 is incorrect; 7 is right.", "5"),
    ("5 does not work.", "5"),
    ("I refuse to say it is 42.", "42"),
    ("Without 42 it works.", "42"),
    ("It is far from 42.", "42"),
    ("Imagine that it is 42.", "42"),
    ("Had it been 42, we would know.", "42"),
    ("I was wrong to say 42.", "42"),
    ("Wrong: 42.", "42"),
    ("The claim that it is 42 is false.", "42"),
    ("Is it 42? No, it's 43.", "42"),
    ("Not 42.", "42"),
    ("not 5 but 7", "5"),
    ("Nobody said that the port is 80.", "80"),
    ("It's a mistake to think that the port is 80.", "80"),
    ("It would be wrong to say it's 80.", "80"),
    ("I never said 80.", "80"),
    ("80 isn't it.", "80"),
    ("My earlier answer of 8 was a mistake; it's 9.", "8"),
    ("Ignore the 8 above; it's 9.", "8"),
    ("8—no, 9.", "8"),
    ("I said 8 earlier, but it's actually 9.", "8"),
    ("8? Make that 9.", "8"),
    ("Let's say it's 5.", "5"),
    ("In case it's 5, call me.", "5"),
    ("Should it be 5, call me.", "5"),
    ("Only if it is 5 do we go.", "5"),
    ("Provided that it is 5, we go.", "5"),
    ("What if it is 5?", "5"),
    ("I wish it were 5.", "5"),
    ("It looks as though it were 5.", "5"),
    ("Were it 5, we would know.", "5"),
    ("5? I don't think so.", "5"),
    ("5? Never.", "5"),
    ("It is 5. Not a chance.", "5"),
    ("It's 5? No way.", "5"),
    ("I wouldn't say 5.", "5"),
    ("Everyone agrees it isn't 5.", "5"),
    ("It is by no means 5.", "5"),
    ("In no way is it 5.", "5"),
    ("On no account is it 5.", "5"),
    ("Under no circumstances is it open.", "open"),
    ("It is not, and never was, open.", "open"),
    ("It is not currently open.", "open"),
    ("Not one of the trails is open.", "open"),
    ("The trail, sadly, is not open.", "open"),
    ("There isn't an open trail.", "open"),
    ("There is no open trail.", "open"),
    ("It's the opposite of open.", "open"),
    ("People say it is 5. They are wrong: it is 7.", "5"),
    ("It's 7, though some claim 5.", "5"),
    ("Who said it was 5?", "5"),
    ("It was 5 that was wrong.", "5"),
    ("The port moved away from 80.", "80"),
    ("You'd be wrong to answer 5.", "5"),
    ("Nope, not 5.", "5"),
    ("Definitely not 5.", "5"),
    ("It ain't 5.", "5"),
    ("It isnt 5", "5"),
    ("It cant be 5", "5"),
    ("It couldn't possibly be 5.", "5"),
    ("It shouldn't be 5.", "5"),
    ("By no stretch is it 5.", "5"),
    ("The value is different from 5.", "5"),
    ("It is not equal to 5.", "5"),
    ("It differs from 5.", "5"),
    ("It is unequal to 5.", "5"),
    ("It isn't even close to 5.", "5"),
    ("It lacks a 5.", "5"),
    ("I mistook it for 5.", "5"),
    ("I mistakenly wrote 5.", "5"),
    ("The answer 5 was a typo.", "5"),
    ("5 turned out to be wrong.", "5"),
    ("5 has been withdrawn.", "5"),
    ("5 was discarded.", "5"),
    ("I withdraw 5.", "5"),
    ("I take back 5.", "5"),
    ("Forget 5.", "5"),
    ("We can eliminate 5.", "5"),
    ("It excludes 5.", "5"),
    ("It's been proven that it's not 5.", "5"),
    ("It was believed to be 5, but it is 7.", "5"),
    ("Formerly 5, it is now 7.", "5"),
    ("It used to be 5.", "5"),
    ("It no longer is 5.", "5"),
    ("Maybe you think 5, but no.", "5"),
    ("The textbook's 5 is an error.", "5"),
    ("That it is 5 is untrue.", "5"),
    ('"It is 5" is false.', "5"),
    ("It is said to be 5, wrongly.", "5"),
    ("Nothing suggests that it is 5.", "5"),
    ("There is no evidence that it is 5.", "5"),
    ("There is no reason to think it is 5.", "5"),
    ("The trail is closed, not open.", "open"),
    ("It's closed rather than open.", "open"),
    ("closed, never open", "open"),
    ("Nicht 5, sondern 7.", "5"),
    ("不是5，而是7。", "5"),
    ("Ce n'est pas 5.", "5"),
    ("Das ist nicht offen.", "offen"),
    ("It is 5 only in theory, not in fact.", "42"),
]


@pytest.mark.parametrize(("answer", "phrase"), ASSERTED)
def test_an_asserted_phrase_is_found_whatever_is_denied_beside_it(answer, phrase):
    """Clauses end a negation, two cancel, and `no doubt` and its kin are none [G-10]."""
    assert passes(answer, phrase)
    assert not passes(answer, phrase, polarity="not-asserted")


@pytest.mark.parametrize(("answer", "phrase"), NOT_ASSERTED)
def test_a_denied_supposed_withdrawn_or_reported_phrase_is_not_asserted(answer, phrase):
    """Denials before, after and in the next sentence, questions, suppositions and other people's claims [G-10]."""
    assert not passes(answer, phrase)


OLD_THINGS = [
    ("The notice says the old mill track is closed today.", "closed", True),
    ("The sign says the previous bridge is closed.", "closed", True),
    ("Paris was the first capital.", "paris", True),
    ("The old answer was closed.", "closed", False),
    ("The old port was 8080.", "8080", False),
    ("Paris was my first guess.", "paris", False),
]


@pytest.mark.parametrize(("answer", "phrase", "asserted"), OLD_THINGS)
def test_old_gives_up_an_answer_and_only_describes_anything_else(answer, phrase, asserted):
    """`The old answer` is withdrawn; `the old mill` is a name, so a wrong statement about it does not slip by [G-8]."""
    assert passes(answer, phrase) is asserted
    assert passes(answer, phrase, polarity="not-asserted") is not asserted


SEED_OUTCOMES = [
    ("The north trail is open.", True),
    ("The north trail is not open.", False),
    ("It isn't open until Friday.", False),
    ("No, the north trail is open.", True),
    ("The trail is not, as far as the notice says, open.", True),
    ("The picnic shelter reopened.", False),
    ("The trail isn’t negated away; it isn’t open", False),
    ("It cannot open", True),
    ("It isn't really very much open", True),
    ("open-air", False),
    ("re-open", False),
    ("", False),
]


@pytest.mark.parametrize(("say", "stated"), SEED_OUTCOMES)
def test_rules_1_is_the_seeds_window_of_three_words(say, stated):
    """The six documented outcomes, the blind spot among them, and the measured ones [G-10, G-11]."""
    assert bool(passes(say, "open", rules=1)) is stated


def test_rules_2_sees_what_the_window_cannot():
    """The seed's blind spot (six words between `not` and `open`) is closed by the default rules [G-11]."""
    assert not passes("The trail is not, as far as the notice says, open.", "open")


def test_a_sentence_that_states_what_the_notice_rules_out_fails():
    """`not-asserted` is seed 004's check of the sentence [G-8, G-9]."""
    bound = bind_spec({"name": "states", "phrase": "closed", "polarity": "not-asserted"}, "open")
    verdict = bound.decide(bound.read(Attempt(answer="The trail is closed.")))
    assert ["states-ruled-out"] == [miss.name for miss in verdict.misses]
    assert bound.decide(bound.read(Attempt(answer="The trail is open."))).passed


@pytest.mark.parametrize("rules", [1, 2])
def test_an_empty_phrase_is_refused(rules):
    """An empty phrase would stand everywhere [G-10]."""
    with pytest.raises(InputError, match="at least one word"):
        bind_spec({"name": "states", "rules": rules}, "  ")


def test_a_reply_that_never_mentions_the_phrase_says_so():
    """The detail tells absent from never asserted [G-10]."""
    bound = bind_spec({"name": "states"}, "open")
    assert "absent" in bound.decide(bound.read(Attempt(answer="It rains."))).misses[0].detail
    assert "never asserted" in bound.decide(bound.read(Attempt(answer="It is not open."))).misses[0].detail


def test_a_loop_of_denials_is_read_in_bounded_steps():
    """Of very many occurrences only the first and last few hundred are weighed [G-10]."""
    assert not passes("it is not 5. " * 20_000, "5")


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        "open",
        {},
        "Name the lake.",
        {
            "render": "It is open.",
            "denied": "It is not open.",
            "inside-longer-word": "It is unopenly so.",
            "asserted": None,
            "bold": "It is **open**.",
            "capitals": "IT IS OPEN.",
            "after-a-denial": "It is not something else; it is open.",
        },
    ),
    (
        "open",
        {"rules": 1},
        "Name the lake.",
        {
            "render": "It is open.",
            "denied": "It is not open.",
            "inside-longer-word": "It is unopenly so.",
            "asserted": None,
            "bold": "It is **open**.",
            "capitals": "IT IS OPEN.",
            "after-a-denial": None,
        },
    ),
    (
        "open",
        {"phrase": "shut", "polarity": "not-asserted"},
        "Name the lake.",
        {
            "render": "It is not shut.",
            "denied": None,
            "inside-longer-word": None,
            "asserted": "It is shut.",
            "bold": None,
            "capitals": "IT IS NOT SHUT.",
            "after-a-denial": None,
        },
    ),
    (
        "open",
        {"phrase": "wide open"},
        "Name the lake.",
        {
            "render": "It is wide open.",
            "denied": "It is not wide open.",
            "inside-longer-word": "It is unwide openly so.",
            "asserted": None,
            "bold": "It is **wide open**.",
            "capitals": "IT IS WIDE OPEN.",
            "after-a-denial": "It is not something else; it is wide open.",
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    bound = bind_spec({"name": "states", **config}, target)
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nIt is open.", ("\nIt is open.", "rules-2", (20, 32))),
    ({"rules": 1}, "It is open.", ("It is open.", "rules-1", (0, 11))),
    ({}, " ", None),
    ({}, "<think>open", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "states", **config}, "open")
    assert found == reading_of(bound, answer)


@pytest.mark.parametrize(("polarity", "miss"), [("asserted", "not-stated"), ("not-asserted", "states-ruled-out")])
def test_a_json_value_that_is_no_text_states_nothing(polarity, miss):
    """Neither polarity is met by a number or a list. [G-8]"""
    bound = bind_spec({"name": "states", "polarity": polarity}, "5")
    assert [[miss], [miss]] == [[m.name for m in bound.decide(Reading(v, "field")).misses] for v in (5, ["5"])]


def test_only_the_window_needs_a_word():
    """`rules: 1` counts words, so a phrase of signs alone is refused; `rules: 2` finds it. [G-10]"""
    with pytest.raises(InputError, match="at least one word"):
        bind_spec({"name": "states", "rules": 1}, "+++")
    assert passes("The grade is +++ today.", "+++")


def test_the_phrase_of_the_config_goes_before_the_target():
    """The target counts only where the config names no phrase. [G-8]"""
    assert passes("It is shut.", "open", phrase="shut")
    assert not passes("It is open.", "open", phrase="shut")
    assert "shut" in bind_spec({"name": "states", "phrase": "shut"}, "").verifier.render(
        "open", bind_spec({"name": "states", "phrase": "shut"}, "").config
    )
