/* The arguments of every kernel of the kinetic system, which host and device share.
 *
 * The domain has one layer of ghost nodes around it. Node (x, y, z), -1 <= x <= nodes[0] and so on, has
 * the index origin + x + row_pitch (y + 1) + plane_pitch (z + 1). Rows start aligned, and the ghost at x =
 * -1 is the last place of the row before. Populations and vector fields are stored over these indices in a
 * layout of Eq. 9 of Chen et al. 2021 ("the paper" in these files). */
#ifndef KF_KERNELS_KINETIC_ARGUMENTS_H
#define KF_KERNELS_KINETIC_ARGUMENTS_H

/* The scalars that kernels need in their own arithmetic precision. They are stored in both precisions, so
 * that no kernel converts them. */
#define KF_KINETIC_SCALARS(X)                                                                                \
    X(shear_rate)      /* relaxation rate of the shear moments, 1 / (3 viscosity + 1/2) */                   \
    X(high_order_rate) /* rate of the moments of third and higher order, for the rule `constant` */          \
    X(body_force_x)                                                                                          \
    X(body_force_y)                                                                                          \
    X(body_force_z)

/* Returns the planes of the next walk of plan moments, given the planes that are left. It is the longest
 * walk at first. Near the end it is half of the rest, so that blocks that start late have less to do. A
 * walk shorter than KF_SHORTEST_WALK would read two further planes for few of its own. */
#define KF_SHORTEST_WALK 8
#define KF_WALK(left, longest)                                                                               \
    ((left) >= 2 * (longest)                                ? (longest)                                      \
     : (left) <= (longest) && (left) < 2 * KF_SHORTEST_WALK ? (left)                                         \
                                                            : ((left) + 1) / 2)

#define KF_FLOAT_MEMBER(name)  float name;
#define KF_DOUBLE_MEMBER(name) double name;

/* The arguments come in groups. Each module's kernels get only the groups that they read. */

typedef struct kf_kinetic_grid {
    int nodes[3];
    int row_pitch;
} kf_kinetic_grid;

/* The positions of nodes in memory, besides the grid's row_pitch. */
typedef struct kf_kinetic_memory {
    long long plane_pitch,
        /* A part of a team stores its planes from its first one on, so its origin is smaller by the
         * indices before that plane. */
        origin;
    long long capacity; /* node indices are in [0, capacity), a multiple of alpha in the csoa layout */
} kf_kinetic_memory;

/* The nodes on which a launch works, and the part of the team to which they belong. On one device the part
 * has all planes and rows. */
typedef struct kf_kinetic_part {
    int cut_side;            /* 1: the part that reads pack_cut's output is above along z; -1: below */
    int first_plane, planes; /* planes of the part, or of the slab on which a launch works */
    int first_row, rows;     /* rows of each of these planes, if a team is cut across y too (KF_CUT_Y) */
    /* The rows of a plane before the first stored one. The origin is smaller by them, too. */
    int rows_before;
    int cut_row; /* as cut_side, along y */
    /* The number of planes beyond the part whose nodes' forces it also computes: passes of the immersed
     * boundary - 1. */
    int reach;
    /* The number of partial sums that kernels add: one for each part of a team, or 1 if processes have
     * already added theirs. */
    int parts;
} kf_kinetic_part;

/* The values of the nodes: populations as f_i - w_i, or moments. */
typedef struct kf_kinetic_node_values {
    void *source, *target;
} kf_kinetic_node_values;

/* The fields of the whole domain (unfused plans), and the domain's averages. */
typedef struct kf_kinetic_fields {
    void *density; /* density less 1 */
    void *velocity, *force;
    void *averages;          /* reciprocal averages of density, |momentum| and |second moment| */
    long long *average_sums; /* fixed point, [KF_AVERAGE_SLOTS][3]; for the final sum [parts] of these */
} kf_kinetic_fields;

/* The values that the domain's faces prescribe. */
typedef struct kf_kinetic_faces {
    double velocity[6][3];
    float velocity_single[6][3];
    /* The share of the populations that a wall mirrors. With 0 it bounces all of them back. */
    double specular_share[6];
} kf_kinetic_faces;

/* The populations that wait outside of outflows (boundary.h), [face][9 velocities][v][u], as kf_real in
 * KF_WAITING_UNIT. */
typedef struct kf_kinetic_outflow {
    /* Those of this step, and of the next step. The arrays differ if collisions write them. */
    void *waiting, *next;
    /* The array `next` of the parts below and above. They read what waits beside the rows near the cut
     * from their own array. NULL: no such part. */
    void *below, *above;
    /* The words of the nodes at the faces across x, [face][word][z][y]. The flow's kernel of plan moments
     * stores them for convect_outflow. NULL: convect_outflow reads the grid. */
    void *edge;
    long long start[6]; /* index of a face's first value */
    double take[6],
        pull[6]; /* weight of the outermost nodes in a step, and the pull towards density 1 (boundary.h) */
} kf_kinetic_outflow;

/* The samples of the solid's surface. */
typedef struct kf_kinetic_samples {
    int count;
    int box[3]; /* cells of the box around the solid */
    /* The samples. Those of a static solid are fractions within the cell of `corner`. Those of a moving
     * solid are positions relative to its centre at time 0. */
    void *x, *y, *z, *area;
    void *corner; /* kf_index: the lower corner of a sample's cell, for a static solid only */
    void *force;  /* [3][count] */
    void *pose;   /* kf_pose */
    /* The samples by cell, for the plan gather. Cell c has cell_samples[cell_start[c]] ..
     * cell_samples[cell_start[c + 1] - 1]. */
    int *cell_start, *cell_samples;
} kf_kinetic_samples;

/* The band: the nodes that samples touch. */
typedef struct kf_kinetic_band {
    int capacity;
    /* On a team: the number of nodes in the bands of all parts, and the position of this part's first one
     * among them. */
    int listed_count, listed_from;
    /* [0] places in use. [1] places that were needed but missing. [2] samples in `crowded`, or for a
     * static solid the warps of band_chain that have ended. */
    int *count;
    int *of;    /* for each node index its place in the band, or -1 */
    void *node; /* kf_index of each place's node */
    /* One bit for each node index: the node is in the band or inside links, so masked_band skips it. */
    const unsigned *mask;
    void *field; /* kf_real4: velocity and density before the solid's force */
    void *force; /* [band][4], kf_real or fixed point */
    void *total; /* the force summed over the passes of a step, if there are several */
    /* [velocities][capacity]: populations of the band's nodes. On one grid they are those after the
     * collision, as kf_stored. With keep_streamed they are those before it, as kf_real. */
    void *kept;
    /* kf_real [27][listed_count]: populations of the band's nodes, for plan moments (moments.h). */
    void *listed;
} kf_kinetic_band;

/* The segments of a static solid: up to KF_SEGMENT_LENGTH samples of one cell, whose forces one item sums,
 * or several lanes of a warp. */
typedef struct kf_kinetic_segments {
    int count;
    /* The samples as kf_real4: fractions and area, or zeros where there is no sample. The layouts are
     *     segments                            [KF_SEGMENT_LENGTH][count]
     *     segments shared by lanes            [count][KF_SEGMENT_LENGTH]
     *     cells of a moving solid             [cell_rows][band.capacity][KF_SEGMENT_LENGTH], a cell at its
     *                                         corner's place in the band
     *     patches of a moving solid           [patch][KF_PATCH] */
    void *samples;
    int *places;       /* [8][count]: places in the band of the cell's nodes */
    void *force;       /* [8][3][count], or [count][8][3] if shared by lanes */
    int *node_start;   /* [band + 1]: first entry of each band node */
    int *node_entries; /* places in `force` (component 0) of the segments that touch the node */
} kf_kinetic_segments;

/* The cells of a moving solid, which are filled in every step, or its patches of KF_PATCH samples. */
typedef struct kf_kinetic_patch_lists {
    int cell_rows;
    int *cell_count;  /* for each node index: number of samples in the cell with this corner */
    int *sample_rank; /* [count]: position of a sample among those of its cell */
    int *crowded;     /* [count]: samples for which their cell had no room */
    /* [patch][2 KF_PATCH + 2]: at [0] the number of the patch's runs, and from [2] on, for each run, its
     * cell's corner and first sample | samples << 16. */
    int *runs;
    unsigned
        /* One bit for each node of the box around the solid, which is set in the band. Each row begins
         * with a new word. */
        *band;
} kf_kinetic_patch_lists;

/* The cut links of a solid that stays in place (links.cu). They are sorted by groups of KF_LINK_LANES
 * consecutive nodes: the first links of all nodes of a group, then the second links of those that have
 * two, and so on. So the lanes of a warp read adjacent links. */
typedef struct kf_kinetic_links {
    int count;
    /* [count]: for each node of `node` the code of the link's direction to the surface, KF_LINK_CODE_BITS
     * each. The bits above these say how many nodes behind the outer one are fluid. */
    int *code;
    void *node; /* kf_index [KF_LINK_NODES][count]: the outer node, two nodes behind it, the inner node */
    /* Array of kf_real [count]: the share of the link outside the surface, 0 .. 1. For a turning solid it
     * is [2][count], and the second half is what the surface's motion takes from the returning population. */
    void *share;
    /* Array of kf_real [2 count + 1]: the mean corrections of the links, the share of their sum that each
     * weight subtracts, and the populations that left one step before. */
    void *memory;
    void *value; /* kf_real [2][count]: the returning population, and its sum with the one that left */
    /* kf_index: nodes that the fluid does not reach, beginning with those beside the fluid. */
    void *inside;
    long long *sums;    /* fixed point, [KF_LOAD_SLOTS]: sums of the corrections */
    double part_of_sum; /* for each weight */
    double center[3];   /* the solid's centre */
    /* Whether the returning population is that of this step, instead of the mean over two steps. */
    int at_once;
    int thin;   /* whether some inner nodes are fluid; then all links are computed before any is written */
    int direct; /* whether reflect_links itself writes the returning populations to the inner nodes */
} kf_kinetic_links;

/* For KF_LINK_LANES nodes and a number n: which of the nodes have a link number n, as bits, and the index
 * of the first of these links. */
typedef struct kf_link_row {
    int first;
    unsigned nodes;
} kf_link_row;

/* The fluid nodes beside this surface, for a law of the wall (wall.cu). */
typedef struct kf_kinetic_wall {
    int count;
    kf_link_row *rows; /* [KF_LINK_ROWS] for each KF_LINK_LANES nodes, the last without any */
    void *node;        /* kf_index [count] */
    void *seen;        /* kf_index [count]: the node whose velocity the law reads */
    /* [KF_WALL_SURFACE][count]: the normal towards the fluid, the area, the height of the node that is
     * read. */
    double *surface;
    double *found; /* [KF_WALL_FOUND][count]: share of the law, friction velocity, its direction, speed */
    /* [KF_WALL_FORCES][count]: the force on the fluid besides that of links, the friction and the pressure
     * on the solid. */
    double *force;
    double viscosity;
    int turn;     /* for reflect_and_find: period of warps, of which one has nodes and the others links */
    int friction; /* which force load_wall sums */
} kf_kinetic_wall;

/* The nodes of a box (covered.h): those that a finer grid covers, those that a step must compute, or
 * those around layers. */
typedef struct kf_kinetic_region {
    int low[3], high[3];
} kf_kinetic_region;

/* Turbulent layers without eddies on a solid with a law of the wall (layer.h). */
typedef struct kf_kinetic_layer {
    int count;             /* nodes of the layers, sorted by their index */
    int depth;             /* how far they reach from the surface, in cells; 0: there is no model */
    kf_kinetic_region box; /* contains all listed nodes */
    void *eddies;          /* kf_real [z][y][x] of the box: the viscosity of turbulence, lattice units */
    int *place;            /* [count]: position in `eddies` */
    int *wall;             /* [count]: the nearest node beside the surface */
    double *height;        /* [count]: distance from the surface in cells */
    double *distance;      /* [wall.count]: distance of the node beside the surface from it, in cells */
    int *open;             /* [wall.count]: steps along the normal before another surface */
    double *state;         /* [KF_LAYER_STATE][wall.count] */
} kf_kinetic_layer;

/* The solid as a rigid body: sums over its surface, and its step. */
typedef struct kf_kinetic_body {
    int pass;             /* number of the pass of the immersed boundary within the step */
    long long *load_sums; /* fixed point, [KF_LOAD_SLOTS][KF_LOAD_SUMS] */
    /* The sums of a free solid in fixed point, [KF_LOAD_SLOTS][KF_BODY_SUMS], then the number of samples
     * that left the domain. Kernels that solve for the velocities read those of each part. */
    long long *sums;
    long long pose_step; /* for set_pose_step alone */
} kf_kinetic_body;

/* The arrays for the ends of a nested grid's rows (edges.h), if it has them. */
typedef struct kf_kinetic_edges {
    void *fresh; /* two columns of ghost nodes, which the first of two steps reads; NULL in the second */
    void *inner; /* the box's four outermost columns, which the second step writes; NULL in the first */
} kf_kinetic_edges;

/* Several solids with motions of their own. With one solid all members are 0. */
typedef struct kf_kinetic_solids {
    int count;
    const unsigned char *of; /* [samples.count]: the solid of each sample, in ascending order */
    void *poses;             /* kf_pose [count]; samples.pose is that of all together, which do not move */
    long long *load_sums;    /* fixed point, [count][KF_LOAD_SLOTS][KF_LOAD_SUMS] */
} kf_kinetic_solids;

typedef struct kf_kinetic_scalars {
    struct {
        KF_KINETIC_SCALARS(KF_FLOAT_MEMBER)
    } single_precision;
    struct {
        KF_KINETIC_SCALARS(KF_DOUBLE_MEMBER)
    } double_precision;
} kf_kinetic_scalars;

/* The arguments of each module, which begin with the items of a launch. CUDA's compiler loads pairs of
 * adjacent arguments at once, and shares parts of addresses between them. With the grid 4 bytes farther
 * on, stream_collide took up to 9 registers more. */
typedef struct kf_flow_arguments { /* fused.cu, moments.cu, separate.cu, boundary.cu */
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    int march; /* most planes that a block of plan moments walks */
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_fields fields;
    kf_kinetic_faces faces;
    kf_kinetic_outflow outflow;
    kf_kinetic_band band;
    kf_kinetic_segments segments;
    kf_kinetic_scalars scalars;
    kf_kinetic_region covered, needed;
    kf_kinetic_edges edges;
    kf_kinetic_layer layer;
} kf_flow_arguments;

typedef struct kf_solid_arguments { /* immersed.cu, immersed_band.cu, motion.cu */
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_fields fields;
    kf_kinetic_samples samples;
    kf_kinetic_band band;
    kf_kinetic_segments segments;
    kf_kinetic_patch_lists patches;
    kf_kinetic_body body;
    kf_kinetic_solids solids;
} kf_solid_arguments;

typedef struct kf_state_arguments { /* state.cu, velocity.cu */
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_fields fields;
    kf_kinetic_outflow outflow;
    kf_kinetic_band band;
    kf_kinetic_scalars scalars;
} kf_state_arguments;

typedef struct kf_links_arguments { /* links.cu */
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_links links;
    kf_kinetic_body body;
} kf_links_arguments;

typedef struct kf_wall_arguments { /* wall.cu */
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_part part;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations;
    kf_kinetic_links links;
    kf_kinetic_wall wall;
    kf_kinetic_body body;
    kf_kinetic_layer layer;
} kf_wall_arguments;

/* A solid's pose: x(t) = rotation (x0 - center0) + center. The kernel advance_pose writes it. With
 * patches, patch_sort writes it behind the last pose and patch_collect moves it to its place. For a free
 * solid solve_body writes it. Along periodic axes the centre is not brought back into the domain. */
typedef struct kf_pose {
    double rotation[9], center[3];
    double velocity[3], angular_velocity[3];
    double axis[3], center_start[3], angular_speed; /* the prescribed motion */
    double radius; /* radius of the sphere around the centre that contains all samples */
    /* A free solid has these: its mass in excess of the displaced fluid, and its state. */
    double excess_mass, excess_inertia[9]; /* inertia about the centre, in the pose of time 0 */
    double weight[3];                      /* force on the excess mass */
    double quaternion[4], angular_momentum[3];
    long long left_at; /* first step in which the solid touched a face of the domain and was stopped, or -1 */
    long long step;
    int box_origin[3]; /* lower corner of the box around the solid */
    int moving, free;
} kf_pose;

enum {
    KF_AVERAGE_SLOTS = 256,
    KF_AVERAGE_STRIDE = 4,  /* every fourth row along y and z counts in the domain averages */
    KF_AVERAGE_PERIOD = 16, /* steps from one sum to the next */
    KF_LINK_NODES = 4,
    KF_LINK_CODE_BITS = 5,
    KF_LINK_LANES = 32,
    KF_LINKS_TOGETHER = 4,
    KF_LINK_ROWS = 32,  /* a node has at most 26 links, and rows are read KF_LINKS_TOGETHER ahead */
    KF_LINK_STEPS = 32, /* number of steps over which a link's correction is averaged */
    KF_WALL_SURFACE = 5,
    KF_WALL_FOUND = 6,
    KF_WALL_FORCES = 9,
    /* What is followed of a layer: mean speed and mean squared fluctuation at the node that the law reads,
     * whether there are no eddies, steps so far, outer viscosity and thickness. */
    KF_LAYER_MEAN = 0,
    KF_LAYER_SQUARE,
    KF_LAYER_QUIET,
    KF_LAYER_STEPS,
    KF_LAYER_VISCOSITY,
    KF_LAYER_THICKNESS,
    KF_LAYER_STATE,
    KF_LAYER_PERIOD = 16, /* steps from one look at a layer to the next, */
    KF_LAYER_FIRST = 4,   /* and in the first such period, in which layers begin */
    KF_LAYER_DEPTH = 24,  /* most cells that a layer is looked through */
    KF_LOAD_SLOTS = 64,
    KF_LOAD_SUMS = 7,   /* force, torque, and the number of forces that were not finite */
    KF_LOAD_CHUNK = 64, /* samples or nodes of the band that one item sums */
    KF_BODY_SUMS = 16,  /* body.h */
    KF_BODY_PLACES = KF_LOAD_SLOTS * KF_BODY_SUMS + 1, /* values of body_sums of one part */
    KF_BODY_CHUNK = 16,                                /* samples that one item sums */
    KF_BODY_THREADS = 32,
    KF_SCAN_CHUNK = 512,
};
#define KF_LARGEST_RATE_19 1.7              /* of the moments above second order, with 19 velocities */
#define KF_AVERAGE_SCALE   4294967296.0     /* 2^32 */
#define KF_FORCE_SCALE     17592186044416.0 /* 2^44: force sums below 5e5 have a resolution of 6e-14 */
#define KF_TORQUE_SCALE    68719476736.0    /* 2^36 */
#define KF_FORCE_LIMIT     1000.0 /* a larger force on a sample or node means that the flow has diverged */
#define KF_BODY_SCALE      4398046511104.0    /* 2^42: sums over a free solid, in units of its radius */
#define KF_SPREAD_SCALE    1125899906842624.0 /* 2^50: a node's force below 8192 resolves 9e-16 */
/* The words that mark a node of plan moments as listed (moments.h): for two halves, f32 and f64. */
#define KF_MARK_HALVES 0x7e5d7e5d
#define KF_MARK_SINGLE 0x7fc0c0de
#define KF_MARK_DOUBLE 0x7ff8c0de00000000LL

/* The arguments of the kernels that list samples by cell (order.cu). */
typedef struct kf_order_arguments {
    int extent[3];
    kf_kinetic_grid grid;
    kf_kinetic_memory memory;
    kf_kinetic_samples samples; /* keys are the cells of the box */
    int key_count, chunk_count;
    const int *identity; /* [samples]: number in sampling order, which decides between equal keys */
    int *keys;           /* [samples] */
    int *start;          /* [key_count + 1] */
    int *chunk_sums;     /* [chunk_count] */
    int *next;           /* [key_count]: next free place of each key */
    int *order;          /* [samples]: the stored sample of each rank */
    kf_kinetic_solids solids;
} kf_order_arguments;

#endif
