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

/* Computes the normal times twice the area, and the square of the longest edge. */
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

void kf_mesh_stretch(const kf_mesh *mesh, size_t triangle, int axis, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int c = 0; c < 3; c++) {
        const double at =
            mesh->vertices[3 * (size_t)mesh->triangles[3 * triangle + (size_t)c] + (size_t)axis];
        *low = fmin(*low, at);
        *high = fmax(*high, at);
    }
}

/* Returns where a line meets a triangle. A line parallel to the triangle's plane does not meet it. The
 * barycentric coordinates u and v show whether the point is inside. */
double kf_mesh_ray_meets(const kf_mesh *mesh, size_t triangle, const double from[3], const double ray[3]) {
    static const double ROUNDING = 1e-9;
    const uint32_t *corner = mesh->triangles + 3 * triangle;
    const double *p = mesh->vertices + 3 * (size_t)corner[0], *q = mesh->vertices + 3 * (size_t)corner[1],
                 *r = mesh->vertices + 3 * (size_t)corner[2];
    double u[3], v[3], arm[3], across[3], over[3];
    for (int a = 0; a < 3; a++) {
        u[a] = q[a] - p[a];
        v[a] = r[a] - p[a];
        arm[a] = from[a] - p[a];
    }
    kf_cross(ray, v, across);
    const double volume = kf_dot(u, across);
    if (volume == 0.0) return INFINITY;
    const double along_u = kf_dot(arm, across) / volume;
    if (along_u < -ROUNDING || along_u > 1.0 + ROUNDING) return INFINITY;
    kf_cross(arm, u, over);
    const double along_v = kf_dot(ray, over) / volume;
    if (along_v < -ROUNDING || along_u + along_v > 1.0 + ROUNDING) return INFINITY;
    return kf_dot(v, over) / volume;
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

/* Joins equal vertices. new_index[v] is the new index of vertex v. Joined vertices keep the order of their
 * first occurrence. */
static void join_vertices(kf_mesh *mesh, uint32_t *new_index) {
    size_t slots = 16;
    while (slots < 2 * mesh->vertex_count)
        slots *= 2;
    /* A table of indices of the joined vertices. */
    uint32_t *table = kf_allocate(slots * sizeof *table);
    memset(table, 0xff, slots * sizeof *table);
    size_t joined = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double vertex[3];
        for (size_t a = 0; a < 3; a++)
            /* -0 becomes 0. */
            vertex[a] = mesh->vertices[3 * v + a] + 0.0;
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

/* Joins equal vertices and drops triangles without area; returns how many were dropped. */
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
        /* This is false for NaN as well. */
        if (area > 1e-12 * longest) kept++;
    }
    free(new_index);
    const size_t dropped = mesh->triangle_count - kept;
    mesh->triangle_count = kept;
    return dropped;
}
