"""More ways to get points without an answer: forged kernels, second guesses, what the grader itself would stumble over."""

# ruff: noqa: E501  a cheat's cell stands in one line where it is one

from __future__ import annotations

from tests.grader.attacks.cheats import FRAMES, Cheat, counts
from tests.grader.attacks.notebooks import NO_WAIT, SETUP, WRONG_COUNTS

COPY = "    for i in range(thread, ROWS"
WAIT = NO_WAIT.replace(COPY, "    while not ptx.mbarrier_try_wait_parity(full[0], 0):\n        pass\n" + COPY)
SEND = "import os, struct\nrecord = struct.pack('>II', len(text), 0) + text\nwhile record:\n    record = record[os.write(3, record):]\nos._exit(0)"


def forged(change: str, kernel: str = NO_WAIT) -> Cheat:
    """A kernel whose description `it` is changed on its way out of the sandbox."""
    return Cheat(
        (
            SETUP,
            f"{kernel}{FRAMES}real = inside['exported']\n"
            "def forged(value, depth=6):\n    tree = real(value, depth)\n"
            "    if tree[0] == 'function' and type(tree[3]) is dict:\n        it = tree[3]\n        "
            + change.replace("\n", "\n        ")
            + "\n    return tree\ninside['exported'] = forged",
        )
    )


def inserted(line: str, points: float = 0.0, before: str = COPY) -> Cheat:
    """The right kernel with one statement more."""
    return Cheat(
        (SETUP, WAIT.replace(before, f"    {line}\n{before}", 1)), {"copy-2d.kernel": points} if points else {}
    )


FORGED = {
    "a statement stands behind the kernel": forged(
        "it['functions']['copy_tile'] += 'exec(\"import tmalab.run as run; run.Run.hazards = property(lambda run: [])\")\\n'"
    ),
    "a statement stands before the kernel": forged(
        "it['functions']['copy_tile'] = 'import os\\n' + it['functions']['copy_tile']"
    ),
    "the kernel is a class": forged("it['functions']['copy_tile'] = 'class copy_tile:\\n    pass\\n'"),
    "parameters have names that would be lines of the report": forged(
        "it['parameters'] = ['a', chr(27) + '[2K' + chr(10) + '  order      2/2', 'x', 'y', 'out']"
    ),
    "parameters without end": forged("it['parameters'] = ['a'] * 100_000"),
    "the builtins are a constant": forged("it['constants']['__builtins__'] = 5"),
    "a module has the name of the builtins": forged("it['modules']['__builtins__'] = 'builtins.print'"),
    "a constant has the name of the instructions": forged("it['constants']['ptx'] = 1\nit['modules'].pop('ptx')"),
    "the kernel is its own helper": forged("it['helpers']['copy_tile'] = 'copy_tile'\nit['parameters'] = 7"),
    "the kernel is text without end": forged(
        "it['functions']['copy_tile'] = 'def copy_tile(a, b, c, d):\\n    ' + 'x = 1;' * 150_000"
    ),
    "the kernel is nested without end": forged(
        "it['functions']['copy_tile'] = 'def copy_tile(a, b, c, d):\\n    x = ' + '-' * 5_000 + '1\\n'"
    ),
}

KERNELS = {
    "a kernel that waits by counting": Cheat(
        (
            SETUP,
            NO_WAIT.replace(
                COPY,
                "    late = 0\n    for turn in range(500):\n        late += turn\n    if late < 0:\n        return\n"
                + COPY,
            ),
        ),
        {"copy-2d.kernel": 1},
    ),
    # it copies and waits everywhere, so its order is right, and its bytes are not
    "a kernel that is right where the notebook looks": inserted("if x != 64:\n        return", 3),
    "a kernel that says what a report would say": inserted(
        "if x == 64:\n        raise ValueError('\\x1b[2K\\n  order      2/2')"
    ),
    "a kernel with a name of Python's machinery in other letters": inserted("ptx.\ufe4d\ufe4dclass\ufe4d\ufe4d"),
    "a kernel that looks for what else the instructions' module holds": inserted("ptx.lru_cache(None)"),
}

TWO_GUESSES = {
    "two guesses, each with a part left open, the right one first": counts(
        "counts = [4096, 1024, None]", "globals()['coun' + 'ts'] = [7, 7, None]"
    ),
    "two guesses of other lengths, each with a part left open": counts(
        "counts = [4096, 1024, None]", "globals()['coun' + 'ts'] = [None, 7]"
    ),
}

STUMBLES = {
    "a record of keys that are all compared with each other": counts(
        WRONG_COUNTS,
        "pairs = ','.join('[{\"int\":\"%x\"},0]' % (i * (2**61 - 1)) for i in range(1, 100_000))\n"
        "text = ('{\"dict\":[' + pairs + ']}').encode()\n" + SEND,
    ),
    "a dictionary of keys that are all compared with each other": counts(
        WRONG_COUNTS,
        'pairs = \',\'.join(\'[["plain",{"int":"%x"}],["plain",0]]\' % (i * (2**61 - 1)) for i in range(1, 60_000))\n'
        "names = ('count', 'map', 'predict', 'swizzle', 'kernel', 'rim')\n"
        "told = ','.join('[\"copy-2d.%s\",[\"dict\",[%s]]]' % (name, pairs if name == 'count' else '') for name in names)\n"
        'text = (\'{"dict":[["answers",{"dict":[%s]}],["ran",[]]]}\' % told).encode()\n' + SEND,
    ),
    "fields by the thousand, each with a name of thousands of letters": Cheat(
        (SETUP, "fields = {'k' * 3900 + str(i): 1 for i in range(900)}", 'grader.check("copy-2d.map", fields)')
    ),
    "output goes where the record goes": counts(
        WRONG_COUNTS,
        "import os, sys\nos.dup2(3, 1)\nprint('{}' * 100, flush=True)\nsys.stdout = open(1, 'w')\nprint('{}')",
    ),
    "modules that Python imports by itself are written": counts(
        WRONG_COUNTS,
        "%%writefile sitecustomize.py\nraise SystemExit",
        "import os\nfor place in (os.environ['HOME'], '/usr/lib/python3', os.path.dirname(os.__file__)):\n"
        "    try:\n        open(place + '/usercustomize.py', 'w').write('raise SystemExit')\n    except OSError:\n        pass",
    ),
}

MORE = FORGED | KERNELS | TWO_GUESSES | STUMBLES
