#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

void kf_mesh_free(kf_mesh *mesh) {
    free(mesh->vertices);
    free(mesh->triangles);
    memset(mesh, 0, sizeof *mesh);
}

uint32_t kf_mesh_add_vertex(kf_mesh_builder *builder, double x, double y, double z) {
    kf_mesh *mesh = &builder->mesh;
    if (mesh->vertex_count == builder->vertex_capacity) {
        builder->vertex_capacity = 2 * builder->vertex_capacity + 1024;
        mesh->vertices = kf_reallocate(mesh->vertices, 3 * builder->vertex_capacity * sizeof *mesh->vertices);
    }
    double *vertex = mesh->vertices + 3 * mesh->vertex_count;
    vertex[0] = x;
    vertex[1] = y;
    vertex[2] = z;
    return (uint32_t)mesh->vertex_count++;
}

void kf_mesh_add_triangle(kf_mesh_builder *builder, uint32_t a, uint32_t b, uint32_t c) {
    kf_mesh *mesh = &builder->mesh;
    if (mesh->triangle_count == builder->triangle_capacity) {
        builder->triangle_capacity = 2 * builder->triangle_capacity + 1024;
        mesh->triangles =
            kf_reallocate(mesh->triangles, 3 * builder->triangle_capacity * sizeof *mesh->triangles);
    }
    uint32_t *triangle = mesh->triangles + 3 * mesh->triangle_count++;
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
}

void kf_mesh_add_quad(kf_mesh_builder *builder, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    kf_mesh_add_triangle(builder, a, b, c);
    kf_mesh_add_triangle(builder, a, c, d);
}

kf_box kf_mesh_bounds(const kf_mesh *mesh) {
    kf_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int a = 0; a < 3; a++) {
            box.low[a] = fmin(box.low[a], mesh->vertices[3 * v + (size_t)a]);
            box.high[a] = fmax(box.high[a], mesh->vertices[3 * v + (size_t)a]);
        }
    return box;
}

/* Twice the area times the normal, and the square of the longest edge. */
static void area_vector(const kf_mesh *mesh, size_t triangle, double vector[3], double *longest) {
    const uint32_t *corner = mesh->triangles + 3 * triangle;
    const double *p = mesh->vertices + 3 * (size_t)corner[0], *q = mesh->vertices + 3 * (size_t)corner[1],
                 *r = mesh->vertices + 3 * (size_t)corner[2];
    double u[3], v[3], uu = 0.0, vv = 0.0, ww = 0.0;
    for (int a = 0; a < 3; a++) {
        u[a] = q[a] - p[a];
        v[a] = r[a] - p[a];
        uu += u[a] * u[a];
        vv += v[a] * v[a];
        ww += (u[a] - v[a]) * (u[a] - v[a]);
    }
    *longest = fmax(uu, fmax(vv, ww));
    kf_cross(u, v, vector);
}

static double doubled_area(const kf_mesh *mesh, size_t triangle, double *longest) {
    double n[3];
    area_vector(mesh, triangle, n, longest);
    return kf_length(n);
}

void kf_mesh_normal(const kf_mesh *mesh, size_t triangle, double normal[3]) {
    double longest;
    area_vector(mesh, triangle, normal, &longest);
    const double length = kf_length(normal);
    for (int a = 0; a < 3 && length > 0.0; a++)
        normal[a] /= length;
}

double kf_mesh_triangle_area(const kf_mesh *mesh, size_t triangle) {
    double longest;
    return 0.5 * doubled_area(mesh, triangle, &longest);
}

double kf_mesh_area(const kf_mesh *mesh) {
    double area = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++)
        area += kf_mesh_triangle_area(mesh, t);
    return area;
}

void kf_mesh_transform(kf_mesh *mesh, const double matrix[9], const double offset[3]) {
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double *vertex = mesh->vertices + 3 * v;
        const double x = vertex[0], y = vertex[1], z = vertex[2];
        for (int a = 0; a < 3; a++)
            vertex[a] = matrix[3 * a] * x + matrix[3 * a + 1] * y + matrix[3 * a + 2] * z + offset[a];
    }
}

static bool same_vertex(const double *p, const double *q) {
    return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

static uint64_t vertex_hash(const double *vertex) {
    uint64_t bits[3], hash = 0;
    memcpy(bits, vertex, sizeof bits);
    for (int a = 0; a < 3; a++) {
        hash = (hash ^ bits[a]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    return hash;
}

/* new_index[v]: where vertex v went; equal vertices go to the same place, in the order of their first. */
static void join_vertices(kf_mesh *mesh, uint32_t *new_index) {
    size_t slots = 16;
    while (slots < 2 * mesh->vertex_count)
        slots *= 2;
    uint32_t *table = kf_allocate(slots * sizeof *table); /* index into the joined vertices */
    memset(table, 0xff, slots * sizeof *table);
    size_t joined = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double vertex[3];
        for (size_t a = 0; a < 3; a++)
            vertex[a] = mesh->vertices[3 * v + a] + 0.0; /* -0 becomes 0 */
        size_t slot = vertex_hash(vertex) & (slots - 1);
        while (table[slot] != UINT32_MAX && !same_vertex(mesh->vertices + 3 * (size_t)table[slot], vertex))
            slot = (slot + 1) & (slots - 1);
        if (table[slot] == UINT32_MAX) {
            memcpy(mesh->vertices + 3 * joined, vertex, sizeof vertex);
            table[slot] = (uint32_t)joined++;
        }
        new_index[v] = table[slot];
    }
    mesh->vertex_count = joined;
    free(table);
}

size_t kf_mesh_clean(kf_mesh *mesh) {
    uint32_t *new_index = kf_allocate((mesh->vertex_count + 1) * sizeof *new_index);
    join_vertices(mesh, new_index);
    size_t kept = 0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        uint32_t *to = mesh->triangles + 3 * kept;
        for (size_t i = 0; i < 3; i++)
            to[i] = new_index[mesh->triangles[3 * t + i]];
        double longest;
        const double area = doubled_area(mesh, kept, &longest);
        if (area > 1e-12 * longest) kept++; /* false for NaN as well */
    }
    free(new_index);
    const size_t dropped = mesh->triangle_count - kept;
    mesh->triangle_count = kept;
    return dropped;
}

/* ---- shadow ---- */

enum { SHADOW_PIXELS = 1 << 26 };

typedef struct raster {
    double low[2], pixel;
    size_t width, height;
    unsigned char *covered;
} raster;

static double edge_side(const double *a, const double *b, double x, double y) {
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/* Marks the pixels whose middle lies in the triangle; edges count as inside, so neighbours leave no gap. */
static void fill_triangle(raster *r, const double p[3][2]) {
    double low[2], high[2];
    for (int a = 0; a < 2; a++) {
        low[a] = (fmin(p[0][a], fmin(p[1][a], p[2][a])) - r->low[a]) / r->pixel - 0.5;
        high[a] = (fmax(p[0][a], fmax(p[1][a], p[2][a])) - r->low[a]) / r->pixel - 0.5;
    }
    const double turn = edge_side(p[0], p[1], p[2][0], p[2][1]) < 0.0 ? -1.0 : 1.0;
    for (size_t j = (size_t)fmax(0.0, ceil(low[1])); j < r->height && (double)j <= high[1]; j++)
        for (size_t i = (size_t)fmax(0.0, ceil(low[0])); i < r->width && (double)i <= high[0]; i++) {
            const double x = r->low[0] + ((double)i + 0.5) * r->pixel,
                         y = r->low[1] + ((double)j + 0.5) * r->pixel;
            if (turn * edge_side(p[0], p[1], x, y) >= 0.0 && turn * edge_side(p[1], p[2], x, y) >= 0.0 &&
                turn * edge_side(p[2], p[0], x, y) >= 0.0)
                r->covered[j * r->width + i] = 1;
        }
}

/* Two unit vectors that are normal to direction and to each other. */
static void normal_plane(const double direction[3], double u[3], double v[3]) {
    const double length = kf_length(direction);
    const double d[3] = {direction[0] / length, direction[1] / length, direction[2] / length};
    int least = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(d[a]) < fabs(d[least])) least = a;
    for (int a = 0; a < 3; a++)
        u[a] = (a == least ? 1.0 : 0.0) - d[least] * d[a];
    kf_normalise(u);
    kf_cross(d, u, v);
}

static raster raster_around(const kf_mesh *mesh, const double u[3], const double v[3]) {
    double high[2] = {-INFINITY, -INFINITY};
    raster r = {.low = {INFINITY, INFINITY}, .pixel = 0.25};
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        const double *p = mesh->vertices + 3 * i;
        const double flat[2] = {u[0] * p[0] + u[1] * p[1] + u[2] * p[2],
                                v[0] * p[0] + v[1] * p[1] + v[2] * p[2]};
        for (int a = 0; a < 2; a++) {
            r.low[a] = fmin(r.low[a], flat[a]);
            high[a] = fmax(high[a], flat[a]);
        }
    }
    const double width = high[0] - r.low[0], height = high[1] - r.low[1];
    while ((width / r.pixel + 1.0) * (height / r.pixel + 1.0) > SHADOW_PIXELS)
        r.pixel *= 2.0;
    r.width = (size_t)(width / r.pixel) + 1;
    r.height = (size_t)(height / r.pixel) + 1;
    r.covered = kf_allocate_zeroed(r.width * r.height, 1);
    return r;
}

double kf_mesh_shadow(const kf_mesh *mesh, const double direction[3]) {
    if (mesh->triangle_count == 0) return 0.0;
    double u[3], v[3];
    normal_plane(direction, u, v);
    raster r = raster_around(mesh, u, v);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double flat[3][2];
        for (size_t i = 0; i < 3; i++) {
            const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + i];
            flat[i][0] = u[0] * p[0] + u[1] * p[1] + u[2] * p[2];
            flat[i][1] = v[0] * p[0] + v[1] * p[1] + v[2] * p[2];
        }
        fill_triangle(&r, (const double(*)[2])flat);
    }
    size_t covered = 0;
    for (size_t i = 0; i < r.width * r.height; i++)
        covered += r.covered[i];
    free(r.covered);
    return (double)covered * r.pixel * r.pixel;
}
