"""How Sphinx builds the documentation: offline, from these pages, the library's docstrings and its tables.

A page writes `{{ rules }}`, `{{ descriptor }}`, `{{ instructions }}`, `{{ barrier }}`, `{{ im2col_rules }}`,
`{{ boundaries }}`, `{{ reductions }}`, `{{ recordings }}`, `{{ coverage }}`,
`{{ commonly_said }}`, `{{ ladder }}`, `{{ twins }}`, `{{ twins_differ }}`, `{{ against_cp_async }}`,
`{{ gains }}`, `{{ benches }}`, `{{ timing_constants }}`, `{{ timing_errors }}`, `{{ timing_depths }}`,
`{{ timing_traces }}`,
`{{ glossary }}`, `{{ languages }}` or `{{ throughput }}` where a table that the library holds belongs. `boundaries`,
`recordings` and `coverage` compare every recorded case anew.
`{{ picture_NAME }}` is a figure of tmalab.figures.gallery, drawn anew, which answers to the pointer there as well.
"""

import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from html import escape
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from statistics import median

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CudaLexer, PythonLexer

import tmalab
from grader.translations import Source, sources
from tmalab import descriptor as map_bytes
from tmalab import kernels, mbarrier_word, ptx, recorded, translation
from tmalab.bench import ON_GPU, command, plots, timing, timing_plots
from tmalab.bench.rounds import ratio
from tmalab.commonly_said import commonly_said as made_of_recordings
from tmalab.data_types import DataType, Swizzle
from tmalab.figures.base import Figure
from tmalab.figures.gallery import GALLERY, two_runs
from tmalab.figures.gemm import GemmFigure
from tmalab.glossary import glossary as terms_of_the_field
from tmalab.gpu.compile import Compiled
from tmalab.gpu.verdicts import compare
from tmalab.im2col_rules import RULES as IM2COL_RULES
from tmalab.kernels import copy_2d
from tmalab.kernels import twins as cuda_twins
from tmalab.kernels.copy_cp_async import WORDS
from tmalab.kernels.copy_tensor import COLS, Ring
from tmalab.kernels.launches import launch_of
from tmalab.recorded import verdicts
from tmalab.recorded.tally import Count, Kind, tally
from tmalab.reductions import MAP_OPERATIONS
from tmalab.tensor_map_rules import RULES, Rule
from tmalab.texts import text
from tmalab.timing.constants import UNITS, Constants, meaning
from tmalab.timing.trace_costs import trace_costs
from tmalab.timing.trials import HELD_OUT, TRIALS

project = "TMA Lab"
author = copyright = "the TMA Lab authors"
release = version = tmalab.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["substitution"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "TMA Lab"

default_role = "code"  # docstrings write names in single backquotes
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature shows them
autodoc_preserve_defaults = True


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def code_table(head: tuple[tuple[str, int], ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of lines of code, as narrow as the page: they go on below. `head`: names, and of the width so many %."""
    top = "".join(f'<th style="width: {width}%">{escape(name)}</th>' for name, width in head)
    cells = ("".join(f"<td><code>{escape(cell)}</code></td>" for cell in row) for row in rows)
    lines = "".join(f"<tr>{row}</tr>\n" for row in cells)
    style = "table-layout: fixed; width: 100%; font-size: 75%; overflow-wrap: anywhere"
    return (
        f'````{{raw}} html\n<table class="docutils" style="{style}"><thead><tr>{top}</tr></thead>\n'
        f"<tbody>{lines}</tbody></table>\n````"
    )


def rules(of: Iterable[Rule] = RULES) -> str:
    """The driver's rules for tiled tensor maps, or others."""
    rows = ((rule.name, f"`{rule.measure.field}`", text(rule.why), rule.source) for rule in of)
    return table(("rule", "field", "why, and the way out", "source"), rows)


def im2col_rules() -> str:
    """The driver's rules for im2col maps that tiled maps do not have."""
    return rules(
        rule for rule in IM2COL_RULES if rule.name not in {rule.name for rule in RULES} - {"rank", "swizzle-span"}
    )


def boundaries() -> str:
    """The recorded maps at each limit of the rules and just beyond it, and how driver and library differ on them."""
    asked = verdicts.read()
    answers = iter(asked.encoded)
    report = compare(asked.maps, lambda fields: next(answers))
    rows = (
        (
            f"{place['rule']}, {place['side']}",
            "just beyond" if place["beyond"] else "at",
            *(str(place[count]) for count in ("maps", "accepted", "false_accepts", "false_refusals")),
        )
        for place in report["boundaries"]
    )
    head = ("limit", "maps that lie", "maps", "accepted by the driver", "false accepts", "false refusals")
    return table(head, rows)


def descriptor() -> str:
    """The bits of a tensor map."""
    rows = ((f"{field.start} to {field.stop - 1}", field.name, field.kinds) for field in map_bytes.TABLE)
    return table(("bits", "field", "maps"), rows)


WIDTHS_BETWEEN = re.compile(r"wgmma_(?:zero_|m64n)(?!(?:8|256)(?:k16|$))\d+.*")  # of N: the table has the ends


def instructions() -> str:
    """The instruction set, family by family: a sentence and a table."""
    parts = []
    for family in ptx.FAMILIES:
        every = ((name, made) for name, made in ptx.INSTRUCTIONS.items() if vars(family).get(name) is made)
        every = ((name, made) for name, made in every if not WIDTHS_BETWEEN.fullmatch(name))
        rows = ((f"`{name}`", f"`{made.text}`", made.__doc__.splitlines()[0]) for name, made in every)
        parts += [f"**{family.__doc__.splitlines()[0]}**", table(("function", "PTX", "what it does"), rows)]
    return "\n\n".join(parts)


def reductions() -> str:
    """The reductions through maps that the hardware has."""
    rows = ((data_type.name, ", ".join(operations)) for data_type, operations in MAP_OPERATIONS.items())
    return table(("element type", "operations"), rows)


def barrier() -> str:
    """The bits of an mbarrier."""
    fields = mbarrier_word.FIELDS.items()
    rows = ((f"{bits.start} to {bits.start + bits.width - 1}", name, text(bits.meaning)) for name, bits in fields)
    return table(("bits", "field", "what it holds"), rows)


def recordings() -> str:
    """What was recorded, where, and with what."""
    rows = []
    for name in recorded.names():
        made, counts = recorded.read(name).provenance, tally(name).values()
        totals = (sum(count.cases for count in counts), sum(count.mismatches for count in counts))
        rows.append((f"`{name}`", *map(str, totals), *(made[field] for field in ("gpu", "driver", "date"))))
    return table(("recording", "cases", "mismatches", "GPU", "driver", "date"), rows)


def coverage() -> str:
    """Mode by type, swizzle and rank: cases, and mismatches between the reference and the hardware."""
    modes = defaultdict(lambda: defaultdict(Count))
    for name in recorded.names():
        for kind, count in tally(name).items():
            total = modes[kind.mode][kind]
            total.cases, total.mismatches = total.cases + count.cases, total.mismatches + count.mismatches
    with_maps = [mode for mode, kinds in modes.items() if any(kind.rank and "," not in mode for kind in kinds)]
    parts = [_by_type(mode, modes[mode]) for mode in with_maps]
    reductions = {mode: kinds for mode, kinds in modes.items() if "reduction" in mode and "," not in mode}
    parts.append(_by_operation(reductions))
    parts.append(_in_all({mode: kinds for mode, kinds in modes.items() if mode not in with_maps}))
    return "\n\n".join(parts)


def _by_type(mode: str, kinds: dict[Kind, Count]) -> str:
    """One mode: a row for each type, a cell for each swizzle with the cases of rank 1 to 5."""

    def cell(data_type: str, swizzle: str) -> str:
        cases = [0] * 5
        for kind, count in kinds.items():
            if (kind.data_type, kind.swizzle) == (data_type, swizzle):
                cases[kind.rank - 1] += count.cases
        return " ".join(str(number or "–") for number in cases)

    swizzles, rows = [swizzle.name for swizzle in Swizzle], []
    for data_type in (data_type.name for data_type in DataType):
        mine = [count for kind, count in kinds.items() if kind.data_type == data_type]
        if mine:
            mismatches = str(sum(count.mismatches for count in mine))
            rows.append((data_type, *(cell(data_type, swizzle) for swizzle in swizzles), mismatches))
    head = ("type", *(f"swizzle {swizzle}" for swizzle in swizzles), "mismatches")
    return f"**{mode}**: cases of rank 1, 2, 3, 4 and 5\n\n{table(head, rows)}"


def _by_operation(modes: dict[str, dict[Kind, Count]]) -> str:
    """Reductions: cases for each operation and type."""
    totals = defaultdict(lambda: defaultdict(Count))
    for mode, kinds in modes.items():
        for kind, count in kinds.items():
            total = totals[mode, kind.operation][kind.data_type]
            total.cases, total.mismatches = total.cases + count.cases, total.mismatches + count.mismatches
    rows = (
        (
            mode,
            operation,
            ", ".join(f"{data_type} {count.cases}" for data_type, count in types.items()),
            str(sum(count.mismatches for count in types.values())),
        )
        for (mode, operation), types in totals.items()
    )
    head = ("mode", "operation", "types", "mismatches")
    return f"**reductions**: cases of each operation and type\n\n{table(head, rows)}"


def _in_all(modes: dict[str, dict[Kind, Count]]) -> str:
    """Modes without a map, and faults by their kind: cases and mismatches in all."""
    rows = (
        (
            mode.replace("_", " "),
            str(sum(count.cases for count in kinds.values())),
            str(sum(count.mismatches for count in kinds.values())),
        )
        for mode, kinds in modes.items()
    )
    return f"**without a map, and copies that fault, by the fault**\n\n{table(('mode', 'cases', 'mismatches'), rows)}"


def timing_constants() -> str:
    """The constants of the time model: what was measured, and what still has to be."""
    constants = Constants.read()
    rows = []
    for name, unit in UNITS.items():
        found = constants.found.get(name)
        if found is None:
            rows.append((f"`{name}`", meaning(name), "not measured yet", "", ""))
        else:
            spread = f"± {found.spread:.3g}" if found.spread is not None else ""
            rows.append((f"`{name}`", meaning(name), f"{found.value:,.4g} {unit}", spread, found.source))
    return table(("constant", "what it is", "value", "spread", "source"), rows)


def timing_errors() -> str:
    """How near the time model comes, family by family, and both curves."""
    kept = timing.kept()
    families = defaultdict(list)
    for row in kept["configurations"]:
        if row["use"] == HELD_OUT:
            families[TRIALS[row["configuration"]].family].append(abs(row["error"]))
    rows = [(name, str(len(found)), f"{median(found):.1%}", f"{max(found):.1%}") for name, found in families.items()]
    rows.append(("all", str(kept["judged"]), f"{kept['median_error']:.1%}", f"{kept['max_error']:.1%}"))
    drawn = f"````{{raw}} html\n{timing_plots.trials(kept)._repr_svg_()}\n````"
    far = [row for row in kept["configurations"] if row["use"] == HELD_OUT and abs(row["error"]) > timing.WORST]
    missed = [f"- {row['error']:+.0%}: `{row['configuration']}`" for row in far]
    missed += [f"- in the wrong order: `{one}` and `{other}`" for one, other in kept["order_violations"]]
    said = f"The aims that no error is above {timing.WORST:.0%}, and that trials more than {timing.FAR_APART:.0%} apart"
    said += " are in their order, are missed by\n\n" if missed else " are in their order, are held.\n\n"
    judged = table(("trials", "judged", "median error", "largest"), rows)
    return "\n\n".join([judged, said + "\n".join(missed), drawn])


def timing_traces() -> str:
    """What looks at the clock cost some kernels."""
    rows = [
        (
            f"`{row['kernel']}`",
            f"{row['looking']} of {row['ctas']}",
            str(row["looks"]),
            *(f"{row[kind]:.1f}" for kind in ("plain_us", "bounded_us", "traced_us")),
            f"{row['share']:+.0%}",
        )
        for row in trace_costs()
    ]
    head = ("kernel", "CTAs that look", "looks of a thread", "as written, µs", "bounded waits, µs", "and looks, µs", "")
    return table(head, rows)


def timing_depths() -> str:
    """Both curves by the number of stages."""
    return f"````{{raw}} html\n{timing_plots.depths()._repr_svg_()}\n````"


def picture(figure: Figure | GemmFigure) -> str:
    """A figure's static form."""
    return f"````{{raw}} html\n{figure.svg()}\n````"


def gemm_picture() -> str:
    """Figure 9, from the results that are kept."""
    try:
        return picture(GemmFigure())
    except ValueError as error:  # a bench that was not kept
        return str(error)


def commonly_said() -> str:
    """What is commonly said, and what the recordings have."""
    return table(("commonly said", "what the H200 did", "recording"), made_of_recordings())


def ladder() -> str:
    """The kernels in their order: what each shows, and how it differs from one before, by its header."""
    rows = []
    for name in kernels.LADDER:
        title, _, body = import_module(f"tmalab.kernels.{name}").__doc__.partition("\n")
        shows, differs = (
            re.sub(r"\s+", " ", part).strip() for part in re.split(r"\nDiffers +", body.split("\nRun")[0])
        )
        rows.append((f"`{name}`", title.partition(": ")[2], shows.removeprefix("Shows "), differs))
    return table(("kernel", "what it is", "shows", "differs"), rows)


def twins() -> str:
    """Each kernel of the ladder beside its twin in CUDA C++: call by call with the PTX, then both files."""
    return "\n\n".join(f"### {name}\n\n{_calls(name)}\n\n{_sources(name)}" for name in kernels.LADDER)


def _calls(name: str) -> str:
    """The instructions of a kernel: its line, the twin's, the opcode, and how often both texts of PTX have it."""
    how = launch_of(name)
    texts = how["kernel"].ptx(how["args"]), cuda_twins.compiled(name).ptx
    ours, theirs = map(cuda_twins.asynchronous, texts)
    rows = []
    for python, cuda in cuda_twins.beside(name):
        opcodes = cuda_twins.asynchronous(ptx.INSTRUCTIONS[python.name].text)
        times = ", ".join(str(ours[opcode]) for opcode in opcodes), ", ".join(str(theirs[opcode]) for opcode in opcodes)
        rows.append((python.line, cuda.line, ", ".join(opcodes), *times))
    return code_table((("Python", 30), ("CUDA C++", 30), ("PTX", 24), ("times", 8), ("in the twin's", 8)), rows)


def _sources(name: str) -> str:
    """Both files of a kernel, side by side; of Python's without what launches it."""
    python = Path(kernels.__path__[0], f"{name}.py").read_text("utf-8")
    python = re.split(r"\n\n\ndef (?:launch_of|demonstrate)", python)[0]
    cuda = cuda_twins.source(name).read_text("utf-8")
    both = (highlight(python, PythonLexer(), HtmlFormatter()), highlight(cuda, CudaLexer(), HtmlFormatter()))
    columns = "".join(f'<div style="min-width: 0; overflow-x: auto">{code}</div>' for code in both)
    return (
        f"````{{raw}} html\n<details><summary>Both files of {name}</summary>"
        f'<div style="display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; font-size: 75%">{columns}</div>'
        "</details>\n````"
    )


def twins_differ() -> str:
    """Where the PTX of a kernel has an instruction another number of times than its twin's, and why."""
    rows = (
        (f"`{name}`", why, ", ".join(f"`{opcode.partition('.shared')[0]}`" for opcode in found if found[opcode] == why))
        for name, found in cuda_twins.DIFFERENCES.items()
        for why in dict.fromkeys(found.values())
    )
    return table(("kernel", "why the numbers differ", "instructions"), rows)


def against_cp_async() -> str:
    """What copies by TMA and by cp.async come to, and their twins, as `kernel.counts` has it."""
    moved = {"copy_2d": copy_2d.TILE_BYTES, "copy_tensor": Ring().rows * COLS * 8, "copy_cp_async": 8 * WORDS}
    columns = []
    for name, size in moved.items():
        how = launch_of(name)
        counts = how["kernel"].counts(how["args"], how["block"])
        twin = Compiled(name, cuda_twins.compiled(name).ptx).all_counts
        columns += [{"bytes that one copy moves": size} | found for found in (counts, twin)]
    kept = (what for what in columns[0] if what != "wgmmas")
    rows = ((what.replace("_", " "), *(f"{found[what]:,}" for found in columns)) for what in kept)
    return table(("", *(f"`{name}`{of}" for name in moved for of in ("", ", its twin"))), rows)


def gains() -> str:
    """How many times as fast as the one before each step of the ladder is: the median over the recorded rounds."""
    found = command.recorded("ladder")["cases"][0]["contenders"]
    steps = [name for name in reversed(found) if name.startswith("gemm")]
    seconds = {name: found[name]["seconds"] for name in steps}
    gained = ["", *(f"{ratio(seconds, now, before):.3f}" for before, now in pairwise(steps))]
    rows = [(f"`{name}`", f"{found[name]['speed']:,.0f}", times) for name, times in zip(steps, gained, strict=True)]
    return table(("step", "TFLOP/s", "times the one before"), rows)


def benches() -> str:
    """The results of the benches on a GPU that were kept: a table, a sentence, a drawing."""
    parts = []
    for name in (file for bench in ON_GPU for file in (bench, f"{bench}-settled")):
        found = command.recorded(name)
        if found is None:
            continue
        drawn = io.StringIO()
        plots.figure_of(found, command.bandwidth()).savefig(drawn, format="svg", bbox_inches="tight")
        where = found["provenance"]
        run = found["bench"] + (f" --settle {found['settle_s']}" if name != found["bench"] else "")
        parts.append(f"**`tmalab bench {run}`**, {where['gpu']}, driver {where['driver']}, {where['date']}")
        parts.append(table(("case", "contender", "speed", "ratio"), command.rows(found)))
        parts.append(command.sentence(found))
        parts.append(f"````{{raw}} html\n{drawn.getvalue()[drawn.getvalue().index('<svg') :]}\n````")
    return "\n\n".join(parts) or "No result is kept in this version."


def languages() -> str:
    """How far each lesson, and the sentences of checks and figures, are translated."""
    others = [language for language in translation.languages() if language != "en"]
    found = defaultdict(list)
    for source in sources():
        kind = source.name if source.kind == "lessons" else "sentences of checks, hazards, figures and commands"
        found[kind].append(source)
    rows = [(kind, *(_translated(kept, language) for language in others)) for kind, kept in found.items()]
    return table(("lesson", *others), rows)


def _translated(kept: list[Source], language: str) -> str:
    count = sum(len(source.texts) for source in kept)
    missing = sum(len(source.missing(language)) for source in kept)
    if missing == count:
        return "English only"
    return "all" if not missing else f"{count - missing} of {count} texts, the others in English"


def aims() -> str:
    """Which aim of its lesson each exercise is for."""
    from grader.aims import aims_for
    from grader.lesson import lessons

    rows = [
        (lesson, f"`{check.exercise}`", "; ".join(aims_for(check.exercise)))
        for lesson, each in lessons().items()
        for check in each.checks
    ]
    return table(("lesson", "exercise", "for this aim"), rows)


def throughput() -> str:
    """A run of `grader bench` that was kept in throughput.json."""
    kept = Path(__file__).parent / "throughput.json"
    if not kept.is_file():
        return "No run is kept in this version."
    found = json.loads(kept.read_text("utf-8"))
    of_both = (
        ("submissions", "submissions", "stock_submissions"),
        ("seconds", "seconds", "stock_seconds"),
        ("seconds of the processor", "cpu_seconds", "stock_cpu_seconds"),
        ("submissions a minute", "per_minute", "stock_per_minute"),
    )
    rows = [(name, str(found[ours]), str(found[stock])) for name, ours, stock in of_both]
    rows.append(("workers, memory in MiB", f"{found['jobs']}, {found['memory_mib']}", ""))
    where = (
        f"{found['date']}, {found['cpus']} processors ({found['processor']}), of which others wanted "
        f"{found['load']} when it began; {found['system']}, Python {found['python']}, "
        f"nbgrader {found['nbgrader']}, tmalab {found['tmalab']}"
    )
    said = (
        f"They took turns, {found.get('turns', 1)} each; stock nbgrader had {found['stock_submissions']} of the same "
        "mixture. "
        f"By the clock {found['ratio']} times as many submissions, and for one second of the processor "
        f"{found['cpu_ratio']} times as many. {_cluster(found)}\n\n{where}."
    )
    return f"{table(('', 'here, in sandboxes', 'stock nbgrader'), rows)}\n\n{said}"


def _cluster(found: dict) -> str:
    if "cluster_ratio" not in found:
        return ""
    return (
        f"{found['cluster_submissions']} submissions took one Dask worker {found['cluster_seconds_1_worker']} seconds "
        f"and two {found['cluster_seconds_2_workers']}: {found['cluster_ratio']} times as fast." + _cluster_cpu(found)
    )


def _cluster_cpu(found: dict) -> str:
    if "cluster_cpu_seconds_1_worker" not in found:
        return ""
    one, two = (found[f"cluster_cpu_seconds_{workers}"] for workers in ("1_worker", "2_workers"))
    return f" All processes together used {one} and {two} seconds of the processor."


def glossary() -> str:
    """The words of the lessons in both languages, by lesson."""
    rows = (
        (f"**{term.term}**", ", ".join(term.also), term.chinese, str(term.lesson), term.meaning, term.meaning_chinese)
        for term in terms_of_the_field()
    )
    return table(("term", "also", "中文", "lesson", "meaning", "含义"), rows)


TABLES = (
    *(rules, im2col_rules, boundaries, descriptor, instructions, reductions, barrier, recordings, coverage),
    *(twins, twins_differ, against_cp_async),
    *(
        commonly_said,
        ladder,
        gains,
        benches,
        timing_constants,
        timing_errors,
        timing_depths,
        timing_traces,
        gemm_picture,
        throughput,
        aims,
    ),
    *(glossary, languages),
)
myst_substitutions = {made.__name__: made() for made in TABLES}
myst_substitutions |= {f"picture_{name}": picture(made()) for name, made in {**GALLERY, "two_runs": two_runs}.items()}
