// copy_3d_grouped: a tile wider than the swizzle's span, by one copy.
#include "ptx.cuh"

constexpr int GROUPS = 2, ROWS = 8, COLS = 64;  // of a tile of fp16: 8 rows of 128 columns, as two groups
constexpr int TILE_BYTES = GROUPS * ROWS * COLS * 2;

// Load the tile that begins in `group` at `row`, and copy it to `out` (2, 8, 64) as it lies in shared memory.
extern "C" __global__ void copy_3d_grouped(const __grid_constant__ CUtensorMap tensor_map, uint16_t* out, int group,
                                           int row) {
    __shared__ alignas(1024) uint16_t tile[GROUPS][ROWS][COLS];
    __shared__ uint64_t full[1];
    int tid = threadIdx.x;
    if (tid == 0) {
        ptx::mbarrier_init(full[0], 1);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    if (tid == 0) {
        ptx::mbarrier_arrive_expect_tx(full[0], TILE_BYTES);
        ptx::cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, group, full[0]);
    }
    ptx::mbarrier_wait_parity(full[0], 0);
    for (int i = tid; i < GROUPS * ROWS * COLS; i += blockDim.x)
        out[i] = tile[i / (ROWS * COLS)][i / COLS % ROWS][i % COLS];
}
