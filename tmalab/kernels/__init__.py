"""The reference kernels of the course: one protocol a file, each runnable as `python -m tmalab.kernels.NAME`."""

LADDER = (  # in the order in which they build on each other
    *("copy_2d", "copy_3d_grouped", "copy_column", "copy_multicast", "copy_cp_async", "copy_tensor"),
    *("store_tile", "reduce_add"),
    *("gemm_naive", "gemm_pipelined", "gemm_warp_specialized", "gemm_persistent", "gemm_cluster"),
)
