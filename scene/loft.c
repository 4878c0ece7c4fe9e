/* Makes bodies of cross-sections: closed tubes through rings of points. */
#include <math.h>

#include "base/util/vector.h"
#include "scene/internal.h"

static const double PI = 3.14159265358979323846;

void kf_loft_begin(kf_loft *loft, kf_mesh_builder *builder, uint32_t points) {
    *loft = (kf_loft){.builder = builder, .points = points};
}

/* Closes an end by a fan around the middle of the last ring. `forwards`: the end is seen from the direction
 * of the loft. */
static void close_end(const kf_loft *loft, bool forwards) {
    double middle[3] = {0};
    for (uint32_t j = 0; j < loft->points; j++)
        for (int a = 0; a < 3; a++)
            middle[a] += loft->builder->mesh.vertices[3 * (loft->ring + j) + (size_t)a] / loft->points;
    const uint32_t centre = kf_mesh_add_vertex(loft->builder, middle[0], middle[1], middle[2]);
    for (uint32_t j = 0; j < loft->points; j++) {
        const uint32_t here = loft->ring + j, next = loft->ring + (j + 1) % loft->points;
        kf_mesh_add_triangle(loft->builder, centre, forwards ? here : next, forwards ? next : here);
    }
}

void kf_loft_ring(kf_loft *loft, const double (*ring)[3]) {
    const uint32_t before = loft->ring, points = loft->points;
    loft->ring = (uint32_t)loft->builder->mesh.vertex_count;
    for (uint32_t j = 0; j < points; j++)
        kf_mesh_add_vertex(loft->builder, ring[j][0], ring[j][1], ring[j][2]);
    if (loft->rings++ == 0) {
        close_end(loft, false);
        return;
    }
    for (uint32_t j = 0; j < points; j++) {
        const uint32_t next = (j + 1) % points;
        kf_mesh_add_quad(loft->builder, before + j, before + next, loft->ring + next, loft->ring + j);
    }
}

void kf_loft_end(const kf_loft *loft) {
    close_end(loft, true);
}

void kf_loft_tube(kf_mesh_builder *builder, const double from[3], const double to[3], uint32_t points,
                  int rings, const double (*profile)[2]) {
    kf_loft loft;
    double along[3], side[3], up[3], ring[KF_LOFT_POINTS][3];
    for (int a = 0; a < 3; a++)
        along[a] = to[a] - from[a];
    const double length = kf_length(along);
    /* The axis with the smallest component along the tube is made perpendicular to it. */
    int least = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(along[a]) < fabs(along[least])) least = a;
    for (int a = 0; a < 3; a++)
        side[a] = (a == least) - along[least] * along[a] / (length * length);
    const double size = kf_length(side);
    for (int a = 0; a < 3; a++)
        side[a] /= size;
    for (int a = 0; a < 3; a++)
        up[a] = (along[(a + 1) % 3] * side[(a + 2) % 3] - along[(a + 2) % 3] * side[(a + 1) % 3]) / length;
    kf_loft_begin(&loft, builder, points);
    for (int r = 0; r < rings; r++) {
        for (uint32_t j = 0; j < points; j++) {
            const double angle = 2.0 * PI * j / points;
            for (int a = 0; a < 3; a++)
                ring[j][a] = from[a] + profile[r][0] * along[a] +
                             profile[r][1] * (cos(angle) * side[a] + sin(angle) * up[a]);
        }
        kf_loft_ring(&loft, ring);
    }
    kf_loft_end(&loft);
}
