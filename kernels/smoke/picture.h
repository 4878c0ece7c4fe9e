/* The arguments of the kernels that draw smoke (picture.cu), which host and device share. Places are in
 * lattice units. The smoke's own grid is finer: its node (i, j, k) is at ((i, j, k) + 1/2) / refinement -
 * 1/2. */
#ifndef KF_KERNELS_SMOKE_PICTURE_H
#define KF_KERNELS_SMOKE_PICTURE_H

/* A node of the tree of boxes around the solid's triangles. It is a leaf with `count` triangles from
 * `first` on, or, if count is 0, the parent of the nodes first and first + 1. */
typedef struct kf_box_node {
    float low[3];
    int first;
    float high[3];
    int count;
} kf_box_node;

enum {
    KF_TRIANGLE_FLOATS = 18, /* a corner, the two edges from it, the normals at the three corners */
    KF_TREE_DEPTH = 48,      /* longest path from the root to a leaf */
    KF_SMOKE_BLOCK =
        8, /* edge of the blocks with which empty space is skipped, in cells of the smoke's grid */
    KF_PICTURE_GRID = 3, /* rays of a pixel along either edge */
    KF_SPREAD_TAPS = 2,  /* neighbours on each side, along each axis, to which thin smoke is spread */
};

typedef struct kf_picture_arguments {
    int extent[3];
    int nodes[3]; /* of the smoke's grid */
    int blocks[3];
    float refinement;
    long long stride[3];      /* distance between neighbouring nodes along x, y, z */
    const long long *density; /* tracers in units of 1 / KF_TRACER_UNIT */
    const long long *paint;   /* sum of the tracers' paint, each 0 to KF_PAINT_UNIT; NULL: plain smoke */
    float *painted,
        *thin; /* [z][y][x]: with paint: extinction times the share of KF_PAINT_UNIT; the thin smoke */
    float colours[3][3]; /* of smoke with no paint, half of it, and all of it; linear */
    float per_unit;      /* extinction of one unit of density at a node */
    float *extinction;   /* [z][y][x]: extinction per lattice cell of the way */
    float *shade;  /* [z][y][x]: optical depth between the node and the light; before that the thin smoke */
    float *behind; /* [z][y][x]: share of the light that the solid blocks; NULL: there is no solid */
    int *occupied; /* [z][y][x] of the blocks: whether there is smoke */
    float sparse;  /* extinction of so few tracers that they are visible as grains */
    int spacing;   /* nodes between two taps of the spreading */
    int margin;    /* a block is occupied if there is smoke within this number of nodes around it */

    /* It points to the distant light above. The shade is computed downwards, plane by plane. */
    float light[3];
    int up, plane;         /* the upward axis, and the plane of this launch */
    float shift[3], slant; /* from a plane to the next one above along the ray of light: displacement, and its
                              length in lattice units */

    /* The camera looks along `ahead`. right and above span half of the picture at distance 1. */
    float eye[3], ahead[3], right[3], above[3];
    int width, height;
    unsigned char *pixels; /* [height][width][3], the upper row first */

    const kf_box_node *tree; /* of the solid at time 0; NULL: there is no solid */
    const float *triangles;
    float body[3], roof[3], road[3]; /* colours of the solid, of its sloping parts, and of the road; linear */
    float gloss;                     /* share of the light that the solid mirrors */
    float rotation[9], center[3], start[3]; /* x = rotation (x0 - start) + center */

    int has_ground;
    float ground;          /* height of the road along the upward axis */
    float focus[3], reach; /* centre of the lit part of the road, and the distance at which it fades */
} kf_picture_arguments;

#endif
