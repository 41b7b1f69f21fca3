"""Where learners' code runs while it is graded: see `host` for the grader's side, `warm` for the inside."""
