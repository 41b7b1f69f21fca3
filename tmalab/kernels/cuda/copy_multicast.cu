// copy_multicast: one tile for every CTA of a cluster, read once.
#include "ptx.cuh"

constexpr int CTAS = 4;
constexpr int ALL = (1 << CTAS) - 1;    // a bit for each rank
constexpr int ROWS = 16, COLS = 64;     // of a tile of fp16
constexpr int SHARE = ROWS / CTAS;      // rows that each CTA loads
constexpr int TILE_BYTES = ROWS * COLS * 2;

// Load the tile at (x, y), in elements, into every CTA of a cluster; each copies it to `out` (CTAs, 16, 64).
extern "C" __global__ void __cluster_dims__(CTAS)
    copy_multicast(const __grid_constant__ CUtensorMap tensor_map, uint16_t* out, int x, int y) {
    __shared__ alignas(128) uint16_t tile[ROWS][COLS];
    __shared__ uint64_t full[1];
    int tid = threadIdx.x;
    int rank = ptx::cluster_ctarank();
    if (tid == 0) {
        ptx::mbarrier_init(full[0], 1);
        ptx::fence_mbarrier_init();
    }
    ptx::barrier_cluster_arrive_relaxed();
    ptx::barrier_cluster_wait();
    if (tid == 0) {
        ptx::mbarrier_arrive_expect_tx(full[0], TILE_BYTES);  // all of it: the peers' shares are credited here too
        uint16_t* share = tile[rank * SHARE];
        ptx::cp_async_bulk_tensor_2d_multicast(share, tensor_map, x, y + rank * SHARE, full[0], ALL);
    }
    ptx::mbarrier_wait_parity(full[0], 0);
    for (int i = tid; i < ROWS * COLS; i += blockDim.x)
        out[blockIdx.x * ROWS * COLS + i] = tile[i / COLS][i % COLS];
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}
