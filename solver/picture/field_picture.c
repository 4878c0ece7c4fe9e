#include "solver/picture/field_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/picture/canvas.h"

enum { LEAST_PIXELS = 720, MOST_PIXELS = 4096, DYES = 3 };
static const double dye_colours[DYES][3] = {{1.0, 0.87, 0.66}, {0.35, 0.75, 1.0}, {1.0, 0.42, 0.55}};
static const kf_colour ground = {9, 11, 20}, stone = {120, 124, 134};

/* A plane of values, [up][right]; in three dimensions x to the right and z up. */
typedef struct plane {
    int width, height, scale; /* scale: pixels a node; negative: nodes a pixel */
    int canvas_width, canvas_height;
} plane;

static plane plane_of(const kf_snapshot *s) {
    plane p = {.width = s->nodes[0], .height = s->nodes[2] > 1 ? s->nodes[2] : s->nodes[1], .scale = 1};
    const int most = p.width > p.height ? p.width : p.height;
    const int larger = most < LEAST_PIXELS ? (LEAST_PIXELS + most - 1) / most : 1;
    const int smaller = most > MOST_PIXELS ? (most + MOST_PIXELS - 1) / MOST_PIXELS : 1;
    p.scale = smaller > 1 ? -smaller : larger;
    p.canvas_width = p.width * larger / smaller;
    p.canvas_height = p.height * larger / smaller;
    return p;
}

/* Component values of a node of the plane: of the middle of y, or summed along it. */
static double in_plane(const kf_snapshot *s, const kf_quantity *q, int right, int up, bool sum,
                       int component) {
    const size_t nx = (size_t)s->nodes[0], ny = (size_t)s->nodes[1], many = (size_t)q->components;
    if (s->nodes[2] == 1)
        return (double)q->values[((size_t)up * nx + (size_t)right) * many + (size_t)component];
    double total = 0;
    for (size_t y = sum ? 0 : ny / 2; y < (sum ? ny : ny / 2 + 1); y++)
        total += (double)q->values[(((size_t)up * ny + y) * nx + (size_t)right) * many + (size_t)component];
    return total;
}

static float *gather(const kf_snapshot *s, const plane *p, const kf_quantity *q, bool sum) {
    float *values = kf_allocate((size_t)p->width * (size_t)p->height * sizeof *values);
    for (int up = 0; up < p->height; up++)
        for (int right = 0; right < p->width; right++) {
            double square = 0;
            for (int i = 0; i < q->components && q->components > 1; i++) {
                const double c = in_plane(s, q, right, up, sum, i);
                square += c * c;
            }
            values[(size_t)up * (size_t)p->width + (size_t)right] =
                (float)(q->components > 1 ? sqrt(square) : in_plane(s, q, right, up, sum, 0));
        }
    return values;
}

/* Between the four nodes around a pixel. */
static double at_pixel(const plane *p, const float *values, int x, int y) {
    const double step = p->scale > 0 ? 1.0 / p->scale : -p->scale;
    const double u = fmin(fmax((x + 0.5) * step - 0.5, 0), p->width - 1.0);
    const double v = fmin(fmax((p->canvas_height - 1 - y + 0.5) * step - 0.5, 0), p->height - 1.0);
    const int i = (int)u, j = (int)v, i1 = i + 1 < p->width ? i + 1 : i, j1 = j + 1 < p->height ? j + 1 : j;
    const double a = u - i, b = v - j;
    const float *low = values + (size_t)j * (size_t)p->width, *high = values + (size_t)j1 * (size_t)p->width;
    return (1 - b) * ((1 - a) * (double)low[i] + a * (double)low[i1]) +
           b * ((1 - a) * (double)high[i] + a * (double)high[i1]);
}

static void draw_solid(const kf_snapshot *s, const plane *p, kf_canvas *canvas) {
    const kf_quantity *solid = kf_snapshot_find(s, "solid");
    if (solid == NULL) return;
    float *share = gather(s, p, solid, false);
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++)
            kf_canvas_blend(canvas, x, y, stone, fmin(at_pixel(p, share, x, y), 1));
    free(share);
}

static kf_status finish(const kf_snapshot *s, const plane *p, kf_canvas *canvas, const char *path,
                        kf_error *error) {
    draw_solid(s, p, canvas);
    const kf_status status = kf_canvas_write_png(canvas, path, error);
    kf_canvas_free(canvas);
    return status;
}

static unsigned char shade(double value) {
    return (unsigned char)(255.0 * fmin(fmax(value, 0), 1) + 0.5);
}

/* Light is added dye by dye: 1 - exp(-amount) of each colour. */
static void draw_dyes(const plane *p, float *const fields[DYES], int count, double opacity,
                      kf_canvas *canvas) {
    for (int y = 0; y < canvas->height; y++)
        for (int x = 0; x < canvas->width; x++) {
            double rgb[3] = {ground.red / 255.0, ground.green / 255.0, ground.blue / 255.0};
            for (int i = 0; i < count; i++) {
                const double share = 1 - exp(-opacity * fmax(at_pixel(p, fields[i], x, y), 0));
                for (int c = 0; c < 3; c++)
                    rgb[c] += (dye_colours[i][c] - rgb[c]) * share;
            }
            kf_canvas_blend(canvas, x, y, (kf_colour){shade(rgb[0]), shade(rgb[1]), shade(rgb[2])}, 1);
        }
}

/* Draws a snapshot's dyes, each in its colour, as clouds that are seen through the box's depth. */
kf_status kf_dye_picture(const char *path, const kf_snapshot *snapshot, bool *written, kf_error *error) {
    const plane p = plane_of(snapshot);
    float *fields[DYES];
    int count = 0;
    for (size_t i = 0; i < snapshot->quantity_count && count < DYES; i++) {
        const kf_quantity *q = &snapshot->quantities[i];
        if (q->components == 1 && strcmp(q->name, "solid") != 0)
            fields[count++] = gather(snapshot, &p, q, true);
    }
    *written = count > 0;
    if (count == 0) return KF_OK;
    kf_canvas canvas;
    kf_canvas_begin(&canvas, p.canvas_width, p.canvas_height, ground);
    /* A cloud a quarter of the box deep is as dense as one in a plane. */
    draw_dyes(&p, fields, count, snapshot->nodes[2] > 1 ? 10.0 / snapshot->nodes[1] : 2.5, &canvas);
    for (int i = 0; i < count; i++)
        free(fields[i]);
    return finish(snapshot, &p, &canvas, path, error);
}

/* 1, 2 or 5 times a power of ten. */
static double round_up(double value) {
    const double power = pow(10, floor(log10(value))), digits = value / power;
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

/* Draws the speed of a snapshot on a colour scale from 0 to a round number. */
kf_status kf_speed_picture(const char *path, const kf_snapshot *snapshot, kf_error *error) {
    const plane p = plane_of(snapshot);
    const kf_quantity *velocity = kf_snapshot_find(snapshot, "velocity");
    if (velocity == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: the snapshot has no velocity to draw", path);
    float *speed = gather(snapshot, &p, velocity, false);
    double top = 0;
    for (size_t i = 0; i < (size_t)p.width * (size_t)p.height; i++)
        top = fmax(top, (double)speed[i]);
    top = top > 0 && isfinite(top) ? round_up(top) : 1;
    kf_canvas canvas;
    kf_canvas_begin(&canvas, p.canvas_width, p.canvas_height, ground);
    for (int y = 0; y < canvas.height; y++)
        for (int x = 0; x < canvas.width; x++)
            kf_canvas_blend(&canvas, x, y, kf_colour_map(at_pixel(&p, speed, x, y) / top), 1);
    free(speed);
    return finish(snapshot, &p, &canvas, path, error);
}
