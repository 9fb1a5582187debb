"""Cue words of negation, supposition, report and withdrawal, as compiled patterns over lower-case text.

Kept apart from `negation` so that the lists can be read and widened without touching the logic; a new cue is a change
of meaning, so `rules` of the verifiers that use it goes up.
Not covered: languages other than English, beyond the commonest negations of German, French and Chinese.
Easy to break: linear time; every repetition is bounded, and texts are cut to a sentence before a search.
"""

from __future__ import annotations

import re

W, E = r"(?<![^\W_])", r"(?![^\W_])"
"""Word boundaries that take an underscore for decoration, as Markdown does."""

_BE = "is|are|was|were|has|have|had|does|do|did|will|would|should|must|can|could"
_ACT = (
    "seems?|looks?|appears?|stays?|remains?|became|becomes|uses?|runs?|listens?|says?|means?|comes?|equals?|gives?"
    "|needs?|opens?"
    "|closes?|works?|returns?|takes?|lies|sits|stands|goes|costs?|holds?|makes?|fits?|reads?"
)
VERB = re.compile(rf"{W}(?:{_BE}|{_ACT}){E}|['’](?:s|re|ll){E}")
_SUBJECT = (
    rf"(?:(?:it|he|she|they|we|i|you|this|that|these|those|there|here)(?:['’](?:s|re|m|d|ll|ve){E}"
    rf"|[ ](?:\w{{1,12}}[ ])?(?:(?:{_BE})(?:n['’]t)?|am|{_ACT}|think){E})"
    rf"|(?:we|i)[ ](?:get|obtain|find|conclude|arrive|choose|pick|keep){E}"
    rf"|(?:the|my|its|our|their|your|a|an)[ ](?:[\w'’-]{{1,20}}[ ]){{1,4}}?(?:{_BE}|{_ACT}){E})"
)
_FINITE = (
    rf"(?:(?:{_BE})(?:n['’]t)?|seems|looks|appears|stays|remains|became|uses|runs|listens|says|means|comes|equals"
    rf"|gives|opens|closes|works){E}"
)
BOUNDARY = re.compile(
    rf"[;:]|(?<=\s)[—–-]{{1,2}}(?=\s)|(?<=\w)—(?=\w)"
    rf"|{W}(?:(?<!anything )(?<!nothing )(?<!everything )(?<!all )(?<!none )(?<!help )(?<!cannot )(?<!n['’]t )but"
    r"|however|(?<!as )(?<!even )though|although"
    r"|whereas|while|because|since|therefore|hence|thus|instead(?! of)|rather(?! than)|otherwise|nevertheless|sondern"
    r"|aber|mais|pero"
    rf"|and yet){E}|, (?:so|yet|then|always){E}|{W}so (?={_SUBJECT})|但是|而是|，|,(?=[\u3040-\u9fff])"
    rf"|,[ ](?:and |or |so |then |in fact,? |actually,? |indeed,? )?(?={_SUBJECT}|{_FINITE})"
    r"|,[ ](?=(?:(?:please[ ])?(?:choose|use|pick|take|try|select|go|come|put|write|say|call|open)|only|just)[ ])"
    rf"|{W}and (?={_SUBJECT}|{_FINITE}|in fact|instead|actually)|,[ ](?:which|who|where|when){E}",
)
BUT_ONLY = re.compile(rf"{W}(?:no|any|every) \w{{1,15}} $")
"""`no port but 80`: what stands before a `but` that is no boundary."""

_DOUBT = (
    r"(?:doubts?|questions?|mistake|dispute|denying|fail|exceptions?|hesitation|wonder|uncertainty|problem|way around"
    r" it)"
)
NEGATION = re.compile(
    rf"(?P<none>{W}(?:no|without(?: an?y?)?|not an?y?|beyond(?: an?y?)?|little|hardly any) (?:\w{{1,12}} )?{_DOUBT}{E}"
    rf"|n['’]t an?y? (?:\w{{1,12}} )?{_DOUBT}{E}|{W}(?:can(?:not| not|['’]t)|could(?:n['’]t| not)) (?:help )?but{E}"
    rf"|{W}not (?:only|just|merely|simply|solely|to mention|surprisingly|least|unexpectedly){E}|n['’]t (?:only|just"
    rf"|merely|simply|solely){E}"
    rf"|{W}(?:if|unless) (?:i['’]?a?m|i am|we are|we['’]re) (?:not )?(?:\w{{1,12}} )?(?:mistaken|wrong){E}"
    rf"|{W}(?:nothing|none|no ?one|nobody|nowhere|no \w{{1,15}}) (?:but|except(?: for)?|save){E}"
    rf"|n['’]t any other (?:\w{{1,15}} ){{0,2}}than{E}|{W}(?:believe|like) it or not{E}|{W}no more and no less than{E}"
    rf"|{W}no (?:(?:longer|fewer|less|more|later|sooner|earlier) than|\d|other (?:\w{{1,15}} ){{0,2}}than)|^(?:oh,? "
    rf"|well,? )?no (?=(?:it|the|that|this|they|i|we|he|she){E}))"
    rf"|(?P<answer>{W}(?:no|nope|nah|nein|non)(?=[,.!—–]|\s[—–-]\s|$))"
    rf"|(?P<again>{W}nor{E}|(?:,|{W}and|{W}or) (?:certainly |definitely |also )?(?:not|no|never|neither){E})"
    rf"|(?P<other>{W}(?:other than|aside from|apart from|besides|save for|except(?: for)?){E}"
    rf"|{W}(?:any(?:thing|one|body|where)?|every(?:thing|one|body|where)?|all|any \w{{1,15}}|every \w{{1,15}}) (?:but"
    rf"|except(?: for)?|save){E})"
    rf"|(?P<front>{W}(?:instead of|rather than|unlike|without|as opposed to|contrary to){E})"
    rf"|(?P<not>{W}(?:not|no|never|neither|none|nothing|nobody|nowhere|cannot|hardly|scarcely|nicht|kein\w{{0,2}}"
    r"|niemals|nie|pas"
    r"|jamais|aint|isnt|arent|wasnt|werent|doesnt|dont|didnt|cant|couldnt|wont|wouldnt|shouldnt|hasnt|havent"
    r"|false|wrong|incorrect|untrue|mistaken|mistake|myth|lie|impossible|unlikely|improbable|doubtful|doubts?|doubted"
    r"|den(?:y|ies|ied|ying)"
    r"|retract(?:s|ed|ing)?|revok(?:e|es|ed|ing)|refut(?:e|es|ed|ing)|disprov(?:e|es|ed|en|ing)|disagrees?"
    r"|reject(?:s|ed|ing)?|exclud(?:e|es|ed|ing)|rul(?:e|es|ed|ing) out"
    r"|eliminat(?:e|es|ed|ing)|avoid(?:s|ed|ing)?|dismiss(?:es|ed|ing)?|far from|fail(?:s|ed)? to|refus(?:e|es|ed)"
    r"|disput(?:e|es|ed|ing)|with(?:draw|draws|drew|drawn|drawing)"
    r"|tak(?:e|es|ing) back|took back|forget|ignor(?:e|es|ed|ing)|disregard(?:s|ed)?|discard(?:s|ed)?|scrap(?:s|ped)?"
    r"|(?<!from )scratch|lacks?|mistook"
    r"|different from|differs? from|unequal|opposite of|contradicts?|away from"
    rf"|incorrectly|wrongly|falsely|mistakenly|erroneously){E}|n['’]t{E}|[≠≉]|!=|不是|没有|不)",
)
TURN = re.compile(
    rf"{W}(?:but|however|although|(?<!as )(?<!even )though|whereas|in fact|in reality|actually|yet){E}|;|[—–]|, (?:and"
    rf"|so) (?={_SUBJECT})"
)
"""Where a sentence turns from what is supposed or claimed to what its writer says."""
SUBJECT = re.compile(rf" (?={_SUBJECT})")
WRONG_LABEL = re.compile(
    rf"{W}(?:wrong|incorrect|false|rejected|excluded|ruled out|eliminated)(?: \w{{1,15}}){{0,2}}[:：]\s*$"
)
SUPPOSED = re.compile(
    rf"^(?:imagine|pretend|say){E}[^,]*$|{W}(?:if|suppose|supposing|assume|assuming|unless|whether|let['’]?s (?:say"
    r"|suppose|assume|imagine|pretend)|wish(?:es|ed)?|hypothetically|in case|provided|as if|as though|falls"
    rf"|wenn|如果|假如)(?: that)?{E}[^,]*$|{W}(?:had|were|should) (?:it|the|this|that|they|he|she|we|i){E}[^,]*$"
)
CONDITIONAL = re.compile(
    rf"{W}(?:if|unless|had|were|suppose){E}.{{0,200}}{W}(?:would|could|might){E}"
    rf"|{W}(?:would|could|might) (?:have |only |well )?(?:be|been)?{E}.{{0,200}}{W}(?:if|unless|had){E}",
    re.DOTALL,
)
_OLD = (
    r"(?:initial|earlier|previous|original|old|first|wrong) (?:\w{1,12} )?(?:answer|guess|choice|pick|thought|idea"
    r"|impression|assumption|hypothesis|theory|claim|values?|number|figure|result|reading|estimate|calculation|version"
    r"|settings?|defaults?|port|config\w{0,8}|address|password|plan|statement|reply|response|conclusion|solution|verdict"
    r"|suggestion|draft|note|attempt|one)s?"
)
"""An answer that is given up. `Old` before any other noun is a name or a description: `the old mill is closed`."""
THOUGHT = re.compile(
    rf"^(?:initially|originally|at first){E}|{W}(?:(?:i|we|you|one) (?:\w{{1,12}} ){{0,2}}?(?:thought|assumed|guessed"
    r"|believed|expected|figured|would have said|was going to say"
    r"|were going to say|used to think)|first (?:thought|guess|answer|idea|impulse|assumption)|initial(?:ly)?"
    r" (?:thought|guess(?:ed)?|answer"
    r"|said|idea|assum\w{2,6}|believed)|at first(?: glance| sight)?"
    rf"|(?:my|our|the) {_OLD}|formerly"
    rf"|used to (?:be|use|think|have|run|listen)|(?:is|was|were|been) (?:\w{{1,12}} )?(?:believed|thought"
    r"|assumed|said"
    rf"|supposed|expected|claimed|reported) to|(?:originally|previously) (?:was|were|had|said|thought|used|ran)){E}"
)
_CLAIM = (
    r"(?:says?|said|thinks?|thought|claim(?:s|ed)?|argue[sd]?|suggest(?:s|ed)?|believe[sd]?|guess(?:es|ed)?|wrote"
    r"|writes|insist(?:s|ed)?"
    r"|assert(?:s|ed)?|told|assume[sd]?|reckons?|maintains?|swears?|swore|hoped?|hopes|wish(?:es|ed)?|answer(?:s|ed)?"
    r"|repl(?:y|ies|ied))"
)
_PEOPLE = (
    r"(?:friends?|colleagues?|students?|teachers?|neighbou?rs?|users?|people|critics?|guests?|visitors?|hikers?"
    r"|customers?|guy|man|woman|boss"
    r"|intern|rumou?r|myth|brother|sister|mother|father|blog|forum|tourists?|clerk|caller)"
)
_MAY = r"(?: (?:may|might|could|would|will|can|also|still|often|once|even|have|has|had))*"
OTHERS = re.compile(
    rf"{W}(?:(?:a|an|my|your|his|her|the|one|another|some|our) (?:\w{{1,12}} )?{_PEOPLE}|someone|somebody|some|many"
    r"|most people|people|others"
    rf"|they|he|she|one|you|critics|rumou?rs?|novices|beginners|everyone|everybody){_MAY} {_CLAIM}{E}"
    rf"|{W}(?:allegedly|supposedly|rumou?red|reportedly|purportedly|according to (?:him|her|them|some|others|rumou?rs?"
    rf"|my){E})"
)
NAMED = re.compile(rf"(?:^|[\s\"“(])([A-Z][a-z]{{1,14}}) (?:once |also |has |might |would |will |may )?{_CLAIM}{E}")
NOT_NAMES = frozenset(
    [
        "It",
        "I",
        "We",
        "The",
        "This",
        "That",
        "Notice",
        "File",
        "Log",
        "Sign",
        "Config",
        "Documentation",
        "Page",
        "Board",
        "Table",
        "Everything",
        "Nothing",
        "Source",
        "Output",
    ]
)
_NOT_VERB = (
    rf"(?:(?:{_BE}|ca|wo|need)n['’]?t|(?:{_BE}|may|might|need) (?:\w{{1,12}}ly )?(?:not|never|no longer|hardly|far"
    r" from|anything but)|cannot)"
)
_BAD = (
    r"(?:false|wrong|incorrect|untrue|mistaken|impossible|out of the question|ruled out|excluded|eliminated|invalid"
    r"|inaccurate|outdated"
    r"|obsolete|(?:an? )?(?:mistake|error|typo|myth|lie)|rejected|discarded|dropped|scrapped|refuted|withdrawn|denied"
    r"|unlikely|no longer|out(?= |$))"
)
_BAD_VERB = (
    r"(?:that )?(?:is|was|are|were|seems?|looks?|sounds?|has been|can be|must be|would be|turned out(?: to be)?"
    rf"|proved(?: to be)?)(?: \w{{1,12}}ly| just| simply| also| thus| therefore)? (?:an? |the )?{_BAD}{E}|fails{E}"
)
_CLOSE = r"[\"'”’)\]*_`$}.]{0,4}"
AFTER_AT_ONCE = re.compile(rf"{_CLOSE} (?:{_NOT_VERB}{E}|{_BAD_VERB}|is not|does not|no longer{E})")
AFTER_SOON = re.compile(rf"{_CLOSE} (?:[\w'’-]{{1,15}} ){{0,3}}?(?:{_NOT_VERB}{E}|{_BAD_VERB})")
AFTER_NEVER_WRONG = re.compile(
    r"(?:not|n['’]t|nt|cannot|never) (?:be )?(?:\w{1,12}ly )?(?:wrong|false|incorrect|untrue|mistaken|in doubt|in"
    r" question|only|just|merely"
    r"|doubtful|impossible|denied|doubted|disputed|ruled out|unlikely|excluded)"
)
FIRST_GUESS = re.compile(
    rf"{_CLOSE} used to be{E}"
    rf"|{_CLOSE} (?:was|seemed|looked|had been|is what i (?:first )?(?:thought|had|said))(?: \w{{1,10}})? ?(?:(?:my|our"
    rf"|the|an?) {_OLD}{E}|right at first|correct at first|(?<!the )(?:first|initially|at first|before))"
)
SAID = re.compile(rf"{W}(?:i|we) (?:\w{{1,12}} )?(?:said|wrote|had|gave|answered|put|got|typed|stated|claimed|used){E}")
REPLACED = re.compile(
    rf"{_CLOSE},? (?:before|until|till|up to|prior to){E}[^.!?\n]{{0,80}}?[;,—–-] ?(?:but |and )?now{E}"
)
"""`it was x before the fix; now it is y`."""
EARLIER = re.compile(
    rf"{_CLOSE},? (?:earlier|before|previously|at first|initially|originally|first|the first time|above){E}"
)
INLINE = re.compile(
    rf"{_CLOSE}\s?(?:[,—–-]|…)\s?(?:no[,—–:]|no (?=\d|it|that is|make)|er+m?,|uh,|sorry|or rather|rather,|i mean|make"
    rf" that|wait|oops){E}?"
    rf"|{_CLOSE}(?:,| [—–-]) (?:of course|certainly|definitely|absolutely|obviously|surely|clearly) not"
    r"(?=\s*[.!;]|\s*$)"
)
INSTEAD = re.compile(
    r",[ ](?:please[ ])?(?:choose|use|pick|take|try|select|go|set|write|say|put|run|visit|see|prefer|buy|add|call"
    r"|open)[ ]"
)
"""`instead of x, choose y`: what is told after the comma is not what is ruled out before it."""
CONTRARY = re.compile(rf"{W}(?:contrary to|unlike|despite|whatever|no matter what|regardless){E}")
DENIAL = re.compile(
    r"[\s\"'”’)\]*_`—–-]*(?:(?:no|nope|wrong|false|incorrect|untrue|nonsense|never|impossible|hardly|no way|not a"
    r" chance|far from it|on the contrary"
    r"|(?:absolutely |certainly |definitely |of course |probably )?not|i (?:do not|don['’]t) think so|i doubt (?:it"
    r"|that))(?=[.,!?;:—–]|\s*$)"
    r"|not (?:true|so|really|correct|right|at all)|never ?mind"
    r"|(?:but |and |however,? |no,? )?(?:that|this|which|it)(?:['’]s| is| was| turned out to be| has been)(?:"
    r" \w{1,12}ly| simply| just)?"
    r" (?:false|wrong|incorrect|untrue|not (?:true|so|right|correct|the case)|(?:a )?(?:lie|mistake|myth)|nonsense)"
    rf"|(?:that|this|it) (?:isn['’]t|wasn['’]t|cannot be|can['’]t be) (?:true|right|correct|so|the case|it)){E}"
)
WITHDRAWN = re.compile(
    rf"{W}(?:no[,.]? wait|wait[,.!—–-]{{0,2}} (?:no|that['’]s not)|(?:scratch|strike|disregard|forget|ignore|cancel)"
    r" (?:that|this|it|the above|my"
    r" (?:previous|last|earlier|first))|correction(?= ?[,:—–-])|(?:take (?:that|it|this) back|retract (?:that|it|this"
    r"|my)|withdraw (?:that|it|this|my))"
    r"|on second thoughts?|i (?:was|am) (?:wrong|mistaken)|i (?:misread|miscounted|miscalculated|misspoke|made an?"
    r" (?:\w{1,12} )?(?:mistake|error))"
    r"|my mistake|my bad|oops|whoops|let me correct (?:that|myself)|i stand corrected|or rather|sorry, (?:i mean|that"
    rf" should|make|it)|i mean[t]?(?=[ ,])|make that){E}"
)
ASKS = re.compile(
    rf"(?:(?:and|but|so|or|well|hmm),? )?(?:(?:{_BE}|may|might|am)(?:n['’]t)?|what|which|why|how|who|where|when|or"
    rf"|any){E}"
)
TAG_QUESTION = re.compile(
    rf"[,–—] ?(?:right|correct|no|yes|ok|okay|eh|innit|see|(?:{_BE}|ca|wo)(?:n['’]t)? (?:it|they|he|she|that|there|we"
    r"|you))$"
)
CONFIRMS = re.compile(rf"[\s\"'”’)\]*_`?—–-]*(?:yes|yep|yeah|correct|right|indeed|exactly|it is|it does|true){E}")
STOP = re.compile(r"[.!?…]+[\"'”’)\]*_`]{0,3}(?=\s|$)|[\n。！？]")
ABBREVIATION = re.compile(r"(?:^|[\s(])(?:st|mt|ft|dr|mr|mrs|ms|prof|vs|nr|fig|eq|approx|ca|e\.g|i\.e|a\.m|p\.m)$")
