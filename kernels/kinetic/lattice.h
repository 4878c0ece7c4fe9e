/* The lattices D3Q27 and D3Q19: velocities, weights, precision and memory layout. The order of the
 * velocities is that of De Rosis 2017 (PRE 95, 013310), which is also that of the paper's Omega_0 ..
 * Omega_26. The first 19 are those of Qian, d'Humieres and Lallemand 1992 (Europhys. Lett. 17, 479).
 *
 * Defines that a config sets:
 *   KF_VELOCITIES 27|19
 *   KF_STORAGE, KF_LAYOUT   type and memory layout of stored values (choices.h)
 *   KF_ALPHA_LOG2           log2 of the nodes in a block of the csoa layout
 *   KF_INDEX64 0|1          indices have 64 bits
 *   KF_ALIGNED_ROWS 0|1     rows begin at multiples of alpha
 *   KF_TEAM 1               several devices share the grids, each with the planes from first_plane on
 *   KF_CUT_Y 1              and of these planes the rows from first_row on */
#ifndef KF_KERNELS_KINETIC_LATTICE_H
#define KF_KERNELS_KINETIC_LATTICE_H

#include "arguments.h"
#include "choices.h"
#include "portable.h"

#ifndef KF_VELOCITIES
#define KF_VELOCITIES 27
#endif

#if KF_STORAGE == KF_F64_STORAGE
typedef double kf_stored;
typedef double kf_real;
#define KF_PARAMETER(a, name) ((a)->scalars.double_precision.name)
#define KF_FACE_VELOCITY(a)   ((a)->faces.velocity)
#else
typedef float kf_real;
#define KF_PARAMETER(a, name) ((a)->scalars.single_precision.name)
#define KF_FACE_VELOCITY(a)   ((a)->faces.velocity_single)
#if KF_STORAGE == KF_F32_STORAGE
typedef float kf_stored;
#else
#include "half.h"
typedef kf_half kf_stored;
#endif
#endif
#define KF_R(value) ((kf_real)(value))

/* Half precision stores 2^15 times the deviation from the weight: the largest deviations, below 2, fit in,
 * and small ones keep their digits (Lehmann et al. 2022, PRE 106, 015308). KF_UNIT is the density at rest
 * in the unit in which populations are computed. Collisions are homogeneous in density, momentum and
 * force, so they compute in the stored unit and need no conversion. */
#if KF_STORAGE == KF_F16_STORAGE
#define KF_STORED_UNIT 32768.0
#else
#define KF_STORED_UNIT 1.0
#endif
#if defined(KF_PACKED) && KF_PACKED /* halves of a moment representation (packed.h) */
#define KF_UNIT 32768.0
#elif defined(KF_COLLISION) &&                                                                               \
    (KF_COLLISION == KF_BGK_COLLISION ||                                                                     \
     (KF_COLLISION == KF_ACM_MRT_COLLISION && KF_IS_RATE_BY_ORDER(KF_RATE_RULE) &&                           \
      (KF_FORM == KF_FACTORISED_FORM || KF_FORM == KF_LOW_ORDER_FORM)))
#define KF_UNIT KF_STORED_UNIT
#else
#define KF_UNIT 1.0
#endif

/* On a GPU these functions of single precision are accurate to the last digit or the one before. They lack
 * the branches that would make them exact. */
KF_FUNCTION kf_real kf_reciprocal(kf_real value) {
#if KF_CUDA && KF_STORAGE != KF_F64_STORAGE
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
#else
    return KF_R(1.0) / value;
#endif
}
/* Returns a - 2 b in one operation. Compilers do not find it, because they turn 2 b into b + b. */
KF_FUNCTION kf_real kf_less_twice(kf_real a, kf_real b) {
#if KF_CUDA && KF_STORAGE == KF_F64_STORAGE
    return __fma_rn(-2.0, b, a);
#elif KF_CUDA
    return __fmaf_rn(-2.0f, b, a);
#else
    return a - KF_R(2.0) * b;
#endif
}
/* Returns a b + c, rounded once if the processor can. So the value is the same in every kernel, whatever a
 * compiler would contract there. */
KF_FUNCTION kf_real kf_multiply_add(kf_real a, kf_real b, kf_real c) {
#if KF_CUDA && KF_STORAGE == KF_F64_STORAGE
    return __fma_rn(a, b, c);
#elif KF_CUDA
    return __fmaf_rn(a, b, c);
#elif KF_STORAGE == KF_F64_STORAGE && defined(__FP_FAST_FMA)
    return __builtin_fma(a, b, c);
#elif KF_STORAGE != KF_F64_STORAGE && defined(__FP_FAST_FMAF)
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}
KF_FUNCTION kf_real kf_square_root(kf_real value) {
#if KF_STORAGE == KF_F64_STORAGE
    return sqrt(value);
#elif KF_CUDA
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
#else
    return sqrtf(value);
#endif
}

#if KF_INDEX64
typedef long long kf_index;
#else
typedef int kf_index;
#endif

KF_FUNCTION kf_real kf_from_store(kf_stored value) {
#if KF_STORAGE != KF_F16_STORAGE
    return value;
#else
    return kf_from_half(value) * KF_R(KF_UNIT / KF_STORED_UNIT);
#endif
}
KF_FUNCTION kf_stored kf_to_store(kf_real value) {
#if KF_STORAGE != KF_F16_STORAGE
    return value;
#else
    return kf_to_half(value * KF_R(KF_STORED_UNIT / KF_UNIT));
#endif
}

/* Four values that a GPU moves in one access. */
typedef struct
#if KF_CUDA
    __align__(16)
#endif
        kf_real4 {
    kf_real x, y, z, w;
}
kf_real4;

/* Each velocity is X(number, name, cx, cy, cz). In a name m, z, p stand for -1, 0, +1 along x, y, z. */
#define KF_D3Q19(X)                                                                                          \
    X(0, zzz, 0, 0, 0)                                                                                       \
    X(1, pzz, 1, 0, 0)                                                                                       \
    X(2, mzz, -1, 0, 0)                                                                                      \
    X(3, zpz, 0, 1, 0)                                                                                       \
    X(4, zmz, 0, -1, 0)                                                                                      \
    X(5, zzp, 0, 0, 1)                                                                                       \
    X(6, zzm, 0, 0, -1)                                                                                      \
    X(7, ppz, 1, 1, 0)                                                                                       \
    X(8, mpz, -1, 1, 0)                                                                                      \
    X(9, pmz, 1, -1, 0)                                                                                      \
    X(10, mmz, -1, -1, 0)                                                                                    \
    X(11, pzp, 1, 0, 1)                                                                                      \
    X(12, mzp, -1, 0, 1)                                                                                     \
    X(13, pzm, 1, 0, -1)                                                                                     \
    X(14, mzm, -1, 0, -1)                                                                                    \
    X(15, zpp, 0, 1, 1)                                                                                      \
    X(16, zmp, 0, -1, 1)                                                                                     \
    X(17, zpm, 0, 1, -1)                                                                                     \
    X(18, zmm, 0, -1, -1)
#define KF_CORNERS(X)                                                                                        \
    X(19, ppp, 1, 1, 1)                                                                                      \
    X(20, mpp, -1, 1, 1)                                                                                     \
    X(21, pmp, 1, -1, 1)                                                                                     \
    X(22, mmp, -1, -1, 1)                                                                                    \
    X(23, ppm, 1, 1, -1)                                                                                     \
    X(24, mpm, -1, 1, -1)                                                                                    \
    X(25, pmm, 1, -1, -1)                                                                                    \
    X(26, mmm, -1, -1, -1)
#if KF_VELOCITIES == 19
#define KF_EACH_VELOCITY(X) KF_D3Q19(X)
#else
#define KF_EACH_VELOCITY(X) KF_D3Q19(X) KF_CORNERS(X)
#endif

/* Returns the number of the velocity opposite to velocity i. */
#define KF_OPPOSITE(i)                                                                                       \
    ((i) == 0   ? 0                                                                                          \
     : (i) < 7  ? (((i)-1) ^ 1) + 1                                                                          \
     : (i) < 11 ? 17 - (i)                                                                                   \
     : (i) < 15 ? 25 - (i)                                                                                   \
     : (i) < 19 ? 33 - (i)                                                                                   \
                : 45 - (i))

/* The number of velocity (cx, cy, cz) at cx + 1 + 3 (cy + 1) + 9 (cz + 1). This is a table, because CUDA
 * 13.0's compiler makes wrong code of conditions on the signs in the loops of boundary.cu. */
KF_CONSTANT signed char kf_directions[27] = {26, 18, 25, 14, 6,  13, 24, 17, 23, 10, 4,  9,  2, 0,
                                             1,  8,  3,  7,  22, 16, 21, 12, 5,  11, 20, 15, 19};
KF_FUNCTION int kf_direction(int cx, int cy, int cz) {
    return kf_directions[(cx + 1) + 3 * (cy + 1) + 9 * (cz + 1)];
}

#define KF_WEIGHT_1D(c) ((c) == 0 ? 2.0 / 3.0 : 1.0 / 6.0)
/* With 19 velocities the weight of a corner goes to the velocities beside it, like everything else of a
 * corner (lattice_19.h). */
#if KF_VELOCITIES == 19
#define KF_SQUARE(cx, cy, cz) ((cx) * (cx) + (cy) * (cy) + (cz) * (cz))
#define KF_WEIGHT(cx, cy, cz)                                                                                \
    KF_R(KF_SQUARE(cx, cy, cz) == 0 ? 1.0 / 3.0 : KF_SQUARE(cx, cy, cz) == 1 ? 1.0 / 18.0 : 1.0 / 36.0)
#else
#define KF_WEIGHT(cx, cy, cz) KF_R(KF_WEIGHT_1D(cx) * KF_WEIGHT_1D(cy) * KF_WEIGHT_1D(cz))
#endif

/* Two values that a GPU moves in one access. Two halves stay together in one register. */
#if KF_CUDA && KF_STORAGE == KF_F16_STORAGE
typedef unsigned kf_store_pair;
KF_FUNCTION kf_real kf_low(kf_store_pair pair) {
    kf_stored low;
    asm("{ .reg .b16 high; mov.b32 {%0, high}, %1; }" : "=h"(low) : "r"(pair));
    return kf_from_store(low);
}
KF_FUNCTION kf_real kf_high(kf_store_pair pair) {
    kf_stored high;
    asm("{ .reg .b16 low; mov.b32 {low, %0}, %1; }" : "=h"(high) : "r"(pair));
    return kf_from_store(high);
}
KF_FUNCTION kf_store_pair kf_pair(kf_real low, kf_real high) {
    kf_store_pair pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(pair)
        : "f"(high * KF_R(KF_STORED_UNIT / KF_UNIT)), "f"(low * KF_R(KF_STORED_UNIT / KF_UNIT)));
    return pair;
}
/* Return a pair of the first, or the second, values of two pairs, and a pair with another first value. */
KF_FUNCTION kf_store_pair kf_lows(kf_store_pair p, kf_store_pair q) {
    return __byte_perm(p, q, 0x5410);
}
KF_FUNCTION kf_store_pair kf_highs(kf_store_pair p, kf_store_pair q) {
    return __byte_perm(p, q, 0x7632);
}
KF_FUNCTION kf_store_pair kf_low_with(kf_store_pair p, kf_stored value) {
    return __byte_perm(p, value, 0x5410);
}
#else
typedef struct
#if KF_CUDA
    __align__(2 * sizeof(kf_stored))
#endif
        kf_store_pair {
    kf_stored low, high;
}
kf_store_pair;
KF_FUNCTION kf_real kf_low(kf_store_pair pair) {
    return kf_from_store(pair.low);
}
KF_FUNCTION kf_real kf_high(kf_store_pair pair) {
    return kf_from_store(pair.high);
}
KF_FUNCTION kf_store_pair kf_pair(kf_real low, kf_real high) {
    const kf_store_pair pair = {kf_to_store(low), kf_to_store(high)};
    return pair;
}
KF_FUNCTION kf_store_pair kf_lows(kf_store_pair p, kf_store_pair q) {
    const kf_store_pair pair = {p.low, q.low};
    return pair;
}
KF_FUNCTION kf_store_pair kf_highs(kf_store_pair p, kf_store_pair q) {
    const kf_store_pair pair = {p.high, q.high};
    return pair;
}
KF_FUNCTION kf_store_pair kf_low_with(kf_store_pair p, kf_stored value) {
    const kf_store_pair pair = {p.low, value};
    return pair;
}
#endif

/* Returns the index of node (x, y, z), which may be a ghost. */
KF_FUNCTION kf_index kf_node(const kf_module_arguments *a, int x, int y, int z) {
    return (kf_index)(a->memory.origin + (long long)a->grid.row_pitch * (y + 1) +
                      a->memory.plane_pitch * (z + 1)) +
           x;
}
/* Returns the coordinates of the node with index k. */
KF_FUNCTION void kf_node_position(kf_index k, long long origin, int row_pitch, long long plane_pitch, int *x,
                                  int *y, int *z) {
#if KF_INDEX64
    const long long inside = (long long)k - origin, plane_nodes = plane_pitch;
#else /* a GPU divides 64-bit integers in a long loop */
    const int inside = k - (int)origin, plane_nodes = (int)plane_pitch;
#endif
    const int plane = (int)(inside / plane_nodes), row = (int)((inside - plane * plane_nodes) / row_pitch);
    *z = plane - 1;
    *y = row - 1;
    *x = (int)(inside - plane * plane_nodes) - row * row_pitch;
}

/* Finds the position of node k of a part. */
#if KF_CUT_Y
KF_FUNCTION void kf_position(const kf_module_arguments *a, kf_index k, int *x, int *y, int *z) {
    kf_node_position(k, a->memory.origin + (long long)a->grid.row_pitch * a->part.rows_before,
                     a->grid.row_pitch, a->memory.plane_pitch, x, y, z);
    *y += a->part.rows_before;
}
#else
#define kf_position(a, k, x, y, z)                                                                           \
    kf_node_position(k, (a)->memory.origin, (a)->grid.row_pitch, (a)->memory.plane_pitch, x, y, z)
#endif

/* Returns the position in the domain of row y. If the domain is periodic along y and cut across it, a part
 * also has rows across the periodic face beside its own: below 0, and above the last row. */
#if KF_CUT_Y
KF_FUNCTION int kf_home_row(const kf_module_arguments *a, int y) {
    return y < 0 ? y + a->grid.nodes[1] : y >= a->grid.nodes[1] ? y - a->grid.nodes[1] : y;
}
/* The inverse of kf_home_row: returns the row's position beside the rows of a launch, if it is among them. */
KF_FUNCTION int kf_kept_row(const kf_module_arguments *a, int y) {
    const int below = y - a->grid.nodes[1], above = y + a->grid.nodes[1];
    return below >= a->part.first_row ? below : above < a->part.first_row + a->part.rows ? above : y;
}
#else
#define kf_home_row(a, y) (y)
#define kf_kept_row(a, y) (y)
#endif

/* Return whether a plane, the nodes at (y, z), or node k belong to the part. */
KF_FUNCTION int kf_is_own_plane(const kf_module_arguments *a, int z) {
#if KF_TEAM
    return z >= a->part.first_plane && z < a->part.first_plane + a->part.planes;
#else
    (void)a, (void)z;
    return 1;
#endif
}
#if KF_CUT_Y
KF_FUNCTION int kf_is_own_row(const kf_module_arguments *a, int y, int z) {
    return y >= a->part.first_row && y < a->part.first_row + a->part.rows && kf_is_own_plane(a, z);
}
#else
#define kf_is_own_row(a, y, z) kf_is_own_plane(a, z)
#endif
KF_FUNCTION int kf_plane_of(const kf_module_arguments *a, kf_index k) {
    return (int)(((long long)k - a->memory.origin) / a->memory.plane_pitch) - 1;
}
KF_FUNCTION int kf_is_own(const kf_module_arguments *a, kf_index k) {
#if KF_CUT_Y
    int x, y, z;
    kf_position(a, k, &x, &y, &z);
    return kf_is_own_row(a, y, z);
#elif KF_TEAM
    return kf_is_own_plane(a, kf_plane_of(a, k));
#else
    (void)a, (void)k;
    return 1;
#endif
}
/* The first statement of a launch over a part's nodes. It maps x, y, z to the part's rows and planes, and
 * leaves out the items beyond them. */
#if KF_CUT_Y
#define KF_IN_PART                                                                                           \
    y += a->part.first_row;                                                                                  \
    z += a->part.first_plane;
#elif KF_TEAM
#define KF_IN_PART z += a->part.first_plane;
#else
#define KF_IN_PART
#endif

/* Returns the distance in node indices to the neighbour at (cx, cy, cz). */
KF_FUNCTION kf_index kf_offset(const kf_module_arguments *a, int cx, int cy, int cz) {
    (void)a;
    return (kf_index)(cx + (long long)a->grid.row_pitch * cy + a->memory.plane_pitch * cz);
}

/* Returns the place of component i of beta at node k (Eq. 9 of the paper). */
KF_FUNCTION kf_index kf_place(const kf_module_arguments *a, int beta, int i, kf_index k) {
#if KF_LAYOUT == KF_AOS_LAYOUT
    (void)a;
    return k * beta + i;
#elif KF_LAYOUT == KF_SOA_LAYOUT
    (void)beta;
    return (kf_index)a->memory.capacity * i + k;
#else
    (void)a;
    return (((k >> KF_ALPHA_LOG2) * beta + i) << KF_ALPHA_LOG2) + (k & (((kf_index)1 << KF_ALPHA_LOG2) - 1));
#endif
}

/* Returns the address of population i at node k. It adds i last, so that i becomes a constant offset of
 * the memory access. */
KF_FUNCTION kf_stored *kf_address(const kf_module_arguments *a, const void *f, int i, kf_index k) {
#if KF_LAYOUT == KF_SOA_LAYOUT
    return (kf_stored *)f + kf_place(a, KF_VELOCITIES, i, k);
#else
    return (kf_stored *)f + kf_place(a, KF_VELOCITIES, 0, k) + kf_place(a, KF_VELOCITIES, i, 0);
#endif
}

/* Returns the address of population i at the neighbour of k at (dx, dy, dz), each -1, 0 or 1. Where rows
 * begin at multiples of alpha, neighbours along y and z have k's place in another block, so only three
 * places have to be computed. */
KF_FUNCTION kf_stored *kf_neighbour(const kf_module_arguments *a, const void *f, int i, kf_index k, int dx,
                                    int dy, int dz) {
#if KF_LAYOUT == KF_CSOA_LAYOUT && KF_ALIGNED_ROWS
    return (kf_stored *)f +
           (kf_place(a, KF_VELOCITIES, 0, k + dx) + KF_VELOCITIES * kf_offset(a, 0, dy, dz)) +
           kf_place(a, KF_VELOCITIES, i, 0);
#else
    return kf_address(a, f, i, k + kf_offset(a, dx, dy, dz));
#endif
}
/* Returns the address of population i with velocity (cx, cy, cz) from which it streams into node k. */
KF_FUNCTION const kf_stored *kf_pulled(const kf_module_arguments *a, int i, kf_index k, int cx, int cy,
                                       int cz) {
    return kf_neighbour(a, a->populations.source, i, k, -cx, -cy, -cz);
}

KF_FUNCTION kf_real kf_population(const kf_module_arguments *a, const void *f, int i, kf_index k) {
    return kf_from_store(*kf_address(a, f, i, k));
}
KF_FUNCTION void kf_set_population(const kf_module_arguments *a, void *f, int i, kf_index k, kf_real value) {
    *kf_address(a, f, i, k) = kf_to_store(value);
}
/* Stores a population of a step. */
KF_FUNCTION void kf_stream(kf_stored *place, kf_real value) {
    *place = kf_to_store(value);
}
KF_FUNCTION void kf_stream_pair(kf_stored *place, kf_store_pair pair) {
    *(kf_store_pair *)place = pair;
}
KF_FUNCTION kf_real kf_component(const kf_module_arguments *a, const void *v, int i, kf_index k) {
    return ((const kf_real *)v)[kf_place(a, 3, i, k)];
}
KF_FUNCTION void kf_set_component(const kf_module_arguments *a, void *v, int i, kf_index k, kf_real value) {
    ((kf_real *)v)[kf_place(a, 3, i, k)] = value;
}

/* Statements for all populations, which are in the variables f_zzz, f_pzz, ... */
#define KF_LOAD_PULL(i, name, cx, cy, cz) kf_real f_##name = kf_from_store(*kf_pulled(a, i, k, cx, cy, cz));
#define KF_LOAD_HERE(i, name, cx, cy, cz)                                                                    \
    kf_real f_##name = kf_from_store(*kf_address(a, a->populations.source, i, k));
#define KF_STREAM_TARGET(i, name, cx, cy, cz) kf_stream(kf_address(a, a->populations.target, i, k), f_##name);
#define KF_STORE_TARGET(i, name, cx, cy, cz)                                                                 \
    *kf_address(a, a->populations.target, i, k) = kf_to_store(f_##name);
/* Copy populations to and from an array. */
#define KF_GIVE_POPULATION(i, name, cx, cy, cz) given[i] = f_##name;
#define KF_TAKE_POPULATION(i, name, cx, cy, cz) const kf_real f_##name = populations[i];

#if KF_VELOCITIES == 19
#include "lattice_19.h"
#else
/* Declares the density's deviation from rest and the momentum of the populations f_*. The sums are those
 * with which the transform to central moments begins, in the same order, so that compilers compute them
 * once. */
#define KF_MOMENTUM(density_deviation, jx, jy, jz)                                                           \
    const kf_real row_mm = (f_pmm + f_mmm) + f_zmm, row_zm = (f_pzm + f_mzm) + f_zzm,                        \
                  row_pm = (f_ppm + f_mpm) + f_zpm, row_mz = (f_pmz + f_mmz) + f_zmz,                        \
                  row_zz = (f_pzz + f_mzz) + f_zzz, row_pz = (f_ppz + f_mpz) + f_zpz,                        \
                  row_mp = (f_pmp + f_mmp) + f_zmp, row_zp = (f_pzp + f_mzp) + f_zzp,                        \
                  row_pp = (f_ppp + f_mpp) + f_zpp;                                                          \
    const kf_real plane_m = (row_pm + row_mm) + row_zm, plane_z = (row_pz + row_mz) + row_zz,                \
                  plane_p = (row_pp + row_mp) + row_zp;                                                      \
    const kf_real density_deviation = (plane_p + plane_m) + plane_z;                                         \
    const kf_real along_m = ((f_pmp - f_mmp) + (f_pmm - f_mmm)) + (f_pmz - f_mmz),                           \
                  along_z = ((f_pzp - f_mzp) + (f_pzm - f_mzm)) + (f_pzz - f_mzz),                           \
                  along_p = ((f_ppp - f_mpp) + (f_ppm - f_mpm)) + (f_ppz - f_mpz);                           \
    const kf_real jx = (along_p + along_m) + along_z;                                                        \
    const kf_real jy = ((row_pp - row_mp) + (row_pm - row_mm)) + (row_pz - row_mz);                          \
    const kf_real jz = plane_p - plane_m;
#endif

#endif
