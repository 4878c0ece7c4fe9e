/* The Ahmed body: the standard simplified car (Ahmed, Ramm, Faltin, SAE paper 840300, 1984). Length 1044 mm,
 * width 389 mm, height 288 mm; the edges of the front rounded with 100 mm; the slant at the rear 222 mm long;
 * 50 mm above the ground on four cylinders of 30 mm. x runs from front to rear, y = 0 is the middle plane, z
 * = 0 the ground.
 *
 * Every cross-section is a rectangle, so the body is a row of rectangles joined by their edges. */
#include <math.h>

#include "scene/internal.h"

static const double PI = 3.14159265358979323846;
static const double STILT_RADIUS = 0.015,
                    /* A square of twice this side (m) of the floor surrounds each stilt. */
    STILT_PATCH = 0.03;
static const double STILT_X[2] = {0.202, 0.672}, STILT_Y = 0.1635;

enum { NOSE_STEPS = 24, STATIONS = NOSE_STEPS + 8, FLOOR_POINTS = 6, CIRCLE = 24, QUARTER = CIRCLE / 4 };

/* The indices of the shape's parameters, in the order of shapes.c. */
enum { SLANT_ANGLE, CLEARANCE, STILTS, LENGTH, WIDTH, HEIGHT, RADIUS, SLANT_LENGTH };

/* A cross-section, described by half its width, its top and its bottom. */
typedef struct section {
    double half_width, bottom, top;
} section;

typedef struct station {
    /* The points of the floor along y. The first and the last are the lower corners. */
    uint32_t floor[FLOOR_POINTS];
    int floor_count;
    uint32_t top_left, top_right; /* left: y < 0 */
} station;

static station add_station(kf_mesh_builder *b, double x, double inset, const section *at, bool beside_stilt) {
    const double half = at->half_width - inset, low = at->bottom + inset, top = at->top;
    station s = {.floor_count = 0};
    s.floor[s.floor_count++] = kf_mesh_add_vertex(b, x, -half, low);
    for (int side = -1; beside_stilt && side <= 1; side += 2)
        for (int edge = -1; edge <= 1; edge += 2)
            s.floor[s.floor_count++] = kf_mesh_add_vertex(b, x, side * STILT_Y + edge * STILT_PATCH, low);
    s.floor[s.floor_count++] = kf_mesh_add_vertex(b, x, half, low);
    s.top_left = kf_mesh_add_vertex(b, x, -half, top - inset);
    s.top_right = kf_mesh_add_vertex(b, x, half, top - inset);
    return s;
}

/* Joins the floor between two stations, whose lines may have different numbers of points. */
static void join_floor(kf_mesh_builder *b, const station *from, const station *to) {
    int i = 0, j = 0;
    while (i + 1 < from->floor_count || j + 1 < to->floor_count) {
        const bool advance_from =
            j + 1 == to->floor_count ||
            (i + 1 < from->floor_count && (i + 1) * to->floor_count <= (j + 1) * from->floor_count);
        if (advance_from) {
            kf_mesh_add_triangle(b, from->floor[i], from->floor[i + 1], to->floor[j]);
            i++;
        } else {
            kf_mesh_add_triangle(b, from->floor[i], to->floor[j + 1], to->floor[j]);
            j++;
        }
    }
}

/* Adds a stilt, and the floor between it and the corners of its square. The corners run counter-clockwise
 * seen from above. */
static void add_stilt(kf_mesh_builder *b, double x, double y, double top, const uint32_t corners[4]) {
    uint32_t upper[CIRCLE], lower[CIRCLE];
    for (int k = 0; k < CIRCLE; k++) {
        const double angle = 2.0 * PI * k / CIRCLE;
        const double px = x + STILT_RADIUS * cos(angle), py = y + STILT_RADIUS * sin(angle);
        upper[k] = kf_mesh_add_vertex(b, px, py, top);
        lower[k] = kf_mesh_add_vertex(b, px, py, 0.0);
    }
    const uint32_t foot = kf_mesh_add_vertex(b, x, y, 0.0);
    for (int k = 0; k < CIRCLE; k++) {
        const int next = (k + 1) % CIRCLE, quarter = k / QUARTER;
        kf_mesh_add_triangle(b, corners[quarter], upper[k], upper[next]);
        if (next % QUARTER == 0)
            kf_mesh_add_triangle(b, corners[quarter], upper[next], corners[(quarter + 1) % 4]);
        kf_mesh_add_quad(b, lower[k], lower[next], upper[next], upper[k]);
        kf_mesh_add_triangle(b, foot, lower[next], lower[k]);
    }
}

/* Adds a pair of stilts between the two stations beside them. */
static void add_stilts(kf_mesh_builder *b, double x, double top, const station *from, const station *to) {
    for (int column = 0; column + 1 < FLOOR_POINTS; column++) {
        const uint32_t near_left = from->floor[column], near_right = from->floor[column + 1];
        const uint32_t far_left = to->floor[column], far_right = to->floor[column + 1];
        if (column == 1 || column == 3) {
            const uint32_t corners[4] = {far_right, near_right, near_left, far_left};
            add_stilt(b, x, column == 1 ? -STILT_Y : STILT_Y, top, corners);
        } else {
            kf_mesh_add_quad(b, near_left, near_right, far_right, far_left);
        }
    }
}

static void join_walls(kf_mesh_builder *b, const station *from, const station *to) {
    const uint32_t from_right = from->floor[from->floor_count - 1], to_right = to->floor[to->floor_count - 1];
    kf_mesh_add_quad(b, from->floor[0], to->floor[0], to->top_left, from->top_left);
    kf_mesh_add_quad(b, from_right, from->top_right, to->top_right, to_right);
    kf_mesh_add_quad(b, from->top_left, to->top_left, to->top_right, from->top_right);
}

/* Returns what is wrong with the parameters, or NULL. */
const char *kf_check_ahmed(const double *values) {
    const double slant = values[SLANT_ANGLE] * PI / 180.0,
                 roof = values[LENGTH] - values[SLANT_LENGTH] * cos(slant);
    if (2.0 * values[RADIUS] >= fmin(values[WIDTH], values[HEIGHT]))
        return "nose_radius must be less than half of body_width and body_height";
    if (roof <= values[RADIUS] || values[SLANT_LENGTH] * sin(slant) >= values[HEIGHT])
        return "slant_length must leave some of the roof and of the base";
    if (values[STILTS] != 0.0 &&
        (STILT_X[0] - STILT_PATCH <= values[RADIUS] || STILT_X[1] + STILT_PATCH >= roof ||
         STILT_Y + STILT_PATCH >= 0.5 * values[WIDTH]))
        return "the stilts do not fit under that floor: take \"stilts\": false";
    return NULL;
}

/* Makes the Ahmed body (Ahmed, Ramm and Faltin 1984), or one of other measures: stations along its length,
 * joined by walls, floor and roof. */
void kf_shape_ahmed(const double *values, kf_mesh_builder *b) {
    const double slant = values[SLANT_ANGLE] * PI / 180.0, radius = values[RADIUS];
    const section body = {0.5 * values[WIDTH], values[CLEARANCE], values[CLEARANCE] + values[HEIGHT]};
    const section base = {body.half_width, body.bottom, body.top - values[SLANT_LENGTH] * sin(slant)};
    const bool stilts = values[STILTS] != 0.0;
    station stations[STATIONS];
    int count = 0, stilt_station[2] = {-1, -1};
    for (int k = 0; k <= NOSE_STEPS; k++) {
        const double angle = 0.5 * PI * k / NOSE_STEPS;
        stations[count++] =
            add_station(b, radius * (1.0 - cos(angle)), radius * (1.0 - sin(angle)), &body, false);
    }
    for (int pair = 0; stilts && pair < 2; pair++) {
        stilt_station[pair] = count;
        stations[count++] = add_station(b, STILT_X[pair] - STILT_PATCH, 0.0, &body, true);
        stations[count++] = add_station(b, STILT_X[pair] + STILT_PATCH, 0.0, &body, true);
    }
    stations[count++] = add_station(b, values[LENGTH] - values[SLANT_LENGTH] * cos(slant), 0.0, &body, false);
    stations[count++] = add_station(b, values[LENGTH], 0.0, &base, false);

    for (int s = 0; s + 1 < count; s++) {
        join_walls(b, &stations[s], &stations[s + 1]);
        if (s == stilt_station[0] || s == stilt_station[1])
            add_stilts(b, STILT_X[s == stilt_station[1]], body.bottom, &stations[s], &stations[s + 1]);
        else
            join_floor(b, &stations[s], &stations[s + 1]);
    }
    const station *front = &stations[0], *rear = &stations[count - 1];
    kf_mesh_add_quad(b, front->floor[0], front->top_left, front->top_right, front->floor[1]);
    kf_mesh_add_quad(b, rear->floor[0], rear->floor[1], rear->top_right, rear->top_left);
}
