#include "solver/sph/sph_depth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/file.h"
#include "base/util/memory.h"

/* The characters of a depth. */
enum { NUMBER = 12 };

static void add_up(const kf_particle_scene *s, const kf_snapshot *snapshot, double cell, const int cells[2],
                   double *depths) {
    const float *position = kf_snapshot_find(snapshot, "position")->values,
                *density = kf_snapshot_find(snapshot, "density")->values;
    const double mass = s->density * s->spacing * s->spacing * s->spacing;
    for (size_t k = 0; k < s->count - s->wall_count; k++) {
        const double x = floor((double)position[3 * k] / cell), y = floor((double)position[3 * k + 1] / cell);
        /* It has left the box. */
        if (!(x >= 0.0 && y >= 0.0 && x < cells[0] && y < cells[1])) continue;
        depths[(size_t)y * (size_t)cells[0] + (size_t)x] += mass / (double)density[k] / (cell * cell);
    }
}

kf_status kf_sph_write_depth(const kf_particle_scene *scene, const kf_snapshot *snapshot, const char *path,
                             kf_error *error) {
    const double cell = fmax(scene->terrain.cell, 2.0) * scene->spacing;
    int cells[2];
    for (int i = 0; i < 2; i++)
        cells[i] = (int)ceil((scene->size[i] - scene->origin[i]) * scene->spacing / cell - 1e-9);
    const size_t count = (size_t)cells[0] * (size_t)cells[1], room = count * NUMBER + 256;
    double *depths = kf_allocate_zeroed(count, sizeof *depths);
    char *text = kf_allocate(room);
    add_up(scene, snapshot, cell, cells, depths);
    int used = snprintf(text, room,
                        "ncols %d\nnrows %d\nxllcorner %.15g\nyllcorner %.15g\ncellsize %.9g\nNODATA_value "
                        "-9999\n",
                        cells[0], cells[1], scene->terrain.corner[0], scene->terrain.corner[1], cell);
    size_t length = (size_t)used;
    for (int y = cells[1] - 1; y >= 0; y--)
        for (int x = 0; x < cells[0]; x++) {
            used = snprintf(text + length, room - length, "%.4g%c",
                            fmin(depths[(size_t)y * (size_t)cells[0] + (size_t)x], 99999.0),
                            x + 1 < cells[0] ? ' ' : '\n');
            length += (size_t)used;
        }
    const kf_status status = kf_file_write_atomic(path, text, length, error);
    free(depths);
    free(text);
    return status;
}
