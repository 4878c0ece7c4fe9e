/* The choices of a scene or config for which kernels are compiled, each value as a number. The host sets
 * macros such as KF_FACE_0, KF_COLLISION and KF_STORAGE to these numbers, and kernels compare with them.
 * The numbers are macros, because an enum's constant counts as 0 in a comparison by the preprocessor.
 * Enums of the host have the same values. */
#ifndef KF_KERNELS_CHOICES_H
#define KF_KERNELS_CHOICES_H

/* The kinds of boundary of the domain's faces, KF_FACE_0 .. KF_FACE_5. */
#define KF_PERIODIC_FACE  0 /* on both faces of an axis or on neither */
#define KF_WALL_FACE      1 /* no slip by half-way bounce-back; may move within its plane (face_velocity) */
#define KF_FREE_SLIP_FACE 2
#define KF_INFLOW_FACE    3 /* prescribed velocity (face_velocity) */
#define KF_OUTFLOW_FACE   4 /* convective outflow; the mean density is held at the reference */
/* Lists for each kind the host's name (kf_boundary) and the word in scene files (kf_boundary_names). */
#define KF_EACH_FACE(is)                                                                                     \
    is(KF_PERIODIC, "periodic") is(KF_WALL, "wall") is(KF_FREE_SLIP, "free_slip") is(KF_INFLOW, "inflow")    \
        is(KF_OUTFLOW, "outflow")
/* The plan of d2q9 for several processes uses this kind: beyond the face lie copies of another process's
 * rows. No scene can ask for it. */
#define KF_COPIED_FACE 100

/* KF_COLLISION of kinetic is one of the first three. The others are models of d2q9, whose kernels have
 * KF_MODEL instead. */
#define KF_BGK_COLLISION        0
#define KF_RM_MRT_COLLISION     1
#define KF_ACM_MRT_COLLISION    2
#define KF_BGK_LINEAR_COLLISION 3
#define KF_MRT_COLLISION        4
#define KF_MRT_LINEAR_COLLISION 5

/* KF_MODEL of d2q9 is a sum of these bits. */
#define KF_LINEAR_MODEL 1
#define KF_MRT_MODEL    2

/* KF_RATE_RULE is the rule by which acm_mrt chooses the relaxation rates of the moments of third and
 * higher order. */
#define KF_ADAPTIVE_2020_RATES  0
#define KF_CONSTANT_RATES       1
#define KF_ONES_RATES           2
#define KF_EMPIRICAL_2019_RATES 3
#define KF_KBC_RATES            4
#define KF_K17_RATES            5
#define KF_SUGA_2015_RATES      6
/* Return whether a rule's rates depend only on a moment's order, and whether they are even the same for
 * all orders. */
#define KF_IS_RATE_BY_ORDER(rule) ((rule) <= KF_EMPIRICAL_2019_RATES)
#define KF_IS_ONE_RATE(rule)      ((rule) <= KF_ONES_RATES)

/* KF_BASIS is the basis of the moments of fourth to sixth order. */
#define KF_HERMITE_BASIS 0
#define KF_RAW_BASIS     1

/* KF_FORM is the way in which kinetic transforms moments back to populations. */
#define KF_FACTORISED_FORM 0
#define KF_EXPANDED_FORM   1
#define KF_SHARED_FORM     2
#define KF_LOW_ORDER_FORM  3

/* KF_STORAGE of kinetic and d2q9 is the type of a stored value. */
#define KF_F16_STORAGE 0
#define KF_F32_STORAGE 1
#define KF_F64_STORAGE 2

/* KF_LAYOUT of kinetic and d2q9 is a memory layout of Eq. 9 of Chen et al. 2021: array of structures,
 * structure of arrays, or blocks of alpha nodes that are each a structure of arrays. */
#define KF_AOS_LAYOUT  0
#define KF_SOA_LAYOUT  1
#define KF_CSOA_LAYOUT 2

/* KF_SOLID of stable_fluids and incompressible says which kind of solid the scene has. */
#define KF_NO_SOLID     0
#define KF_STILL_SOLID  1
#define KF_MOVING_SOLID 2

/* KF_ADVECTION of stable_fluids is the interpolation of its semi-Lagrangian advection. */
#define KF_NO_ADVECTION         0
#define KF_LINEAR_ADVECTION     1
#define KF_MACCORMACK_ADVECTION 2
#define KF_CUBIC_ADVECTION      3

/* KF_TWIDDLES says where a stage of a transform of stable_fluids takes its twiddle factors from. */
#define KF_PRODUCTS_TWIDDLES 0
#define KF_TABLE_TWIDDLES    1
#define KF_EARLY_TWIDDLES    2

/* KF_PARTICLE_RULE of stable_fluids is the rule that moves its particles. */
#define KF_EULER_RULE    0
#define KF_MIDPOINT_RULE 1

/* KF_LIMITER of incompressible says where the bounds of a corrected value come from. */
#define KF_NO_LIMITER       0
#define KF_GATHERED_LIMITER 1
#define KF_KEPT_LIMITER     2

/* KF_VISCOUS of incompressible is the time integration of its viscous term. */
#define KF_NO_VISCOUS_TERM       0
#define KF_EXPLICIT_VISCOUS_TERM 1
#define KF_IMPLICIT_VISCOUS_TERM 2

/* KF_YIELD of sph is the kind of yield stress. */
#define KF_NO_YIELD             0
#define KF_CONSTANT_YIELD       1
#define KF_MU_I_YIELD           2
#define KF_DRUCKER_PRAGER_YIELD 3

/* KF_FLOW of sph is the law of the stress at and below the yield stress. */
#define KF_BIVISCOUS_FLOW     0
#define KF_PAPANASTASIOU_FLOW 1
#define KF_ELASTIC_FLOW       2

#endif
