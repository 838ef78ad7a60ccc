"""The words of mathematics: every name and LaTeX command that the grammar knows."""

from __future__ import annotations

__all__ = ["ALIASES", "ATTACHED", "COMMANDS", "CONSTANTS", "DECORATIONS", "FUNCTIONS", "GREEK"]

FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot asin acos atan sinh cosh tanh coth sech "
    "csch ln log lg exp sqrt cbrt abs floor ceil ceiling max min gcd lcm factorial binomial "
    "binom sign sgn signum cis".split()
)
ALIASES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "ceiling": "ceil", "tg": "tan",
    "ctg": "cot", "cosec": "csc", "binomial": "binom", "dbinom": "binom", "tbinom": "binom",
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "geq": "ge", "geqslant": "ge", "leq": "le",
    "leqslant": "le", "gt": ">", "lt": "<", "neq": "ne", "cdot": "*", "times": "*", "ast": "*",
    "div": "/", "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "vert": "|",
    "lvert": "|", "rvert": "|", "mid": "|", "colon": ":", "land": "and", "wedge": "and",
    "lor": "or", "vee": "or", "varnothing": "emptyset", "dots": "ldots", "cdots": "ldots",
    "simeq": "approx", "sim": "approx", "degree": "circ", "pm": "±", "mp": "∓", "varphi": "phi",
    "varepsilon": "epsilon", "to": "to", "lparen": "(", "rparen": ")",
    "backslash": "setminus", "smallsetminus": "setminus", "sgn": "sign", "signum": "sign",
    "mod": "mod", "oslash": "emptyset",
}  # fmt: skip
"""Other spellings. ± keeps its sign as a name, because "pm" is also half of a day."""
GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega ell".split()
)
CONSTANTS = {
    **dict.fromkeys(("pi", "PI", "Pi"), "pi"),
    **dict.fromkeys(("oo", "inf", "infty", "infinity", "Infinity"), "oo"),
}
COMMANDS = frozenset(
    "frac sqrt binom overline dot bar ± ∓ cup cap in notin emptyset circ over begin end langle "
    "rangle lfloor rfloor lceil rceil ge le ne approx usd setminus ldots angle mathbb equiv pmod "
    "bmod mod choose int sum prod digits triangle unitvector".split()
)
DECORATIONS = frozenset(
    "vec hat widehat tilde overrightarrow mathring underline displaylines boxed fbox".split()
)
"""Commands whose argument means the same without them."""
ATTACHED = (
    "arcsin arccos arctan sqrt sinh cosh tanh sin cos tan log exp ln pi".split()
)  # longest first
"""Names that are recognised where they touch a letter, as in ``sinx`` and ``2pir``."""
