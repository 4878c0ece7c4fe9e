/* Nested grids: boxes of finer nodes in a coarser grid, each in the one before. Cells of a level are half as
 * wide as those of the next coarser one, and it takes two steps for one of that (acoustic scaling), so
 * velocities in cells a step are the same on all levels, viscosities double and body forces halve.
 *
 * A level is a grid of its own: the nodes of its box and, at each side that is not a face of the domain,
 * KF_NESTED_GHOSTS layers beyond. Before a step of the coarser level the ghosts are interpolated from it;
 * each of the two steps that follow leaves one layer less that is right. Then the outermost cells of the
 * coarser level inside the box become the means of the nodes that they cover. What crosses is density,
 * velocity and the second moments that stand for the rate of strain (docs/physics.md, nested grids). */
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
    kf_scene scene; /* of this grid; owns its samples alone. Sides inside the domain are free-slip faces */
    int origin[3];  /* node of the whole domain that is node 0 of this grid */
    int first[3], cells[3]; /* node of the coarser level's grid that is the box's first cell; its cells */
    int ghosts[KF_FACES];   /* layers; 0 at faces of the domain, and on the coarsest level */
} kf_nested_level;

typedef struct kf_nested {
    int count; /* of levels, from the coarsest on */
    kf_nested_level level[KF_MOST_LEVELS];
} kf_nested;

/* Makes the levels of a scene, which outlives them: its own grid and those of scene->finer. Only the finest
 * level has the solid. KF_BAD_INPUT says which box cannot be, and why. The caller frees with kf_nested_free.
 */
kf_status kf_nested_make(const kf_scene *scene, kf_nested **nested, kf_error *error);
void kf_nested_free(kf_nested *nested);

/* Place of a level's node in nodes of the coarser level's grid, along one axis. */
double kf_nested_place(const kf_nested_level *level, int axis, int node);
/* Returns whether a cell of the coarser level's grid is in the box of the finer one. */
bool kf_nested_covers(const kf_nested_level *finer, const int cell[3]);
/* Returns whether it is in the box, but not more than KF_NESTED_RIM layers from a side inside the domain. */
bool kf_nested_is_rim(const kf_nested_level *finer, const int cell[3]);
bool kf_nested_has_ghosts(const kf_scene *scene);
/* Nodes of a scene's grid that a step works on, on average: those that a finer grid covers and rows of ghosts
 * that nothing reads are left out. */
double kf_nested_stepped_nodes(const kf_scene *scene);

#endif
