/* Nested grids: boxes of finer cells in a coarser grid, each box inside that of the next coarser level.
 * Cells of a level are half as wide as those of the next coarser level, and a level takes two steps for one
 * of that level (acoustic scaling). So velocities in cells a step are the same on all levels, viscosities
 * double and body forces halve.
 *
 * A level is a grid of its own. It has the nodes of its box and KF_NESTED_GHOSTS layers of ghost nodes at
 * each side that is not a face of the domain. Ghost nodes are interpolated from the coarser level before
 * each of that level's steps. Each of the two fine steps that follow makes one layer of ghost nodes invalid.
 * Then the fine level is restricted: the coarser level's outermost cells inside the box become means of the
 * fine nodes that they contain. Both ways the levels exchange density, velocity and the second moments that
 * represent the strain rate (docs/physics.md, nested grids). */
#ifndef KF_SOLVER_KINETIC_NESTED_H
#define KF_SOLVER_KINETIC_NESTED_H

#include "scene/scene.h"

enum {
    KF_NESTED_GHOSTS = 2, /* layers of nodes */
    KF_NESTED_RIM = 1,    /* layers of cells of the coarser level that are replaced by means */
    KF_MOST_LEVELS = KF_FINER_LEVELS + 1
};

typedef struct kf_nested_level {
    const kf_scene *whole; /* the whole domain in cells of this level */
    kf_scene scene; /* of this grid; it owns only samples and links. Sides inside the domain are free-slip */
    int origin[3];  /* node of the whole domain that is node 0 of this grid */
    int first[3], cells[3]; /* node of the coarser level's grid that is the box's first cell; its cells */
    int ghosts[KF_FACES];   /* layers; 0 at faces of the domain, and on the coarsest level */
} kf_nested_level;

typedef struct kf_nested {
    int count; /* of levels, from the coarsest on */
    kf_nested_level level[KF_MOST_LEVELS];
} kf_nested;

/* Makes the levels of a scene: the scene's own grid and those of scene->finer. Only the finest level has the
 * solid. The scene must outlive the levels. Returns KF_BAD_INPUT if a box is not possible; the message names
 * the box and the reason. The caller frees the result with kf_nested_free. */
kf_status kf_nested_make(const kf_scene *scene, kf_nested **nested, kf_error *error);
void kf_nested_free(kf_nested *nested);

/* Returns the coordinate of a level's node along one axis, in nodes of the coarser level's grid. */
double kf_nested_place(const kf_nested_level *level, int axis, int node);
/* Returns whether a cell of the coarser level's grid is in the box of the finer one. */
bool kf_nested_covers(const kf_nested_level *finer, const int cell[3]);
/* Returns whether a cell of the coarser level's grid is in the box, within KF_NESTED_RIM layers of a side
 * that is inside the domain. */
bool kf_nested_is_rim(const kf_nested_level *finer, const int cell[3]);
bool kf_nested_has_ghosts(const kf_scene *scene);
/* Returns the mean number of nodes of a scene's grid that a step updates. Nodes that a finer grid covers,
 * and rows of ghost nodes that nothing reads, are left out. */
double kf_nested_stepped_nodes(const kf_scene *scene);

#endif
