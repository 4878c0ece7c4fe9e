/* The arguments of every kernel of the d2q9 system, shared by host and device.
 *
 * Nodes are stored with one ghost layer around the domain. Node (x, y), -1 <= x <= nodes[0] and
 * -1 <= y <= nodes[1], has the index origin + x + row_pitch (y + 1): rows start aligned, and the ghost at
 * x = -1 is the last place of the row before. */
#ifndef KF_KERNELS_D2Q9_ARGUMENTS_H
#define KF_KERNELS_D2Q9_ARGUMENTS_H

/* Scalars that kernels need in their own arithmetic precision. They are kept in both precisions, so that no
 * kernel converts them. Names of the rates are those of Eq. 6 of the paper; the lattice speed c and the time
 * step are 1. */
#define KF_D2Q9_SCALARS(X)                                                                                   \
    X(rate_v)   /* of p_xx and p_xy: the viscosity */                                                        \
    X(rate_e)   /* of e: the bulk viscosity */                                                               \
    X(rate_h)   /* of h_x and h_y */                                                                         \
    X(rate_eps) /* of epsilon */                                                                             \
    X(force_x)                                                                                               \
    X(force_y)

#define KF_D2Q9_FLOAT_MEMBER(name)  float name;
#define KF_D2Q9_DOUBLE_MEMBER(name) double name;

/* Schemes differ in where the post-collision populations P_i of node x lie, and where what arrives at x along
 * i is expected:
 *
 *     scheme           P_i(x)            arrives at x along i
 *     KF_SCHEME_HERE   (x, i)            (x - e_i, i)             post-collision, pulled by the next step
 *     KF_SCHEME_SWAP   (x, opposite i)   (x - e_i, opposite i)    in place, after an even number of steps
 *     KF_SCHEME_PUSHED (x + e_i, i)      (x, i)                   already propagated */
enum { KF_SCHEME_HERE, KF_SCHEME_SWAP, KF_SCHEME_PUSHED };

enum { KF_NODE_SOLID_BIT = 1, KF_NODE_LINK_BIT = 2 }; /* of flags[]; the second: some link bounces back */

/* Values that an open node prescribes: the reference density (outflow), or at an inflow a velocity or a
 * density. */
enum { KF_OPEN_REFERENCE, KF_OPEN_VELOCITY, KF_OPEN_DENSITY };

typedef struct kf_d2q9_arguments {
    int extent[3]; /* number of items of this launch along each axis */
    int nodes[2];
    int row_pitch;
    int scheme; /* of source */
    /* The first row for initialise, read_fields, pack and unpack, for a team's part of step.cu, and for the
     * boundaries of a slab. */
    int first_row;
    int levels;    /* steps of this launch of the plan temporal */
    int tile_rows; /* rows of a tile of the plan temporal */
    int link_count, open_count;
    long long origin;
    long long capacity; /* node indices lie in [0, capacity); a multiple of alpha in the csoa layout */

    void *source, *target;      /* populations, as deviations from rest, like the paper's density */
    const unsigned char *flags; /* [capacity] */
    /* [capacity], for boundaries that are folded into the flow's kernel: bit i - 1 is set where a wall, or
     * with half-way bounce-back a solid node, returns the population that arrives along i. */
    const unsigned char *bounces;
    void *compact; /* rows exchanged with the host; of a slab also [link_count] what leaves along all links,
                      for load */

    const long long *links; /* node index * 16 + direction that arrives from a solid node */
    const int *open_nodes; /* [open_count][5]: x, y, x and y of the node to extrapolate from, what is given */
    long long *load_sums;  /* fixed point, [KF_D2Q9_LOAD_SLOTS][4]: force along x and y, torque, sums that are
                              no sound  numbers */
    double load_centre[2];

    double face_velocity[4][2];
    double open_velocity[2], open_density; /* density - 1 */
    struct {
        KF_D2Q9_SCALARS(KF_D2Q9_FLOAT_MEMBER)
    } single_precision;
    struct {
        KF_D2Q9_SCALARS(KF_D2Q9_DOUBLE_MEMBER)
    } double_precision;
    int backwards; /* 1: a pass visits the rows from the last to the first */
    int rows;      /* number of a slab's rows, from first_row on, whose boundaries are set */
    /* [2 (nodes[0] + nodes[1])], for the nodes of rows ymin and ymax, then of columns xmin and xmax: bit
     * aside + 1 is set where the population that enters there, and moves so far along the face, comes from
     * the image of a solid node, and is one of the links. NULL if there is none. */
    const unsigned char *beyond;
} kf_d2q9_arguments;

enum { KF_D2Q9_LOAD_SLOTS = 64, KF_D2Q9_LOAD_CHUNK = 64 };
#define KF_D2Q9_FORCE_SCALE  17592186044416.0 /* 2^44: force sums, exact to 6e-14 up to 5e5 */
#define KF_D2Q9_TORQUE_SCALE 68719476736.0    /* 2^36 */
#define KF_D2Q9_FORCE_LIMIT  1000.0           /* a larger force on a link means that the flow has diverged */

#endif
