/* Lets NVRTC compile OpenCL C kernels as CUDA C. solver/t1/t1_opencl.c rewrites a kernel, and this header
 * declares the words, functions and types that the result uses. For anything else (images, pipes, events,
 * swizzles other than .lo .hi .xy .zw) the compiler reports an error with the line. */
#ifndef KF_T1_OPENCL_H
#define KF_T1_OPENCL_H

/* --- Words --- */

#define __OPENCL_VERSION__ 120
#define __kernel           extern "C" __global__
#define __global
#define __private
#define __read_only
#define __write_only
#define __read_write
#define restrict __restrict__
#define reqd_work_group_size(...) unused
#define work_group_size_hint(...) unused
#define vec_type_hint(...)        unused
#define opencl_unroll_hint(...)   unused
#define CLK_LOCAL_MEM_FENCE       1
#define CLK_GLOBAL_MEM_FENCE      2
#define barrier(flags)            __syncthreads()
#define work_group_barrier(...)   __syncthreads()
#define mem_fence(flags)          __threadfence_block()
#define read_mem_fence(flags)     __threadfence_block()
#define write_mem_fence(flags)    __threadfence_block()

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

/* --- The place of a work-item: get_global_id and its kin --- */

#define KF_CL static __device__ __forceinline__
KF_CL size_t kf_cl_axis(dim3 d, uint axis) {
    return axis == 0 ? d.x : axis == 1 ? d.y : axis == 2 ? d.z : 1;
}
KF_CL size_t kf_cl_place(uint3 d, uint axis) {
    return axis == 0 ? d.x : axis == 1 ? d.y : axis == 2 ? d.z : 0;
}
KF_CL size_t get_local_id(uint axis) {
    return kf_cl_place(threadIdx, axis);
}
KF_CL size_t get_group_id(uint axis) {
    return kf_cl_place(blockIdx, axis);
}
KF_CL size_t get_local_size(uint axis) {
    return kf_cl_axis(blockDim, axis);
}
KF_CL size_t get_num_groups(uint axis) {
    return kf_cl_axis(gridDim, axis);
}
KF_CL size_t get_global_id(uint axis) {
    return get_group_id(axis) * get_local_size(axis) + get_local_id(axis);
}
KF_CL size_t get_global_size(uint axis) {
    return get_num_groups(axis) * get_local_size(axis);
}
KF_CL size_t get_global_offset(uint) {
    return 0;
}
KF_CL uint get_work_dim(void) {
    return 3;
}

/* --- Vectors
 * ------------------------------------------------------------------------------------------------ Types of
 * our own under OpenCL's names: components by letters and by numbers, halves, and arithmetic. */

template <typename T, int N> struct kf_cl_vector;
template <typename T> struct alignas(2 * sizeof(T)) kf_cl_vector<T, 2> {
    union {
        struct {
            T x, y;
        };
        struct {
            T s0, s1;
        };
        struct {
            T lo, hi;
        };
        T s[2];
    };
};
template <typename T> struct alignas(4 * sizeof(T)) kf_cl_vector<T, 3> {
    union {
        struct {
            T x, y, z;
        };
        struct {
            T s0, s1, s2;
        };
        kf_cl_vector<T, 2> xy;
        T s[3];
    };
};
template <typename T> struct alignas(4 * sizeof(T)) kf_cl_vector<T, 4> {
    union {
        struct {
            T x, y, z, w;
        };
        struct {
            T s0, s1, s2, s3;
        };
        struct {
            kf_cl_vector<T, 2> lo, hi;
        };
        struct {
            kf_cl_vector<T, 2> xy, zw;
        };
        T s[4];
    };
};
template <typename T> struct alignas(8 * sizeof(T)) kf_cl_vector<T, 8> {
    union {
        struct {
            T s0, s1, s2, s3, s4, s5, s6, s7;
        };
        struct {
            kf_cl_vector<T, 4> lo, hi;
        };
        T s[8];
    };
};
template <typename T> struct alignas(16 * sizeof(T)) kf_cl_vector<T, 16> {
    union {
        struct {
            T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sA, sB, sC, sD, sE, sF;
        };
        struct {
            T s0_, s1_, s2_, s3_, s4_, s5_, s6_, s7_, s8_, s9_, sa, sb, sc, sd, se, sf;
        };
        struct {
            kf_cl_vector<T, 8> lo, hi;
        };
        T s[16];
    };
};

#define KF_CL_EACH _Pragma("unroll") for (int i = 0; i < N; i++)
#define KF_CL_OPERATOR(op)                                                                                   \
    template <typename T, int N>                                                                             \
    KF_CL kf_cl_vector<T, N> operator op(kf_cl_vector<T, N> a, kf_cl_vector<T, N> b) {                       \
        KF_CL_EACH a.s[i] = (T)(a.s[i] op b.s[i]);                                                           \
        return a;                                                                                            \
    }                                                                                                        \
    template <typename T, int N, typename S>                                                                 \
    KF_CL kf_cl_vector<T, N> operator op(kf_cl_vector<T, N> a, S b) {                                        \
        KF_CL_EACH a.s[i] = (T)(a.s[i] op(T) b);                                                             \
        return a;                                                                                            \
    }                                                                                                        \
    template <typename T, int N, typename S>                                                                 \
    KF_CL kf_cl_vector<T, N> operator op(S b, kf_cl_vector<T, N> a) {                                        \
        KF_CL_EACH a.s[i] = (T)((T)b op a.s[i]);                                                             \
        return a;                                                                                            \
    }                                                                                                        \
    template <typename T, int N, typename S>                                                                 \
    KF_CL kf_cl_vector<T, N> &operator op##=(kf_cl_vector<T, N> &a, S b) {                                   \
        a = a op b;                                                                                          \
        return a;                                                                                            \
    }
KF_CL_OPERATOR(+)
KF_CL_OPERATOR(-)
KF_CL_OPERATOR(*)
KF_CL_OPERATOR(/)
KF_CL_OPERATOR(%)
KF_CL_OPERATOR(&)
KF_CL_OPERATOR(|)
KF_CL_OPERATOR(^)
KF_CL_OPERATOR(<<)
KF_CL_OPERATOR(>>)
template <typename T, int N> KF_CL kf_cl_vector<T, N> operator-(kf_cl_vector<T, N> a) {
    KF_CL_EACH a.s[i] = -a.s[i];
    return a;
}

/* The functions below work on a number, or on each component. */
#define KF_CL_FUNCTION_1(name, expression)                                                                   \
    template <typename T, int N> KF_CL kf_cl_vector<T, N> name(kf_cl_vector<T, N> v) {                       \
        KF_CL_EACH {                                                                                         \
            const T a = v.s[i];                                                                              \
            v.s[i] = (T)(expression);                                                                        \
        }                                                                                                    \
        return v;                                                                                            \
    }
#define KF_CL_FUNCTION_2(name, expression)                                                                   \
    template <typename T, int N> KF_CL kf_cl_vector<T, N> name(kf_cl_vector<T, N> v, kf_cl_vector<T, N> w) { \
        KF_CL_EACH {                                                                                         \
            const T a = v.s[i], b = w.s[i];                                                                  \
            v.s[i] = (T)(expression);                                                                        \
        }                                                                                                    \
        return v;                                                                                            \
    }
#define KF_CL_FUNCTION_3(name, expression)                                                                   \
    template <typename T, int N>                                                                             \
    KF_CL kf_cl_vector<T, N> name(kf_cl_vector<T, N> v, kf_cl_vector<T, N> w, kf_cl_vector<T, N> u) {        \
        KF_CL_EACH {                                                                                         \
            const T a = v.s[i], b = w.s[i], c = u.s[i];                                                      \
            v.s[i] = (T)(expression);                                                                        \
        }                                                                                                    \
        return v;                                                                                            \
    }
KF_CL_FUNCTION_1(sqrt, ::sqrt(a))
KF_CL_FUNCTION_1(rsqrt, ::rsqrt(a))
KF_CL_FUNCTION_1(fabs, ::fabs(a))
KF_CL_FUNCTION_1(exp, ::exp(a))
KF_CL_FUNCTION_1(log, ::log(a))
KF_CL_FUNCTION_1(sin, ::sin(a))
KF_CL_FUNCTION_1(cos, ::cos(a))
KF_CL_FUNCTION_1(floor, ::floor(a))
KF_CL_FUNCTION_2(fmin, ::fmin(a, b))
KF_CL_FUNCTION_2(fmax, ::fmax(a, b))
KF_CL_FUNCTION_2(min, a < b ? a : b)
KF_CL_FUNCTION_2(max, a > b ? a : b)
KF_CL_FUNCTION_3(fma, ::fma(a, b, c))
KF_CL_FUNCTION_3(mad, a *b + c)
template <typename T, int N> KF_CL T dot(kf_cl_vector<T, N> a, kf_cl_vector<T, N> b) {
    T sum = a.s[0] * b.s[0];
    _Pragma("unroll") for (int i = 1; i < N; i++) sum += a.s[i] * b.s[i];
    return sum;
}

/* Makes literals such as "(float4)(a, b)" from numbers and vectors, or from one number for all components. */
template <typename T, int N, typename S> KF_CL void kf_cl_put(kf_cl_vector<T, N> &v, int &at, S number) {
    v.s[at++] = (T)number;
}
template <typename T, int N, typename S, int M>
KF_CL void kf_cl_put(kf_cl_vector<T, N> &v, int &at, kf_cl_vector<S, M> part) {
    _Pragma("unroll") for (int i = 0; i < M; i++) v.s[at++] = (T)part.s[i];
}
template <typename T, int N, typename A> KF_CL kf_cl_vector<T, N> kf_cl_make(A a) {
    kf_cl_vector<T, N> v;
    int at = 0;
    kf_cl_put(v, at, a);
    for (const int first = at; at < N; at++)
        v.s[at] = v.s[at - first];
    return v;
}
template <typename T, int N, typename... A> KF_CL kf_cl_vector<T, N> kf_cl_make(A... parts) {
    kf_cl_vector<T, N> v;
    int at = 0;
    (kf_cl_put(v, at, parts), ...);
    return v;
}

#define KF_CL_OF_SIZE(type, n)                                                                               \
    typedef kf_cl_vector<type, n> kf_cl_type_##type##n;                                                      \
    template <typename... A> KF_CL kf_cl_vector<type, n> kf_cl_##type##n(A... parts) {                       \
        return kf_cl_make<type, n>(parts...);                                                                \
    }                                                                                                        \
    template <typename S> KF_CL kf_cl_vector<type, n> convert_##type##n(kf_cl_vector<S, n> from) {           \
        kf_cl_vector<type, n> v;                                                                             \
        _Pragma("unroll") for (int i = 0; i < n; i++) v.s[i] = (type)from.s[i];                              \
        return v;                                                                                            \
    }
#define KF_CL_OF_TYPE(type)                                                                                  \
    KF_CL_OF_SIZE(type, 2)                                                                                   \
    KF_CL_OF_SIZE(type, 3)                                                                                   \
    KF_CL_OF_SIZE(type, 4)                                                                                   \
    KF_CL_OF_SIZE(type, 8)                                                                                   \
    KF_CL_OF_SIZE(type, 16)
KF_CL_OF_TYPE(char)
KF_CL_OF_TYPE(uchar)
KF_CL_OF_TYPE(short)
KF_CL_OF_TYPE(ushort)
KF_CL_OF_TYPE(int)
KF_CL_OF_TYPE(uint)
KF_CL_OF_TYPE(long)
KF_CL_OF_TYPE(ulong)
KF_CL_OF_TYPE(float)
KF_CL_OF_TYPE(double)

#define char2    kf_cl_type_char2
#define char3    kf_cl_type_char3
#define char4    kf_cl_type_char4
#define char8    kf_cl_type_char8
#define char16   kf_cl_type_char16
#define uchar2   kf_cl_type_uchar2
#define uchar3   kf_cl_type_uchar3
#define uchar4   kf_cl_type_uchar4
#define uchar8   kf_cl_type_uchar8
#define uchar16  kf_cl_type_uchar16
#define short2   kf_cl_type_short2
#define short3   kf_cl_type_short3
#define short4   kf_cl_type_short4
#define short8   kf_cl_type_short8
#define short16  kf_cl_type_short16
#define ushort2  kf_cl_type_ushort2
#define ushort3  kf_cl_type_ushort3
#define ushort4  kf_cl_type_ushort4
#define ushort8  kf_cl_type_ushort8
#define ushort16 kf_cl_type_ushort16
#define int2     kf_cl_type_int2
#define int3     kf_cl_type_int3
#define int4     kf_cl_type_int4
#define int8     kf_cl_type_int8
#define int16    kf_cl_type_int16
#define uint2    kf_cl_type_uint2
#define uint3    kf_cl_type_uint3
#define uint4    kf_cl_type_uint4
#define uint8    kf_cl_type_uint8
#define uint16   kf_cl_type_uint16
#define long2    kf_cl_type_long2
#define long3    kf_cl_type_long3
#define long4    kf_cl_type_long4
#define long8    kf_cl_type_long8
#define long16   kf_cl_type_long16
#define ulong2   kf_cl_type_ulong2
#define ulong3   kf_cl_type_ulong3
#define ulong4   kf_cl_type_ulong4
#define ulong8   kf_cl_type_ulong8
#define ulong16  kf_cl_type_ulong16
#define float2   kf_cl_type_float2
#define float3   kf_cl_type_float3
#define float4   kf_cl_type_float4
#define float8   kf_cl_type_float8
#define float16  kf_cl_type_float16
#define double2  kf_cl_type_double2
#define double3  kf_cl_type_double3
#define double4  kf_cl_type_double4
#define double8  kf_cl_type_double8
#define double16 kf_cl_type_double16

#define KF_CL_VLOAD(n)                                                                                       \
    template <typename T> KF_CL kf_cl_vector<T, n> vload##n(size_t at, const T *from) {                      \
        kf_cl_vector<T, n> v;                                                                                \
        _Pragma("unroll") for (int i = 0; i < n; i++) v.s[i] = from[at * n + i];                             \
        return v;                                                                                            \
    }                                                                                                        \
    template <typename T> KF_CL void vstore##n(kf_cl_vector<T, n> v, size_t at, T *to) {                     \
        _Pragma("unroll") for (int i = 0; i < n; i++) to[at * n + i] = v.s[i];                               \
    }
KF_CL_VLOAD(2)
KF_CL_VLOAD(3)
KF_CL_VLOAD(4)
KF_CL_VLOAD(8)
KF_CL_VLOAD(16)

/* --- Functions of numbers
 * ------------------------------------------------------------------------------------- */

KF_CL float mad(float a, float b, float c) {
    return a * b + c;
}
KF_CL double mad(double a, double b, double c) {
    return a * b + c;
}
KF_CL int mad24(int a, int b, int c) {
    return a * b + c;
}
KF_CL uint mad24(uint a, uint b, uint c) {
    return a * b + c;
}
KF_CL int mul24(int a, int b) {
    return a * b;
}
KF_CL uint mul24(uint a, uint b) {
    return a * b;
}
template <typename T> KF_CL T clamp(T a, T low, T high) {
    return a < low ? low : a > high ? high : a;
}
template <typename T> KF_CL T mix(T a, T b, T share) {
    return a + (b - a) * share;
}
template <typename T, typename C> KF_CL T select(T no, T yes, C which) {
    return which ? yes : no;
}
#define native_exp(a)       __expf(a)
#define native_log(a)       __logf(a)
#define native_sin(a)       __sinf(a)
#define native_cos(a)       __cosf(a)
#define native_sqrt(a)      sqrtf(a)
#define native_rsqrt(a)     rsqrtf(a)
#define native_recip(a)     __frcp_rn(a)
#define native_divide(a, b) __fdividef(a, b)
#define half_sqrt(a)        sqrtf(a)
#define half_rsqrt(a)       rsqrtf(a)
#define as_float(a)         __int_as_float(a)
#define as_int(a)           __float_as_int(a)
#define as_uint(a)          __float_as_uint(a)
#define popcount(a)         __popc(a)
#define rotate(a, n)        __funnelshift_l(a, a, n)

#define atomic_add(p, v)          atomicAdd(p, v)
#define atomic_sub(p, v)          atomicSub(p, v)
#define atomic_inc(p)             atomicAdd(p, 1)
#define atomic_dec(p)             atomicSub(p, 1)
#define atomic_xchg(p, v)         atomicExch(p, v)
#define atomic_cmpxchg(p, old, v) atomicCAS(p, old, v)
#define atomic_min(p, v)          atomicMin(p, v)
#define atomic_max(p, v)          atomicMax(p, v)
#define atomic_and(p, v)          atomicAnd(p, v)
#define atomic_or(p, v)           atomicOr(p, v)
#define atomic_xor(p, v)          atomicXor(p, v)
#define atom_add(p, v)            atomicAdd(p, v)
#define atom_inc(p)               atomicAdd(p, 1)

#endif
