/* Makes closed meshes of shapes with few parameters. Coordinates are rounded to 2^-40 m. So libraries whose
 * sine differs in the last bit give the same mesh and the same samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/vector.h"
#include "scene/internal.h"

static const double PI = 3.14159265358979323846;
enum {
    BALL_RINGS = 96,
    BALL_SEGMENTS = 192,
    TORUS_AROUND = 256,
    TORUS_ACROSS = 96,
    KNOT_ALONG = 2048,
    KNOT_ACROSS = 48
};

/* Closes a grid of around x across vertices in both directions. Corner (i, j) is vertex first + i * across +
 * j. */
static void wrap_grid(kf_mesh_builder *b, uint32_t first, uint32_t around, uint32_t across) {
    for (uint32_t i = 0; i < around; i++)
        for (uint32_t j = 0; j < across; j++) {
            const uint32_t next_i = (i + 1) % around, next_j = (j + 1) % across;
            kf_mesh_add_quad(b, first + i * across + j, first + next_i * across + j,
                             first + next_i * across + next_j, first + i * across + next_j);
        }
}

/* Makes a ball of rings and segments. */
static void generate_ball(const double *values, kf_mesh_builder *b) {
    const double radius = values[0];
    const uint32_t south = kf_mesh_add_vertex(b, 0.0, 0.0, -radius);
    const uint32_t first = south + 1;
    for (uint32_t i = 1; i < BALL_RINGS; i++)
        for (uint32_t j = 0; j < BALL_SEGMENTS; j++) {
            const double polar = PI * i / BALL_RINGS, angle = 2.0 * PI * j / BALL_SEGMENTS;
            kf_mesh_add_vertex(b, radius * sin(polar) * cos(angle), radius * sin(polar) * sin(angle),
                               -radius * cos(polar));
        }
    const uint32_t north = kf_mesh_add_vertex(b, 0.0, 0.0, radius), last = north - BALL_SEGMENTS;
    for (uint32_t j = 0; j < BALL_SEGMENTS; j++) {
        const uint32_t next = (j + 1) % BALL_SEGMENTS;
        kf_mesh_add_triangle(b, south, first + next, first + j);
        for (uint32_t ring = first; ring < last; ring += BALL_SEGMENTS)
            kf_mesh_add_quad(b, ring + j, ring + next, ring + BALL_SEGMENTS + next, ring + BALL_SEGMENTS + j);
        kf_mesh_add_triangle(b, north, last + j, last + next);
    }
}

static const char *check_torus(const double *values) {
    return values[1] >= values[0] ? "minor_radius must be smaller than major_radius" : NULL;
}

static void generate_torus(const double *values, kf_mesh_builder *b) {
    for (uint32_t i = 0; i < TORUS_AROUND; i++)
        for (uint32_t j = 0; j < TORUS_ACROSS; j++) {
            const double around = 2.0 * PI * i / TORUS_AROUND, across = 2.0 * PI * j / TORUS_ACROSS;
            const double distance = values[0] + values[1] * cos(across);
            kf_mesh_add_vertex(b, distance * cos(around), distance * sin(around), values[1] * sin(across));
        }
    wrap_grid(b, 0, TORUS_AROUND, TORUS_ACROSS);
}

static void generate_plate(const double *values, kf_mesh_builder *b) {
    for (int corner = 0; corner < 8; corner++)
        kf_mesh_add_vertex(b, (corner & 1 ? 0.5 : -0.5) * values[0], (corner & 2 ? 0.5 : -0.5) * values[1],
                           (corner & 4 ? 0.5 : -0.5) * values[2]);
    static const uint32_t sides[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int s = 0; s < 6; s++)
        kf_mesh_add_quad(b, sides[s][0], sides[s][1], sides[s][2], sides[s][3]);
}

static long greatest_divisor(long a, long b) {
    return b == 0 ? a : greatest_divisor(b, a % b);
}

static const char *check_knot(const double *values) {
    if (values[1] + values[2] >= values[0])
        return "winding_radius + tube_radius must be smaller than major_radius";
    if (values[2] >= values[1]) return "tube_radius must be smaller than winding_radius";
    if (greatest_divisor(lround(values[3]), lround(values[4])) != 1)
        return "turns and windings must have no common divisor, or the tube closes before it is complete";
    return NULL;
}

/* Makes a tube along a torus knot: turns times around the axis, windings times around the torus. */
static void generate_knot(const double *values, kf_mesh_builder *b) {
    const double major = values[0], winding = values[1], tube = values[2], p = values[3], q = values[4];
    for (uint32_t i = 0; i < KNOT_ALONG; i++) {
        const double t = 2.0 * PI * i / KNOT_ALONG, cp = cos(p * t), sp = sin(p * t), cq = cos(q * t),
                     sq = sin(q * t);
        const double distance = major + winding * cq;
        const double normal[3] = {cq * cp, cq * sp,
                                  sq}; /* of the torus: it never turns about the tube's own axis */
        double along[3] = {-p * distance * sp - q * winding * sq * cp,
                           p * distance * cp - q * winding * sq * sp, q * winding * cq};
        double side[3];
        kf_normalise(along);
        kf_cross(normal, along, side);
        for (uint32_t j = 0; j < KNOT_ACROSS; j++) {
            const double angle = 2.0 * PI * j / KNOT_ACROSS, n = tube * cos(angle), s = tube * sin(angle);
            kf_mesh_add_vertex(b, distance * cp + n * normal[0] + s * side[0],
                               distance * sp + n * normal[1] + s * side[1],
                               winding * sq + n * normal[2] + s * side[2]);
        }
    }
    wrap_grid(b, 0, KNOT_ALONG, KNOT_ACROSS);
}

#define METRES(key, fallback)                                                                                \
    { key, KF_SHAPE_LENGTH, 1e-6, 1e6, fallback }
const kf_shape kf_shapes[KF_SHAPES] = {
    {"ball", {METRES("radius", 0.5)}, NULL, generate_ball},
    {"torus", {METRES("major_radius", 0.35), METRES("minor_radius", 0.15)}, check_torus, generate_torus},
    {"ahmed",
     {{"slant_angle", KF_SHAPE_DEGREES, 0.0, 80.0, 25.0},
      {"clearance", KF_SHAPE_LENGTH, 0.001, 1.0, 0.05},
      {"stilts", KF_SHAPE_BOOLEAN, 0.0, 1.0, 1.0},
      METRES("body_length", 1.044),
      METRES("body_width", 0.389),
      METRES("body_height", 0.288),
      METRES("nose_radius", 0.1),
      METRES("slant_length", 0.222)},
     kf_check_ahmed,
     kf_shape_ahmed},
    {"plate", {METRES("chord", 1.0), METRES("width", 1.0), METRES("thickness", 0.02)}, NULL, generate_plate},
    {"knot",
     {METRES("major_radius", 0.35),
      METRES("winding_radius", 0.15),
      METRES("tube_radius", 0.05),
      {"turns", KF_SHAPE_INTEGER, 1.0, 12.0, 3.0},
      {"windings", KF_SHAPE_INTEGER, 1.0, 40.0, 7.0}},
     check_knot,
     generate_knot},
    {"car", {{NULL, KF_SHAPE_LENGTH, 0, 0, 0}}, NULL, kf_shape_car},
    {"aircraft", {{NULL, KF_SHAPE_LENGTH, 0, 0, 0}}, NULL, kf_shape_aircraft},
    {"town", {{NULL, KF_SHAPE_LENGTH, 0, 0, 0}}, NULL, kf_shape_town},
    {"bunch",
     {{"rods", KF_SHAPE_INTEGER, 1.0, 1000.0, 64.0}, METRES("radius", 0.5), METRES("rod_radius", 0.01)},
     kf_check_bunch,
     kf_shape_bunch},
};

const char *const *kf_shape_names(void) {
    static const char *names[KF_SHAPES];
    for (int s = 0; s < KF_SHAPES; s++)
        names[s] = kf_shapes[s].name;
    return names;
}

void kf_shape_mesh(const kf_shape *shape, const double *values, kf_mesh *mesh) {
    kf_mesh_builder builder = {0};
    shape->generate(values, &builder);
    *mesh = builder.mesh;
    for (size_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] = nearbyint(mesh->vertices[i] * 0x1p40) * 0x1p-40;
    (void)kf_mesh_clean(mesh);
}
