#include "solver/validation/body.h"

#include <math.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/internal.h"

enum { SIDES = 256, BEYOND = 4 };

/* Makes space for more vertices and triangles, and returns the first new vertex. */
static uint32_t grow(kf_mesh *mesh, size_t vertices, size_t triangles) {
    mesh->vertices =
        kf_reallocate(mesh->vertices, 3 * (mesh->vertex_count + vertices) * sizeof *mesh->vertices);
    mesh->triangles =
        kf_reallocate(mesh->triangles, 3 * (mesh->triangle_count + triangles) * sizeof *mesh->triangles);
    return (uint32_t)mesh->vertex_count;
}

/* Adds the eight corners of the box and two triangles for each face to the scene's mesh. */
void kf_body_add_box(kf_scene *scene, const double low[3], const double high[3]) {
    enum { CORNERS = 8, FACES = 6 };
    static const uint32_t faces[FACES][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                             {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    kf_mesh *mesh = &scene->mesh;
    const uint32_t first = grow(mesh, CORNERS, 2 * FACES);
    for (int corner = 0; corner < CORNERS; corner++)
        for (int a = 0; a < 3; a++)
            mesh->vertices[3 * (first + (uint32_t)corner) + (uint32_t)a] = (corner >> a & 1 ? high : low)[a];
    mesh->vertex_count += CORNERS;
    for (int face = 0; face < FACES; face++) {
        const uint32_t *f = faces[face], corners[6] = {f[0], f[1], f[2], f[0], f[2], f[3]};
        for (int c = 0; c < 6; c++)
            mesh->triangles[3 * mesh->triangle_count + (size_t)c] = first + corners[c];
        mesh->triangle_count += 2;
    }
}

void kf_body_add_sheet(kf_scene *scene, const double from[2], const double along[2]) {
    kf_mesh *mesh = &scene->mesh;
    const uint32_t first = grow(mesh, 4, 2);
    const uint32_t corners[6] = {first, first + 1, first + 3, first, first + 3, first + 2};
    for (int corner = 0; corner < 4; corner++) {
        double *at = mesh->vertices + 3 * mesh->vertex_count++;
        at[0] = from[0] + corner % 2 * along[0];
        at[1] = from[1] + corner % 2 * along[1];
        at[2] = corner / 2 == 0 ? -BEYOND : scene->nodes[2] - 1 + BEYOND;
    }
    memcpy(mesh->triangles + 3 * mesh->triangle_count, corners, sizeof corners);
    mesh->triangle_count += 2;
}

void kf_body_add_tube(kf_scene *scene, const double center[2], double radius) {
    /* The middle of each side of the polygon touches the circle. */
    const double wider = radius / sqrt(0.5 + 0.5 * cos(2.0 * kf_pi / SIDES));
    for (int side = 0; side < SIDES; side++) {
        double at[2][2];
        for (int end = 0; end < 2; end++) {
            const double angle = 2.0 * kf_pi * (side + end) / SIDES;
            at[end][0] = center[0] + wider * cos(angle);
            at[end][1] = center[1] + wider * sin(angle);
        }
        kf_body_add_sheet(scene, at[0], (const double[2]){at[1][0] - at[0][0], at[1][1] - at[0][1]});
    }
}

void kf_body_set_ball(kf_scene *scene, const double center[3], double radius) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int shape = 0; shape < KF_SHAPES; shape++)
        if (strcmp(kf_shapes[shape].name, "ball") == 0)
            kf_shape_mesh(&kf_shapes[shape], &radius, &scene->mesh);
    kf_mesh_transform(&scene->mesh, identity, center);
}

void kf_body_place(kf_scene *scene, const double matrix[9], const double place[3]) {
    kf_mesh_transform(&scene->mesh, matrix, place);
}

kf_status kf_body_link(kf_scene *scene, bool half_way, kf_error *error) {
    scene->linked = true;
    scene->half_way = half_way;
    scene->samples.count = 0;
    const kf_box bounds = kf_mesh_bounds(&scene->mesh);
    memcpy(scene->solid_low, bounds.low, sizeof bounds.low);
    memcpy(scene->solid_high, bounds.high, sizeof bounds.high);
    return kf_scene_cut_links(scene, error);
}
