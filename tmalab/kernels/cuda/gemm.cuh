// What the matrix products share: C = A B' from bf16 matrices whose rows run along K, bf16 kept as uint16.
#pragma once
#include "wgmma.cuh"

constexpr int NEXT_K = 2;            // the next 16 columns in a descriptor, which counts 16 bytes
constexpr int BYTES_8_ROWS = 1024;   // of 128 bytes, the span of the 128B swizzle
constexpr int PART = 64;             // columns of C that a warp stages at once: 128 bytes of bf16
constexpr int WARP_ROWS = 16;        // of an accumulator's 64 rows

// Store the 64 rows that a warpgroup has accumulated to `c` (m, n), from (row, column) on; `thread` 0 to 127 of it.
template <int REGISTERS>
__device__ inline void store_accumulator(float (&acc)[REGISTERS], uint16_t* c, int m, int n, int row, int column,
                                         int thread) {
    row += thread / 32 * 16 + thread % 32 / 4;
    column += thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < REGISTERS; i++) {
        int r = row + i / 2 % 2 * 8;
        int j = column + i / 4 * 8 + i % 2;
        if (r < m && j < n) c[int64_t(r) * n + j] = ptx::cvt_rn_bf16_f32(acc[i]);
    }
}

struct Place {
    int row, column;
};

// Row and column of a tile: down `group` rows, then one column on, so that tiles at work share what L2 holds.
__device__ inline Place place_of(int tile, int rows, int columns, int group) {
    int first = tile / (group * columns) * group;
    int inside = tile - first * columns;
    int height = max(min(rows - first, group), 1);  // also of a tile past the last, which is asked for and not used
    int column = inside / height;
    return {first + inside - column * height, column};
}

// Store 64 columns of a warp's 16 rows to C at (x, y): 32 registers from FIRST on, through `staging` (16, 64).
template <int FIRST, int REGISTERS>
__device__ inline void store_part(float (&acc)[REGISTERS], uint16_t (&staging)[WARP_ROWS][PART],
                                  const CUtensorMap& c_map, int x, int y, int lane) {
    if (lane == 0) ptx::cp_async_bulk_wait_group_read<1>();
    __syncwarp();
    int row = lane % 16;
#pragma unroll
    for (int pair = 0; pair < 4; pair++) {  // of 8x8 matrices, side by side; of each the upper and the lower half
        const int i = FIRST + pair * 8;
        int chunk = (2 * pair + lane / 16) ^ (row % 8);
        ptx::stmatrix_x4(&staging[row][8 * chunk],                          //
                         ptx::cvt_rn_bf16x2_f32(acc[i + 1], acc[i]),        //
                         ptx::cvt_rn_bf16x2_f32(acc[i + 3], acc[i + 2]),    //
                         ptx::cvt_rn_bf16x2_f32(acc[i + 5], acc[i + 4]),    //
                         ptx::cvt_rn_bf16x2_f32(acc[i + 7], acc[i + 6]));
    }
    ptx::fence_proxy_async_shared_cta();
    __syncwarp();
    if (lane == 0) {
        ptx::cp_async_bulk_tensor_2d_store(c_map, x, y, staging);
        ptx::cp_async_bulk_commit_group();
    }
}
