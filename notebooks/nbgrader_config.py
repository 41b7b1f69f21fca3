"""nbgrader's settings for this course; run nbgrader in this folder."""

c = get_config()  # noqa: F821  nbgrader hands it in

c.CourseDirectory.course_id = "tmalab"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py"]  # texts and answers stay here

c.ClearSolutions.code_stub = {"python": "# Write your code here."}  # not an error: a notebook runs through as released

from grader.nbgrader_plugin import trust

trust(c)  # answers are graded in a sandbox; notebooks are not run
