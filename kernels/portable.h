/* Makes a kernel one source for two backends: CUDA C for `cuda` (NVRTC), and C17 for `cpu`.
 *
 * A kernel takes one struct by value. Its first member is int extent[3], the number of items along x, y
 * and z. The kernel's body handles one item:
 *
 *     typedef struct scale_arguments { int extent[3]; float *values; float factor; } scale_arguments;
 *     KF_KERNEL(scale, scale_arguments) { a->values[x] *= a->factor; }
 *
 * On the GPU every item is a thread. On the cpu, threads share the blocks, and the x loop inside a block
 * is the SIMD loop. It vectorises only without branches and index wrap-around. Kernels with atomics or
 * long data-dependent loops are KF_SCALAR_KERNELs, whose x loop is not vectorised. A loop over directions,
 * or another small constant count, needs KF_UNROLL in front. Otherwise the x loop is not the innermost
 * one, does not vectorise, and the kernel is six times slower. */
#ifndef KF_KERNELS_PORTABLE_H
#define KF_KERNELS_PORTABLE_H

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

#define KF_CUDA     1
#define KF_FUNCTION static __device__ __forceinline__
#define KF_RARE_FUNCTION                                                                                     \
    static __device__                                                                                        \
        __noinline__ /* for functions that few threads call: inlined, they would take registers from all */
#define KF_RESTRICT    __restrict__
#define KF_UNROLL      _Pragma("unroll")
#define KF_UNROLL_BY_3 _Pragma("unroll 3")
#define KF_UNROLL_BY_4 _Pragma("unroll 4")
#define KF_UNROLL_BY_8 _Pragma("unroll 8")
#define KF_UNROLL_BY_9 _Pragma("unroll 9")
#define KF_CONSTANT    static __device__ const
/* The number of lanes of a warp along x. A block's length along x is a power of two up to 32, or a
 * multiple of 32. */
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
/* A kernel whose items wait for earlier ones (kf_await_warps). */
#define KF_ORDERED_KERNEL(name, arguments_type) KF_KERNEL(name, arguments_type)

/* A kernel whose threads share memory and wait for each other is written as phases of one block:
 *
 *     KF_BLOCK_KERNEL(name, arguments_type) {  has a, block_x, block_y; a block is THREADS x 1 x 1
 *         KF_SHARED float row[THREADS];
 *         KF_EACH_THREAD(t, THREADS) { row[t] = ...; }
 *         KF_BARRIER;
 *         KF_EACH_THREAD(t, THREADS) { ... row[t + 1] ... }
 *     }
 *
 * On the GPU every thread runs the body of a phase once. On the cpu a phase is a SIMD loop over the
 * block's threads, or a plain loop with KF_EACH_THREAD_SCALAR. These share a number of items among the
 * threads:
 *
 *     KF_EACH_OF(i, count, threads)    any number of items
 *     KF_EACH_SLOT                     numbers each thread's items besides, for arrays of
 *                                      KF_SLOTS(count, threads)
 *     KF_EACH_SLOT_BACKWARDS           the last thread has the first item
 *     KF_EACH_FULL_SLOT                the count is a multiple of the threads
 *
 * A value that a thread keeps from phase to phase is in an array of KF_PRIVATE(THREADS) values, at
 * KF_OWN(t). The extent is in threads along x and in blocks along y. */
#define KF_BLOCK_KERNEL(name, arguments_type)                                                                \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y);                        \
    extern "C" __global__ void KF_LAUNCH_BOUNDS name(const __grid_constant__ arguments_type arguments) {     \
        name##_block(&arguments, (int)blockIdx.x, (int)blockIdx.y);                                          \
    }                                                                                                        \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y)
/* A launch that overlaps its predecessor (kf_launch) uses these. After KF_AWAIT_PREDECESSOR all earlier
 * work in the stream is done and visible. The next launch may begin when every block of this one has
 * passed KF_LET_SUCCESSOR. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define KF_AWAIT_PREDECESSOR asm volatile("griddepcontrol.wait;" ::: "memory")
#define KF_LET_SUCCESSOR     asm volatile("griddepcontrol.launch_dependents;")
#else
#define KF_AWAIT_PREDECESSOR ((void)0)
#define KF_LET_SUCCESSOR     ((void)0)
#endif
#define KF_SHARED __shared__
/* Dynamic shared memory has the size that the launch gives. It may exceed 48 KiB if the device allows it.
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

/* Returns the number, but hides from the compiler where it comes from. So the compiler computes what
 * depends on it where it is needed, instead of keeping it in registers across a loop. */
KF_FUNCTION int kf_worked_out_here(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
/* Copies 4 or 8 bytes to shared memory asynchronously, through no register. The thread that starts copies
 * also awaits them. kf_end_copies ends a group of copies. kf_await_copies waits until at most `latest`
 * groups, the latest ones, are under way. */
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
/* A split barrier. A thread calls kf_arrive when its part is done, and kf_await_all where it needs the
 * results of all. So it can work between the two. One thread calls kf_begin_split_barrier before a
 * KF_BARRIER. All threads of a warp take part. round: how often the block has already waited. */
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
/* Loads a word at this point of the program. The compiler would load it earlier and occupy a register
 * until the word is used. */
KF_FUNCTION unsigned kf_load_late(const unsigned *place) {
    unsigned word;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(place));
    return word;
}
/* Reads a word of shared memory that other threads of the block may write at the same time. */
#define kf_load_shared(place) (*(volatile const int *)(place))
/* Loads through the read-only cache. No thread may write this memory while the kernel runs. */
#define kf_load_constant(place) __ldg(place)
/* Orders the warps of a one-dimensional kernel, in which 32 items are a warp. kf_await_warps waits until
 * `count` warps have ended; then their results can be read. This cannot deadlock, because a GPU starts
 * earlier warps first. The last warp to end resets the count. */
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
/* Adds to the first three of four values. The four begin at a multiple of 16 bytes, so that one access
 * adds all if device and compiler have such an instruction. */
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
/* Adds the values of a whole warp to the first lane's target with a single atomic. */
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
/* The lanes of a warp that have the same number: how many they are, how many of them come before this
 * lane, and the first of them. All lanes of the warp must call kf_find_equals. */
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
/* Returns the value of another lane. All lanes of the warp must call it. */
KF_FUNCTION int kf_from_lane(int value, int lane) {
    return __shfl_sync(0xffffffffU, value, lane);
}
/* Adds 1 and returns the count before. Lanes of a warp that count at the same place share one atomic. */
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
#define KF_UNROLL        _Pragma("GCC unroll 64") /* clang has this pragma too */
#define KF_UNROLL_BY_3   _Pragma("GCC unroll 3")
#define KF_UNROLL_BY_4   _Pragma("GCC unroll 4")
#define KF_UNROLL_BY_8   _Pragma("GCC unroll 8")
#define KF_UNROLL_BY_9   _Pragma("GCC unroll 9")
#define KF_CONSTANT      static const
#define KF_LANES_ALONG_X 32
typedef int64_t kf_int64;
typedef uint64_t kf_uint64;

/* With KF_BACKWARDS=1 items, threads and blocks run from the last to the first. Tests define it: a result
 * that depends on the order of a launch's items, which a GPU does not keep, then deviates from the reference.
 */
#if KF_BACKWARDS
#define KF_EACH(type, i, first, end)     for (type i = (end)-1; i >= (first); i--)
#define KF_EACH_NUMBERED(i, slot, count) for (int i = (count)-1, slot = i; i >= 0; slot = --i)
#else
#define KF_EACH(type, i, first, end)     for (type i = first; i < end; i++)
#define KF_EACH_NUMBERED(i, slot, count) for (int i = 0, slot = 0; i < (count); slot = ++i)
#endif
#define KF_EACH_IN_ORDER(type, i, first, end) for (type i = first; i < end; i++)

/* Defines the function that the cpu backend calls. It gets the block's shape, the range of blocks to do
 * (first .. last - 1, x fastest), and the arguments. */
#define KF_CPU_ENTRY(name, arguments_type, x_loop, each)                                                     \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z);                              \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments);                       \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments) {                      \
        const arguments_type a = *(const arguments_type *)arguments;                                         \
        const int bx = block[0], by = block[1], bz = block[2];                                               \
        const int nx = a.extent[0], ny = a.extent[1], nz = a.extent[2];                                      \
        const kf_int64 gx = (nx + bx - 1) / bx, gy = (ny + by - 1) / by;                                     \
        each(kf_int64, b, first, last) {                                                                     \
            const int x0 = (int)(b % gx) * bx, x1 = nx - x0 < bx ? nx : x0 + bx;                             \
            const int y0 = (int)(b / gx % gy) * by, y1 = ny - y0 < by ? ny : y0 + by;                        \
            const int z0 = (int)(b / (gx * gy)) * bz, z1 = nz - z0 < bz ? nz : z0 + bz;                      \
            each(int, z, z0, z1) each(int, y, y0, y1) {                                                      \
                x_loop each(int, x, x0, x1) name##_item(&a, x, y, z);                                        \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z)
/* Defines a kernel that handles each row in parts, with a buffer for each part. The part that begins at x0
 * ends before until(a, x0, end, y, z). The kernel first calls before(a, x0, x1, y, z, kept), which returns
 * whether to do the part's items, then name##_item(a, x, y, z, kept, x0) for each item, and at last
 * after(a, x0, x1, y, z, kept). `kept` is the buffer: `count` values of `type`, which belong to the
 * thread. */
#define KF_ROW_KERNEL(name, arguments_type, until, type, count, before, after)                               \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z, type *kept, int x0);          \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments);                       \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments) {                      \
        const arguments_type a = *(const arguments_type *)arguments;                                         \
        const int bx = block[0], by = block[1], bz = block[2];                                               \
        const int nx = a.extent[0], ny = a.extent[1], nz = a.extent[2];                                      \
        const kf_int64 gx = (nx + bx - 1) / bx, gy = (ny + by - 1) / by;                                     \
        type kept[count] __attribute__((aligned(64)));                                                       \
        KF_EACH(kf_int64, b, first, last) {                                                                  \
            const int begin = (int)(b % gx) * bx, end = nx - begin < bx ? nx : begin + bx;                   \
            const int y0 = (int)(b / gx % gy) * by, y1 = ny - y0 < by ? ny : y0 + by;                        \
            const int z0 = (int)(b / (gx * gy)) * bz, z1 = nz - z0 < bz ? nz : z0 + bz;                      \
            KF_EACH(int, z, z0, z1)                                                                          \
                KF_EACH(int, y, y0, y1)                                                                      \
                    for (int x0 = begin, x1; x0 < end; x0 = x1) {                                            \
                        x1 = until(&a, x0, end, y, z);                                                       \
                        if (!before(&a, x0, x1, y, z, kept)) continue;                                       \
                        _Pragma("omp simd") KF_EACH(int, x, x0, x1) name##_item(&a, x, y, z, kept, x0);      \
                        after(&a, x0, x1, y, z, kept);                                                       \
                    }                                                                                        \
        }                                                                                                    \
        KF_STREAM_END;                                                                                       \
    }                                                                                                        \
    KF_FUNCTION void name##_item(const arguments_type *a, int x, int y, int z, type *kept, int x0)

/* Copies bytes past the caches, as far as they fill whole vectors. The source must be aligned to a cache
 * line. KF_STREAM_END makes the bytes visible to other threads. */
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

#define KF_KERNEL(name, arguments_type)         KF_CPU_ENTRY(name, arguments_type, _Pragma("omp simd"), KF_EACH)
#define KF_SCALAR_KERNEL(name, arguments_type)  KF_CPU_ENTRY(name, arguments_type, , KF_EACH)
#define KF_ORDERED_KERNEL(name, arguments_type) KF_CPU_ENTRY(name, arguments_type, , KF_EACH_IN_ORDER)

#define KF_BLOCK_KERNEL(name, arguments_type)                                                                \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y);                        \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments);                       \
    void name(const int *block, kf_int64 first, kf_int64 last, const void *arguments) {                      \
        const arguments_type a = *(const arguments_type *)arguments;                                         \
        const kf_int64 gx = (a.extent[0] + block[0] - 1) / block[0];                                         \
        KF_EACH(kf_int64, b, first, last)                                                                    \
            name##_block(&a, (int)(b % gx), (int)(b / gx));                                                  \
    }                                                                                                        \
    KF_FUNCTION void name##_block(const arguments_type *a, int block_x, int block_y)
#define KF_AWAIT_PREDECESSOR ((void)0)
#define KF_LET_SUCCESSOR     ((void)0)
#define KF_SHARED
#define KF_DYNAMIC_SHARED(type, name, count)            __attribute__((aligned(64))) type name[count]
#define KF_BARRIER                                      ((void)0)
#define KF_EACH_THREAD(t, count)                        _Pragma("omp simd") KF_EACH(int, t, 0, (count))
#define KF_EACH_THREAD_SCALAR(t, count)                 KF_EACH(int, t, 0, (count))
#define KF_EACH_OF(i, count, threads)                   KF_EACH(int, i, 0, (count))
#define KF_EACH_SLOT(i, slot, count, threads)           KF_EACH_NUMBERED(i, slot, count)
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

/* Convert a number to an integer with the same bits, and back. */
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
