// gemm_pipelined: the matrix product with loads that run ahead, through a ring of stages.
#include "gemm.cuh"

constexpr int BM = 128, BN = 128, BK = 64;
constexpr int STAGE_BYTES = (BM + BN) * BK * 2;
constexpr int THREADS = 256;  // two warpgroups, of 64 rows each
constexpr int STAGES = 3;     // as many as leave room for a second CTA on the SM

struct Shared {
    alignas(1024) uint16_t a[STAGES][BM][BK];
    alignas(1024) uint16_t b[STAGES][BN][BK];
    uint64_t full[STAGES];
};

// Start the loads of one step into a stage.
__device__ inline void load_stage(Shared& at, int stage, const CUtensorMap& a_map, const CUtensorMap& b_map, int step,
                                  int row, int column) {
    ptx::mbarrier_arrive_expect_tx(at.full[stage], STAGE_BYTES);
    ptx::cp_async_bulk_tensor_2d(at.a[stage], a_map, step * BK, row, at.full[stage]);
    ptx::cp_async_bulk_tensor_2d(at.b[stage], b_map, step * BK, column, at.full[stage]);
}

// C = A B' for one tile of C (m, n) a CTA; grid (n / BN, m / BM).
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_pipelined(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, uint16_t* c,
                   int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char memory[];  // more than 48 KiB: asked for when it is launched
    Shared& at = *reinterpret_cast<Shared*>(memory);
    auto& [a, b, full] = at;
    int tid = threadIdx.x;
    int row = blockIdx.y * BM;
    int column = blockIdx.x * BN;
    int steps = (k + BK - 1) / BK;
    if (tid == 0) {
        for (int stage = 0; stage < STAGES; stage++) ptx::mbarrier_init(full[stage], 1);
        ptx::fence_mbarrier_init();
        for (int step = 0; step < min(STAGES - 1, steps); step++) load_stage(at, step, a_map, b_map, step, row, column);
    }
    __syncthreads();
    int rows = tid / 128 * 64;  // the warpgroup's first one
    float acc[BN / 2] = {};
    int stage = 0, parity = 0;
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
    for (int step = 0; step < steps; step++) {
        ptx::mbarrier_wait_parity(full[stage], parity);
        uint64_t desc_a = ptx::wgmma_descriptor(a[stage][rows], B128, BYTES_8_ROWS);
        uint64_t desc_b = ptx::wgmma_descriptor(b[stage], B128, BYTES_8_ROWS);
        ptx::wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            ptx::wgmma_m64n128k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1);
        ptx::wgmma_commit_group();
        ptx::wgmma_wait_group<1>();
        __syncthreads();  // the step before is multiplied by both: its stage is free
        int following = step + STAGES - 1;
        if (tid == 0 && following < steps)
            load_stage(at, (stage + STAGES - 1) % STAGES, a_map, b_map, following, row, column);
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    ptx::wgmma_wait_group<0>();
    store_accumulator(acc, c, m, n, row + rows, column, tid % 128);
}
