"""The real backend: numba-cuda compiles a kernel to PTX for sm_90a, the driver runs it on a Hopper GPU.

`compile` needs no GPU; `launch` does. Nothing is imported here, so that `import tmalab.gpu` costs nothing.
"""
