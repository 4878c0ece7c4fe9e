/* The arguments of every kernel of the d2q9 system, which host and device share.
 *
 * The domain has one layer of ghost nodes around it. Node (x, y), -1 <= x <= nodes[0] and -1 <= y <=
 * nodes[1], has the index origin + x + row_pitch (y + 1). Rows start aligned, and the ghost at x = -1 is
 * the last place of the row before. */
#ifndef KF_KERNELS_D2Q9_ARGUMENTS_H
#define KF_KERNELS_D2Q9_ARGUMENTS_H

/* The scalars that kernels need in their own arithmetic precision. They are stored in both precisions, so
 * that no kernel converts them. The rates have the names of Eq. 6 of Toelke 2008 (lattice.h). The lattice
 * speed c and the time step are 1. */
#define KF_D2Q9_SCALARS(X)                                                                                   \
    X(rate_v)   /* rate of p_xx and p_xy, from the viscosity */                                              \
    X(rate_e)   /* rate of e, from the bulk viscosity */                                                     \
    X(rate_h)   /* rate of h_x and h_y */                                                                    \
    X(rate_eps) /* rate of epsilon */                                                                        \
    X(force_x)                                                                                               \
    X(force_y)

#define KF_D2Q9_FLOAT_MEMBER(name)  float name;
#define KF_D2Q9_DOUBLE_MEMBER(name) double name;

/* A scheme says where the population P_i that leaves node x after its collision is stored, and where node
 * x expects the one that arrives along i:
 *
 *     scheme           P_i(x)            arrives at x along i
 *     KF_SCHEME_HERE   (x, i)            (x - e_i, i)             not streamed yet: the next step pulls
 *     KF_SCHEME_SWAP   (x, opposite i)   (x - e_i, opposite i)    AA pattern, after an even number of steps
 *     KF_SCHEME_PUSHED (x + e_i, i)      (x, i)                   streamed: the last step pushed */
enum { KF_SCHEME_HERE, KF_SCHEME_SWAP, KF_SCHEME_PUSHED };

enum {
    KF_NODE_SOLID_BIT = 1,
    KF_NODE_LINK_BIT = 2
}; /* bits of flags[]: the node is solid; some link to it bounces back */

/* An open node prescribes one of these: the reference density (outflow), or at an inflow a velocity or a
 * density. */
enum { KF_OPEN_REFERENCE, KF_OPEN_VELOCITY, KF_OPEN_DENSITY };

typedef struct kf_d2q9_arguments {
    int extent[3]; /* number of items of this launch along each axis */
    int nodes[2];
    int row_pitch;
    int scheme; /* where `source` has its populations (KF_SCHEME_HERE ...) */
    /* The row at which these begin: initialise, read_fields, pack and unpack, a team's part of step.cu,
     * and the boundaries of a slab. */
    int first_row;
    int levels;    /* number of steps in this launch of the plan temporal */
    int tile_rows; /* rows of a tile of the plan temporal */
    int link_count, open_count;
    long long origin;
    long long capacity; /* node indices lie in [0, capacity); a multiple of alpha in the csoa layout */

    void *source, *target;      /* populations less their values at rest, which keeps digits */
    const unsigned char *flags; /* [capacity], KF_NODE_SOLID_BIT ... */
    /* [capacity], for kernels that apply the boundaries themselves. Bit i - 1 is set where a wall returns
     * the population that arrives along i, or a solid node does by half-way bounce-back. */
    const unsigned char *bounces;
    /* The rows that host and device exchange. In a slab also, for the kernel load, the populations that
     * leave along all links, [link_count]. */
    void *compact;

    const long long *links; /* [link_count]: 16 times a node's index, plus the direction in which a solid node
                               sends it a population */
    /* [open_count][5]: x and y of an open node, x and y of the node to extrapolate from, and what it
     * prescribes (KF_OPEN_REFERENCE ...). */
    const int *open_nodes;
    /* [KF_D2Q9_LOAD_SLOTS][4] in fixed point: the force along x and y, the torque, and the number of
     * partial sums that diverged. Slots spread the atomics. */
    long long *load_sums;
    double load_centre[2];

    double face_velocity[4][2];
    double open_velocity[2], open_density; /* the density is less 1 */
    struct {
        KF_D2Q9_SCALARS(KF_D2Q9_FLOAT_MEMBER)
    } single_precision;
    struct {
        KF_D2Q9_SCALARS(KF_D2Q9_DOUBLE_MEMBER)
    } double_precision;
    int backwards; /* 1: a pass visits the rows from the last to the first */
    int rows;      /* number of a slab's rows, from first_row on, whose boundaries are set */
    /* [2 (nodes[0] + nodes[1])] for the nodes of rows ymin and ymax, then of columns xmin and xmax. Bit
     * aside + 1 is set where the population that enters there, and moves by `aside` along the face, comes
     * from a solid node or its image. At a fluid node the list of links has it. NULL if there is none. */
    const unsigned char *beyond;
} kf_d2q9_arguments;

enum { KF_D2Q9_LOAD_SLOTS = 64, KF_D2Q9_LOAD_CHUNK = 64 };
#define KF_D2Q9_FORCE_SCALE  17592186044416.0 /* 2^44: force sums below 5e5 have a resolution of 6e-14 */
#define KF_D2Q9_TORQUE_SCALE 68719476736.0    /* 2^36 */
#define KF_D2Q9_FORCE_LIMIT  1000.0           /* a larger force on a link means that the flow has diverged */

#endif
