"""nbgrader's settings for this course: run nbgrader in this folder; for formgrader, link this file into ~/.jupyter."""

from pathlib import Path

from grader.nbgrader_plugin import trust

c = get_config()  # noqa: F821  nbgrader hands it in

c.CourseDirectory.course_id = "tmalab"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py"]  # texts and answers stay

c.ClearSolutions.code_stub = {"python": "# Write your code here."}  # not an error: a notebook runs through as released

trust(c)  # answers are graded in a sandbox; notebooks are not run
