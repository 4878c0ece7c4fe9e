/* Works out what a gauge of pressure has around it where all is wet. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "solver/sph/sph.h"

/* Particles of walls that a gauge may see. */
typedef struct kf_walls_near {
    const float **place;
    size_t count;
} kf_walls_near;

/* Returns the largest distance from a place along an axis, to the nearer image along a periodic one. */
static double apart(const kf_particle_scene *s, const float *at, const double place[3]) {
    double most = 0.0;
    for (int i = 0; i < s->dimensions; i++) {
        double d = (double)at[i] - place[i];
        if (s->sides[2 * i] == KF_SIDE_PERIODIC) d -= s->size[i] * nearbyint(d / s->size[i]);
        most = fmax(most, fabs(d));
    }
    return most;
}

static void find_walls(const kf_particle_scene *s, const double place[3], double reach,
                       kf_walls_near *walls) {
    walls->place = kf_allocate((s->wall_count > 0 ? s->wall_count : 1) * sizeof *walls->place);
    walls->count = 0;
    for (size_t k = s->count - s->wall_count; k < s->count; k++)
        if (apart(s, s->position + 3 * k, place) < reach + 1.0)
            walls->place[walls->count++] = s->position + 3 * k;
}

/* Returns whether a place is in a wall. A particle of a wall fills the cube of a spacing around it. */
static bool in_a_wall(const kf_particle_scene *s, const kf_walls_near *walls, const double place[3]) {
    for (size_t k = 0; k < walls->count; k++)
        if (apart(s, walls->place[k], place) < 0.5) return true;
    return false;
}

/* Returns whether fluid may be at a place, which becomes its image within the box. */
static bool has_room(const kf_particle_scene *s, const kf_walls_near *walls, double place[3]) {
    const int up = s->dimensions - 1;
    for (int i = 0; i < s->dimensions; i++) {
        if (s->sides[2 * i] == KF_SIDE_PERIODIC) place[i] -= s->size[i] * floor(place[i] / s->size[i]);
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): dimensions are 2 or 3 */
        if (s->sides[2 * i] != KF_SIDE_PERIODIC && place[i] < 0.0) return false;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): dimensions are 2 or 3 */
        if (s->sides[2 * i + 1] != KF_SIDE_PERIODIC && place[i] > s->size[i]) return false;
    }
    if (s->terrain.heights != NULL &&
        place[up] < kf_terrain_height(&s->terrain, place[0], up == 2 ? place[1] : 0.0, NULL))
        return false;
    return !in_a_wall(s, walls, place);
}

/* Returns the weight of the volume around a place that fluid can fill, (1 - r / reach)^2 summed over
 * points four a spacing apart; walls and the ground are left out. */
double kf_sph_gauge_room(const kf_particle_scene *scene, const double place[3], double reach) {
    /* Points per spacing. */
    enum { FINE = 4 };
    const int most = (int)ceil(reach * FINE), deep = scene->dimensions == 3 ? most : 1;
    kf_walls_near walls;
    double sum = 0.0;
    find_walls(scene, place, reach, &walls);
    for (int x = -most; x < most; x++)
        for (int y = -most; y < most; y++)
            for (int z = -deep; z < deep; z++) {
                const double d[3] = {(x + 0.5) / FINE, (y + 0.5) / FINE, (z + 0.5) / FINE};
                const double r = sqrt(d[0] * d[0] + d[1] * d[1] + (deep > 1 ? d[2] * d[2] : 0.0));
                double at[3] = {place[0] + d[0], place[1] + d[1], place[2] + d[2]};
                if (r < reach && has_room(scene, &walls, at)) sum += (1.0 - r / reach) * (1.0 - r / reach);
            }
    free(walls.place);
    return scene->dimensions == 3 ? sum / (FINE * FINE * FINE) : 0.5 * sum / (FINE * FINE);
}
