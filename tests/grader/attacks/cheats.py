"""Ways to get points without an answer, to harm the grading, or to learn what is hidden; none may work.

Each is the code cells of a notebook. It earns what is said, by exercise, and nothing else; what is not said is nothing.
"""

# ruff: noqa: E501  a cheat's cell stands in one line where it is one

from __future__ import annotations

from dataclasses import dataclass, field

from tests.grader.attacks.notebooks import CHECK_COUNTS, NO_WAIT, SETUP, WRONG_COUNTS, WRONG_SECTOR


@dataclass(frozen=True)
class Cheat:
    """Cells, and the points that they earn honestly."""

    cells: tuple[str, ...]
    earns: dict[str, float] = field(default_factory=dict)


def counts(*cells: str) -> Cheat:
    """A cheat for the exercise on numbers: its cells come between the setup and the check."""
    return Cheat((SETUP, *cells, CHECK_COUNTS))


ALWAYS_EQUAL = """
class Equal(int):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __index__ = lambda self: self
    __hash__ = int.__hash__
"""

FRAMES = """
import sys
frame = sys._getframe()
while frame is not None and "exported" not in frame.f_globals:
    frame = frame.f_back
inside = frame.f_globals
"""

# ---- nbgrader's own: what got points for wrong answers where notebooks are run

IN_THE_NOTEBOOK = {
    "an input transformer turns later cells into pass": counts(
        WRONG_COUNTS,
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['3.0'])",
        "get_ipython().input_transformer_manager.cleanup_transforms.append(lambda lines: ['3.0'])",
    ),
    "a syntax transformer drops what checks": counts(
        WRONG_COUNTS,
        "import ast\nclass Drop(ast.NodeTransformer):\n    def visit_Assert(self, node):\n        return None\n"
        "get_ipython().ast_transformers.append(Drop())",
    ),
    "an object equals everything": counts(ALWAYS_EQUAL, "counts = Equal(0)"),
    "numbers equal everything": counts(ALWAYS_EQUAL, "counts = [Equal(0), Equal(0), Equal(0)]"),
    "the check's source is read from the history": counts(WRONG_COUNTS, "counts = eval(In[-1])"),
    "a display formatter shows another number": counts(
        WRONG_COUNTS,
        "get_ipython().display_formatter.formatters['text/plain'].for_type(float, lambda *shown: '3.0')",
    ),
    "a file has the name of the grader's module": counts(
        WRONG_COUNTS,
        "open('grader.py', 'w').write('check = lambda *answer: 3.0')\nimport importlib\nimportlib.reload(grader)",
    ),
    "the grader's module is replaced": counts(
        WRONG_COUNTS, "import sys, types\nsys.modules['grader'] = types.SimpleNamespace(check=lambda *answer: 3.0)"
    ),
    "the check is replaced": counts(WRONG_COUNTS, "grader.check = lambda *answer: 3.0"),
    "the report of a full score is printed": counts(
        WRONG_COUNTS, "print('copy-2d.count   3 of 3 points\\n  counts     ✔ 3/3  all 3 right')", "3.0"
    ),
    "another class seed is set": counts(WRONG_COUNTS, "import os\nos.environ['TMALAB_CLASS_SEED'] = '99'"),
}

# ---- the libraries around the answer

PATCHES = {
    "the judges are patched": counts(
        WRONG_COUNTS,
        "import grader.judges.numbers as judge\njudge.as_integer = lambda value: 4096",
        "import grader.checking as checking\nchecking.total = lambda *given: 3.0",
    ),
    "NumPy compares everything as equal": Cheat(
        (
            SETUP,
            "np.array_equal = np.allclose = lambda *arrays, **named: True\nnp.ndarray = type('ndarray', (), {})",
            WRONG_SECTOR,
        )
    ),
    "pickle and json write what is wanted": counts(
        WRONG_COUNTS,
        "import json, pickle\njson.dumps = lambda *value, **named: '{\"points\": 25}'\npickle.dumps = lambda *value: b''",
    ),
    "the simulator reports no hazards": Cheat(
        (
            SETUP,
            "import tmalab.run, tmalab.simulator\ntmalab.run.Run.hazards = property(lambda run: [])\n"
            "tmalab.run.Run.ok = property(lambda run: True)\ntmalab.simulator.simulate = lambda launch: None",
            NO_WAIT,
        ),
        {"copy-2d.kernel": 1},
    ),
    "a tensor map is patched": Cheat(
        (
            SETUP,
            "class Sly(TensorMap):\n    def __getattribute__(self, name):\n        return Always()\n"
            "class Always(tuple):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n",
            "fields = Sly.__new__(Sly)",
        )
    ),
    "a dictionary lies": counts(
        "class Sly(dict):\n    def __getitem__(self, key):\n        raise SystemExit(0)\n    get = __getitem__\n"
        "counts = Sly({'element by element': 1, 'cp.async': 2, 'TMA': 3})"
    ),
    "an answer takes over whoever unpickles it": counts(
        "class Sly:\n    def __reduce__(self):\n        import os\n        return os.system, ('echo owned > /tmp/owned',)\n",
        "counts = [Sly(), Sly(), Sly()]",
    ),
    "a function's results equal everything": Cheat(
        (SETUP, ALWAYS_EQUAL, "def physical_sector(row, sector, span):\n    return Equal(7)\n"),
    ),
}

# ---- what comes out of the sandbox

RECORDS = {
    "a record with points is forged": counts(
        WRONG_COUNTS,
        'import os, struct\ntext = b\'{"points": 25, "answers": {}}\'\n'
        "os.write(3, struct.pack('>II', len(text), 0) + text)\nos._exit(0)",
    ),
    "two records are given": counts(
        WRONG_COUNTS,
        FRAMES,
        "real = inside['wire'].send\ndef twice(write, value):\n    real(write, value)\n    real(write, value)\ninside['wire'].send = twice",
    ),
    "a record claims to be endless": counts(
        WRONG_COUNTS, "import os, struct\nos.write(3, struct.pack('>II', 2**32 - 1, 2**32 - 1) + b'x' * 1000)"
    ),
    "a record is nested without end": counts(
        WRONG_COUNTS,
        "import os, struct\ntext = b'[' * 100_000\nos.write(3, struct.pack('>II', len(text), 0) + text)\nos._exit(0)",
    ),
    "a short record would become much memory": counts(
        WRONG_COUNTS,
        "import os, struct\nblob = bytes(1 << 22)\ntext = ('[' + ','.join(['{\"array\": [\"|u1\", [4194304]]}'] * 1000) + ']').encode()\n"
        "record = struct.pack('>II', len(text), len(blob)) + text + blob\nwhile record:\n    record = record[os.write(3, record):]\nos._exit(0)",
    ),
    "a record of empty lists without end": counts(
        WRONG_COUNTS,
        "import os, struct\ntext = b'[' + b'[],' * (5 << 20) + b'[]]'\nrecord = struct.pack('>II', len(text), 0) + text\n"
        "while record:\n    record = record[os.write(3, record):]\nos._exit(0)",
    ),
    "half a record, and nothing more": counts(WRONG_COUNTS, "import os, time\nos.write(3, bytes(5))\ntime.sleep(1000)"),
    "the connection is closed, and the work goes on": counts(
        WRONG_COUNTS, "import os\nos.close(3)\nwhile True:\n    pass"
    ),
    "another process answers first": counts(
        WRONG_COUNTS,
        'import os, struct\nif os.fork() == 0:\n    text = b\'{"answers": {"copy-2d.count": ["list", [["plain", 4096]]]}, "ran": []}\'\n'
        "    os.write(3, struct.pack('>II', len(text), 0) + text)\n    os._exit(0)",
    ),
    "a kernel's helper has the name of a builtin": Cheat(
        (
            SETUP,
            NO_WAIT + FRAMES + "real = inside['exported']\n"
            "def forged(value, depth=6):\n    tree = real(value, depth)\n"
            "    if tree[0] == 'function' and type(tree[3]) is dict:\n"
            "        tree[3]['helpers']['range'] = 'nowhere'\n        tree[3]['files'] = {'copy_tile': '/etc/shadow'}\n"
            "    return tree\ninside['exported'] = forged",
        ),
        {"copy-2d.kernel": 1},
    ),
    "a kernel reaches what else its modules hold": Cheat(
        (
            SETUP,
            NO_WAIT + FRAMES + "real = inside['exported']\n"
            "def forged(value, depth=6):\n    tree = real(value, depth)\n"
            "    if tree[0] == 'function' and type(tree[3]) is dict:\n"
            "        tree[3]['modules']['cache'] = 'ptx.lru_cache'\n"
            "        tree[3]['functions']['copy_tile'] = '\\ndef copy_tile(tensor_map, x, y, out):\\n    cache(0)\\n'\n"
            "    return tree\ninside['exported'] = forged",
        )
    ),
    "a record's array points outside": counts(
        WRONG_COUNTS,
        FRAMES,
        'import os, struct\ntext = b\'{"array": ["<i8", [-1], 99999999]}\'\n'
        "os.write(3, struct.pack('>II', len(text), 0) + text)\nos._exit(0)",
    ),
    "an answer of a kind that there is not": counts(
        WRONG_COUNTS, FRAMES, "inside['exported'] = lambda value, depth=6: ['right', 3.0]"
    ),
    "a kernel's source is forged to run Python": Cheat(
        (
            SETUP,
            NO_WAIT + FRAMES + "real = inside['exported']\n"
            "def forged(value, depth=6):\n"
            "    tree = real(value, depth)\n"
            "    if tree[0] == 'function' and type(tree[3]) is dict:\n"
            "        tree[3]['modules']['run'] = 'builtins.exec'\n"
            "        tree[3]['functions']['copy_tile'] = '\\ndef copy_tile(tensor_map, x, y, out):\\n"
            '    run("import tmalab.run; tmalab.run.Run.hazards = []")\\n\'\n'
            "    return tree\n"
            "inside['exported'] = forged",
        )
    ),
}

# ---- the solution, the recordings, what is hidden

PEEKS = {
    "the solution is imported": Cheat(
        (SETUP, "from grader.exercises.copy_2d import address_form as physical_sector", WRONG_COUNTS)
    ),
    "the solution is imported where it is called": Cheat(
        (
            SETUP,
            "def physical_sector(row, sector, span):\n    import sys\n    sys.modules.pop('grader', None)\n"
            "    from grader.exercises.copy_2d import address_form\n    return address_form(row, sector, span)\n",
        )
    ),
    "the solution is read from its file": Cheat(
        (
            SETUP,
            "import tmalab, pathlib\nhome = pathlib.Path(tmalab.__file__).parents[1]\nscope = {}\n"
            "exec((home / 'grader/exercises/copy_2d.py').read_text(), scope)\nphysical_sector = scope['address_form']\n"
            "counts = list(scope['COUNTS'].values())",
            CHECK_COUNTS,
        )
    ),
    "the solution is looked for in memory": counts(
        WRONG_COUNTS,
        "import gc\nfor found in gc.get_objects():\n"
        "    if type(found) is dict and set(found) == {'element by element', 'cp.async', 'TMA'} and found['TMA'] != 7:\n"
        "        counts = dict(found)",
    ),
    "the instructor's notebook is looked for": counts(
        WRONG_COUNTS,
        "import glob, json\nfor name in glob.glob('/**/copy-2d.ipynb', recursive=True):\n"
        "    for cell in json.load(open(name))['cells']:\n        if cell.get('id') == 'count-answer':\n"
        "            exec(''.join(cell['source']))",
    ),
    "the recordings are read for an answer": Cheat(
        (
            SETUP,
            "from tmalab import recorded\n"
            "swizzled = TensorMap.from_array(np.zeros((16, 128), np.float16), (8, 64), swizzle=Swizzle.B128)\n"
            "lesson = recorded.read('lesson-1')\n"
            "seen = lesson.results[lesson.find('load', swizzled, (64, 8))][:1024].view(np.uint16).reshape(8, 8, 8)[:, :, 0]\n"
            "places = {(row, int(seen[row, at]) % 128 // 8 - 8): at for row in range(8) for at in range(8)}\n"
            "def physical_sector(row, sector, span):\n    return places[row % 8, sector]\n",
        )
    ),
    "other processes are looked into": counts(
        WRONG_COUNTS,
        "import glob\nfor name in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + ['/etc/shadow', '/etc/passwd']:\n"
        "    counts['found'] = open(name).read()",
    ),
}

# ---- guesses

GUESSES = {
    "a second guess, made where the first one does not look": Cheat(
        (SETUP, "counts = [4096, 1024, 7]", "globals()['coun' + 'ts'] = [4096, 1024, 1]"), {"copy-2d.count": 2.0}
    ),
    "a second guess, given to the check": Cheat(
        (SETUP, "counts = [4096, 1024, 7]", 'grader.check("copy-2d.count", [4096, 1024, 1])'), {"copy-2d.count": 2.0}
    ),
    "a guess with a part left open, and a worse one": Cheat(
        (SETUP, "counts = [4096, 1024, None]", "globals()['coun' + 'ts'] = [7, 7, 1]"), {"copy-2d.count": 1.0}
    ),
}

# ---- the computer

BOMBS = {
    "a fork bomb": counts(
        WRONG_COUNTS, "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    ),
    "processes that leave their parents": counts(
        WRONG_COUNTS,
        "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(1000)\n"
        "        os._exit(0)",
    ),
    "a memory bomb": counts(WRONG_COUNTS, "held = []\nwhile True:\n    held.append(bytearray(1 << 24))"),
    "memory held by many processes": counts(
        WRONG_COUNTS,
        "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n        held = bytearray(os.urandom(1 << 20)) * 300\n        time.sleep(1000)",
        "time.sleep(1000)",
    ),
    "a full disk": counts(
        WRONG_COUNTS, "for i in range(1000):\n    open(f'/tmp/{i}', 'wb').write(bytes(1 << 24))", "open('/work', 'w')"
    ),
    "endless output": counts(WRONG_COUNTS, "while True:\n    print('x' * 1000)"),
    "an endless cell": Cheat((SETUP, "while True:\n    counts = [4096]", CHECK_COUNTS)),
    "work that never ends inside one call": counts("counts = [9 ** 9 ** 9, 1, 1]"),
    "a function whose work never ends inside one call": Cheat(
        (SETUP, "def physical_sector(row, sector, span):\n    return 9 ** 9 ** 9\n")
    ),
    "threads that go on": counts(
        WRONG_COUNTS,
        "import threading\ndef go_on():\n    while True:\n        pass\nfor _ in range(8):\n    threading.Thread(target=go_on).start()",
    ),
    "a record at exit": counts(
        WRONG_COUNTS,
        "import atexit, os, struct\ndef late():\n    os.write(3, struct.pack('>II', 2, 0) + b'{}')\natexit.register(late)",
    ),
    "everything is killed": counts(
        WRONG_COUNTS,
        "import os, signal\nfor pid in (-1, 1, os.getppid(), 2):\n    try:\n        os.kill(pid, signal.SIGKILL)\n    except OSError:\n        pass",
    ),
    "the process ends": counts(WRONG_COUNTS, "import os\nos._exit(0)"),
    "the process crashes": counts(WRONG_COUNTS, "import ctypes\nctypes.string_at(0)"),
    "a process that is traced": counts(
        WRONG_COUNTS, "import ctypes\nfor pid in range(1, 50):\n    ctypes.CDLL(None).ptrace(16, pid, 0, 0)"
    ),
    "it asks to be last of all, and so to be given more time": counts(
        WRONG_COUNTS,
        "import os\nos.nice(19)",
        "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))",
        "import os\nos.sched_setaffinity(0, {0})\nwhile True:\n    pass",
    ),
    "it brings its own limit forward, to be killed by the system": counts(
        WRONG_COUNTS, "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))\nwhile True:\n    pass"
    ),
    "a pipe that kills": counts(
        WRONG_COUNTS,
        "import fcntl, os\nreading, writing = os.pipe()\nfor number in (fcntl.F_SETOWN, 10):\n"
        "    fcntl.fcntl(reading, number, 9 if number == 10 else os.getppid() or 1)",
    ),
    "it stops itself": counts(
        WRONG_COUNTS, "import os, signal\nsignal.raise_signal(signal.SIGSTOP)\nos.kill(0, signal.SIGSTOP)"
    ),
    "descriptors without end, each with a full buffer": counts(
        WRONG_COUNTS,
        "import fcntl, os, socket\nheld = []\nwhile True:\n    one, other = os.pipe()\n    held.append((one, other))\n"
        "    fcntl.fcntl(other, 1031, 1 << 20)\n    os.write(other, bytes(1 << 20))",
    ),
    "memory that no process holds": counts(
        WRONG_COUNTS,
        "import ctypes, os\nlibc = ctypes.CDLL(None)\nfound = [libc.memfd_create(b'x', 0), libc.shmget(0, 1 << 30, 0o1600)]\n"
        "for place in ('/dev/shm/x', '/dev/x', '/run/x', '/var/tmp/x'):\n    open(place, 'wb').write(bytes(1 << 24))",
    ),
    "two processes answer": counts(WRONG_COUNTS, "import os\nos.fork()"),
}

# ---- answers that are no answers

STRANGE = {
    "numbers of many digits": counts("counts = [10 ** 5000, 10 ** 5000, 1 << 100_000]"),
    "a list that holds itself": counts("counts = []\ncounts += [counts, counts, counts]"),
    "a list without end": counts("import itertools\ncounts = itertools.count()", "counts = range(10 ** 12)"),
    "a type with a strange name": counts(
        "counts = type('A\\n\\x1b[31m' * 50, (), {'__repr__': lambda self: '\\x00' * 10_000})()"
    ),
    "a function that raises at everything": counts(
        "class Hostile:\n    def __getattribute__(self, name):\n        raise SystemExit\ncounts = Hostile()"
    ),
    "all arguments as they come": Cheat((SETUP, "physical_sector = print", "physical_sector = max")),
}

CHEATS = IN_THE_NOTEBOOK | PATCHES | RECORDS | PEEKS | GUESSES | BOMBS | STRANGE
