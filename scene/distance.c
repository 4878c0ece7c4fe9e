/* Computes the signed distance from a scene's mesh on a grid of half cells around it. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/hash.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/scene.h"

/* Within this distance from the surface, in cells, the value is exact. Beyond it only the sign is used. */
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

/* Returns the square of the distance between a point and a triangle. */
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

static size_t bytes_of(const kf_distance_grid *grid) {
    return (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2] * sizeof *grid->values;
}

static void corners_of(const kf_mesh *mesh, size_t triangle, const double *corners[3]) {
    for (size_t i = 0; i < 3; i++)
        corners[i] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + i];
}

static float *value_at(const kf_distance_grid *grid, int x, int y, int z) {
    return grid->values + ((size_t)z * (size_t)grid->size[1] + (size_t)y) * (size_t)grid->size[0] + (size_t)x;
}

/* Returns the largest distance of a triangle's corners from its first one. */
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

/* Updates the distance of the grid points around a triangle. No point of the triangle is further from its
 * first corner than `reach`. For most grid points that corner alone shows that another triangle is nearer. */
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

/* Marks the first point of a row along an axis behind the triangle, when the line of the row crosses it. `at`
 * holds the position of the row on the two other axes. */
static void pass(const kf_distance_grid *grid, int axis, const double *const c[3], const double at[2],
                 int *turns, size_t stride) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const double ay = c[1][i] - c[0][i], az = c[1][j] - c[0][j], by = c[2][i] - c[0][i],
                 bz = c[2][j] - c[0][j], area = ay * bz - az * by;
    if (area == 0.0) return;
    const double u = ((at[0] - c[0][i]) * bz - (at[1] - c[0][j]) * by) / area,
                 v = (ay * (at[1] - c[0][j]) - az * (at[0] - c[0][i])) / area;
    if (u < 0.0 || v < 0.0 || u + v > 1.0) return;
    const double x = c[0][axis] + u * (c[1][axis] - c[0][axis]) + v * (c[2][axis] - c[0][axis]);
    const double first = ceil((x - grid->corner[axis]) / grid->spacing);
    if (first < grid->size[axis]) turns[(size_t)fmax(first, 0.0) * stride] += area > 0.0 ? 1 : -1;
}

static void strides_of(const kf_distance_grid *grid, size_t strides[3]) {
    strides[0] = 1;
    strides[1] = (size_t)grid->size[0];
    strides[2] = strides[1] * (size_t)grid->size[1];
}

/* Passes all triangles. The lines are shifted from the points by a small share of the spacing, so none meets
 * an edge that lies on the grid. */
static void pass_all(const kf_distance_grid *grid, int axis, const double *const corners[3], int *turns) {
    const double shift = 0.1234567e-3 * grid->spacing;
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    int low[3], high[3];
    size_t strides[3];
    strides_of(grid, strides);
    for (int a = 0; a < 3; a++) {
        const double least = fmin(corners[0][a], fmin(corners[1][a], corners[2][a])),
                     most = fmax(corners[0][a], fmax(corners[1][a], corners[2][a]));
        low[a] = (int)fmax(floor((least - grid->corner[a]) / grid->spacing) - 1.0, 0.0);
        high[a] = (int)fmin(ceil((most - grid->corner[a]) / grid->spacing), grid->size[a] - 1.0);
    }
    for (int q = low[j]; q <= high[j]; q++)
        for (int p = low[i]; p <= high[i]; p++) {
            const double at[2] = {grid->corner[i] + grid->spacing * p + shift,
                                  grid->corner[j] + grid->spacing * q + 2.0 * shift};
            pass(grid, axis, corners, at, turns + (size_t)p * strides[i] + (size_t)q * strides[j],
                 strides[axis]);
        }
}

/* Gives each point two votes for being inside, one from each end of its row along the axis. Returns the
 * number of rows whose ends disagree, as they do behind a hole in the mesh. */
static size_t vote(const kf_distance_grid *grid, const kf_mesh *mesh, int axis, int *turns,
                   signed char *votes) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    size_t strides[3], leaks = 0;
    strides_of(grid, strides);
    memset(turns, 0, strides[2] * (size_t)grid->size[2] * sizeof *turns);
    for (size_t t = 0; t < mesh->triangle_count - mesh->sheet_count; t++) {
        const double *corners[3];
        corners_of(mesh, t, corners);
        pass_all(grid, axis, corners, turns);
    }
    for (int q = 0; q < grid->size[j]; q++)
        for (int p = 0; p < grid->size[i]; p++) {
            const size_t first = (size_t)p * strides[i] + (size_t)q * strides[j];
            int all = 0, before = 0;
            for (int x = 0; x < grid->size[axis]; x++)
                all += turns[first + (size_t)x * strides[axis]];
            leaks += all != 0;
            for (int x = 0; x < grid->size[axis]; x++) {
                const size_t point = first + (size_t)x * strides[axis];
                before += turns[point];
                votes[point] = (signed char)(votes[point] + (before != 0) + (before != all));
            }
        }
    return leaks;
}

/* Limits the difference of two values to `apart`, the distance of their points. Returns true when a value was
 * changed. */
static bool bring_together(float *one, float *other, float apart) {
    /* A smaller difference than this share is rounding. */
    enum { HAIR = 10000 };
    if (fabsf(*one - *other) <= apart + apart / HAIR) return false;
    if ((*one < 0.0F) != (*other < 0.0F)) {
        *one = copysignf(fminf(fabsf(*one), 0.5F * apart), *one);
        *other = copysignf(fminf(fabsf(*other), 0.5F * apart), *other);
    } else {
        float *far = fabsf(*one) > fabsf(*other) ? one : other;
        *far = copysignf(fminf(fabsf(*one), fabsf(*other)) + apart, *far);
    }
    return true;
}

/* Closes holes. Where votes decided the side, the sign may change at a place without a triangle. The
 * distances around that place are then too large, and are reduced. */
static void close_holes(const kf_distance_grid *grid) {
    /* The neighbours after the middle one of 27 points. */
    enum { NEIGHBOURS = 13, FIRST = 14 };
    int to[NEIGHBOURS][3];
    float apart[NEIGHBOURS];
    for (int n = 0; n < NEIGHBOURS; n++) {
        int square = 0, number = FIRST + n;
        for (int i = 0; i < 3; i++, number /= 3) {
            to[n][i] = number % 3 - 1;
            square += to[n][i] * to[n][i];
        }
        apart[n] = (float)(grid->spacing * sqrt(square));
    }
    bool changed;
    do {
        changed = false;
        for (int z = 0; z < grid->size[2]; z++)
            for (int y = 0; y < grid->size[1]; y++)
                for (int x = 0; x < grid->size[0]; x++)
                    for (int n = 0; n < NEIGHBOURS; n++) {
                        const int a = x + to[n][0], b = y + to[n][1], c = z + to[n][2];
                        if (a < 0 || a >= grid->size[0] || b < 0 || b >= grid->size[1] || c >= grid->size[2])
                            continue;
                        changed |= bring_together(value_at(grid, x, y, z), value_at(grid, a, b, c), apart[n]);
                    }
    } while (changed);
}

/* Decides which points are inside, by the majority of the votes. For a mesh without holes all votes agree, so
 * one axis is enough. */
static void find_sides(const kf_distance_grid *grid, const kf_mesh *mesh, bool closed) {
    const size_t count = (size_t)grid->size[0] * (size_t)grid->size[1] * (size_t)grid->size[2];
    int *turns = kf_allocate(count * sizeof *turns), axes = 1;
    signed char *votes = kf_allocate_zeroed(count, 1);
    if (vote(grid, mesh, 0, turns, votes) > 0 || !closed)
        for (; axes < 3; axes++)
            (void)vote(grid, mesh, axes, turns, votes);
    for (size_t i = 0; i < count; i++)
        if (votes[i] > axes) grid->values[i] = -grid->values[i];
    free(votes);
    free(turns);
    if (axes > 1) close_holes(grid);
}

static void compute(const kf_mesh *mesh, bool closed, kf_distance_grid *grid) {
    static const double margin = 3.0;
    grid->spacing = 0.5;
    for (int i = 0; i < 3; i++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t v = 0; v < mesh->vertex_count; v++) {
            least = fmin(least, mesh->vertices[3 * v + (size_t)i]);
            most = fmax(most, mesh->vertices[3 * v + (size_t)i]);
        }
        grid->corner[i] = floor(least - margin);
        grid->size[i] = (int)ceil((most + margin - grid->corner[i]) / grid->spacing) + 2;
    }
    grid->values = kf_allocate(bytes_of(grid));
    for (size_t i = 0; i < bytes_of(grid) / sizeof *grid->values; i++)
        grid->values[i] = (float)band;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *corners[3];
        corners_of(mesh, t, corners);
        approach(grid, corners);
    }
    find_sides(grid, mesh, closed);
}

/* Computes the signed distance to the mesh on a grid of half cells around it. Triangles give the distance
 * near the surface. Rays give the side. The last grid is kept, because all plans and references of a scene
 * ask for the same one. */
void kf_scene_distance(const kf_scene *scene, kf_distance_grid *grid) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static kf_distance_grid last;
    static char last_mesh[KF_HASH_HEX];
    const kf_mesh *mesh = &scene->mesh;
    const bool closed = scene->open_edges == 0;
    kf_hasher hasher;
    char hex[KF_HASH_HEX];
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, mesh->vertices, 3 * mesh->vertex_count * sizeof *mesh->vertices);
    kf_hash_add(&hasher, mesh->triangles, 3 * mesh->triangle_count * sizeof *mesh->triangles);
    kf_hash_add(&hasher, &mesh->sheet_count, sizeof mesh->sheet_count);
    kf_hash_add(&hasher, &closed, sizeof closed);
    kf_hash_end(&hasher, hex);
    pthread_mutex_lock(&lock);
    if (strcmp(hex, last_mesh) != 0) {
        free(last.values);
        compute(mesh, closed, &last);
        memcpy(last_mesh, hex, sizeof hex);
    }
    *grid = last;
    grid->values = kf_allocate(bytes_of(&last));
    memcpy(grid->values, last.values, bytes_of(&last));
    pthread_mutex_unlock(&lock);
}

/* Interpolates between the eight grid points around the place. */
double kf_distance_at(const kf_distance_grid *grid, const double place[3]) {
    size_t low[3];
    double share[3], sum = 0.0;
    for (int i = 0; i < 3; i++) {
        const double at = fmin(fmax((place[i] - grid->corner[i]) / grid->spacing, 0.0), grid->size[i] - 1.0);
        low[i] = (size_t)fmin(floor(at), grid->size[i] - 2.0);
        share[i] = at - (double)low[i];
    }
    for (size_t corner = 0; corner < 8; corner++) {
        const size_t part[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        double weight = 1.0;
        for (int i = 0; i < 3; i++)
            weight *= part[i] == 1 ? share[i] : 1.0 - share[i];
        const size_t row = low[1] + part[1] + (size_t)grid->size[1] * (low[2] + part[2]);
        sum += weight * (double)grid->values[low[0] + part[0] + (size_t)grid->size[0] * row];
    }
    return sum;
}
