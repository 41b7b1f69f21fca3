// The wgmmas of the ladder, named as in tmalab.ptx, and the descriptor of an operand in shared memory.
// An accumulator is an array whose every index the compiler must know: then it is registers.
#pragma once
#include "ptx.cuh"

enum Swizzle : uint32_t { NONE, B32, B64, B128 };

// Operands of an asm: 8, 32 and 64 registers of an accumulator.
#define FLOATS_8(acc, i)                                                                                   \
    "+f"(acc[i]), "+f"(acc[i + 1]), "+f"(acc[i + 2]), "+f"(acc[i + 3]), "+f"(acc[i + 4]), "+f"(acc[i + 5]), \
        "+f"(acc[i + 6]), "+f"(acc[i + 7])
#define FLOATS_32(acc, i) FLOATS_8(acc, i), FLOATS_8(acc, i + 8), FLOATS_8(acc, i + 16), FLOATS_8(acc, i + 24)
#define FLOATS_64(acc, i) FLOATS_32(acc, i), FLOATS_32(acc, i + 32)

namespace ptx {

// swizzle as in the map that loaded the tile; bytes from 8 rows to the next 8, which are 1,024 with the 128B swizzle
__device__ inline uint64_t wgmma_descriptor(const void* tile, Swizzle swizzle, uint32_t stride_bytes,
                                            uint32_t leading_bytes = 0) {
    uint32_t low = (shared(tile) & 0x3fff0) >> 4 | (leading_bytes & 0x3fff0) << 12;
    uint32_t high = (stride_bytes & 0x3fff0) >> 4 | (4u - swizzle) << 30;
    return uint64_t(high) << 32 | low;
}

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ inline void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int N>
__device__ inline void wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

__device__ inline void wgmma_m64n64k16_f32_bf16(float (&acc)[32], uint64_t desc_a, uint64_t desc_b, int scale_d) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1, 0, 0; }"
        : FLOATS_32(acc, 0)
        : "l"(desc_a), "l"(desc_b), "r"(scale_d)
        : "memory");
}

__device__ inline void wgmma_m64n128k16_f32_bf16(float (&acc)[64], uint64_t desc_a, uint64_t desc_b, int scale_d) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 0; }"
        : FLOATS_64(acc, 0)
        : "l"(desc_a), "l"(desc_b), "r"(scale_d)
        : "memory");
}

__device__ inline void wgmma_m64n256k16_f32_bf16(float (&acc)[128], uint64_t desc_a, uint64_t desc_b, int scale_d) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, p, 1, 1, 0, 0; }"
        : FLOATS_64(acc, 0), FLOATS_64(acc, 64)
        : "l"(desc_a), "l"(desc_b), "r"(scale_d)
        : "memory");
}

}  // namespace ptx

#undef FLOATS_8
#undef FLOATS_32
#undef FLOATS_64
