"""The reference kernels of the course: one protocol a file, each runnable as `python -m tmalab.kernels.NAME`."""
