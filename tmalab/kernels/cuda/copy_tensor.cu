// copy_tensor: a whole tensor from one place in memory to another, by one thread of every CTA.
#include "ptx.cuh"

constexpr int ROWS = 8, COLS = 256;  // of a tile of int64: 2 KiB in a row
constexpr int STAGES = 6;
constexpr int LATE = 1;  // stores that may still be reading their stages when the next load is issued
constexpr int THREADS = 32;
constexpr int TILE_BYTES = ROWS * COLS * 8;

struct Shared {
    alignas(128) int64_t tile[STAGES][ROWS][COLS];
    uint64_t full[STAGES];
};

// Copy a 2-D int64 tensor of `tiles` tiles, one below the other; grid (any number, columns of tiles).
extern "C" __global__ void __launch_bounds__(THREADS)
    copy_tensor(const __grid_constant__ CUtensorMap source, const __grid_constant__ CUtensorMap target, int tiles) {
    extern __shared__ __align__(128) unsigned char memory[];  // more than 48 KiB: asked for when it is launched
    auto& [tile, full] = *reinterpret_cast<Shared*>(memory);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) ptx::mbarrier_init(full[stage], 1);
        ptx::fence_mbarrier_init();
        int x = blockIdx.y * COLS, first = blockIdx.x, ctas = gridDim.x;
        uint64_t once = ptx::createpolicy_fractional_evict_first();  // nobody comes back for these bytes
        int mine = (tiles - first + ctas - 1) / ctas;
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
        for (int step = -(STAGES - LATE); step < mine; step++) {  // loads run ahead of stores
            if (step >= 0) {
                int stage = step % STAGES;
                int y = (first + step * ctas) * ROWS;
                ptx::mbarrier_wait_parity(full[stage], step / STAGES % 2);
                ptx::cp_async_bulk_tensor_2d_store_cache_hint(target, x, y, tile[stage], once);
                ptx::cp_async_bulk_commit_group();
            }
            int ahead = step + STAGES - LATE;
            if (ahead < mine) {
                int stage = ahead % STAGES;
                int y = (first + ahead * ctas) * ROWS;
                ptx::cp_async_bulk_wait_group_read<LATE>();  // the store that had this stage has read it
                ptx::mbarrier_arrive_expect_tx(full[stage], TILE_BYTES);
                ptx::cp_async_bulk_tensor_2d_cache_hint(tile[stage], source, x, y, full[stage], once);
            }
        }
        ptx::cp_async_bulk_wait_group<0>();
    }
}
