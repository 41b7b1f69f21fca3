// copy_2d: one tile of a 2-D tensor, global to shared memory by TMA.
#include "ptx.cuh"

constexpr int ROWS = 8, COLS = 64;  // of a tile of fp16: 8 rows of 128 bytes
constexpr int TILE_BYTES = ROWS * COLS * 2;

// Load the tile at (x, y), in elements, and copy it to `out` (8, 64) as it lies in shared memory.
extern "C" __global__ void copy_2d(const __grid_constant__ CUtensorMap tensor_map, uint16_t* out, int x, int y) {
    __shared__ alignas(1024) uint16_t tile[ROWS][COLS];  // the period of the 128B swizzle
    __shared__ uint64_t full[1];
    int tid = threadIdx.x;
    if (tid == 0) {
        ptx::mbarrier_init(full[0], 1);  // one arrival: thread 0's own, below
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    if (tid == 0) {
        ptx::mbarrier_arrive_expect_tx(full[0], TILE_BYTES);
        ptx::cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0]);
    }
    while (!ptx::mbarrier_try_wait_parity(full[0], 0)) {
    }
    for (int i = tid; i < ROWS * COLS; i += blockDim.x) out[i] = tile[i / COLS][i % COLS];
}
