/* Portability of kernels: one source, CUDA C for the `cuda` backend (NVRTC) and C17 for the `cpu` backend.
 *
 * A kernel takes one struct by value whose first member is int extent[3], the number of items along x, y, z,
 * and handles one item:
 *
 *     typedef struct scale_arguments { int extent[3]; float *values; float factor; } scale_arguments;
 *     KF_KERNEL(scale, scale_arguments) { a->values[x] *= a->factor; }
 *
 * On the GPU every item is a thread. On the cpu threads share the blocks and the x loop inside a block is the
 * SIMD loop, so branches and index wrap-around stay out of it; kernels with atomics or long data-dependent
 * loops use KF_SCALAR_KERNEL, whose x loop is not vectorised. Loops over directions or other small constant
 * counts inside a KF_KERNEL take KF_UNROLL in front: the x loop is only vectorised when no loop is left in it
 * (six times faster). */
#ifndef KF_KERNELS_PORTABLE_H
#define KF_KERNELS_PORTABLE_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define KF_CUDA     1
#define KF_FUNCTION static __device__ __forceinline__
#define KF_RARE_FUNCTION                                                                                     \
    static __device__ __noinline__ /* for few threads: it takes no registers from the others */
#define KF_RESTRICT    __restrict__
#define KF_UNROLL      _Pragma("unroll")
#define KF_UNROLL_BY_3 _Pragma("unroll 3")
#define KF_UNROLL_BY_4 _Pragma("unroll 4")
#define KF_UNROLL_BY_8 _Pragma("unroll 8")
#define KF_UNROLL_BY_9 _Pragma("unroll 9")
#define KF_CONSTANT    static __device__ const
/* Lanes of a warp along x. The length of a block along x is a power of two up to 32, or a multiple of 32. */
#define KF_LANES_ALONG_X ((int)(blockDim.x < 32 ? blockDim.x : 32))
#ifndef KF_LAUNCH_BOUNDS /* "__launch_bounds__(threads, blocks)" or "__maxnreg__(registers)" when a config   \
                            asks for it */
#define KF_LAUNCH_BOUNDS
#endif
typedef long long kf_int64;
typedef unsigned long long kf_uint64;

#define KF_KERNEL(name, arguments_type)                                                                      \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z);                              \
    extern "C" __global__ void KF_LAUNCH_BOUNDS name(const __grid_constant__ arguments_type arguments) {     \
        const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                          \
        const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);                                          \
        const int z = (int)(blockIdx.z * blockDim.z + threadIdx.z);                                          \
        if (x < arguments.extent[0] && y < arguments.extent[1] && z < arguments.extent[2])                   \
            name##_item(&arguments, x, y, z);                                                                \
    }                                                                                                        \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z)
#define KF_SCALAR_KERNEL(name, arguments_type) KF_KERNEL(name, arguments_type)

/* A kernel whose threads share memory and wait for each other is written as phases of one block:
 *
 *     KF_BLOCK_KERNEL(name, arguments_type) {  has a, block_x, block_y; a block is THREADS x 1 x 1
 *         KF_SHARED float row[THREADS];
 *         KF_EACH_THREAD(t, THREADS) { row[t] = ...; }
 *         KF_BARRIER;
 *         KF_EACH_THREAD(t, THREADS) { ... row[t + 1] ... }
 *     }
 *
 * On the GPU every thread runs the body of a phase once. On the cpu a phase is a SIMD loop over the block's
 * threads (KF_EACH_THREAD_SCALAR: a plain loop). KF_EACH_OF(i, count, threads) shares any number of items
 * among the threads. KF_EACH_SLOT does so, too, and numbers each thread's items, for arrays of
 * KF_SLOTS(count, threads) values (KF_EACH_SLOT_BACKWARDS: the last thread has the first item;
 * KF_EACH_FULL_SLOT: the count is a multiple of the threads). Values that a thread keeps between phases are
 * in an array of KF_PRIVATE(THREADS) values, of which KF_OWN(t) belongs to the thread. The extent is in
 * threads along x and in blocks along y. */
#define KF_BLOCK_KERNEL(name, arguments_type)                                                                \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y);                        \
    extern "C" __global__ void KF_LAUNCH_BOUNDS name(const __grid_constant__ arguments_type arguments) {     \
        name##_block(&arguments, (int)blockIdx.x, (int)blockIdx.y);                                          \
    }                                                                                                        \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y)
/* A launch that overlaps its predecessor (kf_launch) calls these. After the first call all earlier work in
 * the stream is done and visible. The next launch may begin as soon as every block of this one has made the
 * second call. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define KF_AWAIT_PREDECESSOR asm volatile("griddepcontrol.wait;" ::: "memory")
#define KF_LET_SUCCESSOR     asm volatile("griddepcontrol.launch_dependents;")
#else
#define KF_AWAIT_PREDECESSOR ((void)0)
#define KF_LET_SUCCESSOR     ((void)0)
#endif
#define KF_SHARED __shared__
/* Dynamic shared memory has the size that the launch gives, which may exceed 48 KiB if the device allows it.
 * A kernel has one such array. */
#define KF_DYNAMIC_SHARED(type, name, count)                                                                 \
    extern __shared__ __align__(16) unsigned char kf_dynamic_shared[];                                       \
    type *const name = (type *)kf_dynamic_shared
#define KF_BARRIER                      __syncthreads()
#define KF_EACH_THREAD(t, count)        for (int t = (int)threadIdx.x, kf_once = 1; kf_once; kf_once = 0)
#define KF_EACH_THREAD_SCALAR(t, count) KF_EACH_THREAD(t, count)
#define KF_EACH_OF(i, count, threads)   for (int i = (int)threadIdx.x; i < (count); i += (threads))
#define KF_EACH_SLOT(i, slot, count, threads)                                                                \
    KF_UNROLL                                                                                                \
    for (int slot = 0, i = (int)threadIdx.x; slot < KF_SLOTS(count, threads); slot++, i += (threads))        \
        if (i < (count))
#define KF_EACH_SLOT_BACKWARDS(i, slot, count, threads)                                                      \
    KF_UNROLL                                                                                                \
    for (int slot = 0, i = (threads)-1 - (int)threadIdx.x; slot < KF_SLOTS(count, threads);                  \
         slot++, i += (threads))                                                                             \
        if (i < (count))
#define KF_EACH_FULL_SLOT(i, slot, count, threads)                                                           \
    KF_UNROLL                                                                                                \
    for (int slot = 0, i = (int)threadIdx.x; slot < (count) / (threads); slot++, i += (threads))
#define KF_SLOTS(count, threads) (((count) + (threads)-1) / (threads))
#define KF_PRIVATE(count)        1
#define KF_OWN(t)                0

/* Returns the number, but hides its origin from the compiler. What follows from it is then computed where it
 * is needed, instead of being kept in registers across a loop. */
KF_FUNCTION int kf_worked_out_here(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
/* Copies of 4 or 8 bytes to shared memory, which need no register while they are under way. The thread that
 * begins them also awaits them. kf_end_copies makes a group of the copies since the last one. kf_await_copies
 * waits until only this number of the latest groups is under way. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
KF_FUNCTION void kf_copy_ahead(void *shared, const void *global, int bytes) {
    const unsigned place = (unsigned)__cvta_generic_to_shared(shared);
    if (bytes == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(place), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(global) : "memory");
}
#define kf_end_copies()         asm volatile("cp.async.commit_group;" ::: "memory")
#define kf_await_copies(latest) asm volatile("cp.async.wait_group %0;" ::"n"(latest) : "memory")
#else
KF_FUNCTION void kf_copy_ahead(void *shared, const void *global, int bytes) {
    if (bytes == 8)
        *(kf_int64 *)shared = *(const kf_int64 *)global;
    else
        *(int *)shared = *(const int *)global;
}
#define kf_end_copies()         ((void)0)
#define kf_await_copies(latest) ((void)0)
#endif
/* A barrier in two halves. A thread first reports that its part is done, and later waits for all others where
 * it needs their results. One thread calls `begun` before a KF_BARRIER. It is for whole warps. round: number
 * of earlier waits. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
typedef kf_uint64 kf_split_barrier;
KF_FUNCTION void kf_begin_split_barrier(kf_split_barrier *barrier, int threads) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
                 "r"(threads / 32)
                 : "memory");
}
KF_FUNCTION void kf_arrive(kf_split_barrier *barrier) {
    asm volatile(
        "{ .reg .pred first;\n"
        "bar.warp.sync 0xffffffff;\n"
        "elect.sync _|first, 0xffffffff;\n"
        "@first mbarrier.arrive.shared.b64 _, [%0]; }" ::"r"((unsigned)__cvta_generic_to_shared(barrier))
        : "memory");
}
KF_FUNCTION void kf_await_all(kf_split_barrier *barrier, int round) {
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"((unsigned)__cvta_generic_to_shared(barrier)),
                 "r"(round & 1)
                 : "memory");
}
#else
typedef kf_uint64 kf_split_barrier;
#define kf_begin_split_barrier(barrier, threads) ((void)0)
#define kf_arrive(barrier)                       ((void)0)
#define kf_await_all(barrier, round)             __syncthreads()
#endif
/* Loads a word at this place of the program. An earlier load would occupy a register until the word is used.
 */
KF_FUNCTION unsigned kf_load_late(const unsigned *place) {
    unsigned word;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(place));
    return word;
}
/* Reads a word of shared memory that other threads of the block may write at the same time. */
#define kf_load_shared(place) (*(volatile const int *)(place))
/* Loads of memory that no thread writes while the kernel runs need not wait for earlier stores. */
#define kf_load_constant(place) __ldg(place)
/* In a one-dimensional kernel every 32 items are a warp. Values that earlier warps have written can be read
 * when this number of warps has ended. Earlier warps have certainly begun. The last warp to end resets the
 * count. */
KF_FUNCTION void kf_await_warps(const int *ended, int count) {
    while (*(const volatile int *)ended < count)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
        __nanosleep(20);
#else
        ;
#endif
    __threadfence();
}
KF_FUNCTION void kf_end_warp(int *ended, int item, int all) {
    __syncwarp();
    if (item % 32 != 0) return;
    __threadfence();
    if (atomicAdd(ended, 1) == all - 1) *(volatile int *)ended = 0;
}
KF_FUNCTION void kf_atomic_add_float(float *target, float value) {
    atomicAdd(target, value);
}
KF_FUNCTION void kf_atomic_add_double(double *target, double value) {
    atomicAdd(target, value);
}
/* Adds to the first three of four values that begin at a multiple of 16 bytes, in one access if device and
 * compiler can. */
KF_FUNCTION void kf_atomic_add_three(float *target, float x, float y, float z) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 &&                                                        \
    100 * __CUDACC_VER_MAJOR__ + __CUDACC_VER_MINOR__ >= 1201
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(target)),
                 "f"(x), "f"(y), "f"(z), "f"(0.0F)
                 : "memory");
#else
    atomicAdd(target, x);
    atomicAdd(target + 1, y);
    atomicAdd(target + 2, z);
#endif
}
KF_FUNCTION void kf_atomic_add_int64(kf_int64 *target, kf_int64 value) {
    atomicAdd((kf_uint64 *)target, (kf_uint64)value);
}
/* Adds up the values of a whole warp first, and then the sum to the first lane's target. */
KF_FUNCTION void kf_atomic_add_int64_of_warp(kf_int64 *target, kf_int64 value) {
    int first = 1;
    if (__activemask() == 0xffffffffU) {
        KF_UNROLL
        for (int others = 16; others > 0; others /= 2)
            value += __shfl_xor_sync(0xffffffffU, value, others);
        first = (threadIdx.x + (threadIdx.y + threadIdx.z * blockDim.y) * blockDim.x) % 32 == 0;
    }
    if (first) kf_atomic_add_int64(target, value);
}
KF_FUNCTION int kf_atomic_add_int(int *target, int value) {
    return atomicAdd(target, value);
}
/* The lanes of a whole warp that have the same number: their count, the count of those before this lane, and
 * the first of them. */
typedef struct kf_equals {
    int all, before, first;
} kf_equals;
KF_FUNCTION kf_equals kf_find_equals(int number) {
    const unsigned lanes = __match_any_sync(0xffffffffU, number);
    unsigned before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
    const kf_equals equals = {__popc(lanes), __popc(lanes & before), __ffs((int)lanes) - 1};
    return equals;
}
/* Returns the value that this lane of the whole warp has. */
KF_FUNCTION int kf_from_lane(int value, int lane) {
    return __shfl_sync(0xffffffffU, value, lane);
}
/* Adds 1. Lanes of a warp that count at the same place share one atomic. */
KF_FUNCTION int kf_atomic_count(int *target) {
    const unsigned lanes = __match_any_sync(__activemask(), (kf_uint64)target);
    const int first = __ffs((int)lanes) - 1;
    int before = 0, lane;
    asm("mov.s32 %0, %%laneid;" : "=r"(lane));
    if (lane == first) before = atomicAdd(target, __popc(lanes));
    return __shfl_sync(lanes, before, first) + __popc(lanes & ((1u << lane) - 1));
}
KF_FUNCTION int kf_atomic_compare_swap_int(int *target, int expected, int value) {
    return atomicCAS(target, expected, value);
}
KF_FUNCTION void kf_atomic_set_bits(unsigned *target, unsigned bits) {
    atomicOr(target, bits);
}
#define kf_count_bits(word) __popc(word)

#else

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define KF_CUDA          0
#define KF_FUNCTION      static inline __attribute__((always_inline, unused))
#define KF_RARE_FUNCTION static __attribute__((noinline, unused))
#define KF_RESTRICT      restrict
#define KF_UNROLL        _Pragma("GCC unroll 64") /* clang understands it, too */
#define KF_UNROLL_BY_3   _Pragma("GCC unroll 3")
#define KF_UNROLL_BY_4   _Pragma("GCC unroll 4")
#define KF_UNROLL_BY_8   _Pragma("GCC unroll 8")
#define KF_UNROLL_BY_9   _Pragma("GCC unroll 9")
#define KF_CONSTANT      static const
#define KF_LANES_ALONG_X 32
typedef int64_t kf_int64;
typedef uint64_t kf_uint64;

/* The entry point on the cpu. It takes the block shape, the range of blocks to do (first .. last - 1, x
 * fastest), and the arguments. */
#define KF_CPU_ENTRY(name, arguments_type, x_loop)                                                           \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z);                              \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments);                       \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments) {                      \
        const arguments_type a = *(const arguments_type *)arguments;                                         \
        const int bx = block[0], by = block[1], bz = block[2];                                               \
        const int nx = a.extent[0], ny = a.extent[1], nz = a.extent[2];                                      \
        const kf_int64 gx = (nx + bx - 1) / bx, gy = (ny + by - 1) / by;                                     \
        for (kf_int64 b = first; b < last; b++) {                                                            \
            const int x0 = (int)(b % gx) * bx, x1 = nx - x0 < bx ? nx : x0 + bx;                             \
            const int y0 = (int)(b / gx % gy) * by, y1 = ny - y0 < by ? ny : y0 + by;                        \
            const int z0 = (int)(b / (gx * gy)) * bz, z1 = nz - z0 < bz ? nz : z0 + bz;                      \
            for (int z = z0; z < z1; z++)                                                                    \
                for (int y = y0; y < y1; y++) {                                                              \
                    x_loop for (int x = x0; x < x1; x++) name##_item(&a, x, y, z);                           \
                }                                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z)
/* A kernel of this kind processes rows in parts. The part that begins at x0 ends before until(a, x0, end, y,
 * z). before(a, x0, x1, y, z, kept) is called first and returns whether the part's items are to be done;
 * after(a, x0, x1, y, z, kept) is called last. `kept` is an array of `count` values of `type` that belongs to
 * the thread. An item, name##_item(a, x, y, z, kept, x0), may read and write it. */
#define KF_ROW_KERNEL(name, arguments_type, until, type, count, before, after)                               \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z, type *kept, int x0);          \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments);                       \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments) {                      \
        const arguments_type a = *(const arguments_type *)arguments;                                         \
        const int bx = block[0], by = block[1], bz = block[2];                                               \
        const int nx = a.extent[0], ny = a.extent[1], nz = a.extent[2];                                      \
        const kf_int64 gx = (nx + bx - 1) / bx, gy = (ny + by - 1) / by;                                     \
        type kept[count] __attribute__((aligned(64)));                                                       \
        for (kf_int64 b = first; b < last; b++) {                                                            \
            const int begin = (int)(b % gx) * bx, end = nx - begin < bx ? nx : begin + bx;                   \
            const int y0 = (int)(b / gx % gy) * by, y1 = ny - y0 < by ? ny : y0 + by;                        \
            const int z0 = (int)(b / (gx * gy)) * bz, z1 = nz - z0 < bz ? nz : z0 + bz;                      \
            for (int z = z0; z < z1; z++)                                                                    \
                for (int y = y0; y < y1; y++)                                                                \
                    for (int x0 = begin, x1; x0 < end; x0 = x1) {                                            \
                        x1 = until(&a, x0, end, y, z);                                                       \
                        if (!before(&a, x0, x1, y, z, kept)) continue;                                       \
                        _Pragma("omp simd") for (int x = x0; x < x1; x++)                                    \
                            name##_item(&a, x, y, z, kept, x0);                                              \
                        after(&a, x0, x1, y, z, kept);                                                       \
                    }                                                                                        \
        }                                                                                                    \
        KF_STREAM_END;                                                                                       \
    }                                                                                                        \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z, type *kept, int x0)

/* Copies bytes without using the caches, as far as they fill whole vectors. The source must be aligned to a
 * cache line. KF_STREAM_END makes the bytes visible to other threads. */
#if defined(__AVX512F__)
typedef float kf_stream_vector __attribute__((vector_size(64), may_alias));
#elif defined(__AVX__)
typedef float kf_stream_vector __attribute__((vector_size(32), may_alias));
#else
typedef float kf_stream_vector __attribute__((vector_size(16), may_alias));
#endif
#if defined(__x86_64__)
#define KF_STREAM_END __builtin_ia32_sfence()
#else
#define KF_STREAM_END ((void)0)
#endif
KF_FUNCTION void kf_stream_vectors(kf_stream_vector *target, const kf_stream_vector *source, kf_int64 count) {
    for (kf_int64 i = 0; i < count; i++)
#if defined(__clang__)
        __builtin_nontemporal_store(source[i], target + i);
#elif defined(__AVX512F__)
        __builtin_ia32_movntps512((float *)(target + i), source[i]);
#elif defined(__AVX__)
        __builtin_ia32_movntps256((float *)(target + i), source[i]);
#elif defined(__x86_64__)
        __builtin_ia32_movntps((float *)(target + i), source[i]);
#else
        target[i] = source[i];
#endif
}
KF_FUNCTION void kf_stream_bytes(void *target, const void *source, kf_int64 bytes) {
    const kf_int64 size = (kf_int64)sizeof(kf_stream_vector);
    kf_int64 done = 0;
    if ((uintptr_t)target % sizeof(kf_stream_vector) == 0) {
        kf_stream_vectors((kf_stream_vector *)target, (const kf_stream_vector *)source, bytes / size);
        done = bytes / size * size;
    }
    if (done < bytes)
        __builtin_memcpy((char *)target + done, (const char *)source + done, (size_t)(bytes - done));
}

#define KF_KERNEL(name, arguments_type)        KF_CPU_ENTRY(name, arguments_type, _Pragma("omp simd"))
#define KF_SCALAR_KERNEL(name, arguments_type) KF_CPU_ENTRY(name, arguments_type, )

#define KF_BLOCK_KERNEL(name, arguments_type)                                                                \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y);                        \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments);                       \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments) {                      \
        const arguments_type a = *(const arguments_type *)arguments;                                         \
        const kf_int64 gx = (a.extent[0] + block[0] - 1) / block[0];                                         \
        for (kf_int64 b = first; b < last; b++)                                                              \
            name##_block(&a, (int)(b % gx), (int)(b / gx));                                                  \
    }                                                                                                        \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y)
#define KF_AWAIT_PREDECESSOR ((void)0)
#define KF_LET_SUCCESSOR     ((void)0)
#define KF_SHARED
#define KF_DYNAMIC_SHARED(type, name, count)            __attribute__((aligned(64))) type name[count]
#define KF_BARRIER                                      ((void)0)
#define KF_EACH_THREAD(t, count)                        _Pragma("omp simd") for (int t = 0; t < (count); t++)
#define KF_EACH_THREAD_SCALAR(t, count)                 for (int t = 0; t < (count); t++)
#define KF_EACH_OF(i, count, threads)                   for (int i = 0; i < (count); i++)
#define KF_EACH_SLOT(i, slot, count, threads)           for (int i = 0, slot = 0; i < (count); slot = ++i)
#define KF_EACH_SLOT_BACKWARDS(i, slot, count, threads) KF_EACH_SLOT(i, slot, count, threads)
#define KF_EACH_FULL_SLOT                               KF_EACH_SLOT
#define KF_SLOTS(count, threads)                        (count)
#define KF_PRIVATE(count)                               (count)
#define KF_OWN(t)                                       (t)

#define KF_ATOMIC_ADD(type, target, value)                                                                   \
    type before_ = *(target), after_;                                                                        \
    do                                                                                                       \
        after_ = before_ + (value);                                                                          \
    while (!__atomic_compare_exchange(target, &before_, &after_, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
KF_FUNCTION void kf_atomic_add_float(float *target, float value) {
    KF_ATOMIC_ADD(float, target, value);
}
KF_FUNCTION void kf_atomic_add_double(double *target, double value) {
    KF_ATOMIC_ADD(double, target, value);
}
KF_FUNCTION void kf_atomic_add_three(float *target, float x, float y, float z) {
    kf_atomic_add_float(target, x);
    kf_atomic_add_float(target + 1, y);
    kf_atomic_add_float(target + 2, z);
}
KF_FUNCTION void kf_atomic_add_int64(kf_int64 *target, kf_int64 value) {
    __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
}
KF_FUNCTION void kf_await_warps(const int *ended, int count) {
    while (__atomic_load_n(ended, __ATOMIC_ACQUIRE) < count)
        ;
}
KF_FUNCTION void kf_end_warp(int *ended, int item, int all) {
    if (item % 32 == 31 && __atomic_fetch_add(ended, 1, __ATOMIC_ACQ_REL) == all - 1)
        __atomic_store_n(ended, 0, __ATOMIC_RELEASE);
}
typedef kf_uint64 kf_split_barrier;
#define kf_begin_split_barrier(barrier, threads) ((void)(barrier))
#define kf_arrive(barrier)                       ((void)(barrier))
#define kf_await_all(barrier, round)             ((void)(barrier))
#define kf_worked_out_here(number)               (number)
#define kf_copy_ahead(shared, global, bytes)     __builtin_memcpy(shared, global, bytes)
#define kf_end_copies()                          ((void)0)
#define kf_await_copies(latest)                  ((void)0)
#define kf_load_late(place)                      (*(place))
#define kf_load_shared(place)                    (*(place))
#define kf_load_constant(place)                  (*(place))
#define kf_atomic_add_int64_of_warp              kf_atomic_add_int64
KF_FUNCTION int kf_atomic_add_int(int *target, int value) {
    return __atomic_fetch_add(target, value, __ATOMIC_RELAXED);
}
typedef struct kf_equals {
    int all, before, first;
} kf_equals;
KF_FUNCTION kf_equals kf_find_equals(int number) {
    (void)number;
    const kf_equals equals = {1, 0, 0};
    return equals;
}
#define kf_from_lane(value, lane)                ((void)(lane), (value))
KF_FUNCTION int kf_atomic_count(int *target) {
    return kf_atomic_add_int(target, 1);
}
KF_FUNCTION int kf_atomic_compare_swap_int(int *target, int expected, int value) {
    __atomic_compare_exchange_n(target, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
KF_FUNCTION void kf_atomic_set_bits(unsigned *target, unsigned bits) {
    __atomic_fetch_or(target, bits, __ATOMIC_RELAXED);
}
#define kf_count_bits(word)                      __builtin_popcount(word)

#endif

/* The bits of a number as an integer, and the number with these bits. */
#define KF_BITS(name, from, to)                                                                              \
    KF_FUNCTION to name(from x) {                                                                            \
        union {                                                                                              \
            from in;                                                                                         \
            to out;                                                                                          \
        } both;                                                                                              \
        both.in = x;                                                                                         \
        return both.out;                                                                                     \
    }
KF_BITS(kf_float_bits, float, int)
KF_BITS(kf_bits_float, int, float)
KF_BITS(kf_double_bits, double, kf_int64)
KF_BITS(kf_bits_double, kf_int64, double)

#endif
