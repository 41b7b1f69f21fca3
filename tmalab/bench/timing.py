"""The time model against what was measured on an H200: `tmalab bench timing`.

Every trial that was recorded is predicted. Those that the constants were fitted to are told apart; only the others
judge the model. `refit` fits the constants anew, without a GPU, from the recording: `tmalab bench timing --record`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from statistics import median
from time import perf_counter
from typing import Any

from tmalab.launch import Launch
from tmalab.texts import text
from tmalab.timing.constants import TABLE, Constants
from tmalab.timing.fit import fit
from tmalab.timing.measured import HELD_OUT, LATER, MEASURED, RECORDED, Measured
from tmalab.timing.predict import Predictor
from tmalab.timing.refine import refine
from tmalab.timing.trials import FIT, TRIALS
from tmalab.timing.trials import HELD_OUT as JUDGES

COMPARED = TABLE.with_name("timing-compared.json")
WORST = 0.25  # the error that no prediction should exceed
FAR_APART = 0.15  # trials whose times differ by more must be predicted in their order


class NoRecording(RuntimeError):
    """Nothing was recorded to compare with."""


def measure() -> dict[str, Any]:
    """The recorded trials, each measured and predicted, and how far apart that is. NoRecording where there are none."""
    measured = recording()
    return compare(measured, Constants.read())


def recording() -> Measured:
    """What was recorded, with the later trials, and those that are held out, where they have been; NoRecording, in one
    sentence, where nothing was."""
    try:
        measured = Measured.read()
    except FileNotFoundError:
        raise NoRecording(text("timing.nothing-recorded", file=MEASURED)) from None
    for later in (RECORDED / name for name in (*LATER, HELD_OUT)):
        measured = measured.with_trials_of(Measured.read(later)) if later.exists() else measured
    return measured


def compare(measured: Measured, constants: Constants) -> dict[str, Any]:
    """Each trial of a recording: measured and predicted (µs), and the error, a share of what was measured.

    `median_error` and `max_error` are those of the trials that are held out; `order_violations` of their pairs
    that are more than 15 % apart, those that are predicted the other way round. `prediction_s`: how long it took to
    predict.
    """
    found: dict[str, tuple[float, float]] = {}
    for name, predictor in predictors(measured).items():
        began = perf_counter()
        found[name] = predictor.duration(constants), round(perf_counter() - began, 2)
    return compared(measured, found)


def compared(measured: Measured, predicted: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """The same from predictions that are made: by trial, its time (ns), and how long it took (s) to predict it."""
    times = measured.times()
    rows: list[dict[str, Any]] = []
    for name, (time, seconds) in predicted.items():
        row = {"configuration": name, "use": TRIALS[name].use, "measured_us": round(times[name] / 1e3, 3)}
        error = round(time / times[name] - 1, 4)
        rows.append({**row, "predicted_us": round(time / 1e3, 3), "error": error, "prediction_s": seconds})
    judged = [row for row in rows if row["use"] == JUDGES]
    errors = [abs(row["error"]) for row in judged]
    violations = [pair for pair in combinations(judged, 2) if _is_turned_round(*pair)]
    return {
        "configurations": rows,
        "judged": len(judged),
        "median_error": round(median(errors), 4) if errors else None,
        "max_error": max(errors, default=None),
        "order_violations": [[a["configuration"], b["configuration"]] for a, b in violations],
        "turned_round": len(violations),
    }


def predictors(measured: Measured) -> dict[str, Predictor]:
    """For each recorded trial what predicts it."""
    made = {}
    for name in (name for name in measured.trials if name in TRIALS):
        found = TRIALS[name].launching()
        launch = Launch.of(found.kernel, found.grid, found.block, found.args, found.cluster, 0, False)
        made[name] = Predictor(launch, found.along, registers=measured.trials[name]["registers"])
    return made


def refit() -> Constants:
    """Fit the constants anew, from the recording, and write their table and how near they come, trial by trial.

    NoRecording where there is none.
    """
    measured = recording()
    constants = fitted(measured)
    constants.write(TABLE)
    keep(compare(measured, constants))
    return constants


def keep(result: Mapping[str, Any]) -> None:
    """Write a comparison to where `kept` finds it; a line for each trial, without how long it took to predict it."""
    rows = [{key: row[key] for key in row if key != "prediction_s"} for row in result["configurations"]]
    head = json.dumps({key: result[key] for key in result if key != "configurations"})[1:-1]
    lines = ",\n".join(map(json.dumps, rows))
    COMPARED.write_text(f'{{{head},\n"configurations": [\n{lines}\n]}}\n', "utf-8")


def fitted(measured: Measured) -> Constants:
    """The constants by the micro-benchmarks of a recording, refined on its trials that are for fitting. Refining
    goes on from the values that are kept, where these are better than none."""
    source = measured.provenance["command"]
    constants = fit(measured.middles(), measured.sms, measured.l2_size, source, measured.provenance)
    kept = Constants.read() if TABLE.exists() else None
    for_fitting = {name: made for name, made in predictors(measured).items() if TRIALS[name].use == FIT}
    predictions = {name: lambda candidate, made=made: made.duration(candidate) for name, made in for_fitting.items()}
    return refine(constants, predictions, measured.times(), begin=kept)


def kept() -> dict[str, Any]:
    """The comparison that the last `refit` has kept, as `compare` makes it: what the docs and notebooks show."""
    return json.loads(COMPARED.read_text("utf-8"))


def _is_turned_round(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    fast, slow = sorted((one, other), key=lambda row: row["measured_us"])
    far_apart = slow["measured_us"] > fast["measured_us"] * (1 + FAR_APART)
    return far_apart and slow["predicted_us"] <= fast["predicted_us"]
