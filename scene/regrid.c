/* Gives a scene another grid. */
#include <math.h>
#include <string.h>

#include "scene/internal.h"

/* Returns whether an axis is the depth of a two-dimensional domain, which equals its cell size. */
static bool is_flat(const kf_description *d, const int nodes[3], int axis) {
    return axis == 2 && d->cells[2] == 1 && nodes[2] == 1;
}

/* Changes the grid. When the proportions change, extra space is added at both sides between faces of the same
 * kind, else at the upper end. */
void kf_description_regrid(kf_description *d, const int nodes[3], kf_text *notes) {
    /* A request for the present grid changes nothing, not even by rounding, because the scene's hash depends
     * on its numbers. */
    if (memcmp(d->cells, nodes, sizeof d->cells) == 0) return;
    double size[3], cell_size = 0.0;
    char grid[KF_GRID_TEXT];
    for (int a = 0; a < 3; a++) {
        size[a] = d->cells[a] * d->cell_size;
        if (!is_flat(d, nodes, a)) cell_size = fmax(cell_size, size[a] / nodes[a]);
    }
    for (int a = 0; a < 3; a++) {
        const double added = nodes[a] * cell_size - size[a];
        if (added > 0.001 * size[a] && !is_flat(d, nodes, a))
            kf_note(notes, "domain: %.4g m longer along %c, because cells are cubes and the grid is %s",
                    added, "xyz"[a], kf_grid_text(nodes, grid));
        if (a < 2 && d->faces[2 * a] == d->faces[2 * a + 1]) d->mask.center[a] += 0.5 * added;
        if (d->faces[2 * a] == d->faces[2 * a + 1]) {
            d->solid.position[a] += 0.5 * added;
            d->solid.motion_center[a] += 0.5 * added;
            for (int s = 0; s < d->solid_count; s++) {
                d->solids[s].position[a] += 0.5 * added;
                d->solids[s].motion_center[a] += 0.5 * added;
            }
            for (int e = 0; e < d->smoke.count; e++) {
                d->smoke.emitters[e].from[a] += 0.5 * added;
                d->smoke.emitters[e].to[a] += 0.5 * added;
            }
        }
        d->cells[a] = nodes[a];
    }
    d->cell_size = cell_size;
}
