/* Stands in for CUDA C, so that g++ compiles the kernels' text for GPUs (gpu-text.sh). A block's threads
 * take turns. Shared memory is static, as one block runs at a time. */
#ifndef KF_TESTS_E2E_GPU_TEXT_H
#define KF_TESTS_E2E_GPU_TEXT_H

#include <cmath>
#include <cstring>
#include <ucontext.h>
#include <vector>

struct place {
    unsigned x, y, z;
};
static place threadIdx, blockIdx, blockDim;
static double exchanged[1024];

/* The threads of a block take turns on one thread of the cpu. Each runs until it has to wait for others. */
struct meeting {
    int size, arrived;
    unsigned number;
};
static meeting whole_block, warps[32];
static ucontext_t scheduler, contexts[1024];
static bool ended[1024];
static void (*body)();

static void arrive(meeting *m) {
    const unsigned number = m->number, self = threadIdx.x;
    if (++m->arrived == m->size) {
        m->arrived = 0;
        m->number++;
    }
    while (m->number == number)
        swapcontext(&contexts[self], &scheduler);
}
static void run_thread() {
    body();
    ended[threadIdx.x] = true;
}
/* Runs a block of this many threads in whole warps. */
static void run_block(int threads, void (*text)()) {
    enum { STACK = 1 << 16 };
    static std::vector<char> stacks(1024 * STACK);
    body = text;
    whole_block = {threads, 0, 0};
    for (int t = 0; t < threads; t++) {
        warps[t / 32] = {32, 0, 0};
        ended[t] = false;
        getcontext(&contexts[t]);
        contexts[t].uc_stack.ss_sp = &stacks[(size_t)t * STACK];
        contexts[t].uc_stack.ss_size = STACK;
        contexts[t].uc_link = &scheduler;
        makecontext(&contexts[t], run_thread, 0);
    }
    for (int left = threads; left > 0;)
        for (int t = 0; t < threads; t++) {
            if (ended[t]) continue;
            threadIdx = {(unsigned)t, 0, 0};
            swapcontext(&scheduler, &contexts[t]);
            left -= ended[t];
        }
}

static void __syncthreads() {
    arrive(&whole_block);
}
template <class T> static T __shfl_xor_sync(unsigned, T value, int lanes) {
    const unsigned self = threadIdx.x;
    exchanged[self] = value;
    arrive(&warps[self / 32]);
    const T other = (T)exchanged[self ^ (unsigned)lanes];
    arrive(&warps[self / 32]);
    return other;
}
static double __fma_rn(double a, double b, double c) {
    return std::fma(a, b, c);
}
static float __fmaf_rn(float a, float b, float c) {
    return std::fma(a, b, c);
}
template <class T> static T __ldg(const T *place) {
    return *place;
}
static unsigned long long __cvta_generic_to_shared(const void *place) {
    return (unsigned long long)place;
}
static unsigned long long __cvta_generic_to_global(const void *place) {
    return (unsigned long long)place;
}

/* The headers mention these, but no code that runs calls them. */
static void __syncwarp() {}
static void __threadfence() {}
static void __nanosleep(int) {}
static unsigned __activemask() {
    return 0;
}
static int __popc(unsigned) {
    return 0;
}
static int __ffs(int) {
    return 0;
}
static unsigned __byte_perm(unsigned a, unsigned, unsigned) {
    return a;
}
static int atomicCAS(int *, int, int) {
    return 0;
}
static void atomicOr(unsigned *, unsigned) {}
static int __float_as_int(float) {
    return 0;
}
static float __int_as_float(int) {
    return 0;
}
template <class T> static T __shfl_sync(unsigned, T value, int) {
    return value;
}
template <class T> static unsigned __match_any_sync(unsigned, T) {
    return 0;
}
template <class A, class B> static A atomicAdd(A *, B) {
    return A();
}

#define __device__
#define __global__
#define __shared__      static
#define __forceinline__ inline
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(threads, blocks)
#define __CUDACC__           1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

#endif
