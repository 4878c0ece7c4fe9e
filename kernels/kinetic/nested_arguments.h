/* The arguments of the kernels between nested grids (nested.cu), shared by host and device. */
#ifndef KF_KERNELS_KINETIC_NESTED_ARGUMENTS_H
#define KF_KERNELS_KINETIC_NESTED_ARGUMENTS_H

#include "arguments.h"

/* One of the two levels: the arguments that the headers' functions read. */
typedef struct kf_nested_side {
    kf_kinetic_grid grid;
    kf_kinetic_memory memory;
    kf_kinetic_node_values populations; /* source is read and written */
    struct {
        int listed_count;
        void *listed; /* of plan moments, in the level that has the solid */
    } band;
    struct {
        void *edge;
    } outflow;
    struct {
        void *averages;
    } fields;
    kf_kinetic_edges edges; /* of the finer level, where rows' ends have places of their own (edges.h) */
    kf_kinetic_region covered;
    kf_kinetic_scalars scalars;
} kf_nested_side;

enum { KF_NESTED_BOXES = 6 };

/* A block works on a tile of cells of the coarser level, one layer across: so many along the two axes of the
 * layer, the first of which is x unless the layer lies across x. */
enum {
    KF_NESTED_TILE_U = 16,
    KF_NESTED_TILE_V = 2,
    KF_REFINE_THREADS = 8 * KF_NESTED_TILE_U * KF_NESTED_TILE_V, /* ghosts */
    KF_COARSEN_THREADS = 224                                     /* lines across the layer, or more */
};

/* The tiles of box b are those from start[b] on. Cells and their first node of the finer level count from the
 * nested box: cell (0, 0, 0) is node `first` of the coarser level's grid, and its nodes begin at node
 * `ghosts` of the finer one's. */
typedef struct kf_nested_arguments {
    int extent[3]; /* threads */
    int boxes, start[KF_NESTED_BOXES + 1];
    int low[KF_NESTED_BOXES][3], size[KF_NESTED_BOXES][3];
    int across[KF_NESTED_BOXES]; /* the axis across its layers */
    int every;                   /* so manieth layer */
    int first[3], ghosts[3];
    int end[3];      /* node of the finer level's grid behind the nested box */
    int periodic[3]; /* whether the box reaches around the domain along an axis */
    int around[3];   /* whether the coarser level does */
    double scale;    /* second moments over density of the level that is written, over those read */
    kf_nested_side coarse, fine;
} kf_nested_arguments;

#endif
