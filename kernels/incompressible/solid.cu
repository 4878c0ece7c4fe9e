/* The solid in the grid. From its pose and the table of its signed distance follows the openness of every
 * face, and from pressure and velocity the force and torque on it. */
#define KF_MOST_SUMS 6
#include "distance_lookup.h"
#include "grid.h"
#include "rotation.h"
#include "viscous.h"

/* Computes the moving solid's pose for the step that begins. The extent is one item. */
KF_SCALAR_KERNEL(move_solid, kf_incompressible_arguments) {
    (void)x, (void)y, (void)z;
    kf_solid_state *s = a->solid;
    s->step += 1;
    const double t = (double)s->step, angle = a->angular_speed * t;
    const double *n = a->axis;
    kf_rotate_about(s->rotation, n, cos(angle), sin(angle));
    for (int i = 0; i < 3; i++) {
        s->center[i] = a->start[i] + a->speed[i] * t;
        s->velocity[i] = a->speed[i];
        s->turn[i] = a->angular_speed * n[i];
    }
}

#if KF_SOLID
/* Returns the signed distance at a point of the domain. */
KF_FUNCTION float kf_distance(const kf_grid *a, double x, double y, double z) {
    const kf_solid_state *s = a->solid;
    const double from[3] = {x - s->center[0], y - s->center[1], z - s->center[2]};
    double body[3], exact[3];
    for (int i = 0; i < 3; i++)
        body[i] = s->rotation[i] * from[0] + s->rotation[3 + i] * from[1] + s->rotation[6 + i] * from[2] +
                  a->start[i];
    const float *d = kf_distances_around(&a->distance, body, exact);
    const float share[3] = {(float)exact[0], (float)exact[1], (float)exact[2]};
    float sum = 0.0f;
    for (int i = 0; i < 8; i++)
        sum += d[kf_distance_corner(&a->distance, i)] * (i % 2 ? share[0] : 1.0f - share[0]) *
               (i / 2 % 2 ? share[1] : 1.0f - share[1]) * (i / 4 ? share[2] : 1.0f - share[2]);
    return sum;
}

/* Returns the share of a triangle on which a linear function is positive. */
KF_FUNCTION float kf_share_of_triangle(float p, float q, float r) {
    const int positive = (p > 0.0f) + (q > 0.0f) + (r > 0.0f);
    if (positive == 3) return 1.0f;
    if (positive == 0) return 0.0f;
    /* The value o has another sign than the two others. */
    const int odd = positive == 1;
    const float o = (p > 0.0f) == odd ? p : (q > 0.0f) == odd ? q : r;
    const float s = (p > 0.0f) == odd ? q : (q > 0.0f) == odd ? r : p;
    const float t = (p > 0.0f) == odd ? r : (q > 0.0f) == odd ? p : q;
    const float corner = o / (o - s) * (o / (o - t));
    return odd ? corner : 1.0f - corner;
}
/* Returns the share of a square on which the distance is positive, from the values at its corners in
 * order. It is the mean of cuts along both diagonals, so that the mirror image of a solid has the same flow.
 * A very small share counts as 0. */
KF_FUNCTION float kf_share_of_square(const float d[4]) {
    const float one = kf_share_of_triangle(d[0], d[1], d[2]) + kf_share_of_triangle(d[0], d[2], d[3]),
                other = kf_share_of_triangle(d[1], d[2], d[3]) + kf_share_of_triangle(d[1], d[3], d[0]);
    const float share = 0.25f * (one + other);
    return share < 0.02f ? 0.0f : share;
}
#endif

/* Computes the word of a place (arguments.h). The extent is cells + 1 along each axis. */
KF_SCALAR_KERNEL(open_faces, kf_incompressible_arguments) {
    const int at[3] = {x, y, z};
    unsigned word = 0;
#if KF_SOLID
    const int far = 1; /* distance of the corners from the middle: less than this */
    const float middle = kf_distance(a, x, y, z);
    float corner[2][2][2];
    if (middle < (float)far)
        for (int i = 0; i < 8; i++)
            corner[i % 2][i / 2 % 2][i / 4] =
                kf_distance(a, x - 0.5 + i % 2, y - 0.5 + i / 2 % 2, z - 0.5 + i / 4);
    const int depth = 128 - (int)(middle * KF_DEPTH + (middle > 0.0f ? 0.5f : -0.5f));
    word = (unsigned)(depth < 0 ? 0 : depth > 255 ? 255 : depth) << 24;
#endif
    for (int c = 0; c < 3; c++) {
        const int i = (c + 1) % 3, j = (c + 2) % 3;
        if (at[i] >= a->cells[i] || at[j] >= a->cells[j]) continue;
        if (at[c] == 0 || at[c] == a->cells[c]) {
            const int face = a->faces[2 * c + (at[c] > 0)];
            if (face >= KF_FACE_SLIP || (face == KF_FACE_PERIODIC && at[c] > 0)) continue;
        }
        float share = 1.0f;
#if KF_SOLID
        if (middle < (float)far) {
            const float x4[4] = {corner[0][0][0], corner[0][1][0], corner[0][1][1], corner[0][0][1]},
                        y4[4] = {corner[0][0][0], corner[0][0][1], corner[1][0][1], corner[1][0][0]},
                        z4[4] = {corner[0][0][0], corner[1][0][0], corner[1][1][0], corner[0][1][0]};
            share = kf_share_of_square(c == 0 ? x4 : c == 1 ? y4 : z4);
        }
#endif
        word |= (unsigned)(share * KF_OPEN + 0.5f) << (8 * c);
    }
    ((unsigned *)a->coarse_open)[kf_place(a, x, y, z)] = word;
}

#if KF_SOLID
/* Adds the fluid's force, over the density, on the part of the solid in a cell: the pressure on the closed
 * shares of the cell's faces, and friction. */
KF_FUNCTION void kf_force_of_cell(const kf_grid *a, int x, int y, int z, kf_index k, double force[3]) {
    const kf_links l = kf_links_of(a, a->open, k, x, y, z);
    const int at[3] = {x, y, z}, stride[3] = {1, a->row, a->plane};
    const double pressure =
        2.0 * (double)KF_CONSTANTS(a->pressures[0])[k] + (double)KF_CONSTANTS(a->pressures[1])[k];
    for (int c = 0; c < 3; c++) {
        const int edge = !kf_is_periodic(a, c) && (at[c] == 0 || at[c] == a->cells[c] - 1);
        double pushed = 0.0, rubbed = 0.0;
        if (!edge && l.sum > KF_R(0)) pushed = -pressure * (double)(l.open[2 * c + 1] - l.open[2 * c]);
        /* If the middle of a face is in the solid, the face where the surface is crossed counts its
         * friction. */
        if ((a->open[k] >> (8 * c) & 255) != 0 &&
            kf_face_height(a, kf_below(a, c, at[c], stride[c]), k) > KF_R(0)) {
            const kf_real *u = KF_CONSTANTS(a->target) + c * a->capacity;
            const kf_friction f = kf_friction_of(a, u, c, x, y, z, k);
            rubbed = a->viscosity * ((double)(f.wall_links * u[k]) - (double)f.wall);
        }
        force[c] = pushed + rubbed;
    }
}
/* Sums the three components of the force, then those of the torque about the solid's centre. */
KF_BLOCK_KERNEL(load, kf_incompressible_arguments) {
    KF_SUMS_BEGIN
    const double *center = a->solid->center;
    KF_EACH_CELL_BEGIN
        const double middle[3] = {x - center[0], y - center[1], z - center[2]};
        double force[3];
        kf_force_of_cell(a, x, y, z, k, force);
        KF_UNROLL
        for (int c = 0; c < 3; c++) {
            const int i = (c + 1) % 3, j = (c + 2) % 3;
            KF_SUM(c) += force[c];
            KF_SUM(3 + c) += middle[i] * force[j] - middle[j] * force[i];
        }
    KF_EACH_CELL_END
    KF_SUMS_END(6, a->load)
}
#endif
