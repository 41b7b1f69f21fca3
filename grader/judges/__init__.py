"""Judges for the kinds of answers that exercises ask for: numbers, a function, a tensor map, a kernel."""
