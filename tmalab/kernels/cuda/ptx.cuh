// One function for each PTX instruction that the ladder uses, named as in tmalab.ptx, operands in the same order.
// What PTX wants as an immediate is a template argument here. The wgmmas are in wgmma.cuh.
#pragma once

#ifdef __CUDACC_RTC__  // NVRTC knows no headers of the host
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
struct alignas(64) CUtensorMap {  // opaque: the driver encodes it, the copy engine reads it
    uint64_t opaque[16];
};
#else
#include <cstdint>
#include <cuda.h>
#endif

namespace ptx {

// Shared memory is named by 32 bits there, tensor maps by their generic address.
__device__ inline uint32_t shared(const void* pointer) { return uint32_t(__cvta_generic_to_shared(pointer)); }

// mbarriers

__device__ inline void mbarrier_init(uint64_t& bar, uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&bar)), "r"(count) : "memory");
}

__device__ inline void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline uint64_t mbarrier_arrive(uint64_t& bar, uint32_t count = 1) {
    uint64_t state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(shared(&bar)), "r"(count)
                 : "memory");
    return state;
}

__device__ inline void mbarrier_arrive_cluster(uint64_t& bar, uint32_t cta_rank, uint32_t count = 1) {
    asm volatile(
        "{ .reg .b32 peer; mapa.shared::cluster.u32 peer, %0, %1; "
        "mbarrier.arrive.shared::cluster.b64 _, [peer], %2; }" ::"r"(shared(&bar)),
        "r"(cta_rank), "r"(count)
        : "memory");
}

__device__ inline uint64_t mbarrier_arrive_expect_tx(uint64_t& bar, uint32_t bytes) {
    uint64_t state;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "r"(shared(&bar)), "r"(bytes)
                 : "memory");
    return state;
}

__device__ inline bool mbarrier_try_wait_parity(uint64_t& bar, uint32_t parity) {
    uint32_t completed;
    asm volatile(
        "{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2; selp.b32 %0, 1, 0, done; }"
        : "=r"(completed)
        : "r"(shared(&bar)), "r"(parity)
        : "memory");
    return completed;
}

__device__ inline void mbarrier_wait_parity(uint64_t& bar, uint32_t parity) {
    asm volatile(
        "{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra WAIT; }" ::"r"(
            shared(&bar)),
        "r"(parity)
        : "memory");
}

// Tensor copies: a map, and coordinates in elements, innermost first

__device__ inline void prefetch_tensormap(const CUtensorMap& tensor_map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&tensor_map) : "memory");
}

__device__ inline void cp_async_bulk_tensor_2d(void* dst, const CUtensorMap& tensor_map, int x, int y, uint64_t& bar) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            shared(dst)),
        "l"(&tensor_map), "r"(x), "r"(y), "r"(shared(&bar))
        : "memory");
}

__device__ inline void cp_async_bulk_tensor_3d(void* dst, const CUtensorMap& tensor_map, int x, int y, int z,
                                               uint64_t& bar) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared(dst)),
        "l"(&tensor_map), "r"(x), "r"(y), "r"(z), "r"(shared(&bar))
        : "memory");
}

__device__ inline void cp_async_bulk_tensor_2d_multicast(void* dst, const CUtensorMap& tensor_map, int x, int y,
                                                         uint64_t& bar, uint16_t cta_mask) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(dst)),
        "l"(&tensor_map), "r"(x), "r"(y), "r"(shared(&bar)), "h"(cta_mask)
        : "memory");
}

__device__ inline void cp_async_bulk_tensor_2d_cache_hint(void* dst, const CUtensorMap& tensor_map, int x, int y,
                                                          uint64_t& bar, uint64_t policy) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(dst)),
        "l"(&tensor_map), "r"(x), "r"(y), "r"(shared(&bar)), "l"(policy)
        : "memory");
}

__device__ inline void cp_async_bulk_tensor_2d_store(const CUtensorMap& tensor_map, int x, int y, const void* src) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&tensor_map),
                 "r"(x), "r"(y), "r"(shared(src))
                 : "memory");
}

__device__ inline void cp_async_bulk_tensor_2d_store_cache_hint(const CUtensorMap& tensor_map, int x, int y,
                                                                const void* src, uint64_t policy) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(
            &tensor_map),
        "r"(x), "r"(y), "r"(shared(src)), "l"(policy)
        : "memory");
}

__device__ inline void cp_reduce_async_bulk_tensor_2d_add(const CUtensorMap& tensor_map, int x, int y,
                                                          const void* src) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&tensor_map),
        "r"(x), "r"(y), "r"(shared(src))
        : "memory");
}

__device__ inline uint64_t createpolicy_fractional_evict_first(float fraction = 1.0f) {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, %1;" : "=l"(policy) : "f"(fraction));
    return policy;
}

__device__ inline void fence_proxy_async_shared_cta() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void cp_async_bulk_commit_group() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

template <int N>
__device__ inline void cp_async_bulk_wait_group() {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

template <int N>
__device__ inline void cp_async_bulk_wait_group_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

// The per-thread copies of the A100

template <int BYTES>
__device__ inline void cp_async(void* dst, const void* src) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared(dst)), "l"(__cvta_generic_to_global(src)),
                 "n"(BYTES)
                 : "memory");
}

__device__ inline void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
__device__ inline void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Clusters

__device__ inline uint32_t cluster_ctarank() {
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ inline void barrier_cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }

__device__ inline void barrier_cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

__device__ inline void barrier_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

// Registers

template <int N>
__device__ inline void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
__device__ inline void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

__device__ inline uint16_t cvt_rn_bf16_f32(float x) {
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

__device__ inline uint32_t cvt_rn_bf16x2_f32(float high, float low) {
    uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

__device__ inline void stmatrix_x4(void* place, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared(place)), "r"(r0),
                 "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}

}  // namespace ptx
