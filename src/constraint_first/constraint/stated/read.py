"""The rules, and reading all the constraints that a text states.

A rule returns nothing where the words leave room for another reading: a wrong constraint costs a
right answer, a missing one costs nothing. How often each rule fires, and is broken by the gold
answer, is measured by perf/readings.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from constraint_first.constraint.predicate import (
    all_of,
    at_least,
    at_most,
    between,
    decimals,
    integer,
    least_residue,
)
from constraint_first.constraint.stated.encoding import read_encoding
from constraint_first.constraint.stated.property import read_asked
from constraint_first.constraint.stated.reading import (
    ANOTHER_BASE,
    ASK,
    INTEGER,
    LONGEST,
    ORDINALS,
    WORDS,
    Reading,
    plain_text,
    to_integer,
)
from constraint_first.constraint.stated.statement import Stated
from constraint_first.pattern import lazy_pattern

# --- Remainders and digits.

_REMAINDER: Final = lazy_pattern(
    rf"\b{ASK}\s+(?:(?:its|the|a)\s+)?(?:(?:positive|non-?negative|least|smallest)\s+)*"
    r"(?:remainder|residue)\b(?:\s+(?:when|if|after|that|obtained|upon|on|modulo|mod)\b|\s*\?"
    r"|\s+of\s+(?!(?:the|his|her|their|its|our|my|your|this|that|all)\b))"
)
# Behind a divisor a noun means people or groups, among whom something is shared.
_AFTER: Final = (
    r"(?:is|are|was|and|but|or|if|when|where|for|the|what|which|in|on|as|leaves?|gives?|equals?|has"
    r"|have|to|then|with|respectively|separately|find|determine|compute|inclusive)"
)
_DIVISOR: Final = lazy_pattern(
    r"\b(?:divided\s+by|divides\s+(?:the\s+result|it|this|that)\s+by|dividing\s+by|division\s+"
    rf"by|modulo|mod)\s+({INTEGER})(?!\s+(?!{_AFTER}\b)[a-z]{{2,}})"
)
_DIVIDED_BEFORE: Final = lazy_pattern(
    r"(?:\b(?:numbers?|integers?|sums?|products?|[a-z])|[\d)}])\s+(?:is"
    r"|are)\s+(?:then\s+)?divided\s+"
    rf"by\s+({INTEGER})(?!\s+(?!{_AFTER}\b)[a-z]{{2,}})"
)
# The remainder itself, of one division, and nothing is done with it afterwards.
_CERTAIN: Final = lazy_pattern(
    r"[^.?!;]{0,60}?\bremainder\s+(?:when|if|after|of|that|obtained|upon|on)\b[^.?!;]{0,300}?"
    rf"\b(?:divided|dividing|division)\s+by\s+{INTEGER}\s*(?:[.?!]\s*)?$"
)
_DIVIDES: Final = lazy_pattern(r"\bdivi(?:ded|des|ding|sion)\s+(?:[a-z]+\s+){0,3}?by\b|\bmod")
_COMBINED: Final = lazy_pattern(
    r"\b(?:plus|minus|times|multiplied\s+by|added\s+to)\s+(?:the|its)\s+(?:remainder|residue"
    r"|quotient|[a-z]+\s+digit)"
    r"|\bas\s+an?\s+(?:fraction|percent|decimal|negative)|\bremainders\b|\bin\s+terms\b"
    r"|\b(?:remainder|residue)\s*(?:,|and\b|or\b|over\b)|\bquotient\b|\babsolute\b"
    r"|\bdigit\s*(?:,|and|or|plus|minus|times|divided|multiplied|followed)\b"
)
_POLYNOMIAL: Final = lazy_pattern(r"\bpolynomial|\bdivided\s+by\s+\(?\d*\s*[a-z]\s*[\^+-]|\bmatri")
# Decimals, fractions and amounts of money leave remainders that are not whole.
_NOT_WHOLE: Final = lazy_pattern(
    r"\d\.\d|€|\\frac|\d\s*/\s*\d|\d\s+[a-z]{3,}\s+(?:is|are|was|were)\s+divided"
    r"|\b(?:dollars?|cents?|euros?|money|budget|costs?|price|salary|grams?"
    r"|litres?|liters?|met(?:re|er)s?|kilograms?|hours?|minutes?|feet|inch(?:es)?|miles?|percent"
    r"|[ckm]m"
    r"|kg|ml|lbs?)\b"
)
_MONEY: Final = lazy_pattern(r"(?<!\\)\$\d[\d,]*[.,;?!]?\s+[a-z(]")
_MODULO: Final = lazy_pattern(
    rf"\b(?:{ASK})\s[^,;?]{{1,120}}?[\s(,](?:modulo|mod|\\pmod"
    rf"|\\bmod)\s*\{{?\s*({INTEGER})\s*\}}?\s*\)?\s*(?:[.?]|,\s*(?:as\s+)?an\s+integer)"
)
_NOT_THE_RESIDUE: Final = lazy_pattern(
    r"\bhow\s+many|\bnumber\s+of|\bsum\b|\ball\b|\bsolutions?\b|\bsmallest|\blargest|\bleast\b"
    r"|\bgreatest|\border\b|\bproduct\s+of|\bvalues\b|\bsuch\s+that|\bsatisf|\binverses\b"
    r"|\bpositive|\bcongruent|\\equiv|\bwhich\b|="
)
_LAST: Final = lazy_pattern(
    rf"\b{ASK}\s+the\s+(?:last|final|rightmost)\s+({'|'.join(WORDS)}|\d)\s+(?:nonzero\s+)?digits\b"
    r"(?!\s+(?:are|is|and|add)\b)"
)
_PLACE: Final = lazy_pattern(
    rf"\b{ASK}\s+the\s+(?:(?:last|final|leading|first|leftmost|rightmost|middle|unknown|missing|"
    r"units|unit's|ones|tens|hundreds|thousands|ten-?thousands|tenths|hundredths"
    rf"|{'|'.join(ORDINALS)})\s+)(?:nonzero\s+|decimal\s+)?digit\b(?!['’]|\s+sums?\b)"
)


def read_remainder(reading: Reading) -> Iterator[Stated]:
    """Read that the remainder of a division of integers is asked for, not what is left over."""
    plain, (start, end) = reading.plain, reading.question or (0, 0)
    asked, modulo = reading.asked(_REMAINDER), None
    if asked is None and not _NOT_THE_RESIDUE.search(plain, start, end):
        modulo = reading.asked(_MODULO)
    if not (asked or modulo) or _COMBINED.search(plain, start):
        return
    if any(doubt.search(plain) for doubt in (_POLYNOMIAL, ANOTHER_BASE, _NOT_WHOLE)):
        return
    if _MONEY.search(reading.text):
        return
    if modulo:
        yield from _residue(to_integer(modulo[1]), modulo.span())
        return
    divisors = [*_DIVISOR.finditer(plain, start, end)]
    if not divisors and not _DIVIDES.search(plain, start, end):
        divisors = [*_DIVIDED_BEFORE.finditer(plain)]
    if asked and divisors:
        # In a nested remainder the outer divisor is one of them, and the largest is safe.
        largest = max(to_integer(found[1]) for found in divisors)
        stop = max(asked.end(), divisors[-1].end())
        span = (min(asked.start(), divisors[0].start()), stop)
        certain = len(divisors) == 1 and bool(_CERTAIN.match(plain, asked.start()))
        yield from _residue(largest, span, certain=certain)


def _residue(modulus: int, span: tuple[int, int], *, certain: bool = False) -> Iterator[Stated]:
    if modulus > 0:
        words = f"The answer is a remainder: an integer from 0 to {modulus - 1}."
        yield Stated("modular", least_residue(modulus), span, words, certain=certain)


def read_digit(reading: Reading) -> Iterator[Stated]:
    """Read that one digit, or the last few digits, of a number are asked for."""
    place, last = reading.asked(_PLACE), reading.asked(_LAST)
    if not (place or last) or ANOTHER_BASE.search(reading.plain):
        return
    if _COMBINED.search(reading.plain, (reading.question or (0,))[0]):
        return
    if place:
        words = "The answer is a digit: an integer from 0 to 9."
        yield Stated("modular", all_of(integer(), between(0, 9)), place.span(), words)
    elif last:
        length = WORDS.get(last[1]) or int(last[1])
        words = f"The answer is the last {last[1]} digits of a number: at most {length} digits."
        yield Stated("modular", least_residue(10**length), last.span(), words)


# --- Counts of things that come in whole numbers only.

_OBJECTS: Final = (
    "integers|numbers|primes|prime numbers|digits|ways|solutions|roots|zeros|zeroes|divisors"
    "|factors|multiples|pairs|triples|quadruples|tuples|subsets|permutations|combinations"
    "|arrangements|sequences|paths|functions|polynomials|triangles|rectangles|quadrilaterals"
    "|parallelograms|trapezoids|polygons|vertices|edges|faces|diagonals|intersections"
    "|elements|palindromes|perfect squares|perfect cubes"
    "|strings|codes|passwords|license plates|outcomes|colorings"
    "|colourings|tilings|lattice points|partitions|matrices|values|committees|handshakes"
)
_PEOPLE: Final = (
    "people|persons|students|children|kids|boys|girls|men|women|players|teachers|adults|guests"
    "|passengers|members|friends|classmates|workers|employees|customers|visitors|voters"
    "|teams|games|matches"
)
_ADJECTIVES: Final = (
    r"(?:\s+(?!of\b|more\b|as\b|fewer\b|less\b|hours?\b|times\b|[a-z]*illions?\b|thousands?\b"
    r"|hundreds?\b|dozens?\b|percent|per\b|full-time\b)"
    r"[a-z0-9\-']+(?:\s*-\s*[a-z]+)?){0,4}?"
)
_HOW_MANY: Final = lazy_pattern(
    rf"\b(?:how\s+many|(?:find|determine|compute|calculate|what\s+is)\s+the\s+(?:total\s+)?"
    rf"number\s+of){_ADJECTIVES}\s+(?:(?:{_OBJECTS})|(?P<people>{_PEOPLE}))\b"
    r"(?!\s*[-'’]|\s+(?:more|fewer|less|too|short|out|of\s+(?:its|their|his|her)|hours?|days?"
    r"|weeks?"
    r"|months?|years?|minutes?|worth|lengths?)\b)"
)
# An average of whole things need not be whole, and neither need a share or a change.
_FRACTIONAL: Final = lazy_pattern(
    r"average|mean\b|expect|per\b|estimate|approximate|percent|%|ratio\b|rate\b|typical|mixed\b"
    r"|decimal|fraction\b|probab|nearest|round|compar|equivalent|share\b"
    r"|\bby\s+how\s+many|\bchange\b|\bin\s+terms\b|,\s+in\s+(?!all\b|total\b)[a-z ]+[?.]"
    r"|(?:for|to|in)\s+(?:each|every|one)\b|\bahead\b|\bbehind\b|\bback\b"
    r"|\bin\s+(?:thousands|millions|hundreds|dozens|billions)\b"
)
# People and games are told of in rates and shared out, and then come out in fractions.
_RATE: Final = lazy_pattern(
    r"\d\s*/\s*\d|\bhal(?:f|ves)\b|\b(?:thirds?|quarters?|fifths?)\b|\bneed|\brequire"
    r"|\b(?:do|does|would|will|can|could|for)\s+\d+\b|\b(?:each|every|equal(?:ly)?|same\s+number"
    r"|apiece|daily|hourly|weekly|monthly|yearly"
    r"|annual(?:ly)?)\b|\b(?:an?|one|\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?:second"
    r"|minute|hour|day|week|month|year)s?\b"
)
_MODELLED: Final = lazy_pattern(
    r"\d\.\d|%|\bpercent"
    r"|\bevery\s+(?:other|second|third|fourth|fifth|sixth|seventh|\d+)|\bfunction\b|\bmodel"
    r"|\bexponential|\blogistic|\bequation|\bformula|\brates?\b|\baverage|\bratio\b|\bproportion"
    r"|\bpopulation\b|\bper\b|\bwork\s+at\b|\btimes\s+as\b|\binvers"
)


def read_count(reading: Reading) -> Iterator[Stated]:
    """Read that a number of whole things is asked for: an integer, not negative."""
    found = reading.asked(_HOW_MANY)
    if found is None or reading.question is None:
        return
    plain, start = reading.plain, reading.question[0]
    if _FRACTIONAL.search(plain, start):
        return
    if found["people"] and (_RATE.search(plain, start) or _MODELLED.search(plain)):
        return
    words = "The answer is a count: an integer, not negative."
    yield Stated("domain", all_of(integer(), at_least(0)), found.span(), words)


# --- Rounding.

_PLACES: Final = {
    **dict.fromkeys(("integer", "whole number", "whole", "unit", "dollar", "degree"), 0),
    "tenth": 1,
    "hundredth": 2,
    "thousandth": 3,
    "ten-thousandth": 4,
    "cent": 2,
    "penny": 2,
}
_ROUNDED: Final = lazy_pattern(
    rf"\b(?:to\s+the\s+nearest\s+({'|'.join(sorted(_PLACES, key=len, reverse=True))})\b(?!\s*-"
    r"|\s+(?:of\s+an?\s+)?(?:[a-z]*illion|thousand|hundred|cents?|penny|dollars?|percent))"
    rf"|(?:to|correct\s+to)\s+({'|'.join(WORDS)}|\d)\s+decimal\s+(?:places?|digits?)\b)"
)
# The rounding of the answer ends its clause; that of a part has the rest of the sum behind it.
_CLAUSE_ENDS: Final = lazy_pattern(
    r"(?:\s+(?:of\s+an?\s+)?(?:degree|metre|meter|centimeter|inch|foot|mile|second|minute|hour"
    r"|gram|pound)s?)?\s*(?:[.,;?!)]|$)"
)
_OF_A_PART: Final = lazy_pattern(
    r"\b(?:each|both|all|are|is|was|were|when|if|after|by|before|first|being|numbers?|values?)\s+"
    r"(?:[a-z]+\s+)?(?:round(?:ed|ing)?\s+(?:off\s+|up\s+|down\s+)?|correct\s+)?$"
)
# Words that make the rounding part of a fact, or another number than the answer its subject.
_NOT_ROUNDED: Final = lazy_pattern(
    r"\bexact|\bestimat|\b(?:is|was|are|were|or)\s+\S{1,12}\s+(?:[a-z]+\s+)?(?:when|if)\s+rounded"
    r"|\b(?:least|smallest|greatest|largest|minimum|maximum|lower|upper|longest|shortest|highest"
    r"|lowest)\s+(?:possible|bound|limit)|\bmeasure[sd]\b|\baccura|\berror\b"
    r"|\bcould\s+(?:have\s+been|be)\b|\bdifference\b|\bchanges?\b|\brounds\s+to\b"
    r"|\bnumber\s+that\b|\b(?:smallest|largest|least|greatest)\s+(?:integer|number|it)\b"
    r"|\btakes\s+\d|\bwhich\s+of\b|\bintermediate\b|\bbefore\b|\bunrounded\b"
)
# The rounding applies to what is written so, and not to the value.
_WRITTEN: Final = lazy_pattern(
    r"10\s*\^|×\s*10|\\times\s*10|\bscientific\b|\bstandard\s+form\b|\bsignificant\b|\bmantissa\b"
    r"|\bcoefficient\b|\bexponent|\bpower\s+of\b|%|\bper\s?cent|\brate\b|\bfraction\b|\bradical"
    r"|\bsurd|\bmixed\b|\\pi\b|π|\bin\s+terms\b"
    r"|\bin\s+(?:tens|thousands|millions|billions|hundreds|dozens)\b"
)
_OPENING: Final = lazy_pattern(r"[\s(]*(?:round(?:ed|ing)?\s+(?:off\s+)?)?")
_ASK_FOLLOWS: Final = lazy_pattern(rf"\s*,?\s*(?:{ASK}|how)\b")
_ANSWER: Final = lazy_pattern(
    r"\bround\s+(?:(?:off|up|down|it)\s+)?(?:to|your|the\s+(?:final\s+)?answer)\b|\banswers?\b"
    r"|\bexpress\b"
)


def read_rounding(reading: Reading) -> Iterator[Stated]:
    """Read to what place the answer is to be rounded."""
    plain, (start, end) = reading.plain, reading.question or (0, 0)
    rounded = [*_ROUNDED.finditer(plain, start)]
    if not rounded or _NOT_ROUNDED.search(plain) or _WRITTEN.search(plain, start):
        return
    for found in rounded:
        if found.start() >= end and not _ANSWER.search(plain, end):
            continue
        opens = _OPENING.fullmatch(plain, start, found.start())
        ends = (_ASK_FOLLOWS if opens else _CLAUSE_ENDS).match(plain, found.end())
        if not ends or _OF_A_PART.search(plain[max(found.start() - 40, start) : found.start()]):
            continue
        places = _PLACES.get(found[1]) if found[1] else WORDS.get(found[2])
        places = int(found[2]) if places is None else places
        words = f"The answer has at most {places} decimals." if places else "The answer is whole."
        yield Stated("format", decimals(places), found.span(), words)


# --- Quantities with a natural range: probabilities, shares of a whole, angles.

_CHANCE: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:exact\s+|total\s+|conditional\s+)?probability\s+(?:that"
    r"|of)\b|\bhow\s+likely\s+is\b"
)
_CHANCE_IN_PERCENT: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?percent(?:age)?\s+(?:chance|probability)\s+(?:that|of)\b"
)
_PERCENT: Final = lazy_pattern(r"\bpercent|%|\bper\s+cent")
_NOT_A_CHANCE: Final = lazy_pattern(
    r"\bodds\b|\bmultipl(?:y|ied)\b|\brecipro|\bratio\b|\btimes\b|\bmaxim|\bnumerator\b|‰"
    r"|(?:\b|\d)[a-z]\s*[+-]\s*[a-z]\b|\bper\s+(?!cent)|\bunits?\s+of\b|\bout\s+of\s+\d+\s*[.?]"
    r"|\bin\s+terms\b"
    r"|compar|\b(?:as|more|less)\s+likely|\b(?:one|1)\s+in\s+(?:[a-z]|how)\b|\blog"
    r"|\bbasis\s+points?\b|\bfor\s+and\s+against\b"
    r"|\bdensity\b|\bin\s+favou?r\b|\bchances\s+in\b|\bin\s+(?:100|1,?000|a\s+[a-z]+d)\b"
    r"|\bform\s+[a-z]\s*:|\bas\s+a\s+function\b"
)
# A whole that is there: not one that is planned, or was once, or is owed.
_WHOLE: Final = (
    r"(?:(?:the|all|these|those|her|his|their|its|my|our|your)\s+){1,2}(?:(?!of\b|number|amount"
    r"|original|previous|last|old|needed|required|planned|ordered|expected|usual|normal|average"
    r"|target|available)[a-z-]+\s+){0,2}?"
)
_MANY: Final = (
    r"[a-z]{2,}s(?<!ss)(?<!costs)(?<!expenses)(?<!sales)(?<!wages)(?<!earnings)(?<!savings)"
)
_ARE: Final = (
    r"(?:are|were|have(?!\s+to\b)|do\s+not|did\s+not|don't|didn't|like|liked|prefer|preferred"
    r"|pass|passed|fail|failed|chose|voted|survived|enrolled)"
)
_MIXTURE: Final = (
    r"(?:mixture|solution|alloy|blend|drink|figure|square|circle|rectangle|triangle|hexagon|grid"
    r"|region|shape|wall|area)"
)
_MADE: Final = (
    r"(?:is|was|are|were)(?=\s+(?:not\s+)?(?:un)?(?:shaded|painted|colou?red|acid|water|alcohol"
    r"|salt|sugar|gold|silver|copper)\b)"
)
_NO_PART: Final = (
    r"(?!\s+(?:not\s+)?(?:covered|paid|produced|made|met|sold|reached|achieved|earned|booked"
    r"|reserved|filled|full|occupied|used|spent|done|completed|the|an?|as|equal|equivalent|that"
    r"|those|these|his|her|their|there|needed|required|to|\d|€|more|less|fewer|twice|half|double"
    r"|compared)\b)"
)
_SHARE: Final = lazy_pattern(
    rf"\bwhat\s+percent(?:age)?\s+of\s+{_WHOLE}(?:(?P<of>{_MANY}|people|children|men|women)\s+"
    rf"(?P<are>{_ARE})|{_MIXTURE}\s+{_MADE})\b{_NO_PART}\s*(?P<part>[^,.;?]*)"
)
# One plural for another is a ratio (*what percent of the dogs are cats*), but for parts of people.
_PLURAL: Final = lazy_pattern(r"s$|men$|^children$|^people$")
_PARTS: Final = frozenset("boys girls men women males females freshmen seniors juniors".split())
_WHOLES: Final = frozenset("people students children members employees workers passengers".split())
_COMPARED: Final = lazy_pattern(
    r"\bmore\s+than\b|\bless\s+than\b|\bincrease|\bdecrease|\bchange|\bcompared\b|\bthe\s+number\b"
    r"|\bcapacity\b|\blast\b|\bprevious|\boriginal"
)
# What is never negative, and so never falls by more than all of it.
_SIZES: Final = (
    r"(?:price|cost|area|volume|perimeter|circumference|length|population|weight|mass|salary)"
)
_DECREASE: Final = lazy_pattern(
    r"\bwhat\s+(?:is\s+the\s+)?percent(?:age)?\s+(?:discount\b|(?:decrease|reduction|drop)\s+in"
    rf"\s+the\s+{_SIZES}\b|(?:is|was|did|does|has|will)\s+(?:the\s+|its\s+|[a-z]+'s\s+)(?:[a-z']+"
    rf"\s+){{0,2}}?{_SIZES}\s+(?:[a-z]+\s+){{0,3}}?(?:decrease[ds]?|reduced?|drop(?:ped)?"
    r"|fall(?:en)?|fell|shrunk|lowered)\b)"
)
_ANGLE: Final = lazy_pattern(
    rf"\b(?:{ASK})\s+(?:the\s+)?(?:degree\s+)?(?:measure|size|value)?(?:\s*,?\s*in\s+"
    r"degrees\s*,?\s*)?\s*(?:of\s+)?"
    r"(?:the\s+)?(?:(?:acute|obtuse|smallest|largest|interior|vertex|base|remaining|third|other"
    r"|missing)\s+)*(?:interior\s+)?(?:angle\b(?!s)|\\angle\s*\{?[a-z]{1,3}|m\\angle)"
)
# Other angles have a sign, go round more than once, or are told in another unit.
_FIGURE: Final = lazy_pattern(
    r"triang|polygon|parallel|circle|trapez|[a-z]agon|rectang|square|rhomb|quadrilat|\bacute\b"
    r"|\bobtuse\b|\bdiagram\b|\bfigure\b|bisect|\\angle|altitude|\bangle\s+[a-z]{3}\b"
)
_NOT_AN_ANGLE: Final = lazy_pattern(
    r"\bradians?\b|\\angle[^.?]{1,40}[+*/-]|\btan|\bsin|\bcos|\bsec\b|\bcsc|\bcot|\bsum\b|\btotal\b"
    r"|\bturn|\brotat|\bsweep|\bcover|\bhands?\b|\bminus\b|\bplus\b|\btimes\b|=\s*-|\bcopies\b"
    r"|\bspin|\brevol|\bwheel|\bmov|\bdirected\b|\bpolar\b|\bcomplex\b|\bin\s+terms\b|\bfraction\b"
    r"|\bratio\b|\bangle\s+between\b|\bnegative\b|\bstandard\s+position|\bterminal\b|\bquadrant"
    r"|\bphase\b|\bsigned\b|\bwaves?\b|\bshift|\belevation\b|\bdepression\b|\bgons?\b|\bunits?\b"
    r"|\bparts\b"
    r"|\bgrad(?:ian)?s?\b|\bmils?\b|\b(?:arc\s*)?(?:minutes|seconds)\b|\bclockwise|\\pi\b"
)


def read_chance(reading: Reading) -> Iterator[Stated]:
    """Read that a probability itself is asked for, as a number up to 1 or in per cent."""
    if found := reading.asked(_CHANCE_IN_PERCENT):
        percent = True
    else:
        found = reading.asked(_CHANCE)
        percent = bool(found and _PERCENT.search(reading.plain))
    if found is None or _NOT_A_CHANCE.search(reading.plain):
        return
    if percent:
        words = "The answer is a probability: from 0 to 1, or from 0 to 100 percent."
        yield Stated("bound", between(0, 100), found.span(), words)
    else:
        words = "The answer is a probability: from 0 to 1."
        yield Stated("bound", between(0, 1), found.span(), words)


def read_share(reading: Reading) -> Iterator[Stated]:
    """Read that the share of a whole, or a decrease, is asked for in percent."""
    found = reading.asked(_SHARE)
    if found and not _COMPARED.search(reading.plain, found.start()):
        part = found["part"].split()
        peers = found["are"] in ("are", "were") and bool(part) and bool(_PLURAL.search(part[-1]))
        within = found["of"] in _WHOLES and part and part[-1] in _PARTS
        if peers and not within and part[-1] != found["of"]:
            return
        words = "The answer is the percentage of a whole: from 0 to 100."
        yield Stated("bound", between(0, 100), found.span(), words)
    elif found := reading.asked(_DECREASE):
        words = "The answer is a decrease in percent: at most 100."
        yield Stated("bound", at_most(100), found.span(), words)


def read_angle(reading: Reading) -> Iterator[Stated]:
    """Read that the size of one angle of a figure is asked for, in degrees."""
    found = reading.asked(_ANGLE)
    if found and _FIGURE.search(reading.plain) and not _NOT_AN_ANGLE.search(reading.plain):
        words = "The answer is an angle of a figure: from 0 to 360 degrees."
        yield Stated("dimension", between(0, 360), found.span(), words)


# --- All rules, each with words of which a text has one where the rule can fire.

Rule: TypeAlias = Callable[[Reading], Iterator[Stated]]

RULES: Final[tuple[tuple[Rule, tuple[str, ...]], ...]] = (
    (read_remainder, ("remainder", "residue", "mod")),
    (read_digit, ("digit",)),
    (read_asked, ("integer", "number", "multiple", "divisor", "factor", "prime", "digit")),
    (read_count, ("how many", "number of")),
    (read_rounding, ("nearest", "decimal")),
    (read_chance, ("probability", "likely", "percent")),
    (read_share, ("percent",)),
    (read_angle, ("angle",)),
    (read_encoding, ("integer", "prime", "lowest", "simpl", "reduced", "irreducible", "number")),
)


def read_stated(text: str) -> tuple[Stated, ...]:
    """Read the constraints on the answer that a problem's text states, in the text's order."""
    return _read(text) if len(text) <= LONGEST else ()


@lru_cache(maxsize=256)  # the runs and methods of a benchmark ask for the same texts again
def _read(text: str) -> tuple[Stated, ...]:
    found = {(one.span, str(one.predicate)): one for _, one in read_by_rule(text)}
    return tuple(sorted(found.values(), key=lambda one: (one.span, one.kind)))


# Patterns that allow blanks in two places are slow on thousands of them, which no problem has.
_LONG: Final = 2_000
_GAP: Final = lazy_pattern(r"\s{200}")


def read_by_rule(text: str) -> Iterator[tuple[str, Stated]]:
    """Read what each rule finds in a text, with the rule's name."""
    plain = plain_text(text)
    if len(plain) > _LONG and _GAP.search(plain):
        return
    called = [rule for rule, words in RULES if any(word in plain for word in words)]
    reading = Reading(text, plain)
    found = [(rule.__name__, one) for rule in called if reading.question for one in rule(reading)]
    if found and not (reading.recoded or reading.in_parts):
        yield from found
