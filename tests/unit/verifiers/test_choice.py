"""`choice`: the one letter that a reply commits to."""

import pytest

from judged import own_answers_are_made_and_judged, reading_of
from steelyard.attempt import Attempt
from steelyard.errors import InputError
from steelyard.verdict import Reading, Unread
from steelyard.verifiers.registry import bind_spec

READINGS = [
    ("C", "C", 4),
    ("c", "C", 4),
    ("(c)", "C", 4),
    ("[D]", "D", 4),
    ("{B}", "B", 4),
    ("<A>", "A", 4),
    ("B)", "B", 4),
    ("B.", "B", 4),
    ("**C**", "C", 4),
    ("*c*", "C", 4),
    ("`D`", "D", 4),
    ("_B_", "B", 4),
    ('"B"', "B", 4),
    ("$\\mathrm{C}$", "C", 4),
    ("\\boxed{\\textbf{(B)}}", "B", 4),
    ("\\(\\boxed{D}\\)", "D", 4),
    ("Ｂ", "B", 4),
    ("Ⓒ", "C", 4),
    ("⒟", "D", 4),
    ("𝐁", "B", 4),
    ("B: photosynthesis", "B", 4),
    ("C - the mitochondrion", "C", 4),
    ("D) None of the above", "D", 4),
    ("(A) a red one", "A", 4),
    ("A. an apple", "A", 4),
    ("I", "I", 10),
    ("Answer: I", "I", 10),
    ("(I)", "I", 10),
    ("The answer is I.", "I", 10),
    ("Option I is correct.", "I", 10),
    ("Answer: A", "A", 4),
    ("Answer is A because the sun is hot", "A", 4),
    ("The correct answer is option C.", "C", 4),
    ("The correct option is (D).", "D", 4),
    ("I choose B.", "B", 4),
    ("I'd go with C, as the rest fail.", "C", 4),
    ("I pick (A).", "A", 4),
    ("My final answer: d", "D", 4),
    ("Final Answer: **(B)**", "B", 4),
    ("**Final Answer**\n\nB", "B", 4),
    ("### Answer\n(C)", "C", 4),
    ("Answer:\nC", "C", 4),
    ("Answer:\n\n**C**", "C", 4),
    ("Probably B.", "B", 4),
    ("I'm not sure, maybe C.", "C", 4),
    ("If I had to guess, I would say D.", "D", 4),
    ("Not certain, but B.", "B", 4),
    ("I think it's (C)?", "C", 4),
    ("It might be C.", "C", 4),
    ("It must be B", "B", 4),
    ("Antwort: (B)", "B", 4),
    ("Die richtige Antwort ist C.", "C", 4),
    ("La respuesta correcta es B.", "B", 4),
    ("La réponse est D.", "D", 4),
    ("Ответ: B", "B", 4),
    ("答案：C", "C", 4),
    ("答案是D。", "D", 4),
    ("正确答案是 B。", "B", 4),
    ("选项B", "B", 4),
    ("故选C。", "C", 4),
    ("应选 D", "D", 4),
    ("정답: B", "B", 4),
    ("答えはCです。", "C", 4),
    ("La risposta è A.", "A", 4),
    ("A resposta é B.", "B", 4),
    ("选项A不对，选项B正确。", "B", 4),
    ("答案选B", "B", 4),
    ("A is wrong. B is wrong. C is correct. D is wrong.", "C", 4),
    ("A) Incorrect\nB) Correct\nC) Incorrect", "B", 4),
    ("It can't be A or B, so it's C.", "C", 4),
    ("Not A. B.", "B", 4),
    ("Option A is incorrect, so the answer is D.", "D", 4),
    ("The answer is not A but C.", "C", 4),
    ("The answer isn't B, it's D.", "D", 4),
    ("Eliminating A and B leaves C.", "C", 4),
    ("B, not A.", "B", 4),
    ("B rather than C", "B", 4),
    ("First I thought A, but the answer is B.", "B", 4),
    ("The answer is A. No wait, it's B.", "B", 4),
    ("Answer: A\n\nWait, no. Answer: C", "C", 4),
    ("~~A~~ B", "B", 4),
    ("The answer is A... actually, it's D.", "D", 4),
    ("My friend says the answer is A. The answer is B.", "B", 4),
    ("If the answer were A, we'd get 3. The answer is D.", "D", 4),
    ("\\boxed{A} ... correction: \\boxed{B}", "B", 4),
    ("The answer is C. A and B are both false.", "C", 4),
    ("The answer is (B) since option (A) ignores friction.", "B", 4),
    ("D. The others (A, B, C) all fail.", "D", 4),
    ("Both A and B", None, 4),
    ("A, B", None, 4),
    ("A/B", None, 4),
    ("B & C", None, 4),
    ("(A) and (C)", None, 4),
    ("A or maybe B", None, 4),
    ("The answer is A or B.", None, 4),
    ("Answer: A, C", None, 4),
    ("None of the above", None, 4),
    ("I don't know.", None, 4),
    ("I cannot answer.", None, 4),
    ("", None, 4),
    ("A good question. I have no idea.", None, 4),
    ("All of these are wrong.", None, 4),
    ("I believe there is no valid option.", None, 4),
    ("Answer: none", None, 4),
    ("Answer: unknown", None, 4),
    ("Vitamin D is made in the skin.", None, 4),
    ("A) red\nB) blue\nC) green\nD) black", None, 4),
    ("The options are A, B, C and D.", None, 4),
    ("<think>It is A</think>\nB", "B", 4),
    ("<think>It is A", None, 4),
    ("A</think>C", "C", 4),
    ("B\n\nQuestion: What?\nA) x\nAnswer: C", "B", 4),
    ("Answer: C\n\nQ: next\nAnswer: D", "C", 4),
    ("Answer: **B) Paris**", "B", 4),
    ("The answer is **C. 42**.", "C", 4),
    ("Answer: b) it rains", "B", 4),
    ("answer is: c.", "C", 4),
    ("ANSWER - D", "D", 4),
    ("Answer => B", "B", 4),
    ('{"answer": "C"}', "C", 4),
    ("<answer>B</answer>", "B", 4),
    ("#### C", "C", 4),
    ("Answer:B", "B", 4),
    ("Answer(B)", "B", 4),
    ("The answer: D", "D", 4),
    ("So, the answer must be (C).", "C", 4),
    ("Therefore, choice B is the right one.", "B", 4),
    ("Only D fits.", "D", 4),
    ("The best choice here is A.", "A", 4),
    ("Thus A.", "A", 4),
    ("Letter B", "B", 4),
    ("Option C", "C", 4),
    ("Choice: D", "D", 4),
    ("I would rule out A, B and D, which leaves C.", "C", 4),
    ("I have a dog.", None, 10),
    ("I am sure that a cat would do.", None, 10),
    ("As I said, a is the acceleration", None, 4),
    ("Step A is done. The answer is B", "B", 4),
    ("Let A = 5 and B = 3. Then A + B = 8, so the answer is D.", "D", 4),
    ("Answer: It is a noble gas", None, 4),
    ("Answer: a noble gas", None, 4),
    ("The answer is a matter of taste.", None, 4),
    ("B-cells are made in bone marrow.", None, 4),
    ("Dog", None, 4),
    ("Cab", None, 4),
    ("The answer is B!", "B", 4),
    ("Answer: B?", "B", 4),
    ("Answer: 'B'", "B", 4),
    ("A: it rains\n\nAnswer: A", "A", 4),
    ("Choosing between A and B, I select B.", "B", 4),
    ("B is my answer.", "B", 4),
    ("C is correct", "C", 4),
    ("c is correct", "C", 4),
    ("option b", "B", 4),
    ("The right answer would be C", "C", 4),
    ("A.", "A", 4),
    ("a", "A", 4),
    ("a)", "A", 4),
    ("A, because it is red.", "A", 4),
    ("A because it is red", "A", 4),
    ("A it is.", "A", 4),
    ("Answer: E", "E", 4),
    ("J", "J", 10),
    ("My answer is A. I am confident.", "A", 10),
    ("The answer is (C), though (A) is close.", "C", 4),
    ("Answer: C (not D)", "C", 4),
    ("\\boxed{C}\n\nThe answer is C.", "C", 4),
    ("The answer is \\boxed{\\text{B}} because A is wrong", "B", 4),
    ("答案: (C) 光合作用", "C", 4),
    ("Answer: \\( B \\)", "B", 4),
    ("Answer: \\text{D}", "D", 4),
    ("Answer: [C]", "C", 4),
    ("**Answer: C**", "C", 4),
    ("**Answer**: C", "C", 4),
    ("Answer:** C", "C", 4),
    ("__D__", "D", 4),
    ("> B", "B", 4),
    ("- C", "C", 4),
    ("Answer = A", "A", 4),
    ("I'm going with D.", "D", 4),
    ("It's B", "B", 4),
    ("That would be C.", "C", 4),
    ("B 😀", "B", 4),
    ("✅ C", "C", 4),
    ("B\n\nExplanation: A is too small, C and D are too large.", "B", 4),
    ("Explanation: A is too small.\n\nB", "B", 4),
    ("Answer choice: B", "B", 4),
    ("Answer option (C)", "C", 4),
    ("The answer is option B: gravity.", "B", 4),
    ("The answer is clearly D.", "D", 4),
    ("Clearly, the answer is A.", "A", 4),
    ("The answer has to be C.", "C", 4),
    ("The answer is **B**. C would need more heat, and D is out.", "B", 4),
    ("ANSWER: C\nA and D are traps.", "C", 4),
    ("I considered D and B; in the end, A is right.", "A", 4),
    ("C is the only option that works.", "C", 4),
    ("D, I believe.", "D", 10),
    ("I believe it is D.", "D", 10),
    ("I think I will choose J.", "J", 10),
    ("I'd say (I).", "I", 10),
    ("In my view I is wrong and H is right.", "H", 10),
    ("Option A? No. Option B? No. Option C? Yes.", "C", 4),
    ("A: wrong\nB: wrong\nC: right\nD: wrong", "C", 4),
    ("(A) no (B) no (C) yes (D) no", "C", 4),
    ("- A: ❌\n- B: ✅\n- C: ❌", "B", 4),
    ("Not B, not C, not D. So A.", "A", 4),
    ("Neither A nor B; the answer is D.", "D", 4),
    ("It isn't A. It's C.", "C", 4),
    ("A isn't right, C is.", "C", 4),
    ("I doubt it's A. I'd go for B.", "B", 4),
    ("A can be ruled out. So can B and C. That leaves D.", "D", 4),
    ("A, B and C are wrong, so D.", "D", 4),
    ("All but C are wrong: C.", "C", 4),
    ("Between A and D, D.", "D", 4),
    ("I am torn between (B) and (D), but D is cheaper.", "D", 4),
    ("A\nB\nC\nD", None, 4),
    ("- A\n\n- B\n\n- C", None, 4),
    ("B\nB", "B", 4),
    ("Ruling out A, B and C, we get D as the answer.", "D", 4),
    ("We can rule out C as the answer.", None, 4),
    ("Options A and D are too long. Hence option B.", "B", 4),
    ("Hence option B fails, and A too.", None, 4),
    ("We still lack one mole of H", None, 10),
    ("The enthalpy of $\\mathrm{H}_2$ is zero", None, 10),
    ("I can't decide between A and D.", None, 4),
    ("A and B are both right.", None, 4),
    ("Could be A, could be B.", None, 4),
    ("A? B?", None, 4),
    ("A | B", None, 4),
    ("AB", None, 4),
    ("ABCD", None, 4),
    ("Answer: A and B", None, 4),
    ("Answer: AB", None, 4),
    ("The answers are A and C.", None, 4),
    ("\\boxed{A, B}", None, 4),
    ("\\boxed{AC}", None, 4),
    ("Answer: either B or D", None, 4),
    ("Answer: A/C", None, 4),
    ("Answer: not A", None, 4),
    ("The answer is not D.", None, 4),
    ("It is definitely not C.", None, 4),
    ("Not sure.", None, 4),
    ("No answer.", None, 4),
    ("Answer:", None, 4),
    ("Answer: \n", None, 4),
    ("Answer: ???", None, 4),
    ("Answer: all of the above", None, 4),
    ("Error: timeout", None, 4),
    ("A lot of people ask this.", None, 4),
    ("Great question! Let me look.", None, 4),
    ("As an AI, I cannot decide.", None, 4),
    ("I am unable to choose.", None, 4),
    ("Apples are fruits. Bananas too.", None, 4),
    ("E = mc^2", None, 5),
    ("P(A) = 0.5 and P(B) = 0.2", None, 4),
    ("A = 3, B = 4", None, 4),
    ("Hepatitis B is a virus.", None, 4),
    ("Vitamin C helps.", None, 4),
    ("Plan B", None, 4),
    ("Ａｎｓｗｅｒ： Ｃ", "C", 4),
    ("ANSWER：B", "B", 4),
    ("Answer : D", "D", 4),
    ("answer=C", "C", 4),
    ("Answer -> A", "A", 4),
    ("Answer→B", "B", 4),
    ("Answer:\t**A**", "A", 4),
    ("Answer:   \n\n  (A)", "A", 4),
    ("*Answer:* C", "C", 4),
    ("__Answer__: C", "C", 4),
    ("<b>C</b>", "C", 4),
    ("<answer>(D)</answer>", "D", 4),
    ("<answer>\nD. Rome\n</answer>", "D", 4),
    ("```\nB\n```", "B", 4),
    ("Answer: `B`", "B", 4),
    ('Answer: "B"', "B", 4),
    ("Answer: “B”", "B", 4),
    ("Answer: {C}", "C", 4),
    ("Answer: <C>", "C", 4),
    ("Answer: C,", "C", 4),
    ("Answer: C;", "C", 4),
    ("Answer: (C", "C", 4),
    ("Answer: C)", "C", 4),
    ("Answer: \\boxed{C}.", "C", 4),
    ("$\\boxed{\\text{(C)}}$", "C", 4),
    ("\\boxed{C.}", "C", 4),
    ("\\boxed{C) 12 m}", "C", 4),
    ("\\boxed{\\mathbf{D}}", "D", 4),
    ("\\boxed{ B }", "B", 4),
    ("\\boxed{b}", "B", 4),
    ("\\boxed{\\textbf{Answer: B}}", "B", 4),
    ("$$\\boxed{\\text{Option A}}$$", "A", 4),
    ("Antwort: c", "C", 4),
    ("**Antwort:** B", "B", 4),
    ("Die Antwort lautet D.", "D", 4),
    ("Richtig ist Antwort B.", "B", 4),
    ("Ich wähle C.", "C", 4),
    ("选 C", "C", 4),
    ("我选择B。", "B", 4),
    ("因此选项D是正确的。", "D", 4),
    ("答案为A", "A", 4),
    ("所以答案是：(B)", "B", 4),
    ("【答案】C", "C", 4),
    ("正确选项：D", "D", 4),
    ("A选项错误，B选项正确", "B", 4),
    ("正解はBです", "B", 4),
    ("答え：C", "C", 4),
    ("답: D", "D", 4),
    ("정답은 A입니다.", "A", 4),
    ("La bonne réponse est la B.", "B", 4),
    ("Réponse : C", "C", 4),
    ("La respuesta es la opción D.", "D", 4),
    ("Respuesta: b)", "B", 4),
    ("Risposta: A", "A", 4),
    ("Resposta: C", "C", 4),
    ("Правильный ответ: D", "D", 4),
    ("Ответ — A", "A", 4),
    ("Antwoord: B", "B", 4),
    ("Svar: C", "C", 4),
    ("Cevap: D", "D", 4),
    ("Odpowiedź: A", "A", 4),
    ("Đáp án: B", "B", 4),
    ("Jawaban: C", "C", 4),
    ("الإجابة: B", "B", 4),
    ("उत्तर: C", "C", 4),
    ("คำตอบ: D", "D", 4),
    ("Initially I'd pick B, but on reflection C.", "C", 4),
    ("B... no, C.", "C", 4),
    ("B. Hmm, actually C.", "C", 4),
    ("The answer is B. Scratch that, A.", "A", 4),
    ("Answer: B\nCorrection: Answer: D", "D", 4),
    ("I said A earlier; I now choose D.", "D", 4),
    ("Answer: A (withdrawn). Answer: C", "C", 4),
    ("One might pick A, but the answer is B.", "B", 4),
    ("The book says A. The answer is C.", "C", 4),
    ('A student answered "B". The correct answer is D.', "D", 4),
    ("If we trusted option A, the sum would be off. It's B.", "B", 4),
    ("Suppose the answer is A. Then x=3, a contradiction. So the answer is C.", "C", 4),
    ("I recall that A was asked before. Final answer: B", "B", 4),
    ("Step 1: A force acts.\nStep 2: I divide.\nThe answer is D.", "D", 10),
    ("A force acts on B. Answer: C", "C", 4),
    ("Question 3: C", "C", 4),
    ("3. C", "C", 4),
    ("Q3: C", "C", 4),
    ("1) C", "C", 4),
    ("C\n", "C", 4),
    ("\n\nC", "C", 4),
    ("The letter is C.", "C", 4),
    ("Choose D.", "D", 4),
    ("Pick: B", "B", 4),
    ("Selected: B", "B", 4),
    ("Final: B", "B", 4),
    ("Result: B", "B", 4),
    ("Solution: B", "B", 4),
    ("Correct: B", "B", 4),
    ("Therefore: B", "B", 4),
    ("∴ B", "B", 4),
    ("=> B", "B", 4),
    ("B is the correct answer because A lacks mass.", "B", 4),
    ("The answer is B as A is heavier.", "B", 4),
    ("The answer is A since a dog barks.", "A", 4),
    ("The answer is A or, as some write, (a).", "A", 4),
    ("Answer: A. A dog", "A", 4),
    ("A dog", None, 4),
    ("Answer A", "A", 4),
    ("Answer a", "A", 4),
    ("answer b", "B", 4),
    ("the answer is b", "B", 4),
    ("the answer is a", "A", 4),
    ("the answer is a.", "A", 4),
    ("my answer is (a)", "A", 4),
    ("it's d", "D", 4),
    ("i pick c", "C", 4),
    ("Answer: i", "I", 10),
]


@pytest.mark.parametrize(("answer", "letter", "n_choices"), READINGS)
def test_the_letter_that_a_reply_commits_to_is_read(answer, letter, n_choices):
    """Decorations, labels of many languages, hedges, retractions, eliminations; two letters are none [T-1, T-13]."""
    bound = bind_spec({"name": "choice"}, "A", ["text"] * n_choices)
    found = bound.read(Attempt(answer=answer))
    assert letter == (None if isinstance(found, Unread) else found.value)


def test_a_letter_past_the_choices_is_wrong_and_raises_nothing():
    """F is no option among four [T-3]."""
    bound = bind_spec({"name": "choice"}, "A", ["x"] * 4)
    verdict = bound.decide(bound.read(Attempt(answer="Answer: F")))
    assert verdict.misses[0].name == "wrong-choice"
    assert "no option" in verdict.misses[0].detail


@pytest.mark.parametrize("target", ["E", "", "AB", "1"])
def test_a_target_outside_the_choices_is_refused(target):
    """The author's error is found when the suite is loaded [T-8]."""
    with pytest.raises(InputError, match="target letter"):
        bind_spec({"name": "choice"}, target, ["x"] * 4)


def test_choices_are_needed():
    """A choice without choices cannot be judged [T-8]."""
    with pytest.raises(InputError, match="2 to 26 choices"):
        bind_spec({"name": "choice"}, "A")


def test_the_span_points_at_the_letter():
    """The reading says where the letter stands in the reply, past any reasoning [T-13]."""
    answer = "<think>A or C?</think>So the answer is (C), not A."
    found = bind_spec({"name": "choice"}, "C", ["x"] * 4).read(Attempt(answer=answer))
    assert "C" == answer[slice(*found.span)]


def test_the_text_of_options_may_name_other_letters():
    """`D: both A and B` commits to D [T-13]."""
    bound = bind_spec({"name": "choice"}, "D", ["x"] * 4)
    assert bound.decide(bound.read(Attempt(answer="D: both A and B"))).passed


WITNESSES: list[tuple[str, dict[str, object], str, dict[str, str | None]]] = [
    (
        "B",
        {"choices": ["red", "green", "blue"]},
        "Name the lake.",
        {
            "render": "B",
            "another-choice": "C",
            "every-choice": "A) red\nB) green\nC) blue",
            "called-wrong": "Option B is wrong.",
            "two-choices": "B or C",
            "sentence": "The answer is B.",
            "label": "Answer: (B)",
            "bold": "**B**",
            "box": "\\boxed{B}",
            "lower-case": "b",
            "full-stop": "B.",
        },
    ),
]


@pytest.mark.parametrize(("target", "config", "prompt", "made"), WITNESSES)
def test_the_verifiers_own_answers_are_made_and_judged_as_named(target, config, prompt, made):
    """Renderings and variations pass, spoils fail as they name; None where one does not apply [T-13]."""
    config = dict(config)
    bound = bind_spec({"name": "choice"}, target, config["choices"])
    own_answers_are_made_and_judged(bound, prompt, made)


READ: list[tuple[dict[str, object], str, object]] = [
    ({}, "<think>Rome?</think>\nC", ("C", "last-line", (21, 22))),
    ({}, "Answer: (B)", ("B", "label", (9, 10))),
    ({}, "Let me see.\nB\nThat is it, is it not?", ("B", "line", (12, 13))),
    ({}, "green", ("B", "option-text", (0, 5))),
    ({}, "The answer is green.", ("B", "option-text", (14, 19))),
    ({}, " ", None),
    ({}, "<think>B", None),
    ({}, "A) red\nB) green\nC) blue", None),
    ({}, "Answer: none of them", None),
    ({}, "A or B", None),
    ({}, "A or B\n\nHm.", None),
]


@pytest.mark.parametrize(("config", "answer", "found"), READ)
def test_a_reading_says_what_was_found_by_which_rule_and_where(config, answer, found):
    """The span is of the whole reply, reasoning included; nothing where nothing is committed to. [T-13]"""
    bound = bind_spec({"name": "choice", **config}, "B", ["red", "green", "blue"])
    assert found == reading_of(bound, answer)


BESTS = ("correct", "right", "best", "final", "chosen", "appropriate", "suitable", "proper", "true", "accurate")
KINDS = ("option", "choice", "alternative", "letter", "statement", "selection", "pick", "one")
NOUNS = ("vote", "pick", "choice", "selection", "guess", "bet", "money", "decision", "verdict", "conclusion")
ENDS = ("goes to", "is", "goes for", "goes with", "would be", "is on", "is on", "falls on", "is", "therefore is")
PHRASES = [
    *(f"The {best} option is" for best in BESTS),
    *(f"The best {kind} is" for kind in KINDS),
    *(f"The correct choice{end}" for end in (" here is", " therefore was", " thus would be", " must be", " should be")),
    *(f"The correct choice{end}" for end in (" seems to be", " is indeed", " is clearly", ":", "'s")),
    *(f"The {kind} {word} fits this is" for kind in KINDS for word in ("that", "which")),
    *(
        f"{whose} {noun} {end}"
        for noun, end in zip(NOUNS, ENDS, strict=True)
        for whose in ("My", "Our final", "The best")
    ),
    *("I'll choose", "I'd pick", "I chose", "I will select", "I would go with", "I must go for", "I should opt for"),
    *("I can vote for", "I picked", "We selected", "I went with", "I settle on", "I lean towards", "I'd lean toward"),
    *("I bet on", "I would therefore say", "I'm going with", "I'm leaning towards", "We are leaning toward"),
    *("In the end choosing", "After all picking", "So selecting", "On balance going with", "At last settling on"),
    *("so it is", "thus it's", "therefore it must be", "hence this is", "so, that's", "thus, that is"),
    *("hence, the answer", "This leaves", "This leaves us with", "leaving only", "That leaves us only with just"),
    *("This matches option", "It corresponds to choice", "It equals option", "which means letter", "i.e., option"),
    *("故选", "应选", "應選", "答案选", "選擇", "选择", "ich wähle", "je choisis", "elijo"),
    *("richtig ist", "richtig ist antwort", "richtig ist option"),
]


LONG = "Grey waves ran up and down. " * 60


@pytest.mark.parametrize("before", ["", LONG], ids=["short", "long"])
@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_that_commits_goes_before_letters_that_are_only_named(phrase, before):
    """Without the phrase the letters named after it would count as well, in short replies and in long ones. [T-13]"""
    answer = f"{before}{phrase} B. Both (A) and (D) were near."
    found = bind_spec({"name": "choice"}, "B", ["x"] * 4).read(Attempt(answer=answer))
    assert ("B", "phrase", answer.index(" B") + 1) == (found.value, found.rule, found.span[0])


OPTIONS = ["red", "green", "blue", "grey"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Answer: none of the options; option B is mine", "no answer"),
        ("Answer: I don't know, B would do", "no answer"),
        ("A) red\nB) green\nC) blue\nD) grey", "no letter"),
        ("Options:\nA) red\nB) green\n\nC) blue is it", "no letter"),
        ("A. red is what we see when the sun is low, and so on\nB. green\nC. blue", "no letter"),
        ("A or B", "A and B"),
        ("A or C\n\nB or D", "B and D"),
        ("(A or B) because the tide was out for the whole of the day and nobody saw it come", "A and B"),
        ("b because the tide was out for the whole of the day and nobody saw it come", "no letter"),
    ],
)
def test_a_reply_that_commits_to_no_letter_says_why(answer, reason):
    """A refusal, a list of options and two letters are told apart. [T-13]"""
    found = bind_spec({"name": "choice"}, "B", OPTIONS).read(Attempt(answer=answer))
    assert isinstance(found, Unread)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("answer", "letter", "rule"),
    [
        ("**A or B**\n\nI mean C", "C", "last-line"),
        ("Answer: grey", "D", "option-text"),
        ("Answer: A or B\n\nC", None, None),
        ("B because the tide was out for the whole of the day and nobody saw it come", "B", "last-line"),
    ],
)
def test_two_letters_end_the_search_where_the_answer_is_marked(answer, letter, rule):
    """Bold letters may be a draft; a marked answer is the answer. [T-13]"""
    found = bind_spec({"name": "choice"}, "B", OPTIONS).read(Attempt(answer=answer))
    assert (letter, rule) == ((None, None) if isinstance(found, Unread) else (found.value, found.rule))


def test_an_option_that_stands_twice_is_no_letter():
    """Only the text of one option alone stands for a letter. [T-13]"""
    bound = bind_spec({"name": "choice"}, "B", ["red", "red", "blue"])
    assert isinstance(bound.read(Attempt(answer="Answer: red")), Unread)
    assert "C" == bound.read(Attempt(answer="Answer: blue")).value


def test_a_long_option_is_recognised_by_its_whole_text():
    """The cap on what is compared grows with the options. [T-13]"""
    long = "a river that flows " + "very " * 400 + "far"
    bound = bind_spec({"name": "choice"}, "B", ["red", long, "blue"])
    assert "B" == bound.read(Attempt(answer=f"Answer: {long}")).value


@pytest.mark.parametrize(
    ("value", "passed"),
    [(" b ", True), ("C", False), (5, False), (None, False), (["B"], False)],
)
def test_a_json_value_is_a_letter_or_wrong(value, passed):
    """A field may hold the letter in any case; what is no text is no letter. [G-7]"""
    verdict = bind_spec({"name": "choice"}, " b", OPTIONS).decide(Reading(value, "field"))
    assert (passed, [] if passed else ["wrong-choice"]) == (verdict.passed, [miss.name for miss in verdict.misses])


@pytest.mark.parametrize(("n", "taken"), [(1, False), (2, True), (26, True), (27, False)])
def test_two_to_twenty_six_options_have_letters(n, taken):
    """One option is no choice, and there are 26 letters. [T-8]"""
    if taken:
        assert bind_spec({"name": "choice"}, "B", ["x"] * n).target == "B"
        return
    with pytest.raises(InputError, match=f"got {n}"):
        bind_spec({"name": "choice"}, "A", ["x"] * n)


@pytest.mark.parametrize(("blanks", "rule"), [(410, "option-text"), (411, "last-line")])
def test_a_text_far_longer_than_every_option_is_not_compared(blanks, rule):
    """Four hundred characters and four times the longest option are room enough for decoration. [T-13]"""
    bound = bind_spec({"name": "choice"}, "B", ["red", "x y"])
    assert rule == bound.read(Attempt(answer="Answer: x" + " " * blanks + "y")).rule


def test_of_a_reply_without_end_the_tail_counts_and_what_is_marked_in_the_head() -> None:
    """A loop of 300,000 characters neither hides the answer before it nor, where it marks one, yields to it. [O-20]"""
    bound = bind_spec({"name": "choice"}, "A", ["text"] * 4)
    for answer, letter in (
        ("Answer: B\n" + "and so on " * 30_000, "B"),
        ("Answer: B\n" + "and so on (C) " * 30_000, "B"),
        ("Answer: B\n" + "and so on " * 30_000 + "\nAnswer: C", "C"),
    ):
        found = bound.read(Attempt(answer=answer))
        assert isinstance(found, Reading)
        assert (letter, letter) == (found.value, answer[slice(*(found.span or (0, 0)))])


@pytest.mark.parametrize("marked", ["I pick B.", "Answer: B", "\\boxed{B}", "<answer>B</answer>", "#### B"])
def test_what_is_marked_at_the_front_of_a_very_long_reply_wins_over_loose_letters_at_its_end(marked: str) -> None:
    """A loop after an answer does not take it back. [T-13]"""
    bound = bind_spec({"name": "choice", "choices": ["iron", "copper", "zinc", "tin"]}, "B")
    assert bound.decide(bound.read(Attempt(answer=f"{marked}\n\n{'word ' * 42_000}\nC"))).passed is True
