// store_tile: shared memory to global memory by TMA.
#include "ptx.cuh"

constexpr int ROWS = 8, COLS = 64;  // of a tile of fp16

// Fill a tile from `source` (8, 64) and store it at (x, y), in elements.
extern "C" __global__ void store_tile(const __grid_constant__ CUtensorMap tensor_map, const uint16_t* source, int x,
                                      int y) {
    __shared__ alignas(128) uint16_t tile[ROWS][COLS];
    int tid = threadIdx.x;
    for (int i = tid; i < ROWS * COLS; i += blockDim.x) tile[i / COLS][i % COLS] = source[i];
    ptx::fence_proxy_async_shared_cta();  // by every thread that wrote: carries its writes to the copy engine's sight
    __syncthreads();
    if (tid == 0) {
        ptx::cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group<0>();  // the tile must not go away before it is read
    }
}
