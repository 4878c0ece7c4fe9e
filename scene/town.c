/* Makes meshes of many closed parts, in metres. One is a town of overlapping houses around a church, on the
 * ground z = 0. The other is a bunch of thin rods. */
#include <math.h>
#include <stdlib.h>

#include "scene/internal.h"

static const double PI = 3.14159265358979323846;

/* --- The town ------------------------------------------------------------------------------------------- */

typedef enum roof { FLAT, RIDGE_X, RIDGE_Y, POINTED } roof;

/* A building with vertical walls over a rectangle, and a roof of a given rise. */
typedef struct building {
    /* The middle of the rectangle. */
    double x, y, half_x, half_y;
    double bottom, eaves, rise;
    roof roof;
} building;

/* Adds a building: a box with a flat, pointed or ridged roof. */
static void add_building(kf_mesh_builder *b, const building *p) {
    /* The bits 0, 1, 2 of the index are x, y, z. */
    uint32_t corner[8];
    for (int c = 0; c < 8; c++)
        corner[c] = kf_mesh_add_vertex(b, p->x + (c & 1 ? p->half_x : -p->half_x),
                                       p->y + (c & 2 ? p->half_y : -p->half_y), c & 4 ? p->eaves : p->bottom);
    kf_mesh_add_quad(b, corner[0], corner[4], corner[6], corner[2]);
    kf_mesh_add_quad(b, corner[1], corner[3], corner[7], corner[5]);
    kf_mesh_add_quad(b, corner[0], corner[1], corner[5], corner[4]);
    kf_mesh_add_quad(b, corner[2], corner[6], corner[7], corner[3]);
    kf_mesh_add_quad(b, corner[0], corner[2], corner[3], corner[1]);
    const double top = p->eaves + p->rise;
    if (p->roof == FLAT) {
        kf_mesh_add_quad(b, corner[4], corner[5], corner[7], corner[6]);
    } else if (p->roof == POINTED) {
        const uint32_t tip = kf_mesh_add_vertex(b, p->x, p->y, top);
        kf_mesh_add_triangle(b, corner[4], corner[5], tip);
        kf_mesh_add_triangle(b, corner[5], corner[7], tip);
        kf_mesh_add_triangle(b, corner[7], corner[6], tip);
        kf_mesh_add_triangle(b, corner[6], corner[4], tip);
    } else {
        const double dx = p->roof == RIDGE_X ? p->half_x : 0.0, dy = p->roof == RIDGE_Y ? p->half_y : 0.0;
        const uint32_t from = kf_mesh_add_vertex(b, p->x - dx, p->y - dy, top);
        const uint32_t to = kf_mesh_add_vertex(b, p->x + dx, p->y + dy, top);
        if (p->roof == RIDGE_X) {
            kf_mesh_add_quad(b, corner[4], corner[5], to, from);
            kf_mesh_add_quad(b, corner[7], corner[6], from, to);
            kf_mesh_add_triangle(b, corner[6], corner[4], from);
            kf_mesh_add_triangle(b, corner[5], corner[7], to);
        } else {
            kf_mesh_add_quad(b, corner[5], corner[7], to, from);
            kf_mesh_add_quad(b, corner[6], corner[4], from, to);
            kf_mesh_add_triangle(b, corner[4], corner[5], from);
            kf_mesh_add_triangle(b, corner[7], corner[6], to);
        }
    }
}

/* Adds the church in the middle of the town: nave, aisles, transept, towers, buttresses, dome and apse. */
static void add_church(kf_mesh_builder *b) {
    static const building parts[] = {
        {2, 0, 34, 10, 0, 24, 10, RIDGE_X}, /* nave */
        {2, 0, 33, 17, 0, 12, 0, FLAT},     /* aisles */
        {12, 0, 9, 30, 0, 23, 9, RIDGE_Y},  /* transept */
        {-34, -12, 6, 6, 0, 44, 24, POINTED}, {-34, 12, 6, 6, 0, 44, 24, POINTED},
        {-34, 0, 4, 7, 0, 30, 6, RIDGE_Y},    {-20, -20, 1, 3, 0, 16, 0, FLAT},
        {-8, -20, 1, 3, 0, 16, 0, FLAT},      {-20, 20, 1, 3, 0, 16, 0, FLAT},
        {-8, 20, 1, 3, 0, 16, 0, FLAT},       {28, -20, 1, 3, 0, 16, 0, FLAT},
        {28, 20, 1, 3, 0, 16, 0, FLAT},
    };
    enum { DOME_STEPS = 12, POINTS = 48 };
    double dome[DOME_STEPS + 2][2] = {{0.0, 9.0}}, apse[DOME_STEPS + 2][2] = {{0.0, 10.0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_building(b, &parts[i]);
    /* A drum, and on it half a ball that ends in a lantern. */
    for (int i = 0; i <= DOME_STEPS; i++) {
        const double angle = 0.46 * PI * i / DOME_STEPS;
        dome[i + 1][0] = 0.66 + 0.34 * sin(angle);
        dome[i + 1][1] = 9.0 * cos(angle);
        apse[i + 1][0] = 0.60 + 0.40 * sin(angle);
        apse[i + 1][1] = 10.0 * cos(angle);
    }
    kf_loft_tube(b, (double[3]){12, 0, 24}, (double[3]){12, 0, 50}, POINTS, DOME_STEPS + 2, dome);
    kf_loft_tube(b, (double[3]){36, 0, 0}, (double[3]){36, 0, 26}, POINTS, DOME_STEPS + 2, apse);
}

/* Returns a pseudorandom number from 0 to 1, the same on every machine. */
static double draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* Makes a town of blocks around a church. It is always the same one. */
void kf_shape_town(const double *values, kf_mesh_builder *b) {
    enum { COLUMNS = 7, ROWS = 5 };
    /* The distance between the middles of houses. */
    static const double STREET = 44.0;
    (void)values;
    uint32_t state = 20220801u;
    add_church(b);
    for (int column = 0; column < COLUMNS; column++)
        for (int row = 0; row < ROWS; row++) {
            const int dx = column - COLUMNS / 2, dy = row - ROWS / 2;
            building p = {.x = STREET * dx + 4 * (draw(&state) - 0.5),
                          .y = STREET * dy + 4 * (draw(&state) - 0.5)};
            p.half_x = 9 + 3 * draw(&state);
            p.half_y = 10 + 4 * draw(&state);
            p.eaves = 10 + 18 * draw(&state) * draw(&state);
            const double kind = draw(&state), tall = draw(&state);
            /* The church stands here. */
            if (dy == 0 && abs(dx) <= 1) continue;
            p.roof = kind < 0.4 ? RIDGE_X : kind < 0.75 ? RIDGE_Y : FLAT;
            p.rise = p.roof == FLAT ? 0.0 : 6.0;
            /* A flat roof carries a narrower tower. */
            if (p.roof == FLAT) {
                building upper = p;
                upper.half_x *= 0.6, upper.half_y *= 0.6;
                upper.bottom = p.eaves - 2;
                upper.eaves = p.eaves + 10 + 22 * tall;
                add_building(b, &upper);
            }
            add_building(b, &p);
        }
}

/* --- The bunch ------------------------------------------------------------------------------------------ */

const char *kf_check_bunch(const double *values) {
    return values[2] >= 0.1 * values[1] ? "rod_radius must be less than a tenth of radius" : NULL;
}

/* Makes rods from an inner ball outwards. Their directions follow a golden spiral over the ball. */
void kf_shape_bunch(const double *values, kf_mesh_builder *b) {
    enum { POINTS = 16, RINGS = 4 };
    static const double INNER = 0.15, GOLDEN = 2.39996322972865332; /* angle, radians */
    const int rods = (int)values[0];
    const double radius = values[1], thin = values[2];
    const double profile[RINGS][2] = {{0, 0.7 * thin}, {0.01, thin}, {0.99, thin}, {1, 0.7 * thin}};
    for (int i = 0; i < rods; i++) {
        const double z = 1.0 - (2.0 * i + 1.0) / rods, out = sqrt(1.0 - z * z), angle = GOLDEN * i;
        const double direction[3] = {out * cos(angle), out * sin(angle), z};
        double from[3], to[3];
        for (int a = 0; a < 3; a++) {
            from[a] = INNER * radius * direction[a];
            to[a] = radius * direction[a];
        }
        kf_loft_tube(b, from, to, POINTS, RINGS, profile);
    }
}
