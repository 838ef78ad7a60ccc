"""Whether a value is asserted: not denied, not bounded, not only supposed.

"It cannot be 5" names a value and gives no answer; "at least 5" is an answer, and not 5. Both are
told by the few words beside the value. A verb between them ends their reach: "the number that is
not used is 5".
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["asserted", "bounds", "is_condition", "is_rejected", "is_supposed"]

_NEAR: Final = 80
"""Characters before and after a value that are read."""
_OPEN: Final = r"(?:[\s$*_(\[}\"“`]|\\[(\[]){0,6}\Z"
_CLOSE: Final = r"(?:[\s$*_)\]}\"”`]|\\[)\]]|\\text\s?\{){0,6}"
_LINK: Final = (
    r"(?:\s+(?:be|been|equals?|to|the|an?|of|by|or|it|value|number|answer|result|option|choice"
    r"|exactly|really|simply|just|always|possibly|ever|even|about|approximately|only|correct|right"
    r"|sein|die|der|das|être|ser))"
)
_DENIED: Final = re.compile(
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
_BOUNDED: Final = re.compile(
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
# "She can use up to 12 inches" says how many she can use.
_CAPACITY: Final = re.compile(r"\bcan\s+(?!be\b)[a-z]+\s+up\s+to\s*\Z", re.IGNORECASE)
_BOUNDED_BEHIND: Final = re.compile(
    rf"{_CLOSE}(?:[A-Za-z]+\s+)?(?:(?:or|and)\s+(?:more|less|fewer|greater|above|below|over|under"
    r"|higher|lower|up|larger|smaller|older|later|earlier|beyond)|at\s+(?:least|most)|oder\s+mehr"
    r"|oder\s+weniger|only\s+if|以上|以下)\b(?!\s+than)",
    re.IGNORECASE,
)
_VERDICT: Final = (
    r"(?:answer|correct|right|solution|possible|valid|allowed|acceptable|true|enough|sufficient"
    r"|it\b|so\b)"
)
_REJECTED: Final = re.compile(
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
_SUPPOSED: Final = re.compile(
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
_CONDITION: Final = re.compile(
    r"\b(?:if|unless)\s+(?:that\s+)?(?:(?:the|my|our|your|this|that|its)\s+)?(?:\w+\s+){0,2}\Z",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"[.!?;:。；：]\s|[。；\n]|\b(?:but|however|instead|rather\s+it|so|therefore|thus|hence|sondern)\b|而是",
    re.IGNORECASE,
)

# The patterns above are tried at every place of a text, and most texts have none of their words. So
# an ASCII text is first searched for a part of a word that every match of the pattern has.
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
    """Whether the words before a claim say that it is a guess, an assumption or untrue."""
    near = before[-_NEAR:]
    if not _has_part(near, _SUPPOSED_PARTS):
        return False
    return _SUPPOSED.search(_CLAUSE.split(near)[-1]) is not None


def is_condition(before: str) -> bool:
    """Whether a mark such as "the answer is" is a condition: "if the answer is 5"."""
    return _CONDITION.search(before[-_NEAR:]) is not None


def is_rejected(text: str, start: int, end: int) -> bool:
    """Whether the words beside a value deny it."""
    before = text[max(0, start - _NEAR) : start]
    is_denied = _has_part(before, _DENIED_PARTS) and _DENIED.search(before)
    return bool(is_denied or _REJECTED.match(text, end, end + _NEAR))


def bounds(text: str, start: int, end: int) -> tuple[str, str]:
    """Take the words on either side of a value that make it a bound; empty where there are none."""
    near = text[max(0, start - _NEAR) : start]
    before = _BOUNDED.search(near) if _may_bound(near) else None
    if before and _CAPACITY.search(near, 0, before.start() + len("up to ")):
        before = None
    behind = _BOUNDED_BEHIND.match(text, end)
    bound = before[0].strip().rstrip('$*_(["“`\\').rstrip() + " " if before else ""
    return bound, behind[0] if behind else ""


def asserted(text: str, answer: str) -> str | None:
    """Return an answer that a sentence gives, with its bound; None where it is denied."""
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
    return any(part in lower for part in parts)


def _may_bound(near: str) -> bool:
    if not near.isascii():
        return True
    words = near.rstrip(_OPENERS).lower().split()
    if words and words[-1] in _ARTICLES:
        words.pop()
    return bool(words) and words[-1].endswith(_BOUNDED_ENDS)
