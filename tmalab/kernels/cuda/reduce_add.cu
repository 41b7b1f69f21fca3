// reduce_add: many CTAs add to one tile in memory, by the copy engine.
#include "ptx.cuh"

constexpr int ROWS = 8, COLS = 32;  // of a tile of float32

// Add the tile `parts[CTA]` (8, 32) to the tensor at (x, y), in elements.
extern "C" __global__ void reduce_add(const __grid_constant__ CUtensorMap tensor_map,
                                      const float (*parts)[ROWS][COLS], int x, int y) {
    __shared__ alignas(128) float tile[ROWS][COLS];
    int tid = threadIdx.x;
    for (int i = tid; i < ROWS * COLS; i += blockDim.x)
        tile[i / COLS][i % COLS] = parts[blockIdx.x][i / COLS][i % COLS];
    ptx::fence_proxy_async_shared_cta();
    __syncthreads();
    if (tid == 0) {
        ptx::cp_reduce_async_bulk_tensor_2d_add(tensor_map, x, y, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group<0>();
    }
}
