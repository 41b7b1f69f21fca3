// copy_cp_async: a tensor through shared memory by the per-thread copies of the A100.
#include "ptx.cuh"

constexpr int THREADS = 256;
constexpr int STAGES = 4;  // groups in flight
constexpr int AHEAD = STAGES - 1;
constexpr int WORDS = 2;  // int64, of a chunk of 16 bytes

// Copy `source` to `out`, both of (chunks, 2). Any number of CTAs of 256 threads.
extern "C" __global__ void __launch_bounds__(THREADS)
    copy_cp_async(const int64_t (*source)[WORDS], int64_t (*out)[WORDS], int64_t chunks) {
    __shared__ alignas(16) int64_t ring[STAGES][THREADS][WORDS];
    int tid = threadIdx.x;
    int64_t first = int64_t(blockIdx.x) * THREADS + tid;
    int64_t step = int64_t(gridDim.x) * THREADS;
    for (int stage = 0; stage < AHEAD; stage++) {
        if (first + stage * step < chunks) ptx::cp_async<16>(ring[stage][tid], source[first + stage * step]);
        ptx::cp_async_commit_group();  // an empty one counts as well
    }
    int stage = 0;
    for (int64_t chunk = first; chunk < chunks; chunk += step) {
        int64_t following = chunk + AHEAD * step;
        if (following < chunks) ptx::cp_async<16>(ring[(stage + AHEAD) % STAGES][tid], source[following]);
        ptx::cp_async_commit_group();
        ptx::cp_async_wait_group<AHEAD>();  // my oldest has come; nobody else reads it
        for (int word = 0; word < WORDS; word++) out[chunk][word] = ring[stage][tid][word];
        stage = (stage + 1) % STAGES;
    }
}
