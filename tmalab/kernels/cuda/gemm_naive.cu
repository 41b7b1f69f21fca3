// gemm_naive: a matrix product on the tensor core, one tile of A and of B at a time.
#include "gemm.cuh"

constexpr int BM = 64, BN = 64, BK = 64;  // the tile of C, and how much of K is loaded at once: 128 bytes of bf16
constexpr int TILE_BYTES = (BM + BN) * BK * 2;
constexpr int THREADS = 128;  // one warpgroup

// C = A B' for one tile of C (m, n) a CTA; grid (n / BN, m / BM).
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm_naive(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, uint16_t* c,
               int m, int n, int k) {
    __shared__ alignas(1024) uint16_t a[BM][BK];
    __shared__ alignas(1024) uint16_t b[BN][BK];
    __shared__ uint64_t full[1];
    int tid = threadIdx.x;
    int row = blockIdx.y * BM;
    int column = blockIdx.x * BN;
    if (tid == 0) {
        ptx::mbarrier_init(full[0], 1);
        ptx::fence_mbarrier_init();
    }
    __syncthreads();
    uint64_t desc_a = ptx::wgmma_descriptor(a, B128, BYTES_8_ROWS);
    uint64_t desc_b = ptx::wgmma_descriptor(b, B128, BYTES_8_ROWS);
    float acc[BN / 2] = {};
#pragma unroll 1  // a round that begins with a wait overlaps with nothing
    for (int step = 0; step < (k + BK - 1) / BK; step++) {
        if (tid == 0) {
            ptx::mbarrier_arrive_expect_tx(full[0], TILE_BYTES);
            ptx::cp_async_bulk_tensor_2d(a, a_map, step * BK, row, full[0]);
            ptx::cp_async_bulk_tensor_2d(b, b_map, step * BK, column, full[0]);
        }
        ptx::mbarrier_wait_parity(full[0], step % 2);
        ptx::wgmma_fence();
#pragma unroll
        for (int i = 0; i < BK / 16; i++)
            ptx::wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1);
        ptx::wgmma_commit_group();
        ptx::wgmma_wait_group<0>();  // for what all four warps have issued: thread 0 may load anew
    }
    store_accumulator(acc, c, m, n, row, column, tid);
}
