// gemm_cluster: the persistent matrix product in which two CTAs share what they load of B.
#include "gemm.cuh"

constexpr int CTAS = 2;
constexpr int BOTH = 0b11;    // ranks 0 and 1
constexpr int CONSUMERS = 2;  // warpgroups, of 64 rows each
constexpr int BM = 64 * CONSUMERS, BN = 256, BK = 64, HALF = BN / CTAS;
constexpr int STAGES = 4;
constexpr int GROUP = 8;  // rows of pairs of tiles that are walked down before the next column
constexpr int DEPTH = 1;   // blocks of 64 columns in a stage
constexpr int STAGE_BYTES = (BM + BN) * BK * 2 * DEPTH;
constexpr int WARPS = 4 * CONSUMERS;
constexpr int THREADS = 128 * (1 + CONSUMERS);
constexpr int NEXT_A = BM * BK * 2 / 16, NEXT_B = BN * BK * 2 / 16;  // the next block in a descriptor

struct Shared {
    alignas(1024) uint16_t a[STAGES][DEPTH][BM][BK];
    alignas(1024) uint16_t b[STAGES][DEPTH][BN][BK];
    alignas(1024) uint16_t c[2][WARPS][WARP_ROWS][PART];
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
};

// C = A B'. Any number of clusters of two CTAs.
extern "C" __global__ void __cluster_dims__(CTAS) __launch_bounds__(THREADS)
    gemm_cluster(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                 const __grid_constant__ CUtensorMap c_map, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char memory[];  // more than 48 KiB: asked for when it is launched
    auto& [a, b, c, full, empty] = *reinterpret_cast<Shared*>(memory);
    int tid = threadIdx.x;
    int rank = ptx::cluster_ctarank();
    if (tid == 0) {
        ptx::prefetch_tensormap(a_map);
        ptx::prefetch_tensormap(b_map);
        ptx::prefetch_tensormap(c_map);
        for (int stage = 0; stage < STAGES; stage++) {
            ptx::mbarrier_init(full[stage], 1);
            ptx::mbarrier_init(empty[stage], CONSUMERS * CTAS);
        }
        ptx::fence_mbarrier_init();
    }
    int rows = (m + CTAS * BM - 1) / (CTAS * BM);  // of pairs
    int columns = (n + BN - 1) / BN;
    int steps = (k + BK * DEPTH - 1) / (BK * DEPTH);
    int pair = blockIdx.x / CTAS;
    Place place = place_of(pair, rows, columns, GROUP);  // slow divisions, while the barriers come to be
    ptx::barrier_cluster_arrive_relaxed();
    ptx::barrier_cluster_wait();
    int stage = 0, parity = 0;
    int warpgroup = tid / 128;
    if (warpgroup == CONSUMERS) {
        ptx::setmaxnreg_dec<56>();
        if (tid == CONSUMERS * 128) {
#pragma unroll 1
            while (pair < rows * columns) {
                int y = (place.row * CTAS + rank) * BM;
                int x = place.column * BN + rank * HALF;
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
                for (int step = 0; step < steps; step++) {
                    ptx::mbarrier_wait_parity(empty[stage], parity ^ 1);  // until both CTAs have multiplied it
                    ptx::mbarrier_arrive_expect_tx(full[stage], STAGE_BYTES);
                    for (int block = 0; block < DEPTH; block++) {
                        int at = (step * DEPTH + block) * BK;
                        ptx::cp_async_bulk_tensor_2d(a[stage][block], a_map, at, y, full[stage]);
                        uint16_t* half = b[stage][block][rank * HALF];
                        ptx::cp_async_bulk_tensor_2d_multicast(half, b_map, at, x, full[stage], BOTH);
                    }
                    if (++stage == STAGES) stage = 0, parity ^= 1;
                }
                pair += gridDim.x / CTAS;
                place = place_of(pair, rows, columns, GROUP);
            }
        }
    } else {
        ptx::setmaxnreg_inc<224>();
        int warp = tid / 32;
        int lane = tid % 32;
        uint64_t first_a = ptx::wgmma_descriptor(a[0][0][warpgroup * 64], B128, BYTES_8_ROWS);
        uint64_t first_b = ptx::wgmma_descriptor(b, B128, BYTES_8_ROWS);
        float acc[BN / 2] = {};
#pragma unroll 1
        while (pair < rows * columns) {
            int previous = 0;
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
            for (int step = 0; step < steps; step++) {
                ptx::mbarrier_wait_parity(full[stage], parity);
                uint64_t desc_a = first_a + stage * DEPTH * NEXT_A;
                uint64_t desc_b = first_b + stage * DEPTH * NEXT_B;
                ptx::wgmma_fence();
#pragma unroll
                for (int i = 0; i < DEPTH * BK / 16; i++) {
                    int block = i / (BK / 16);
                    int at = i % (BK / 16) * NEXT_K;
                    ptx::wgmma_m64n256k16_f32_bf16(acc, desc_a + block * NEXT_A + at, desc_b + block * NEXT_B + at,
                                                   step > 0 || i > 0);
                }
                ptx::wgmma_commit_group();
                ptx::wgmma_wait_group<1>();  // the step before is multiplied, this one runs
                if (step > 0 && tid % 128 < CTAS)
                    ptx::mbarrier_arrive_cluster(empty[previous], tid % 128);  // one thread tells each CTA
                previous = stage;
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            place = place_of(pair, rows, columns, GROUP);  // while the last step is multiplied
            ptx::wgmma_wait_group<0>();
            if (tid % 128 < CTAS) ptx::mbarrier_arrive_cluster(empty[previous], tid % 128);
            int x = place.column * BN;
            int y = (place.row * CTAS + rank) * BM + warp * WARP_ROWS;
            store_part<0>(acc, c[0][warp], c_map, x, y, lane);
            store_part<32>(acc, c[1][warp], c_map, x + PART, y, lane);
            store_part<64>(acc, c[0][warp], c_map, x + 2 * PART, y, lane);
            store_part<96>(acc, c[1][warp], c_map, x + 3 * PART, y, lane);
            pair += gridDim.x / CTAS;
        }
        if (lane == 0) ptx::cp_async_bulk_wait_group_read<0>();  // what is stored is seen when the grid has ended
    }
    ptx::barrier_cluster_arrive();  // nobody leaves while a peer may still arrive here, or load for both
    ptx::barrier_cluster_wait();
}
