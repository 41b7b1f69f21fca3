"""A class on a real JupyterHub: releasing, fetching, validating, submitting, collecting, grading, feedback.

An instructor and three students: astrid has everything right, bela reads the tile too early, chiara hands in what she
was given. What they click goes through the hub's proxy to their own servers; formgrader and the assignment list are
looked at in Chromium.
"""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path

import pytest

from grader.classroom.course import write_course
from tests.grader.classroom.hub import PASSWORD, Hub
from tests.lessons import COURSE, answers
from tests.tmalab.figures.conftest import QUIET

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(1500)]
LESSON, NAME = "01-copy-2d", "copy-2d.ipynb"
STUDENTS = ["astrid", "bela", "chiara"]
FORMGRADER = "/user/instructor/formgrader"
PATIENCE = 180_000  # milliseconds for anything in the browser


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    course = folder / "home" / "instructor" / "tmalab-course"
    write_course(course)
    with Hub(folder, course, "instructor", STUDENTS) as hub:
        yield hub


def instructor_does(hub: Hub, what: str) -> str:
    """A button of formgrader; what its log says."""
    done = hub.ask("POST", f"{FORMGRADER}/api/{what}")
    assert done["success"], done
    return done["log"]


def student_does(hub: Hub, student: str, what: str) -> dict:
    """A button of the assignment list; the list afterwards."""
    done = hub.ask("POST", f"/user/{student}/assignments/{what}", data={"course_id": "tmalab", "assignment_id": LESSON})
    assert done["success"], done
    return done["value"]


def answer(hub: Hub, student: str) -> None:
    """Fill in the fetched notebook through the student's server, as JupyterLab saves it."""
    place = f"/user/{student}/api/contents/{LESSON}/{NAME}"
    model = hub.ask("GET", place)
    source = json.loads((COURSE / "source" / LESSON / NAME).read_text("utf-8"))
    solutions = {cell["id"]: cell["source"] for cell in source["cells"]}
    early = answers(LESSON).tile_without_wait.function
    for cell in model["content"]["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = solutions[cell["id"]]
        if cell["id"] == "kernel-answer" and student == "bela":
            cell["source"] = f"{inspect.getsource(early)}\n\ncopy_tile = {early.__name__}\n"
    hub.ask("PUT", place, json={"type": "notebook", "content": model["content"]})


@pytest.fixture(scope="module")
def graded(hub):
    """The class, from the release to the feedback; for each student what validating said."""
    instructor_does(hub, f"assignment/{LESSON}/assign")
    instructor_does(hub, f"assignment/{LESSON}/release")
    validated = {}
    for student in STUDENTS:
        student_does(hub, student, "fetch")
        if student != "chiara":
            answer(hub, student)
        path = {"path": f"{LESSON}/{NAME}"}
        validated[student] = hub.ask("POST", f"/user/{student}/assignments/validate", data=path)
        student_does(hub, student, "submit")
    assert "Processing 3 submissions" in instructor_does(hub, f"assignment/{LESSON}/collect")
    for student in STUDENTS:
        instructor_does(hub, f"submission/{LESSON}/{student}/autograde")
    instructor_does(hub, f"assignment/{LESSON}/generate_feedback")
    instructor_does(hub, f"assignment/{LESSON}/release_feedback")
    return validated


def test_validating_tells_a_student_which_checks_fail(graded):
    failed = {}
    for student, said in graded.items():
        assert said["success"], said
        failed[student] = sorted(cell["source"] for cell in said["value"].get("failed", []))
    assert failed["astrid"] == []
    assert failed["bela"] == ['grader.check("copy-2d.kernel", copy_tile)']
    assert len(failed["chiara"]) == 6


def test_the_gradebook_holds_what_the_answers_earn(hub, graded):
    scores = {each["student"]: each["score"] for each in hub.ask("GET", f"{FORMGRADER}/api/submissions/{LESSON}")}
    assert scores["astrid"] == 25
    assert 0 < scores["bela"] < 25
    assert scores["chiara"] == 0


def test_feedback_reaches_each_student_and_says_what_the_check_said(hub, graded):
    for student in STUDENTS:
        student_does(hub, student, "fetch_feedback")
        (page,) = (hub.home(student) / LESSON).glob("feedback/*/*.html")
        said = page.read_text("utf-8")
        assert "in a process of its own" in said
        assert ("read-before-wait" in said) == (' id="tma-' in said) == (student == "bela")  # the figure of the run


def test_a_student_sees_nobody_elses_server(hub, graded, browser_of):
    page = browser_of("bela")
    assert page.request.get(f"{hub.address}/user/astrid/api/contents").status in (403, 404)
    assert page.request.get(f"{hub.address}{FORMGRADER}/").status in (403, 404)


@pytest.fixture(scope="module")
def browser_of(hub, chromium):
    """A page of a browser in which a user has logged in at the hub."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=QUIET)

        def log_in(user: str):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(f"{hub.address}/hub/login")
            page.get_by_label("Username").fill(user)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.wait_for_url(f"**/user/{user}/**")
            return page

        yield log_in
        browser.close()


def picture(page, name: str) -> None:
    if folder := os.environ.get("TMALAB_PICTURES"):
        page.screenshot(path=Path(folder) / f"hub-{name}.png")


def test_formgrader_shows_the_class_and_what_the_checks_said(hub, graded, browser_of):
    page = browser_of("instructor")
    page.goto(f"{hub.address}{FORMGRADER}/gradebook/{LESSON}/{NAME.removesuffix('.ipynb')}")
    page.get_by_text("Submission #3").wait_for()
    picture(page, "gradebook")
    page.goto(f"{hub.address}{FORMGRADER}/manage_submissions/{LESSON}")
    row = page.get_by_role("row").filter(has_text="bela")
    row.get_by_text("graded", exact=True).wait_for()
    picture(page, "submissions")
    submissions = hub.ask("GET", f"{FORMGRADER}/api/submitted_notebooks/{LESSON}/{NAME.removesuffix('.ipynb')}")
    bela = next(each["id"] for each in submissions if each["student"] == "bela")
    page.goto(f"{hub.address}{FORMGRADER}/submissions/{bela}/?index=0")
    page.get_by_text("read-before-wait").first.wait_for()
    page.locator("svg[id^=tma-]").scroll_into_view_if_needed()
    picture(page, "submission")


def test_the_assignment_list_shows_a_submission_with_its_feedback(hub, graded, browser_of):
    student_does(hub, "astrid", "fetch_feedback")
    page = browser_of("astrid")
    page.goto(f"{hub.address}/user/astrid/lab?reset")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_text("Assignment List").last.click()
    page.get_by_text("Submitted assignments", exact=True).wait_for()
    page.locator("#submitted_assignments_list").get_by_text(LESSON).first.wait_for()
    picture(page, "assignments")
    page.get_by_text("(view feedback)").first.wait_for()
