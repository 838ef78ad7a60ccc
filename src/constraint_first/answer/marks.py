"""The marks of a final answer in a reply: boxes, phrases, choice letters, and denials of them.

A value is an answer only where it is asserted: "it cannot be 5" denies it, "suppose it is 5" only
supposes it, and "at least 5" is an answer, but not 5. The words beside the value decide that, up
to the next verb: in "the number that is not used is 5" the "not" does not concern the 5.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from constraint_first.pattern import lazy_pattern

_NEAR: Final = 80
"""Characters before and after a value that are read."""
_OPEN: Final = r"(?:[\s$*_(\[}\"“`]|\\[(\[]){0,6}\Z"
_CLOSE: Final = r"(?:[\s$*_)\]}\"”`]|\\[)\]]|\\text\s?\{){0,6}"
_LINK: Final = (
    r"(?:\s+(?:be|been|equals?|to|the|an?|of|by|or|it|value|number|answer|result|option|choice"
    r"|exactly|really|simply|just|always|possibly|ever|even|about|approximately|only|correct|right"
    r"|sein|die|der|das|être|ser))"
)
_DENIED: Final = lazy_pattern(
    r"(?:(?:\b(?:not|cannot|never|neither|nor|nicht|kein\w{0,2}|weder|noch)|n['’]t)\b"
    rf"(?:\s+(?!but\b|is\b|are\b|was\b|equals\b|that\b|to\b)[a-z]+)?{_LINK}{{0,4}}"
    r"|\b(?:none|nothing|no\s+one)\b(?:\s+[a-z]+){0,4}(?:\s+[-−$\d./]{1,12},?(?:\s+(?:and|or))?){0,6}|\b(?:rather\s+than|instead\s+of|as\s+opposed\s+to"
    r"|unlike)(?:\s+the)?|\b(?:rul(?:e|es|ed|ing)\s+out|eliminat\w+|exclud\w+|discard\w*|reject\w*"
    r"|dismiss\w*)(?:\s+[a-z]+){0,2}(?:\s+\$?[a-z]\s?=\s?)?|\bn['’]est\s+pas|\bno\s+(?:es|son|puede\s+ser)|\bnon\s+è|\bnão\s+é"
    r"|不(?:可能)?(?:是|为|會是|会是|等于|能是)|[并並]非|\\neg)"
    rf"{_OPEN}",
    re.IGNORECASE,
)
_RELATION: Final = r"(?:[<>!]=|[<>≤≥⩽⩾≠]|=<|\\(?:[lg]eq?(?:slant)?|neq?|gt|lt)(?![a-z]))"
_BOUNDED: Final = lazy_pattern(
    r"(?:\b(?:at\s+(?:the\s+)?(?:least|most|(?:very\s+)?(?:least|most))"
    r"|(?:no\s+|not\s+)?(?:more|less|fewer|greater|larger|smaller|higher|lower|bigger|other|later"
    r"|earlier|longer|shorter|older|younger)\s+than(?:\s+or\s+equal\s+to)?|up\s+to|exceed(?:s|ing)?"
    r"|(?<!\d\s)(?:over|under|above|below)|almost|nearly|(?:any|all|every)\w*\s+(?:\w+\s+){0,2}but"
    r"|(?:(?:all|any|every)\w*(?:\s+[a-z]+){0,3}\s+)?except(?:\s+for)?|between(?:\s+[^\s,;]{1,30}\s+and)?"
    r"|(?:negative|opposite|reciprocal|inverse|square|cube|half|third|quarter|double|square\s+root"
    r"|factorial|negation|logarithm|multiple|factor|divisor|power|one|two|three|percent|%)\s+of"
    r"|(?:log|ln|sine|cosine|tangent)(?:\s+(?:to\s+)?(?:the\s+)?base\s+\w+)?\s+of|not\s+far\s+from|close\s+to|divisible\s+by|congruent\s+to|(?:ending|ends|beginning|begins|starting|starts)\s+(?:in|with)|twice|double|triple|half"
    r"|mindestens|höchstens|(?:mehr|weniger|größer|kleiner)\s+als|au\s+(?:moins|plus)|plus\s+de"
    r"|moins\s+de|m[áa]s\s+de|menos\s+de|al\s+menos)\b(?:\s+(?:an?|the|about|exactly))?"
    r"|(?:不)?(?:至少|最多|至多|大于|小于|超过|不到|多于|少于|高于|低于)\s*(?:是|为|有|需要|要|用)?"
    rf"|(?:(?<![\w</\\])[A-Za-z]\w{{0,2}}\s?|(?<![\w/=-])){_RELATION})"
    rf"{_OPEN}",
    re.IGNORECASE,
)
# "She can use up to 12 inches" gives a capacity, not a bound of the answer.
_CAPACITY: Final = lazy_pattern(r"\bcan\s+(?!be\b)[a-z]+\s+up\s+to\s*\Z", re.IGNORECASE)
_BOUNDED_BEHIND: Final = lazy_pattern(
    rf"{_CLOSE}(?:[A-Za-z]+\s+)?(?:(?:or|and)\s+(?:more|less|fewer|greater|above|below|over|under"
    r"|higher|lower|up|larger|smaller|older|later|earlier|beyond)|at\s+(?:least|most)|oder\s+mehr"
    r"|oder\s+weniger|only\s+if|以上|以下)\b(?!\s+than)",
    re.IGNORECASE,
)
_VERDICT: Final = (
    r"(?:answer|correct|right|solution|possible|valid|allowed|acceptable|true|enough|sufficient"
    r"|it\b|so\b)"
)
_REJECTED: Final = lazy_pattern(
    rf"{_CLOSE}(?:\?|(?:[,;.…]{{0,3}}\s*(?:(?:but|wait|no|and|however|actually)[,:]?\s+){{0,2}}"
    r"(?:which|that|this|it)(?:['’]s|\s+(?:is|was|turned\s+out\s+to\s+be))\s+(?:\w+\s+)?"
    r"(?:wrong|incorrect|false|impossible|a\s+mistake|not\s+(?:right|correct|it|the\s+answer)))"
    r"|(?:(?:is|was|would\s+be|must\s+be|seems|are)\s+"
    r"(?:(?:clearly|obviously|therefore|also|just|simply|the|a|an|thus|still|actually)\s+){0,2}"
    r"(?:wrong|incorrect|false|impossible|invalid|mistaken|mistake|error|trap|extraneous|spurious|unattainable|inadmissible|ruled\s+out|excluded"
    r"|too\s+(?:large|small|big|high|low|many|few|much|long|short)"
    rf"|(?:not\s+in|outside)\s+(?:of\s+)?the\s+(?:domain|range|interval)|not\s*(?:[.!,;]|\Z|(?:\w+\s+){{0,3}}?{_VERDICT}))"
    r"|would\s?n[o'’]t\s+be\s+(?:enough|sufficient|right|correct|possible)"
    rf"|(?:isn['’]t|wasn['’]t)\s*(?:[.!,;]|\Z|(?:\w+\s+){{0,3}}?{_VERDICT})"
    rf"|(?:cannot|can['’]t|could\s?n[o'’]t|must\s+not|can\s+not)\s+be\b\s*(?:[.!,;]|\Z|(?:\w+\s+){{0,3}}?{_VERDICT})"
    r"|(?:does\s+not|doesn['’]t|do\s+not|don['’]t|did\s+not|didn['’]t)\s+(?:work|fit|satisf\w+|hold|qualify)"
    r"|fails\b|ist\s+(?:falsch|nicht)\b|不对|不正确|是错))",
    re.IGNORECASE,
)
_SUPPOSED: Final = lazy_pattern(
    r"\b(?:suppose|assume|assuming|supposing|imagine|whether)\b[^,]*\Z"
    r"|\b(?:one|you|we|someone|people|many|they|some|it)\s+(?:might|may|could|would)\s+(?:\w+\s+){0,2}?"
    r"(?:think|guess|expect|say|believe|assume|suspect|conclude|argue|tempt\w*|seem|appear)\b[^,]*\Z"
    r"|(?<!second\s)\bthought\b(?!s)[^,]*\Z|\b(?:first|initial|original|earlier|previous)\s+(?:guess|idea"
    r"|attempt|answer)\b[^,]*\Z|\b(?:mistakenly|wrongly|incorrectly|erroneously)\b[^,]*\Z"
    r"|(?:n['’]t|\bnot|\bnever)\s+(?:\w+\s+)?(?:think|believe|true|correct|right|the\s+case|agree|say"
    r"|mean|accurate)\b[^,]*\Z|(?<!no\s)(?<!without\s)"
    r"\b(?:doubt|false|wrong|incorrect|untrue|deny)\b[^,]*\sthat\b[^,]*\Z"
    r"|\bno\s+(?:reason|evidence|proof|guarantee|way)\b[^,]*\Z",
    re.IGNORECASE,
)
_CONDITION: Final = lazy_pattern(
    r"\b(?:if|unless)\s+(?:that\s+)?(?:(?:the|my|our|your|this|that|its)\s+)?(?:\w+\s+){0,2}\Z",
    re.IGNORECASE,
)
_CLAUSE: Final = lazy_pattern(
    r"[.!?;:。；：]\s|[。；\n]|\b(?:but|however|instead|rather\s+it|so|therefore|thus|hence|sondern)\b|而是",
    re.IGNORECASE,
)

# A regular expression is tried at every position, and most texts contain none of its words. So an
# ASCII text is first searched for substrings, one of which every match of the pattern contains.
_DENIED_PARTS: Final = (
    "no", "n't", "never", "neither", "nicht", "kein", "weder", "rather", "instead", "opposed",
    "unlike", "rul", "eliminat", "exclud", "discard", "reject", "dismiss", "n'est", "\\neg",
)  # fmt: skip
_SUPPOSED_PARTS: Final = (
    "suppos", "assum", "imagin", "whether", "might", "may", "could", "would", "thought", "first",
    "initial", "original", "earlier", "previous", "mistaken", "wrong", "incorrect", "erroneous",
    "n't", "no", "never", "doubt", "false", "untrue", "deny",
)  # fmt: skip
_BOUNDED_ENDS: Final = (
    "least", "most", "than", "to", "exceed", "exceeds", "exceeding", "over", "under", "above",
    "below", "nearly", "but", "except", "for", "between", "and", "of", "from", "by", "in", "with",
    "twice", "double", "triple", "half", "mindestens", "als", "moins", "plus", "de", "menos",
    "<", ">", "<=", ">=", "!=",
    "\\le", "\\ge", "\\leq", "\\geq", "\\leslant", "\\geslant", "\\leqslant", "\\geqslant",
    "\\ne", "\\neq", "\\gt", "\\lt",
)  # fmt: skip
"""The last words of a match, but for an article."""
_OPENERS: Final = '$*_([}"`\\ \t\n\r\f\v\x1c\x1d\x1e\x1f'
_ARTICLES: Final = frozenset(("a", "an", "the", "about", "exactly"))


def is_supposed(before: str) -> bool:
    """Whether the words before a claim mark it as a guess, an assumption or untrue."""
    near = before[-_NEAR:]
    if not _has_part(near, _SUPPOSED_PARTS):
        return False
    return _SUPPOSED.search(_CLAUSE.split(near)[-1]) is not None


def is_condition(before: str) -> bool:
    """Whether a mark such as "the answer is" is a condition: "if the answer is 5"."""
    return _CONDITION.search(before[-_NEAR:]) is not None


def is_rejected(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _NEAR) : start]
    is_denied = _has_part(before, _DENIED_PARTS) and _DENIED.search(before)
    return bool(is_denied or _REJECTED.match(text, end, end + _NEAR))


def bounds(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the words before and after a value that make it a bound; empty without any."""
    near = text[max(0, start - _NEAR) : start]
    before = _BOUNDED.search(near) if _may_bound(near) else None
    if before and _CAPACITY.search(near, 0, before.start() + len("up to ")):
        before = None
    behind = _BOUNDED_BEHIND.match(text, end)
    bound = before[0].strip().rstrip('$*_(["“`\\').rstrip() + " " if before else ""
    return bound, behind[0] if behind else ""


def asserted(text: str, answer: str) -> str | None:
    """Return the answer of a sentence with its bound; None where the sentence denies it."""
    start = text.rfind(answer)
    if start < 0:  # several values that were joined
        start = text.rfind(answer.partition(", ")[0])
        return None if start >= 0 and is_rejected(text, start, len(text)) else answer
    end = start + len(answer)
    before = text[:start]
    if is_rejected(text, start, end) or is_supposed(before) or is_condition(before):
        return None
    return answer.join(bounds(text, start, end))


def _has_part(text: str, parts: tuple[str, ...]) -> bool:
    if not text.isascii():
        return True
    lower = text.lower()
    return any(map(lower.__contains__, parts))


def _may_bound(near: str) -> bool:
    if not near.isascii():
        return True
    words = near.rstrip(_OPENERS).lower().split()
    if words and words[-1] in _ARTICLES:
        words.pop()
    return bool(words) and words[-1].endswith(_BOUNDED_ENDS)


# Boxes around a final answer: ``\boxed{…}``, ``\fbox{…}`` and the box tokens of GLM models.

_LONGEST_BOX: Final = 20_000
_MOST_BOXES: Final = 20
_MOST_UNFINISHED: Final = 4
_UNBRACED: Final = lazy_pattern(r"[^\s$.,;}]+")
_BRACES: Final = lazy_pattern(r"\\.|[{}]", re.DOTALL)
_JOINT: Final = lazy_pattern(
    r"[\s$,;]*(?:\\q?quad|\\text\s*\{\s*(?:and|or)\s*\}|and|or|\\[()\[\],;])?"
    r"[\s$,;]*(?:[A-Za-z]\w?\s*=\s*)?"
)
"""Text allowed between two boxes that form one answer."""
_LONGEST_JOINT: Final = 40
_OPENED, _CLOSED = "<|begin_of_box|>", "<|end_of_box|>"
_BLANK: Final = lazy_pattern(r"(?:\s|~|\$|\\[,;:! ]|\\q?quad|\\text\s*\{\s*\})*")
EMPTY_BOX: Final = lazy_pattern(r"\\?(?:boxed|fbox)[ \n]?\{\s*\}")


@dataclass(frozen=True, slots=True)
class Box:
    """A box in a reply: its content, joined with that of adjacent boxes, and its position."""

    content: str | None
    """None where it is empty or never closed."""
    closed: bool = True
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


def latex_boxes(text: str, *, truncated: bool) -> str:
    """Write box tokens as LaTeX; the reply may end inside the last box, unless it is truncated."""
    if _OPENED not in text:
        return text
    open_end = text.rfind(_OPENED) > text.rfind(_CLOSED)
    text = text.replace(_OPENED, r"\boxed{").replace(_CLOSED, "}")
    return text + "}" * (open_end and not truncated)


def find_box(text: str) -> Box | None:
    """Find the last box and the boxes directly beside it.

    An empty box is skipped, and so is an unfinished one that repeats the complete box before it.
    With any other unfinished box there is no answer.
    """
    last = place = _box(text, len(text))
    if last is None:
        return None
    for _ in range(_MOST_UNFINISHED):
        if place is None or (place.closed and not _is_blank(place)):
            break
        place = _box(text, place.start)
    usable = place is not None and place.closed and not _is_blank(place)
    if place is None or not usable or not (place is last or _repeats(text, last, place)):
        return Box(None, closed=last.closed)
    # A box beside this one closes just before it: a cheap test that spares most searches.
    beside = text.rfind("}", max(0, place.start - _LONGEST_JOINT), place.start) >= 0
    return _joined(text, place) if beside else place


def _is_blank(box: Box) -> bool:
    return _BLANK.fullmatch(box.content or "") is not None


def _repeats(text: str, last: Box, before: Box) -> bool:
    begun = (last.content or "").strip().rstrip("$.)]\\ ")
    again = (before.content or "").strip().startswith(begun)
    return last.closed or (again and not _are_joined(text, before.end, last.start))


def _are_joined(text: str, end: int, start: int) -> bool:
    """Whether the text between two boxes is short and makes them one answer."""
    return start - end <= _LONGEST_JOINT and _JOINT.fullmatch(text, end, start) is not None


def _joined(text: str, last: Box) -> Box:
    """Join a box to those before it with nothing but "and" in between.

    Several different boxes side by side are one answer of several parts, even where one value is
    asked for: a reply that offers alternatives is wrong.
    """
    run, start = [last.content or ""], last.start
    while len(run) < _MOST_BOXES and (before := _box(text, start)) is not None:
        if not (before.closed and _are_joined(text, before.end, start)):
            break
        run.append(before.content or "")
        start = before.start
    if len(set(run)) == 1:
        return last
    return Box(", ".join(reversed(run)), start=start, end=last.end)


def _box(text: str, end: int) -> Box | None:
    start = _last_mark(text, end)
    if start < 0:
        return None
    at = text.index("box", start) + (3 if text.startswith("\\f", start) else 5)
    while text[at : at + 1] in (" ", "\n"):
        at += 1
    if text[at : at + 1] != "{":
        match = _UNBRACED.match(text, at)
        return Box(match[0], True, start, match.end()) if match else Box("", False, start, at)
    depth = 0
    limit = min(len(text), at + _LONGEST_BOX)
    for mark in _BRACES.finditer(text, at, limit):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return Box(text[at + 1 : mark.start()], True, start, mark.end())
    return Box(text[at + 1 : limit], False, start, limit)


def _last_mark(text: str, end: int) -> int:
    """Find where a box begins; a backslash may be missing before a brace."""
    start = end
    while (start := text.rfind("boxed", 0, start)) >= 0:
        before = text[start - 1] if start else " "
        if before == "\\":
            return start - 1
        if text.startswith("{", start + 5) and not before.isalpha():
            return start
    return max(text.rfind(mark, 0, end) for mark in ("\\fbox", "\\framebox"))


# The words around a value: those trimmed from an answer, and those that end its phrase.

LONGEST_ANSWER: Final = 5000
WORD: Final = lazy_pattern(r"(?<![\\A-Za-zÀ-ɏͰ-ӿ])[A-Za-zÀ-ɏͰ-ӿ]{2,}(?![A-Za-zÀ-ɏͰ-ӿ]*\()")
EQUALS: Final = lazy_pattern(r"(?<![<>!\\=])=(?!=)")
TO: Final = r"to(?!\s+\$?\d+\$?\s+(?:decimal|significant|sig|d\.?\s?p|s\.?\s?f|place|digit|figure))"
"""The word between the sides of a ratio; "4.25 to 2 decimal places" is not a ratio."""

# The next item of a list after a semicolon: "80; 82; 84", not "80; 2 of them are red".
_NEXT_VALUE: Final = (
    r"\s*(?:\$?[A-Za-z]\w{0,2}\s?=\s?)?(?:[-−]?\$?[-−]?\d[\d.,/]*|\$[^$\n]{1,80}\$)\$?"
    r"(?:\s?(?:%|°|[a-z]{1,3}))?\s*(?:[;,.*]|\Z|\n|and\b|or\b)"
)
_STOP: Final = lazy_pattern(
    r"(?<!\bRs)(?<!\bca)(?<!\bapprox)\.(?=\s|$)|[。।！]|\n"
    rf"|[;；؛](?=\s|$)(?!{_NEXT_VALUE})|\s+(?:because|since|which|where|so\s+that|weil|denn|car"
    r"|puisque|porque|perché|poiché|pois|так\s+как|потому\s+что"
    r"|rather\s+than|instead\s+of|as\s+opposed\s+to|and\s+not)\b|[,;]\s+(?:so|since|as|because|i\.e"
    r"|that\s+is|not|but|it|this|that|there|with|for|given|giving|thus|hence|meaning|when|if"
    r"|after|and\s+(?:we|the|so|this|it|not)|the|we|namely|obtained|found|rounded|or\s+(?:about"
    r"|approximately|equivalently|simply)|which|where|making|leaving|plus)\b"
    r"|\s+[–—]+\s+(?:not|because|since|as|so|the|this|it|we|that|which)\b|[，,](?=[一-鿿ぁ-ヿ])"
    r"|\s+\((?:we|since|because|as|where|note|check|this|that|the|or(?!\s+-?\d+\))|i\.e|see|which|about|approx)\b"
    r"|\s*<\||\s+(?:✓|✅|🎉|\\checkmark)"
)
_MATHS: Final = lazy_pattern(
    r"(?<!\\)\$\$(.+?)\$\$|\\\[(.+?)\\\]|(?<!\\)\$((?:\\\$|[^$\n])+?)(?<!\\)\$|\\\((.+?)\\\)"
    r"|(?<![\w)*])\*\*([^*\n]+?)\*\*",
    re.DOTALL,
)
_AND: Final = r"(?:[,;]\s*(?:and\b|or\b|und\b|oder\b)?|and\b|or\b|und\b|oder\b)"
_PHRASE_JOINT: Final = lazy_pattern(rf"\s*{_AND}\s*\Z")
_MORE_MATHS: Final = lazy_pattern(rf"\s*{_AND}\s*(?:\$|\\\()")
_EQUATION: Final = lazy_pattern(r"[A-Za-z]\w{0,2}(?:_\{?\w{1,2}\}?)?\s*=[^=]+")
# "1/2, or 0.5" is one value in two forms.
_OTHER_FORM: Final = lazy_pattern(
    r",?\s+or\s+(?=\$?[-−]?\d*\.\d+\$?\s*\Z|\$?[-−]?[\d.]+\s?\\?%\$?\s*\Z)"
)
_EXACT: Final = lazy_pattern(r"\d\s?/\s?\d|\\[dt]?frac|\\sqrt|[√π]")
# "12 for the first and 7 for the second", "$18$ dollars and $50$ cents".
_PAIRED: Final = lazy_pattern(
    rf"\A\S+?(?:\s+[A-Za-z.]+){{0,2}},?\s+(?:and|or|{TO})\s+(?:(?:maybe|possibly|perhaps)\s+)?(?:[-−$]|\\\()*\d"
    + r"|\s(?:for|in|to|if|when)\s[^.\d]{1,40}?\s(?:and|or)\s+(?:[-−$]|\\\()*\d"
)
_STATED_RATIO: Final = lazy_pattern(
    r"(?:\b(?:is|are|was|were|be|of|as|equals|exactly)|[:=])\s+\Z|(\bfrom\s+)\Z"
)
_SEVERAL: Final = lazy_pattern(r"(?:\bare|\beither|:|=)\s*(?:then\s*)?\Z")
_ADVERB: Final = lazy_pattern(
    r"(?:either|also|therefore|thus|hence|then|simply|just|exactly|approximately|about|roughly|indeed|clearly"
    r"|equal\s+to|of\s+course|naturally|in\s+fact|again|as\s+expected|somit|daher|folglich|donc"
    r"|alors|quindi|dunque|portanto|entonces"
    r"|(?:l['’]|(?:la|le|el|die|der|das)\s+)?(?:option|opción|opzione|opção|вариант)\s+"
    r"(?=[(\[*]*[A-J]\b)|(?:la|le|el|die|der|das)\s+(?=[(\[*]*[A-J]\b)|≈|\\approx),?\s*",
    re.IGNORECASE,
)
_BEGIN: Final = lazy_pattern(r"(?:[ \t:：\n},，、;→⇒_]|[-=]*=>|->|=(?![<=]))+")
_RULE: Final = lazy_pattern(r"(?:[-=_]{3,}|•)\s+")
_BULLET: Final = lazy_pattern(r"(?:[-=_]{3,}|[-•>])\s+")
_ITEM: Final = lazy_pattern(r"[^\S\n]*[-•*]\s+(.{1,80}?)[.,;]?[^\S\n]*(?:\n|\Z)")
_GLOSS: Final = lazy_pattern(r"(?<=\d)\s*\([A-Za-z][A-Za-z -]+\)\Z")  # 5 (five)
_SPELT: Final = lazy_pattern(
    r"[a-z]+(?:[ -][a-z]+){0,4}\s*\(\s*\$?([-−]?\d[\d,.]*)\$?\s*\)\Z", re.IGNORECASE
)
_QUANTITY: Final = lazy_pattern(
    r"((\$?[-−]?\$?\d[\d,]*(?:\.\d+)?(?:\s?\\?%)?)(?:\s+[^\W\d_]+)?)(?:\s+(?:in\s+(?:total|all)|altogether|overall|left(?:\s+over)?|remaining|each|total|combined)"
    r"|,?\s+(?:(?:rounded|correct)\s+)?to\s+(?:the\s+nearest\s+[a-z]+|(?:\d+|[a-z]+)\s+"
    r"(?:decimal\s+places?|decimals|significant\s+(?:figures|digits)|d\.?p\.?|s\.?f\.?))"
    r"|\s+of\s+(?:the|her|his|their|all|its)\s+[a-z]+(?:\s[a-z]+)?"
    r"|(?<=[^\W\d_])\s*\([^()\d]{2,40}\)|,\s+\d+\s+of\s+(?:them|these|which|whom)\b[^\d]*)?"
)
_JOINED_ELSEWHERE: Final = lazy_pattern(
    r"(?<=[\d$)])\s+(und|oder|et|ou|y|o)\s+(?=[-−$\\]{0,2}\d|\$)"
)
_JOINTS: Final = {
    "und": " and ", "et": " and ", "y": " and ", "oder": " or ", "ou": " or ", "o": " or ",
}  # fmt: skip
_IS_VALUE: Final = lazy_pattern(r"\bis\s+(?=[-$\\(]*\d|\$|\\\()")
_NAMED_VALUE: Final = lazy_pattern(
    r"\\text\s*\{[^{}]*\}\s*=\s*(?=\S)|(?!(?:sin|cos|tan|log|exp|max|min|gcd|lcm|sec|csc|cot|arc|sqrt"
    r"|all real)\b)"
    r"[A-Za-z][a-z]{2,}(?: [A-Za-z]{1,12}){0,5}\s*=\s*(?=\S)"
)
_NUMBER: Final = lazy_pattern(
    r"[-−]?(?:[$€£]\s?)?(?:\d[\d,]*(?:\.\d+)?|(?<!\d)\.\d+)(?:/\d+)?\s?%?"
)
_COPULA: Final = lazy_pattern(
    r"(?:['’]|\s*)(?:です|である|だ|となります|になります|입니다|이다|이에요|예요|है|हैं|dir|dır|dur|dür|tir|tır)\Z"
)
_IDEOGRAPH: Final = lazy_pattern("[一-鿿ぁ-ヿ가-힯]")
_IDEOGRAPHIC_LIST: Final = lazy_pattern("[或和、，]|또는|または")
_MOST_WORDS: Final = 4
_PROSE: Final = lazy_pattern(r"[A-Za-z]{2,}\s+(?:\d+\s+)?[A-Za-z]{2,}")
_NUMBER_BEFORE: Final = lazy_pattern(r"[-−]?\d[\d,]*(?:\.\d+)?\s?\Z")
_UNIT: Final = lazy_pattern(
    r"(?:\\(?:text|mathrm|mbox|rm)\s*\{?\s*[A-Za-z]{1,6}\s*\}?|[a-z]{1,3})(?:\^\{?[23]\}?)?"
)
_YES_NO: Final = lazy_pattern(r"(?i:yes|no|true|false)(?=,\s)")
_WRAPPERS: Final = (
    ("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ('"', '"'), ("“", "”"), ("__", "__"),
    ("*", "*"), ("「", "」"), ("<<", ">>"),
)  # fmt: skip


def bald(answer: str) -> str:
    """Strip quotation marks, emphasis, a last comma and the dollar signs around mathematics."""
    answer = answer.strip().strip("`").strip()
    if answer[:2] == "**" and answer[-2:] == "**" and len(answer) > 4:
        answer = answer[2:-2].strip()
    elif answer.endswith("**") and answer.count("**") == 1:
        answer = answer[:-2].strip()  # the emphasis began before the answer
    elif answer.endswith("*") and answer.count("*") == 1:
        answer = answer[:-1].strip()
    answer = _without_comma(answer).removesuffix("/-")
    for left, right in _WRAPPERS:
        inner = answer[len(left) : -len(right)]
        if inner and answer.startswith(left) and answer.endswith(right) and left not in inner:
            answer = inner.strip()
    ended = answer.endswith((".", "。", "।")) and not answer.endswith("..")
    return _without_comma(answer[:-1].rstrip() if ended else answer)


def _without_comma(answer: str) -> str:
    while answer[-1:] in (",", ";", "，", "；", "、") and answer[-2:-1] != "\\":
        answer = answer[:-1].rstrip()
    return answer


def last_match(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    return next(iter(deque(matches, maxlen=1)), None)


def _inside(maths: re.Match[str]) -> str:
    return next(part for part in maths.groups() if part is not None).strip()


def read_phrase(rest: str) -> str:
    """Return the phrase after a marker: a formula, or the words up to the end of the clause."""
    begin = _BEGIN.match(rest)
    leading, rest = (begin[0], rest[begin.end() :]) if begin else ("", rest)
    if "\n" in leading:
        items, at = list[str](), 0
        while item := _ITEM.match(rest, at):
            items.append(item[1])
            at = item.end()
        if len(items) > 1:
            return ", ".join(items)
    # A dash is a bullet at the start of a line, and a minus sign directly after a mark.
    bullet = _BULLET.match(rest) if "\n" in leading else _RULE.match(rest)
    start = bullet.end() if bullet else 0
    while adverb := _ADVERB.match(rest, start):
        start = adverb.end()
    rest = rest[start:]
    maths = _MATHS.match(rest)
    stop = _STOP.search(rest, maths.end() if maths else 0)
    phrase = rest[: stop.start()] if stop else rest
    if (other := _OTHER_FORM.search(phrase)) and _EXACT.search(phrase, 0, other.start()):
        phrase = phrase[: other.start()]
    paired = _PAIRED.search(phrase) is not None
    if maths and not _MORE_MATHS.match(rest, maths.end()) and not paired:
        return _inside(maths)
    if inner := _IS_VALUE.search(phrase):
        phrase = phrase[inner.end() :]
    if answer := _YES_NO.match(phrase):
        return answer[0]
    unspaced = _IDEOGRAPH.search(phrase) and not _IDEOGRAPHIC_LIST.search(phrase)
    if unspaced or len(WORD.findall(phrase)) > _MOST_WORDS:
        value = "" if paired else last_value(phrase)
        phrase = (asserted(phrase, value) if value else None) or phrase
    phrase = _COPULA.sub("", _GLOSS.sub("", phrase.strip()))
    phrase = quantity(_JOINED_ELSEWHERE.sub(lambda match: _JOINTS[match[1]], phrase))
    if spelt := _SPELT.fullmatch(phrase):
        return spelt[1]
    return unnamed(phrase)


def quantity(phrase: str) -> str:
    """Drop a remark after a number and its unit: "18 apples in total"."""
    whole = _QUANTITY.fullmatch(phrase)
    return whole[1 if whole[1].isascii() else 2] if whole else phrase


def unnamed(phrase: str) -> str:
    """Drop the words before an equals sign: "Total = 45"; the name of a variable is kept."""
    named = _NAMED_VALUE.match(phrase)
    return phrase[named.end() :] if named else phrase


def last_value(phrase: str) -> str:
    """Return the last formula or number of a sentence."""
    if maths := last_match(_MATHS.finditer(phrase)):
        return _inside(maths)
    numbers = _NUMBER.findall(phrase)
    return numbers[-1].strip().rstrip(",") if numbers else ""


def trailing_maths(sentence: str) -> tuple[str, str] | None:
    """Return the last formula or emphasis of a sentence, or several side by side, and the rule.

    "The roots are $1$ and $2$" gives two; in "from $1$ we get $2$" only the last counts.
    """
    # Two dollar signs may both be money: "3 pens are $12, so 1 pen is $4".
    found = _MATHS.finditer(sentence)
    every = [one for one in found if "\\" in (one[3] or "\\") or not _PROSE.search(one[3])]
    if not every:
        return None
    first = len(every) - 1
    while first and _PHRASE_JOINT.fullmatch(sentence, every[first - 1].end(), every[first].start()):
        first -= 1
    if ratio := _ratio(sentence, every):
        return ratio, "inline"
    before = sentence[max(0, every[first].start() - 12) : every[first].start()]
    how = "bold" if every[-1][5] else "inline"
    parts = [_inside(part) for part in every[first:]]
    if len(parts) > 1 and (_SEVERAL.search(before) or all(map(_EQUATION.fullmatch, parts))):
        return ", ".join(parts), how
    number = _NUMBER_BEFORE.search(sentence[: every[-1].start()])
    if number and _UNIT.fullmatch(parts[-1]):
        return number[0] + parts[-1], how
    return after_equals(_inside(every[-1])), how


def _ratio(sentence: str, every: list[re.Match[str]]) -> str:
    """Read "$5$ to $2$" after a verb as a ratio, and "from $2$ to $5$" as a range."""
    first, last = every[-2:] if len(every) > 1 else every * 2
    joint = re.fullmatch(rf"\s+{TO}\s+", sentence[first.end() : last.start()])
    stated = _STATED_RATIO.search(sentence[: first.start()]) if joint else None
    return f"{stated[1] or ''}{_inside(first)} to {_inside(last)}" if stated else ""


def after_equals(maths: str) -> str:
    """Return the value at the end of a chain of equations."""
    if "\\begin" in maths:
        return maths
    maths = re.split(r"\\implies|\\Rightarrow|\\approx", maths)[-1]
    return EQUALS.split(maths)[-1].strip().rstrip(".,") or maths


# Choice letters: alone, in brackets, with a reason, or preferred to other letters.

_CHOICE_OPEN: Final = (
    r"(?:\\(?:text|math)(?:bf|rm|it|sf|tt|sc)?\s*\{|\\boldsymbol\s*\{|\\[(\[{]|[\[({*_$`\"“'])"
)
_CHOICE_CLOSE: Final = r"(?:\\[)\]}]|[\])}*_$`\"”'])"
_LETTER: Final = rf"{_CHOICE_OPEN}{{0,5}}(?P<letter>[A-J])(?P<close>{_CHOICE_CLOSE}{{0,5}})"
_NAMED: Final = r"(?i:(?:option|choice|letter|answer)\s*:?\s*)?"
_LONE: Final = lazy_pattern(rf"{_NAMED}{_LETTER}[.:;,]?\**")
_LEADING: Final = lazy_pattern(rf"{_NAMED}{_LETTER}(?![\w'’])")
# The text that may follow a letter where the letter alone is the answer.
_REASON: Final = lazy_pattern(
    r"\s*[,;.(]?\s*(?i:because|since|as|for|rather|not|over|instead|is|being|which|where|given|due"
    r"|so|with|but|while|whereas|although|though|by|the|all|others?|it|this|that|we|none|only"
    r"|every|options?|choices?|both|any|if|when|than|to|in|from|corresponding|i\.e|namely|weil|da"
    r"|denn|car|puisque|porque|ya\s+que|perché|poiché|pois|porque|так|потому)\b"
    r"|\s*,\s+(?=[a-z]{2})|\s*[–—，。、；（]|\s+-+\s+(?=[^\W\d_]{2})|\s+\((?=[^\W\d_]{2}|\d+\))|\s*[.:)]\s+\S"
)
_ANOTHER: Final = lazy_pattern(rf"\s*(?:,|;|&|/|\band\b|\bor\b|,\s*and\b)\s*{_LETTER}(?![\w'’])")
_LIST: Final = lazy_pattern(
    r"(?:\s*(?:,\s*(?:and|or)?|;|&|and|or)\s*[(\[*]{0,3}[A-J][)\]*]{0,3})+[.!]?"
)
_OPERATOR: Final = lazy_pattern(r"\s*[=+^_<>/∪∩×·]|\s*-\s*\d")

_LAST: Final = 400
_STARTED: Final = lazy_pattern(
    rf"{_LETTER}(?!\w)\s*[,;:–—-]?\s*(?i:because|since|as|for|due)\b"
    r"|[*_(\[]{0,3}(?P<listed>[A-J])[)\]][*_]{0,2}\s+\S[^\n]*\Z"
)
_NOT_A_VALUE: Final = r"(?![\w'’]|\s*[=+^(<>])"
_PICKED: Final = lazy_pattern(
    r"(?i:options?|antwort|choice|choose|chose|pick|select(?:ed)?|answer\s+is|correct(?:\s+one)?|go\s+with"
    r"|going\s+with|opt\s+for|故选|故選|应选|應選|选|選)\s*"
    rf"(?i:is|be|:|：)?\s*(?i:the\s+)?{_NAMED}{_LETTER}{_NOT_A_VALUE}"
)
_PREFERRED: Final = lazy_pattern(
    r"(?i:prefer|must\s+be|has\s+to\s+be|have\s+to\s+be|should\s+be|rather|closest\s+to|it['’]s"
    rf"|leaves(?:\s+us)?(?:\s+with)?|leaving|only)\s+{_NAMED}{_LETTER}{_NOT_A_VALUE}"
)
_CONCLUDED: Final = lazy_pattern(
    rf"(?:(?i:\b(?:so|hence|thus|therefore|say|on|be|is|was|with|for))|,)\s+{_LETTER}(?=\s+it\s+is\b|[.!]*\s*\Z)"
)
_PRAISED: Final = lazy_pattern(
    rf"(?<![\w\\]){_LETTER}(?:\s*\([^()\n]{{0,40}}\))?\s+"
    r"(?i:wins|works|fits|(?:is|must\s+be|would\s+be|seems|looks|remains)\s+(?:(?:the|our|my)\s+)?"
    r"(?:only\s+)?(?:correct|right|best|true|valid|answer|choice|option))\b"
)
_OVER: Final = lazy_pattern(
    rf"(?<![\w\\]){_LETTER},?\s+(?i:rather\s+than|instead\s+of|over|and\s+not|not)\s+"
    rf"(?i:option\s+|choice\s+)?{_CHOICE_OPEN}{{0,5}}[A-J]{_CHOICE_CLOSE}{{0,5}}(?![\w'’])"
)
_CHOICE_REJECTED: Final = lazy_pattern(
    r"\s+(?i:is|are|was|would|gives?|fails?|cannot|can['’]t|needs?|has|violates?|ignores?|does"
    r"|can|and|or)\b(?!\s+(?i:(?:the\s+|our\s+)?(?:only\s+)?(?:correct|right|best|true|answer)))"
)
_DISMISSED: Final = lazy_pattern(
    r"\b(?i:is|are|was)\s+(?i:(?:clearly|also|not)\s+)?(?i:wrong|incorrect|false|not|out|impossible)\b"
)
_NEGATED: Final = lazy_pattern(
    r"(?i:\bnot|\bcannot|n['’]t|\bnever|\bneither|\bnor|\brul\w+\s+out|\beliminat\w+|\bexclud\w+"
    r"|\breject\w*|\bdiscard\w*|\bdismiss\w*)\s+(?:\w+\s+)?\Z"
)


def lone_letter(text: str) -> str:
    """Return a choice letter without its brackets; empty where the text has anything else."""
    match = _LONE.fullmatch(text)
    return match["letter"] if match else ""


def leading_letter(phrase: str) -> str:
    """Return the letter that an answer begins with, if the rest only describes that choice."""
    match = _LEADING.match(phrase)
    if match is None:
        return ""
    rest = phrase[match.end() :]
    if not rest.strip(" .,;:!*"):
        return match["letter"]
    another = _ANOTHER.match(rest)
    chosen_too = another and not _CHOICE_REJECTED.match(rest, another.end())
    if chosen_too or _LIST.fullmatch(rest) or _OPERATOR.match(rest):
        return ""
    closed = not {*match["close"]}.isdisjoint(")]}") and rest[0] in " \n\t.,:;"
    # An I without brackets is more likely the pronoun.
    alone = another or closed or (match["letter"] != "I" and _REASON.match(rest))
    return match["letter"] if alone else ""


def from_choice(text: str) -> tuple[str, str] | None:
    """Read the letter that the end of a reply chooses, or prefers to another."""
    tail = text[-_LAST:]
    started = _STARTED.match(text.strip()) if len(text) < _LAST else None
    if started and not _DISMISSED.search(text):
        return started["letter"] or started["listed"], "choice"
    found = [
        (match.start("letter"), match["letter"])
        for pattern in (_PICKED, _PREFERRED, _CONCLUDED, _PRAISED, _OVER)
        for match in pattern.finditer(tail)
        if _counts(match, tail, weak=pattern is _PREFERRED)
    ]
    return (max(found)[1], "choice") if found else None


def _counts(match: re.Match[str], tail: str, *, weak: bool) -> bool:
    """Whether a letter is chosen: not rejected, nor a point of geometry before a number."""
    before, after = tail[max(0, match.start() - 20) : match.start()], tail[match.end() :]
    if _NEGATED.search(before) or (match["letter"] == "I" and after[:1] == " "):
        return False
    praised = match.re.pattern in (_PRAISED.pattern, _OVER.pattern)
    if not praised and _CHOICE_REJECTED.match(after):
        return False
    return not (weak and any(char.isdigit() for char in after))


# Phrases that introduce an answer, by language: "Answer:", "the answer is", "####".

ANSWER_WORDS: Final = (
    "antwort endergebnis ergebnis lösung loesung réponse reponse résultat respuesta resultado "
    "solución risposta risultato soluzione resposta solução ответ результат відповідь отговор "
    "одговор odgovor odpowiedź odpowiedz wynik odpověď výsledek odpoveď antwoord svaret svar facit "
    "fasit vastaus válasz răspunsul răspuns raspuns απάντηση cevap yanıt sonuç jawaban sagot jibu "
    "الجواب الإجابة الاجابة إجابة جواب النتيجة پاسخ תשובה התשובה उत्तर जवाब উত্তর விடை "
    "คำตอบ rezultat"
).split()
"""Words for an answer in other languages than English."""
_PHRASES: Final = ("đáp án", "đáp số", "kết quả", "câu trả lời")

_FOREIGN: Final = "|".join(sorted({*ANSWER_WORDS, *_PHRASES}, key=len, reverse=True))
_EMPHASIS: Final = r"[*_`\"”’]{0,4}\s*"
_ASIDE: Final = (
    r"(?:\([^()\n]{0,40}\)[*_]{0,3}\s*|,[^,.:\n]{1,20},\s*"
    r"|(?:to|of|for|in|we|you|i|that|here|would|then)\b[^.:\n]{0,60}?"
    r"(?:\s(?=(?:is|are)\b)|(?=:)))?"
)
_IS: Final = (
    r"(?:(?:would|should|must|will|can|could)\s+(?:then\s+|thus\s+)?be|is|are|was|be|equals|"
    r"(?:comes?|came|works?)\s+(?:out\s+)?to(?:\s+be)?|turns?\s+out\s+(?:to\s+be)?|becomes|remains)\b"
    r"(?:\s+not\s+[^.\n]{1,40}?\sbut(?:\s+rather)?\b|(?!\s+not\b))\s*:?"
)
_IS_ELSEWHERE: Final = (
    r"(?:ist|lautet|beträgt|sind|est|sont|vaut|es|son|è|sono|é|são|is|zijn|luidt|är|er|blir|to|jest"
    r"|wynosi|je|este|on|là|adalah|ialah|هو|هي|הוא|היא|είναι|это|равен|равно|है)\b\s*:?"
)
_SIGN: Final = r"(?:[:=：＝→⇒]>?|[-=]+>|(?<=\s)[-–—]+(?=\s))[*_]{0,3}"
_VALUE_AT_END: Final = r"[-−$€£]?\d[\d.,/]*(?:\s*है|['’]?[a-zıüö]{2,3})?[.।\s]*\Z"
# Every pattern begins with literal lower-case letters, which the regex engine finds fast.
_ENGLISH: Final = lazy_pattern(
    r"(?:answer(?<!\bno answer)(?<!\bno final answer)|result|solution)s?(?![^\W_])"
    rf"{_EMPHASIS}{_ASIDE}(?:{_IS}|{_SIGN}|(?:est|ist|lautet)\b)"
    rf"|answers?(?:\s+(?=\$|\\\(|\\\[|\*\*|{_VALUE_AT_END})|,\s+(?=[-$\\(]*\d+[.\s]*\Z))"
)
_ABBREVIATED: Final = lazy_pattern(
    r"(?:ans(?<![^\W_]ans)|correction)\b[*_]{0,3}\s*"
    rf"(?:is\b\s*:?|[:=.)]>?[*_]{{0,3}}|[-–—=]+>?(?=\s)|(?<=\s)(?={_VALUE_AT_END}))|####"
)
_ELSEWHERE: Final = lazy_pattern(
    rf"(?<![^\W_])(?:{_FOREIGN})(?![^\W_]){_EMPHASIS}(?:[^\W\d_]{{3,12}}\s*)?{_EMPHASIS}"
    rf"(?:\([^()\n]{{0,40}}\)\s*)?(?:{_IS_ELSEWHERE}|{_SIGN})"
    rf"|\b(?:{_FOREIGN})\s+(?={_VALUE_AT_END})"
)
_IDEOGRAPHIC: Final = lazy_pattern(
    r"(?:答案|答え|解答|정답|결과값?)[*_]{0,3}\s*(?:应该?|應該?)?(?:是|为|為|は|은|는|이|選|选)?\s*[:：]?"
    r"|(?:答|답|结果|結果|결과)[*_]{0,3}\s*(?:是|为|為|は|은|는|[:：])\s*[:：]?"
)
_HEADING: Final = lazy_pattern(
    r"^[^\S\n]*(?:#+|\*\*|__)?[^\S\n]*(?:(?:my|the)[^\S\n]+)?(?:final[^\S\n]+)?answer[^\S\n]*:?"
    r"[^\S\n]*(?:\*\*|__)?:?[^\S\n]*$",
    re.MULTILINE,
)
_HINTS: Final = (
    (_ENGLISH, ("answer", "result", "solution")),
    (_HEADING, ("answer",)),
    (_ABBREVIATED, ("ans", "correction", "####")),
    (_ELSEWHERE, (*ANSWER_WORDS, *_PHRASES)),
    (_IDEOGRAPHIC, ("答", "답", "결과", "结果", "結果")),
)
"""Patterns, each with hints: it is tried only where the text contains one of them."""
# "A:" before an answer, not before the first of several options.
_SHORT: Final = lazy_pattern(r"^[^\S\n]*\**A\**:\**[^\S\n]*(?=\S)", re.MULTILINE)
_OPTION: Final = lazy_pattern(r"^\W{0,4}B\W{0,2}[:.)]", re.MULTILINE)
_LETTERED: Final = lazy_pattern(
    r"[Aa](?:nswer|NSWER)[sS]?[*_]{0,3}\s+(?=[(\[*]{0,3}[A-HJ](?:[)\]*.,:;]|\s*\Z))"
)
_BEHIND: Final = lazy_pattern(
    r"\b(?:is|are|as)\s+(?:the|our|my|your)\s+(?:(?:only|final|correct|right|required|desired"
    r"|best)\s+){0,2}(?:answer|result|solution|one)\b(?!\s*(?:[:=]|is\b|to\b|of\b|for\b))"
)
_LABELLED: Final = lazy_pattern(r"\W{0,6}\n\s*[-•*]\s+[^\n:]{2,60}:[^\n]*\n\s*[-•*]\s")
_FIRST_VALUE: Final = lazy_pattern(r"[-−]?(?:\\?[$€£])?\d[\d.,/]*|\$[^$]+\$")

_MOST_MARKS: Final = 3
# "Let the answer be x" only names the unknown.
_VARIABLE: Final = lazy_pattern(r"[\s$*(\\]{0,4}([A-Za-z])[\s$*)\\]{0,4}(?=[.,;:\n]|\Z|and\b)")
_LET: Final = lazy_pattern(r"\b(?:let|denote|call|suppose)\b[^.\n]{0,60}\Z", re.IGNORECASE)
_CHOICES: Final = frozenset("ABCDEFGHJ")
_PRONOUNS: Final = frozenset({"this", "that", "it", "which", "what", "here", "there"})
_MARKER_CLAUSE: Final = lazy_pattern(r".*(?:[.!?:;]\s|\n)", re.DOTALL)
_UNKNOWN: Final = lazy_pattern(
    r"(?:still\s+|simply\s+)?(?:unable\s+to|impossible\s+to\s+(?:determine|say|tell)|unclear"
    r"|unknown|undetermined|inconclusive|not\s+(?:clear|known|yet|determined|found|computed|reached"
    r"|sure)|could\s?n[o'’]t\s+be|I\s+(?:could|can|do|did|was|am|have)\b|beyond\s+me|missing)\b"
    r"(?!\s*[.]?\s*\d)",
    re.IGNORECASE,
)


def has_marker(text: str) -> bool:
    return bool(_marks(text))


def from_marker(text: str) -> tuple[str, str] | None:
    """Read the value after the last mark of an answer, or before the last "is the answer".

    A mark without a value does not retract the value of an earlier mark.
    """
    ends = [
        end
        for start, end in _marks(text)[-_MOST_MARKS:]
        if not (_names_unknown(text, end) or is_condition(before := text[:start]))
        and not is_supposed(before)
    ]
    if behind := last_match(_BEHIND.finditer(_small(text), max(0, len(text) - _LAST))):
        value = _before(text[max(0, behind.start() - 120) : behind.start()])
        if value and (not ends or ends[-1] < behind.start()):
            return value, "marker"
    phrases = [_introduced(text[end:]) for end in reversed(ends)]
    stated = [phrase for phrase in phrases if phrase is not None]
    return (next(filter(None, stated), ""), "marker") if stated else None


def _names_unknown(text: str, end: int) -> bool:
    """Whether a mark introduces a variable whose value is stated later."""
    name = _VARIABLE.match(text, end)
    if name is None or (name[1] in _CHOICES and not _LET.search(text, max(0, end - 80), end)):
        return False
    value = rf"(?<![\w\\]){name[1]}\s?=[^\n;]{{0,80}}?\d[}})]?(?=[$*)\s\\]{{0,4}}(?:[.,;\n]|\Z))"
    return re.compile(value).search(text, name.end()) is not None


def _marks(text: str) -> list[tuple[int, int]]:
    small = _small(text)
    marks = [
        match.span()
        for pattern, hints in _HINTS
        if any(hint in small for hint in hints)
        for match in pattern.finditer(small)
    ]
    if "A:" in text or "A**" in text:
        marks += [] if _OPTION.search(text) else [match.span() for match in _SHORT.finditer(text)]
    if "answer" in small:
        marks += [match.span() for match in _LETTERED.finditer(text)]
    return sorted(marks, key=lambda span: span[1])


def _small(text: str) -> str:
    """Lower-case a text without moving any character, so that positions stay valid."""
    if len(small := text.lower()) == len(text):
        return small
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _introduced(rest: str) -> str | None:
    """Read the value after a mark; None where it is denied, or where a labelled list follows."""
    if _LABELLED.match(rest):
        return None
    if letter := leading_letter(rest.lstrip(" \t:：\n,")[:300]):
        return letter
    phrase = read_phrase(rest)
    if _UNKNOWN.match(phrase):
        return ""
    if (value := _FIRST_VALUE.search(phrase)) and is_rejected(phrase, *value.span()):
        return None
    if phrase and (at := rest.find(phrase)) >= 0 and is_rejected(rest, at, at + len(phrase)):
        return None
    return leading_letter(phrase) or bald(phrase)


def _before(clause: str) -> str:
    """Return the value before "is the answer": "45 is the final answer"."""
    clause = _MARKER_CLAUSE.sub("", clause).strip()
    if value := last_value(clause):
        return bald(value)
    word = clause.rpartition(" ")[2].strip('*_()[]$`",')
    named = len(clause.split()) <= 3 and word[:1].isupper() and word.lower() not in _PRONOUNS
    return word if named else ""


def unmarked(value: str) -> str:
    """Extract the answer from a value that is itself a sentence."""
    marks = _marks(value) if len(value) < LONGEST_ANSWER else []
    inside = value[marks[0][1] :] if marks else ""
    return bald(read_phrase(inside) if inside.strip() else value)
