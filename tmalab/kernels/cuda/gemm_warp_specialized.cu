// gemm_warp_specialized: the matrix product with a warpgroup that loads and two that multiply.
#include "gemm.cuh"

constexpr int CONSUMERS = 2;  // warpgroups, of 64 rows each
constexpr int BM = 64 * CONSUMERS, BN = 256, BK = 64;
constexpr int STAGE_BYTES = (BM + BN) * BK * 2;
constexpr int STAGES = 4;
constexpr int THREADS = 128 * (1 + CONSUMERS);

struct Shared {
    alignas(1024) uint16_t a[STAGES][BM][BK];
    alignas(1024) uint16_t b[STAGES][BN][BK];
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
};

// C = A B' for one tile of C (m, n) a CTA; grid (n / BN, m / BM).
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_warp_specialized(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                          uint16_t* c, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char memory[];  // more than 48 KiB: asked for when it is launched
    auto& [a, b, full, empty] = *reinterpret_cast<Shared*>(memory);
    int tid = threadIdx.x;
    int row = blockIdx.y * BM;
    int column = blockIdx.x * BN;
    int steps = (k + BK - 1) / BK;
    if (tid == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            ptx::mbarrier_init(full[stage], 1);
            ptx::mbarrier_init(empty[stage], CONSUMERS);
        }
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    int stage = 0, parity = 0;
    int warpgroup = tid / 128;
    if (warpgroup == CONSUMERS) {
        ptx::setmaxnreg_dec<40>();
        if (tid == CONSUMERS * 128) {
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
            for (int step = 0; step < steps; step++) {
                ptx::mbarrier_wait_parity(empty[stage], parity ^ 1);  // of a fresh barrier, a phase before is over
                ptx::mbarrier_arrive_expect_tx(full[stage], STAGE_BYTES);
                ptx::cp_async_bulk_tensor_2d(a[stage], a_map, step * BK, row, full[stage]);
                ptx::cp_async_bulk_tensor_2d(b[stage], b_map, step * BK, column, full[stage]);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
        }
    } else {
        ptx::setmaxnreg_inc<232>();
        float acc[BN / 2] = {};
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
        for (int step = 0; step < steps; step++) {
            ptx::mbarrier_wait_parity(full[stage], parity);
            uint64_t desc_a = ptx::wgmma_descriptor(a[stage][warpgroup * 64], B128, BYTES_8_ROWS);
            uint64_t desc_b = ptx::wgmma_descriptor(b[stage], B128, BYTES_8_ROWS);
            ptx::wgmma_fence();
#pragma unroll
            for (int i = 0; i < BK / 16; i++)
                ptx::wgmma_m64n256k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1);
            ptx::wgmma_commit_group();
            ptx::wgmma_wait_group<0>();
            if (tid % 128 == 0) ptx::mbarrier_arrive(empty[stage]);
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
        store_accumulator(acc, c, m, n, row + warpgroup * 64, column, tid % 128);
    }
}
