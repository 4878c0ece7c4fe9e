/* The arguments of every kernel of the kinetic system, shared by host and device.
 *
 * Nodes are stored with one ghost layer around the domain. Node (x, y, z), -1 <= x <= nodes[0] and so on, has
 * the index origin + x + row_pitch (y + 1) + plane_pitch (z + 1): rows start aligned, and the ghost at x = -1
 * is the last place of the row before. Populations and vector fields use the layout of Eq. 9 of the paper
 * over these indices. */
#ifndef KF_KERNELS_KINETIC_ARGUMENTS_H
#define KF_KERNELS_KINETIC_ARGUMENTS_H

/* Scalars that the kernels need in their own arithmetic precision: kept in both, so that none is converted.
 */
#define KF_KINETIC_SCALARS(X)                                                                                \
    X(shear_rate)      /* relaxation rate of the shear moments, 1 / (3 viscosity + 1/2) */                   \
    X(high_order_rate) /* of the moments of order three and more, rule `constant` */                         \
    X(body_force_x)                                                                                          \
    X(body_force_y)                                                                                          \
    X(body_force_z)

/* Planes of the next walk of plan moments, of those that are left: the longest allowed, and towards the end
 * half of what is left, so that blocks that begin late have less to do. What is left is not halved to walks
 * of less than KF_SHORTEST_WALK, which would read two planes more for few of their own. */
#define KF_SHORTEST_WALK 8
#define KF_WALK(left, longest)                                                                               \
    ((left) >= 2 * (longest)                                ? (longest)                                      \
     : (left) <= (longest) && (left) < 2 * KF_SHORTEST_WALK ? (left)                                         \
                                                            : ((left) + 1) / 2)

#define KF_FLOAT_MEMBER(name)  float name;
#define KF_DOUBLE_MEMBER(name) double name;

typedef struct kf_kinetic_arguments {
    int extent[3]; /* items of this launch */
    int nodes[3];
    int row_pitch;
    int sample_count;
    int first_plane; /* z of the slab that initialise, read_fields, pack and unpack work on, or a launch of
                        the flow */
    int planes;      /* of a team's part, from first_plane on; all, of one device */
    int reach;       /* planes beyond them whose nodes' forces the part works out too: passes of the immersed
                        boundary - 1 */
    int parts;       /* whose sums the kernels add up: a team's; 1 where its processes have added up theirs */
    long long plane_pitch, origin; /* of a team's part: less by the indices before its first plane */
    long long capacity; /* node indices lie in [0, capacity); a multiple of alpha in the csoa layout */

    void *source, *target; /* populations, stored as f_i - w_i; the same grid when streaming is in place */
    int pushed;            /* esoteric pull: populations lie where they stream to, not where they left */
    void *density; /* density - 1, with velocity and force: whole-domain fields of the unfused plans */
    void *velocity, *force;
    void *averages;          /* reciprocals of the domain averages of density, |momentum|, |second moment| */
    long long *average_sums; /* fixed point, [KF_AVERAGE_SLOTS][3]; where they are finished [parts] times */

    /* Samples. Static solid: index of the lower corner of the sample's cell and the fractions within it.
     * Moving: position relative to the solid's centre at time 0. */
    void *sample_x, *sample_y, *sample_z, *sample_area;
    void *sample_corner; /* kf_index; static solids only */
    void *sample_force;  /* [3][sample_count] */
    void *pose;          /* kf_pose */

    /* Cell list (gather): samples of cell c are cell_samples[cell_start[c]] ..
     * cell_samples[cell_start[c+1]-1]. */
    int *cell_start, *cell_samples;

    /* Band: the nodes that samples touch. */
    int *band_of;              /* node index -> place in the band, -1 outside */
    void *band_node;           /* kf_index */
    const unsigned *band_mask; /* a bit a node index, set in the band: what masked_band leaves out */
    void *band_field;          /* kf_real4: velocity, density before the force */
    void *band_force;          /* [band][4], kf_real or fixed point */
    void *band_kept; /* [velocities][band_capacity]: in place, the band's nodes after collision, kf_stored;
                      * with keep_streamed as they stream in, kf_real */
    int march;       /* planes that a block of plan moments walks */
    int cut_side;    /* of pack_cut and unpack_cut: whether the reader lies above (1) or below (-1) */
    void *listed; /* kf_real [27][listed_count]: plan moments, populations of the band's nodes (moments.h) */
    int listed_count, listed_from; /* of a team: of all its bands' nodes, and where the part's place 0 is */
    void *band_total;              /* the same, summed over the passes of a step; only with several */
    int *band_count; /* [0] used places, [1] places that were needed but not there, [2] samples in crowded, or
                        of a static solid warps of band_chain that have ended */
    int band_capacity;
    int box[3]; /* cells of the box around the solid */

    /* A solid has segments or links: the arguments of a launch are full. */
    union {
        struct {
            /* Segments: up to KF_SEGMENT_LENGTH samples of one cell, which one item adds up, or the lanes of
             * a warp together. */
            int segment_count;
            void *segment_samples; /* kf_real4 [KF_SEGMENT_LENGTH][segment_count]: fractions and area, 0 where
                                      there is none; shared by lanes [segment_count][KF_SEGMENT_LENGTH] */
            int *segment_places;   /* [8][segment_count]: the cell's nodes as places in the band */
            void *segment_force;   /* [8][3][segment_count]; shared by lanes [segment_count][8][3] */
            int *node_start;       /* [band + 1]: first entry of each band node */
            int *node_entries; /* places in segment_force (component 0) of the segments that touch the node */
        };
        /* Links (links.cu): of each the outer node, the direction (c_x + 1 + 3 (c_y + 1) + 9 (c_z + 1), 27
         * more where only half-way will do) and the share outside; what comes back, and behind that the sum
         * of both ways, [2][link_count]; the inner nodes. */
        struct {
            int link_count;
            int *link_code;
            void *link_node, *link_share, *link_value, *link_inside;
        };
    };

    /* Cells of a moving solid, filled anew at every step: segment_samples is kf_real4
     * [cell_rows][band_capacity][KF_SEGMENT_LENGTH], a cell going by the place of its corner in the band. */
    int cell_rows;
    int *cell_count;  /* node index of the corner -> samples of the cell */
    int *sample_rank; /* [sample_count]: place among those of its cell */
    int *crowded;     /* [sample_count]: samples for which the rows had no place */
    /* In patches of KF_PATCH samples segment_samples is kf_real4 [patch][KF_PATCH], and of each patch
     * there are [0] the number of its runs and, from [2] on, of each run its cell's corner and first
     * sample | samples << 16. */
    int *patch_runs;      /* [patch][2 KF_PATCH + 2] */
    unsigned *patch_band; /* a bit a node of the box around the solid, rows beginning with a word: set in the
                             band */

    long long *load_sums; /* fixed point, [KF_LOAD_SLOTS][KF_LOAD_SUMS] */
    long long pose_step;  /* of set_pose_step alone */
    /* Sums of a free solid in fixed point, [KF_LOAD_SLOTS][KF_BODY_SUMS], and the samples that left the
     * domain; each part has them where the velocities are solved for. */
    long long *body_sums;
    int pass; /* of the immersed boundary within the step */

    double face_velocity[6][3];
    float face_velocity_single[6][3];
    double specular_share[6]; /* of what a wall reflects; 0: all of it is sent back the way it came */
    /* Plan moments keeps here the words of the nodes at the faces across x, [face][word][z][y], for
     * convect_outflow; NULL: that reads them from the grid. */
    void *edge;
    /* Outflow: what waits outside [face][9 velocities][v][u], in kf_real of KF_WAITING_UNIT, each face from
     * outflow_start on; the share that a step takes from the outermost nodes, and its pull towards density 1
     * (boundary.h). */
    void *outflow, *outflow_next; /* of this step, and of the next: another place where collisions write it */
    /* These are outflow_next of the parts below and above, which read the rows nearest to the cut from
     * their own; NULL: there is none. */
    void *outflow_below, *outflow_above;
    long long outflow_start[6];
    double outflow_take[6], outflow_pull[6];
    struct {
        KF_KINETIC_SCALARS(KF_FLOAT_MEMBER)
    } single_precision;
    struct {
        KF_KINETIC_SCALARS(KF_DOUBLE_MEMBER)
    } double_precision;
    /* A team that is cut across y too (KF_CUT_Y) has parts that keep some rows of each plane. These are
     * the rows of a launch, as first_plane and planes are its planes; the rows before the first that is
     * kept, by which origin is less, too; and cut_side along y. */
    int first_row, rows;
    int rows_before;
    int cut_row;
} kf_kinetic_arguments;

/* A solid's pose: x(t) = rotation (x0 - center0) + center. The kernels advance_pose, or patch_sort (behind
 * it) and patch_collect, write it, and solve_body does for a free solid. Along periodic axes the centre is
 * not brought back into the domain. */
typedef struct kf_pose {
    double rotation[9], center[3];
    double velocity[3], angular_velocity[3];
    double axis[3], center_start[3], angular_speed; /* the prescribed motion */
    double radius; /* of the sphere about the centre that holds every sample */
    /* A free solid: what it weighs more than the fluid in its place, and its state. */
    double excess_mass, excess_inertia[9]; /* inertia about the centre, in the pose of time 0 */
    double weight[3];                      /* of the excess mass */
    double quaternion[4], angular_momentum[3];
    long long left_at; /* first step in which it touched a face of the domain, and was held; -1: none */
    long long step;
    int box_origin[3]; /* lower corner of the box around the solid */
    int moving, free;
} kf_pose;

enum {
    KF_AVERAGE_SLOTS = 256,
    KF_AVERAGE_STRIDE = 4,  /* every fourth row along y and z enters the domain averages */
    KF_AVERAGE_PERIOD = 16, /* steps from one sum to the next */
    KF_LOAD_SLOTS = 64,
    KF_LOAD_SUMS = 7,   /* force, torque, and forces that were no sound numbers */
    KF_LOAD_CHUNK = 64, /* samples or band nodes that one item adds up */
    KF_BODY_SUMS = 16,  /* body.h */
    KF_BODY_PLACES = KF_LOAD_SLOTS * KF_BODY_SUMS + 1, /* of body_sums, of one part */
    KF_BODY_CHUNK = 16,                                /* samples that one item adds up */
    KF_BODY_THREADS = 32,
    KF_SCAN_CHUNK = 512,
};
#define KF_LARGEST_RATE_19 1.7              /* of the moments above order 2, on 19 velocities */
#define KF_AVERAGE_SCALE   4294967296.0     /* 2^32 */
#define KF_FORCE_SCALE     17592186044416.0 /* 2^44: force sums, exact to 6e-14 up to 5e5 */
#define KF_TORQUE_SCALE    68719476736.0    /* 2^36 */
#define KF_FORCE_LIMIT     1000.0 /* beyond that a sample's or node's force is that of a flow that blew up */
#define KF_BODY_SCALE      4398046511104.0 /* 2^42: sums over a free solid's surface, in units of its radius */
#define KF_SPREAD_SCALE    1125899906842624.0 /* 2^50: force at one node, exact to 9e-16 up to 8192 */
/* These words mark a node of plan moments as listed (moments.h): two halves, f32 and f64. */
#define KF_MARK_HALVES 0x7e5d7e5d
#define KF_MARK_SINGLE 0x7fc0c0de
#define KF_MARK_DOUBLE 0x7ff8c0de00000000LL

/* The arguments of the kernels that list samples by cell (order.cu). */
typedef struct kf_order_arguments {
    int extent[3];
    int sample_count;
    int box[3]; /* cells of the box around the solid, which are the keys */
    int key_count, chunk_count;
    int nodes[3];
    int row_pitch;
    long long plane_pitch, origin;
    const void *pose;
    const void *sample_x, *sample_y, *sample_z;
    const void *sample_corner;
    const int *identity; /* [sample_count]: rank in sampling order, breaks ties */
    int *keys;           /* [sample_count] */
    int *start;          /* [key_count + 1] */
    int *chunk_sums;     /* [chunk_count] */
    int *next;           /* [key_count]: next free place of a key */
    int *order;          /* [sample_count]: stored sample at each rank */
} kf_order_arguments;

#endif
