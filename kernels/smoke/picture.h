/* Declares the arguments of the kernels that draw smoke (picture.cu), shared by host and device. Places are
 * in lattice units. The smoke's own grid is finer; its node (i,j,k) lies at ((i,j,k) + 1/2) / refinement -
 * 1/2. */
#ifndef KF_KERNELS_SMOKE_PICTURE_H
#define KF_KERNELS_SMOKE_PICTURE_H

/* Holds a node of the tree of boxes around the solid's triangles: a leaf of count triangles from `first` on,
 * or with count 0 a parent of the nodes first and first + 1. */
typedef struct kf_box_node {
    float low[3];
    int first;
    float high[3];
    int count;
} kf_box_node;

enum {
    KF_TRIANGLE_FLOATS = 18, /* a corner, the two edges from it, the normals at the three corners */
    KF_TREE_DEPTH = 48,      /* longest way from the root to a leaf */
    KF_SMOKE_BLOCK = 8,      /* edge, in the smoke's cells, of the blocks that empty space is skipped by */
    KF_PICTURE_GRID = 3,     /* rays a pixel along either edge */
    KF_SPREAD_TAPS = 2,      /* neighbours on either side that thin smoke is spread to, along each axis */
};

typedef struct kf_picture_arguments {
    int extent[3];
    int nodes[3]; /* of the smoke's grid */
    int blocks[3];
    float refinement;
    long long stride[3];      /* of a node along x, y, z */
    const long long *density; /* tracers, in units of 1 / KF_TRACER_UNIT */
    const long long *paint;   /* as often as the tracers' paint, 0 to KF_PAINT_UNIT; NULL for plain smoke */
    float *painted,
        *thin; /* [z][y][x], with paint: extinction times the share of KF_PAINT_UNIT; the thin part */
    float colours[3][3]; /* of smoke with no paint, half and the whole of it; linear */
    float per_unit;      /* extinction of one such unit at a node */
    float *extinction;   /* [z][y][x], per lattice cell of way */
    float *shade;        /* [z][y][x], optical depth between the node and the light; the thin smoke before */
    float *behind;       /* [z][y][x], share of the light that the solid keeps off; NULL without one */
    int *occupied;       /* [z][y][x] of the blocks: whether there is any smoke */
    float sparse;        /* extinction of so few tracers that they show as grains */
    int spacing;         /* nodes from a tap of the spreading to the next */
    int margin;          /* nodes around a block whose smoke makes it occupied */

    /* This points towards the light, which is far away, above. The shade is swept downwards plane by plane.
     */
    float light[3];
    int up, plane; /* axis, and the plane of this launch */
    float shift[3],
        slant; /* from a plane to the next one up: along the ray of light, and its length, lattice */

    /* The camera looks along ahead; right and above span half the picture at distance 1. */
    float eye[3], ahead[3], right[3], above[3];
    int width, height;
    unsigned char *pixels; /* [height][width][3], the upper row first */

    const kf_box_node *tree; /* of the solid where it is at time 0; NULL without one */
    const float *triangles;
    float body[3], roof[3], road[3]; /* colours of the solid, of where it slopes, and of the road; linear */
    float gloss;                     /* how much of the light the solid mirrors */
    float rotation[9], center[3], start[3]; /* x = rotation (x0 - start) + center */

    int has_ground;
    float ground;          /* height of the road along the axis up */
    float focus[3], reach; /* where the road is lit: fades out at that distance */
} kf_picture_arguments;

#endif
