/* What surrounds a bare mesh, and another grid for a scene that has one. */
#include <math.h>
#include <string.h>

#include "scene/internal.h"

void kf_description_wind_tunnel(kf_description *d, const kf_mesh *mesh, const int nodes[3], kf_text *notes) {
    static const int default_cells[3] = {128, 64, 64};
    static const double share[3] = {0.25, 0.5, 0.5}, place[3] = {1.0 / 3.0, 0.5, 0.5};
    const bool given = nodes[0] > 0;
    const kf_box box = kf_mesh_bounds(mesh);
    memcpy(d->cells, given ? nodes : default_cells, sizeof d->cells);
    /* The solid takes up at most a quarter of the length and half of the width and height. */
    for (int a = 0; a < 3; a++)
        d->cell_size = fmax(d->cell_size, (box.high[a] - box.low[a]) / (share[a] * d->cells[a]));
    d->solid.present = true;
    for (int a = 0; a < 3; a++)
        d->solid.position[a] = place[a] * d->cells[a] * d->cell_size;
    d->speed = 10.0;
    d->reynolds = 10000.0;
    kf_note(notes, "units: one unit of the mesh is taken for one metre (%.4g x %.4g x %.4g m)",
            box.high[0] - box.low[0], box.high[1] - box.low[1], box.high[2] - box.low[2]);
    kf_note(notes, "domain: %dx%dx%d cells of %.4g m%s, the solid a third of the way along x", d->cells[0],
            d->cells[1], d->cells[2], d->cell_size, given ? "" : " (default grid)");
    kf_note(notes, "boundaries: inflow at xmin, outflow at xmax, free_slip on the other faces");
    kf_note(notes, "flow: %g m/s along +x, Reynolds number %g, %g cells a step", d->speed, d->reynolds,
            d->lattice_speed);
    kf_note(notes, "model: %s, rates %s", kf_collision_names[d->collision], kf_rate_rule_names[d->rate_rule]);
}

/* Room that a grid of other proportions adds goes to both sides between faces of one kind, else to the upper
 * end. */
void kf_description_regrid(kf_description *d, const int nodes[3], kf_text *notes) {
    double size[3], cell_size = 0.0;
    for (int a = 0; a < 3; a++) {
        size[a] = d->cells[a] * d->cell_size;
        const bool flat = a == 2 && d->cells[a] == 1 && nodes[a] == 1; /* as thick as its cells are wide */
        if (!flat) cell_size = fmax(cell_size, size[a] / nodes[a]);
    }
    for (int a = 0; a < 3; a++) {
        const double added = nodes[a] * cell_size - size[a];
        if (added > 0.001 * size[a])
            kf_note(notes, "domain: %.4g m longer along %c, because cells are cubes and the grid is %dx%dx%d",
                    added, "xyz"[a], nodes[0], nodes[1], nodes[2]);
        if (a < 2 && d->faces[2 * a] == d->faces[2 * a + 1]) d->mask.center[a] += 0.5 * added;
        if (d->faces[2 * a] == d->faces[2 * a + 1]) {
            d->solid.position[a] += 0.5 * added;
            d->solid.motion_center[a] += 0.5 * added;
            for (int e = 0; e < d->smoke.count; e++) {
                d->smoke.emitters[e].from[a] += 0.5 * added;
                d->smoke.emitters[e].to[a] += 0.5 * added;
            }
        }
        d->cells[a] = nodes[a];
    }
    d->cell_size = cell_size;
}
