"""Programs that do what they can to outlast, outgrow or escape the sandbox, and how each ends.

An outcome is how the error begins; ``ENDS`` says that the program may run to its end.
"""

from typing import Final

TIME: Final = "TimeoutError: stopped after"
MEMORY: Final = "MemoryError: needs more than"
FLOOD: Final = "OutputError: printed more than"
NESTED: Final = "SyntaxError"
LIMITS: Final = (TIME, MEMORY, FLOOD, NESTED, "RecursionError", "ValueError: Exceeds the limit")
ENDS: Final = ""

HOSTILE: Final[dict[str, tuple[str, str | tuple[str, ...]]]] = {
    # without end
    "loop": ("while True: pass", TIME),
    "loop that catches": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        TIME,
    ),
    "loop in finally": ("try:\n    1/0\nfinally:\n    while True: pass", TIME),
    "count for ever": ("import itertools\nfor n in itertools.count(): n += 1", TIME),
    "cycle for ever": ("import itertools\nfor n in itertools.cycle([1]): pass", TIME),
    "sum of a huge range": ("print(sum(range(10**15)))", TIME),
    "max of a huge range": ("print(max(range(10**15)))", TIME),
    "nested loops": ("for a in range(10**6):\n    for b in range(10**6): pass", TIME),
    "recursion without depth": (
        "def f(n):\n    return f(n - 1) + f(n - 1) if n else 1\nprint(f(60))",
        TIME,
    ),
    "endless generator": ("def g():\n    while True: yield 1\nprint(sum(g()))", (TIME, MEMORY)),
    "generator that yields nothing": (
        "def g():\n    while True:\n        if False: yield 1\nprint(list(g()))",
        TIME,
    ),
    "endless iterator": (
        "class A:\n    def __iter__(self): return self\n    def __next__(self): return 1\n"
        "print(list(A()))",
        (TIME, MEMORY),
    ),
    "sleep": ("import time\ntime.sleep(10**6)\nprint('woken')", (ENDS, "TimeoutError")),
    "sleep again and again": ("import time\nwhile True: time.sleep(60)", "TimeoutError"),
    "wait for a clock that stands still": (
        "import time\nbegan = time.time()\nwhile time.time() < began + 9: pass",
        TIME,
    ),
    "await for ever": (
        "import asyncio\nasync def f():\n    while True: await asyncio.sleep(1)\nasyncio.run(f())",
        ("TimeoutError", "RuntimeError"),
    ),
    # numbers
    "repeated squaring": ("x = 10\nwhile True: x = x * x", (TIME, MEMORY)),
    "tower": ("print(9**9**9)", (TIME, MEMORY)),
    "huge power": ("x = 10**10**8", (TIME, MEMORY)),
    "huge power of pow": ("x = pow(7, 10**10)", (TIME, MEMORY, "OverflowError")),
    "huge shift": ("x = 1 << 10**12", MEMORY),
    "huge factorial": ("import math\nx = math.factorial(10**8)", (TIME, MEMORY)),
    "huge binomial": ("import math\nx = math.comb(10**8, 5 * 10**7)", (TIME, MEMORY)),
    "huge product": ("import math\nx = math.prod(range(1, 10**7))", (TIME, MEMORY)),
    "huge number to text": ("print(len(str(10**10**6)))", ("ValueError", TIME)),
    "huge number from text": ("print(int('9' * 10**7) % 7)", ("ValueError", TIME, MEMORY)),
    "huge literal": ("print(" + "9" * 90_000 + ")", (NESTED, "ValueError", ENDS)),
    "huge division": ("x = 3**(10**6)\nwhile True: x // 7**(10**5)", (TIME, MEMORY)),
    "decimal precision": (
        "from decimal import Decimal, getcontext\ngetcontext().prec = 10**8\n"
        "print(len(str(Decimal(1) / 7)))",
        (ENDS, TIME, MEMORY, "ValueError", "decimal"),
    ),
    # memory
    "list that grows": ("x = []\nwhile True: x.append('a' * 1000)", MEMORY),
    "list that doubles": ("x = [0]\nwhile True: x = x + x", MEMORY),
    "list repeated": ("x = [0] * 10**10", MEMORY),
    "text that doubles": ("x = 'a'\nwhile True: x += x", MEMORY),
    "text repeated": ("x = 'a' * 10**12", MEMORY),
    "bytes": ("x = bytearray(10**11)", (MEMORY, "NameError")),
    "dictionary": ("x = {}\nn = 0\nwhile True:\n    x[n] = str(n)\n    n += 1", (MEMORY, TIME)),
    "set of tuples": (
        "import itertools\nx = set(itertools.permutations(range(12)))",
        (MEMORY, TIME),
    ),
    "range made a list": ("x = list(range(10**9))", MEMORY),
    "memory error caught": (
        "while True:\n    try:\n        x = 'a' * 10**9\n    except MemoryError:\n        pass",
        (MEMORY, TIME),
    ),
    "format width": ("x = f'{1:1000000000}'", MEMORY),
    "format width of %": ("x = '%1000000000d' % 1", MEMORY),
    "format precision": ("x = '{:.1000000000f}'.format(1.5)", (MEMORY, "ValueError", TIME)),
    "text joined": ("x = ','.join(['a' * 10**6] * 10**4)", MEMORY),
    "text replaced": ("x = ('a' * 10**6).replace('a', 'b' * 10**6)", MEMORY),
    "padding": ("x = 'a'.zfill(10**12)", (MEMORY, "MemoryError", "OverflowError")),
    "shared lists": ("x = []\nfor _ in range(10**7): x = [x, x]\nprint(len(x))", (MEMORY, TIME)),
    "printed shared lists": ("x = []\nfor _ in range(60): x = [x, x]\nprint(x)", LIMITS),
    # depth
    "recursion": ("def f(): return f()\nf()", "RecursionError"),
    "recursion that catches": (
        "def f():\n  try:\n    return f()\n  except RecursionError:\n    return f()\nf()",
        ("RecursionError", TIME, MEMORY),
    ),
    "lambda recursion": ("f = lambda: f()\nf()", "RecursionError"),
    "repr of itself": (
        "class A:\n    def __repr__(self): return repr(self)\nprint(A())",
        ("RecursionError", TIME),
    ),
    "comparison of deep lists": (
        "a, b = [], []\nfor _ in range(10**5): a, b = [a], [b]\nprint(a == b)",
        (*LIMITS, ENDS),
    ),
    "brackets": ("(" * 20_000 + ")" * 20_000, NESTED),
    "open brackets": ("[" * 90_000, NESTED),
    "minus signs": ("-" * 90_000 + "1", NESTED),
    "long sum": ("x = " + "1+" * 40_000 + "1", (NESTED, ENDS)),
    "long chain of calls": ("x = 'a'" + ".strip()" * 10_000, (NESTED, ENDS, "RecursionError")),
    "deep indentation": (
        "".join(" " * n + "if 1:\n" for n in range(300)) + " " * 300 + "pass",
        NESTED,
    ),
    "deep f-string": ("f'{" * 100 + "1" + "}'" * 100, (ENDS, NESTED)),
    "huge source": ("x = 1\n" * 200_000, NESTED),
    "many lambdas": ("f = " + "lambda: " * 10_000 + "1", NESTED),
    # output
    "flood of lines": ("while True: print('a' * 100)", (FLOOD, TIME)),
    "flood in one line": ("print('a' * 10**8)", FLOOD),
    "flood without line ends": ("while True: print('a', end='')", (FLOOD, TIME)),
    "flood of errors": ("raise ValueError('a' * 10**8)", "ValueError: aaaa"),
    "flood on standard error": (
        "import sys\nwhile True: print('a' * 100, file=sys.stderr)",
        (FLOOD, TIME),
    ),
    "flood as last value": ("'a' * 10**8", ENDS),
    "flood of list as last value": ("[0] * 10**7", ENDS),
    "hostile words": ("raise ValueError('\\x1b[2J\\x00\\n\\u202e' * 99)", "ValueError"),
    "words that break": (
        "class E:\n    def __str__(self): raise ValueError\nraise ValueError(E())",
        ("ValueError", "RuntimeError", "TypeError"),
    ),
    "fake limit": ("raise TimeoutError('feed time limit exceeded: 0s > 0s')", "TimeoutError"),
    # patterns
    "pattern": ("import re\nprint(re.match(r'(a+)+$', 'a' * 5000 + 'b'))", (ENDS, *LIMITS)),
    "backtracking pattern": (
        r"import re" "\n" r"print(re.match(r'(a|aa)+\1$', 'a' * 5000 + 'b'))",
        (ENDS, *LIMITS, "re.", "RuntimeError"),
    ),
    "huge pattern": ("import re\nre.compile('(a{1000}){1000}' * 100)", (ENDS, *LIMITS, "re.")),
    # the host
    "open a file": ("print(open('/etc/passwd').read())", "PermissionError"),
    "write a file": ("open('/tmp/hostile', 'w').write('x')", "PermissionError"),
    "pathlib": ("import pathlib\nprint(list(pathlib.Path('/').iterdir()))", "PermissionError"),
    "environment": ("import os\nprint(os.environ)", "RuntimeError"),
    "list a folder": ("import os\nprint(os.listdir('/'))", ("PermissionError", "AttributeError")),
    "shell": ("import os\nos.system('touch /tmp/hostile')", "AttributeError"),
    "subprocess": ("import subprocess\nsubprocess.run(['id'])", "ModuleNotFoundError"),
    "socket": ("import socket\nsocket.socket()", "ModuleNotFoundError"),
    "url": ("import urllib.request", "ModuleNotFoundError"),
    "ctypes": ("import ctypes\nctypes.string_at(0)", "ModuleNotFoundError"),
    "threads": ("import threading", "ModuleNotFoundError"),
    "signals": ("import signal\nsignal.alarm(1)", "ModuleNotFoundError"),
    "our own code": ("import cfr", "ModuleNotFoundError"),
    "import by name": ("__import__('os').system('id')", "NameError"),
    "builtins": ("print(__builtins__)", "NameError"),
    "subclasses": (
        "print(().__class__.__bases__[0].__subclasses__())",
        "AttributeError",
    ),
    "globals of a function": ("print((lambda: 0).__globals__)", "AttributeError"),
    "code of a function": ("print((lambda: 0).__code__.co_code)", "AttributeError"),
    "frames": ("import sys\nprint(sys._getframe())", "AttributeError"),
    "eval of a loop": ("eval('[0 for _ in iter(int, 1)]')", (TIME, MEMORY, "TypeError")),
    "exec of a loop": ("exec('while True: pass')", TIME),
    "exec nested": ("x = 'pass'\nfor _ in range(40): x = f'exec({x!r})'\nexec(x)", (ENDS, *LIMITS)),
    "prelude replaced": (
        "from fractions import Fraction\n_cfr_builtins = None\nprint(Fraction(1, 2) < 1)",
        "AttributeError",
    ),
    "exit": ("raise SystemExit", ENDS),
    "exit with words": ("raise SystemExit('\\x1b[2J')", "SystemExit"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    # texts
    "NUL": ("print('a\0b')", (ENDS, NESTED)),
    "half a pair": ("print('\ud800')", (ENDS, NESTED)),
    "half a pair, made": ("print('\\ud800')", (ENDS, "UnicodeEncodeError", NESTED)),
    "right to left": ("x = '\u202e'\nprint(x)", ENDS),
    "confusable names": ("ﬁ = 1\nprint(fi)", (ENDS, "NameError")),
    "coding line": ("# -*- coding: utf-7 -*-\nprint('+AGEAYg-')", ENDS),
    "form feeds": ("\f\f\fprint(1)", (ENDS, NESTED)),
    "nothing": ("", ENDS),
}
