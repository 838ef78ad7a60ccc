"""Brackets of every kind: groups, tuples, intervals, sets, absolute values and matrices."""

from __future__ import annotations

from fractions import Fraction

from constraint_first.answer.expression.cursor import Cursor
from constraint_first.answer.expression.lexer import Token, Unreadable
from constraint_first.answer.expression.syntax import Node, Num, Op, Sym

__all__ = ["FENCES", "OPENERS", "BracketParser"]

OPENERS = frozenset({"(", "[", r"\{", "{", "langle"})
FENCES = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil")}
_CLOSERS = frozenset({")", "]", r"\}", "rangle", "}"})
_MATRICES = frozenset({"pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix"})
MAX_DETERMINANT = 4
_ZERO = Num(Fraction(0))
_POSITIVE = Op("()", (_ZERO, Sym("oo")))
_NEGATIVE = Op("()", (Op("neg", (Sym("oo"),)), _ZERO))
_PARTS_OF_LINE = {
    "+": _POSITIVE,
    "-": _NEGATIVE,
    "*": Op("union", (_NEGATIVE, _POSITIVE)),
    ">0": _POSITIVE,
    "<0": _NEGATIVE,
}
_NUMBER_SETS = {"R": Op("()", (Op("neg", (Sym("oo"),)), Sym("oo")))}


class BracketParser(Cursor):
    """Reads what stands between two brackets."""

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._bars = 0
        # Of integrals: how many still await their dx, the variables of those that had it, and
        # whether the innermost integrand has ended with it.
        self._awaited = 0
        self._differentials: list[Node] = []
        self._ended = False

    # Levels that the loose half of the grammar defines.

    def items(self) -> Node:
        """Read a list."""
        raise NotImplementedError

    def sum(self) -> Node:
        """Read a sum."""
        raise NotImplementedError

    def product(self) -> Node:
        """Read a product."""
        raise NotImplementedError

    def script(self) -> str:
        """Read an index or a unit's power as text."""
        if self.peek() != "{":
            return self.next()
        self.next()
        parts: list[str] = []
        while self.peek() != "}":
            parts.append(self.next())
        self.next()
        return "".join(parts)

    def group(self) -> Node:
        """Read {…} as grouping."""
        self.expect("{")
        ended, self._ended = self._ended, False
        inner = self.items()
        self._ended |= ended
        self.expect("}")
        return inner

    def bracket(self, *, call: bool = False) -> Node:
        """Read (…), […], {…} or a half-open mixture of them."""
        opened = self.next()
        if self.peek() in _CLOSERS:
            self.next()
            return Op("{}", ())
        # In {x | x > 0} the bar is not an absolute value.
        bars, self._bars = self._bars, int(opened in (r"\{", "{"))
        ended, self._ended = self._ended, False
        inner = self.items()
        self._ended |= ended
        if self.peek() in ("over", "choose"):
            name = "/" if self.next() == "over" else "binom"
            inner = Op(name, (inner, self.items()))
        elif self.peek() in ("|", ":") and opened in (r"\{", "{"):
            if not _is_element(inner):
                raise Unreadable("a set of expressions")  # {2x | x > 0} is not {x | x > 0}
            self.next()
            inner = self.items()  # {x | condition}: the condition alone says which set
        self._bars = bars
        closed = self.next()
        return _bracketed(opened, closed, inner, call=call)

    def fence(self, closer: str, name: str) -> Node:
        """Read ⌊…⌋ or ⌈…⌉."""
        self.next()
        inner = self.sum()
        self.expect(closer)
        return Op(name, (inner,))

    def bars(self) -> Node:
        """Read |…| as an absolute value."""
        self.next()
        self._bars += 1
        inner = self.sum()
        self.expect("|")
        self._bars -= 1
        if isinstance(inner, Op) and inner.name == "matrix":
            return determinant(inner)
        return Op("abs", (inner,))

    def empty(self) -> Node:
        """Read ∅."""
        return Op("{}", ())

    def system(self) -> Node:
        """Read the equations of a system, one a row."""
        found = [self.items()]
        while self.peek() == "newline":
            self.next()
            if self.peek() != "end":
                found.append(self.items())
        self.expect("end")
        self.script()
        return Op("and", tuple(found))

    def numbers(self) -> Node:
        """Read the name of a number set."""
        letter = self.script()
        if letter == "R" and self.peek() in ("^", "_"):
            at = self._at
            self.next()
            part = _PARTS_OF_LINE.get(self.script())
            if part is not None:
                return part
            self._at = at
        return _NUMBER_SETS.get(letter, Sym(f"set {letter}"))

    def matrix(self) -> Node:
        """Read a matrix environment, row by row."""
        kind = self.script()
        if kind in ("cases", "aligned"):
            return self.system()
        if kind.rstrip("*") == "array" and self.peek() == "{":
            self.script()
        elif kind not in _MATRICES and kind != "vmatrix":
            raise Unreadable(f"an environment {kind!r}")
        rows: list[Node] = []
        cells: list[Node] = []
        while self.peek() != "end":
            mark = self.peek()
            if mark == "newline":
                rows.append(Op("row", tuple(cells)))
                cells = []
                self.next()
            elif mark == "&":
                self.next()
            else:
                cells.append(self.sum())
        self.next()
        self.script()
        if cells:
            rows.append(Op("row", tuple(cells)))
        whole = Op("matrix", tuple(rows))
        return determinant(whole) if kind == "vmatrix" else whole


def _is_element(node: Node) -> bool:
    """Whether a set's condition is about a name itself: {x | …}, {x ∈ R : …}, {(x, y) | …}."""
    match node:
        case Sym():
            return True
        case Op("()", args):
            return all(isinstance(arg, Sym) for arg in args)
        case Op("rel", (name, _, Sym(name="in"))):
            return _is_element(name)
        case _:
            return False


def determinant(matrix: Op) -> Node:
    """Expand the determinant of a small square matrix along its first row."""
    rows = [row.args for row in matrix.args if isinstance(row, Op)]
    if len(rows) > MAX_DETERMINANT or any(len(row) != len(rows) for row in rows):
        raise Unreadable("a determinant of no small square matrix")
    return _expand(rows)


def _expand(rows: list[tuple[Node, ...]]) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    terms: list[Node] = []
    for at, cell in enumerate(rows[0]):
        minor = _expand([row[:at] + row[at + 1 :] for row in rows[1:]])
        term = Op("*", (cell, minor))
        terms.append(Op("neg", (term,)) if at % 2 else term)
    return Op("+", tuple(terms))


def _bracketed(opened: str, closed: str, inner: Node, *, call: bool) -> Node:
    if closed not in _CLOSERS:
        raise Unreadable("a bracket is not closed")
    several = inner.args if isinstance(inner, Op) and inner.name in ("list", "and", "or") else None
    kind = {"(": "(", "[": "["}.get(opened, "{") + {")": ")", "]": "]"}.get(closed, "}")
    if kind == "{}" and opened != "langle":
        if opened == r"\{":
            return Op("{}", several or (inner,))
        # Bare braces only group in LaTeX; what they were meant for, a set or a tuple, is open.
        return Op("list", several) if several else inner
    if opened == "langle":
        kind = "()"
    if several is None:
        return (
            Op("[]", (inner,))
            if kind == "[]" and isinstance(inner, Op) and inner.name == "[]"
            else inner
        )
    if kind not in ("()", "[]", "[)", "(]") or (len(several) != 2 and kind in ("[)", "(]")):
        raise Unreadable("brackets that do not match")
    return Op(kind, several) if not call or kind == "()" else Op("()", several)
