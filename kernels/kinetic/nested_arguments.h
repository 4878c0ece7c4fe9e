/* The arguments of the kernels between nested grids (nested.cu), shared by host and device. */
#ifndef KF_KERNELS_KINETIC_NESTED_ARGUMENTS_H
#define KF_KERNELS_KINETIC_NESTED_ARGUMENTS_H

#include "arguments.h"

/* One of the two levels: what the functions of the headers read of a module's arguments. */
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
    kf_kinetic_scalars scalars;
} kf_nested_side;

enum { KF_NESTED_BOXES = 6 };

/* The items are cells of the coarser level: those of box b are the items from start[b] on. Cells and their
 * first node of the finer level count from the nested box: cell (0, 0, 0) is node `first` of the coarser
 * level's grid, and its nodes begin at node `ghosts` of the finer one's. */
typedef struct kf_nested_arguments {
    int extent[3];
    int boxes, start[KF_NESTED_BOXES + 1];
    int low[KF_NESTED_BOXES][3], size[KF_NESTED_BOXES][3];
    int first[3], ghosts[3];
    int end[3];      /* node of the finer level's grid behind the nested box */
    int periodic[3]; /* whether the box reaches around the domain along an axis */
    int around[3];   /* whether the coarser level does */
    double scale;    /* second moments over density of the level that is written, over those read */
    kf_nested_side coarse, fine;
} kf_nested_arguments;

#endif
