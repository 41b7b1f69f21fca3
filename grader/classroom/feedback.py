"""A page of feedback for each notebook: what its checks say, the figure of a run that went wrong, the hint.

The page is one file that runs nothing and fetches nothing. What a message may say of hidden inputs was decided when it
was made (`grader.judges`); here nothing is added to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from grader.picture import safe
from grader.report import number
from grader.texts import text
from grader.trusted import versions_in_words

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
pre {{ overflow-x: auto; padding: 0.75rem; background: #f4f4f4; color: #111; font-size: 0.85rem; }}
figure {{ margin: 1rem 0; overflow-x: auto; }}
footer {{ margin-top: 2rem; border-top: 1px solid; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def write_feedback(outcomes: Mapping[str, Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write NAME.html for every NAME.ipynb, in the same folders below `folder`; what is there is replaced.

    Beside ann.ipynb there may be ann.IPYNB, of another student: its page is ann.IPYNB.html.
    """
    written = []
    for name, outcome in outcomes.items():
        path = folder / (name.removesuffix(".ipynb") + ".html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(page(name, outcome).encode("utf-8", "backslashreplace"))
        written.append(path)
    return written


def page(name: str, outcome: Mapping[str, Any]) -> str:
    """The page for one notebook, as HTML."""
    title = escape(name.removesuffix(".ipynb"))
    return PAGE.format(title=title, body=_body(outcome["report"]) if "report" in outcome else _reason(outcome))


def without_figures(outcomes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The same outcomes without drawings."""
    return {name: _plain(outcome) for name, outcome in outcomes.items()}


def _plain(outcome: Mapping[str, Any]) -> dict[str, Any]:
    if "report" not in outcome:
        return dict(outcome)
    graded = [{key: value for key, value in each.items() if key != "figure"} for each in outcome["report"]["exercises"]]
    return {**outcome, "report": {**outcome["report"], "exercises": graded}}


def _body(report: Mapping[str, Any]) -> str:
    points = text("cli.total", points=number(report["points"]), maximum=number(report["maximum"]))
    parts = [f"<p>{escape(points)}</p>", *map(_exercise, report["exercises"])]
    graded_with = text("classroom.graded-with", versions=versions_in_words(report["versions"]))
    parts.append(f"<footer><p>{escape(graded_with)}</p><p>{escape(report['statement'])}</p></footer>")
    return "\n".join(parts)


def _exercise(graded: Mapping[str, Any]) -> str:
    drawing = safe(graded.get("figure", ""))
    caption = f"<figcaption>{escape(text('classroom.figure'))}</figcaption>"
    figure = f"<figure>{caption}{drawing}</figure>" if drawing else ""
    return f"<h2>{escape(graded['exercise'])}</h2>\n<pre>{escape(graded['report'])}</pre>\n{figure}"


def _reason(outcome: Mapping[str, Any]) -> str:
    error = outcome.get("error") or outcome["not_graded"]
    return f"<p>{escape(text('classroom.no-feedback', reason=error))}</p>"
