/* The signed distance from a scene's mesh on a grid of half cells around it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/incompressible/incompressible.h"

/* Cells from the surface within which the distance is exact; beyond, only the side counts. */
static const double band = 2.0;

static double square_to_segment(const double p[3], const double a[3], const double b[3]) {
    double along[3], from[3], rest[3];
    for (int i = 0; i < 3; i++) {
        along[i] = b[i] - a[i];
        from[i] = p[i] - a[i];
    }
    const double length = kf_dot(along, along);
    const double t = length > 0.0 ? fmin(fmax(kf_dot(from, along) / length, 0.0), 1.0) : 0.0;
    for (int i = 0; i < 3; i++)
        rest[i] = from[i] - t * along[i];
    return kf_dot(rest, rest);
}

/* Square of the distance of a point from a triangle. */
static double square_to_triangle(const double p[3], const double *const c[3]) {
    double u[3], v[3], w[3];
    for (int i = 0; i < 3; i++) {
        u[i] = c[1][i] - c[0][i];
        v[i] = c[2][i] - c[0][i];
        w[i] = p[i] - c[0][i];
    }
    const double uu = kf_dot(u, u), uv = kf_dot(u, v), vv = kf_dot(v, v), wu = kf_dot(w, u),
                 wv = kf_dot(w, v), area = uu * vv - uv * uv;
    if (area > 0.0) {
        const double s = (wu * vv - wv * uv) / area, t = (wv * uu - wu * uv) / area;
        if (s >= 0.0 && t >= 0.0 && s + t <= 1.0) {
            double rest[3];
            for (int i = 0; i < 3; i++)
                rest[i] = w[i] - s * u[i] - t * v[i];
            return kf_dot(rest, rest);
        }
    }
    return fmin(square_to_segment(p, c[0], c[1]),
                fmin(square_to_segment(p, c[1], c[2]), square_to_segment(p, c[2], c[0])));
}

static void corners_of(const kf_mesh *mesh, size_t triangle, const double *corners[3]) {
    for (size_t i = 0; i < 3; i++)
        corners[i] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + i];
}

static float *value_at(const kf_distance_grid *grid, int x, int y, int z) {
    return grid->values + ((size_t)z * (size_t)grid->size[1] + (size_t)y) * (size_t)grid->size[0] + (size_t)x;
}

/* Of a triangle's corners from its first one. */
static double reach_of(const double *const corners[3]) {
    double square = 0.0;
    for (int c = 1; c < 3; c++) {
        double from[3];
        for (int i = 0; i < 3; i++)
            from[i] = corners[c][i] - corners[0][i];
        square = fmax(square, kf_dot(from, from));
    }
    return sqrt(square);
}

/* The points around a triangle learn how near it is. No point of it is further from its first corner than
 * `reach`: most points have a nearer triangle already, which that corner alone tells. */
static void approach(const kf_distance_grid *grid, const double *const corners[3]) {
    const double reach = 1.001 * reach_of(corners) + 1e-6;
    int low[3], high[3];
    for (int i = 0; i < 3; i++) {
        const double least = fmin(corners[0][i], fmin(corners[1][i], corners[2][i])),
                     most = fmax(corners[0][i], fmax(corners[1][i], corners[2][i]));
        low[i] = (int)fmax(ceil((least - band - grid->corner[i]) / grid->spacing), 0.0);
        high[i] = (int)fmin(floor((most + band - grid->corner[i]) / grid->spacing), grid->size[i] - 1.0);
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const double p[3] = {grid->corner[0] + grid->spacing * x, grid->corner[1] + grid->spacing * y,
                                     grid->corner[2] + grid->spacing * z};
                float *value = value_at(grid, x, y, z);
                double from[3];
                for (int i = 0; i < 3; i++)
                    from[i] = p[i] - corners[0][i];
                const double near = (double)*value + reach;
                if (kf_dot(from, from) > near * near) continue;
                *value = fminf(*value, (float)sqrt(square_to_triangle(p, corners)));
            }
}

/* Marks, in a row of points along x, where the line through them passes through the triangle. */
static void pass(const kf_distance_grid *grid, const double *const c[3], double y, double z, int *turns) {
    const double ay = c[1][1] - c[0][1], az = c[1][2] - c[0][2], by = c[2][1] - c[0][1],
                 bz = c[2][2] - c[0][2], area = ay * bz - az * by;
    if (area == 0.0) return;
    const double u = ((y - c[0][1]) * bz - (z - c[0][2]) * by) / area,
                 v = (ay * (z - c[0][2]) - az * (y - c[0][1])) / area;
    if (u < 0.0 || v < 0.0 || u + v > 1.0) return;
    const double x = c[0][0] + u * (c[1][0] - c[0][0]) + v * (c[2][0] - c[0][0]);
    const double first = ceil((x - grid->corner[0]) / grid->spacing);
    if (first < grid->size[0]) turns[(size_t)fmax(first, 0.0)] += area > 0.0 ? 1 : -1;
}

/* Lines are a share of the spacing beside the points, so that none meets an edge that lies on the grid. */
static void pass_all(const kf_distance_grid *grid, const double *const corners[3], int *turns) {
    const double shift = 0.1234567e-3 * grid->spacing;
    int low[3], high[3];
    for (int i = 1; i < 3; i++) {
        const double least = fmin(corners[0][i], fmin(corners[1][i], corners[2][i])),
                     most = fmax(corners[0][i], fmax(corners[1][i], corners[2][i]));
        low[i] = (int)fmax(floor((least - grid->corner[i]) / grid->spacing) - 1.0, 0.0);
        high[i] = (int)fmin(ceil((most - grid->corner[i]) / grid->spacing), grid->size[i] - 1.0);
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            pass(grid, corners, grid->corner[1] + grid->spacing * y + shift,
                 grid->corner[2] + grid->spacing * z + 2.0 * shift,
                 turns + ((size_t)z * (size_t)grid->size[1] + (size_t)y) * (size_t)grid->size[0]);
}

void kf_incompressible_distance(const kf_scene *scene, kf_distance_grid *grid) {
    static const double margin = 3.0;
    const kf_mesh *mesh = &scene->mesh;
    size_t count = 1;
    grid->spacing = 0.5;
    for (int i = 0; i < 3; i++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t v = 0; v < mesh->vertex_count; v++) {
            least = fmin(least, mesh->vertices[3 * v + (size_t)i]);
            most = fmax(most, mesh->vertices[3 * v + (size_t)i]);
        }
        grid->corner[i] = floor(least - margin);
        grid->size[i] = (int)ceil((most + margin - grid->corner[i]) / grid->spacing) + 2;
        count *= (size_t)grid->size[i];
    }
    grid->values = kf_allocate(count * sizeof *grid->values);
    int *turns = kf_allocate_zeroed(count, sizeof *turns);
    for (size_t i = 0; i < count; i++)
        grid->values[i] = (float)band;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *corners[3];
        corners_of(mesh, t, corners);
        approach(grid, corners);
        pass_all(grid, corners, turns);
    }
    const size_t row = (size_t)grid->size[0];
    for (size_t first = 0; first < count; first += row) {
        int inside = 0;
        for (size_t x = 0; x < row; x++) {
            inside += turns[first + x];
            if (inside != 0) grid->values[first + x] = -grid->values[first + x];
        }
    }
    free(turns);
}
