// copy_column: many tiles, one under the other, through a ring of two stages.
#include "ptx.cuh"

constexpr int ROWS = 8, COLS = 64;  // of a tile of fp16
constexpr int TILE_BYTES = ROWS * COLS * 2;
constexpr int STAGES = 2;

using Tile = uint16_t[ROWS][COLS];

// Start the load of a tile into a stage.
__device__ void load_tile(Tile* ring, uint64_t* full, int stage, const CUtensorMap& tensor_map, int tile) {
    ptx::mbarrier_arrive_expect_tx(full[stage], TILE_BYTES);
    ptx::cp_async_bulk_tensor_2d(ring[stage], tensor_map, 0, tile * ROWS, full[stage]);
}

// Copy `tiles` tiles of a tensor that is one tile wide to `out`.
extern "C" __global__ void copy_column(const __grid_constant__ CUtensorMap tensor_map, uint16_t* out, int tiles) {
    __shared__ alignas(1024) Tile ring[STAGES];
    __shared__ uint64_t full[STAGES];
    int tid = threadIdx.x;
    if (tid == 0) {
        for (int stage = 0; stage < STAGES; stage++) ptx::mbarrier_init(full[stage], 1);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    if (tid == 0)
        for (int stage = 0; stage < min(STAGES, tiles); stage++) load_tile(ring, full, stage, tensor_map, stage);
    for (int k = 0; k < tiles; k++) {
        int stage = k % STAGES;
        while (!ptx::mbarrier_try_wait_parity(full[stage], k / STAGES % 2)) {
        }
        for (int i = tid; i < ROWS * COLS; i += blockDim.x)
            out[k * ROWS * COLS + i] = ring[stage][i / COLS][i % COLS];
        __syncthreads();  // everyone has read the stage
        if (tid == 0 && k + STAGES < tiles) load_tile(ring, full, stage, tensor_map, k + STAGES);
    }
}
