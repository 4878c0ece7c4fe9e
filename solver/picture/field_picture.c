#include "solver/picture/field_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/picture/canvas.h"

enum { LEAST_PIXELS = 720, MOST_PIXELS = 4096, DYES = 3 };
static const double dye_colours[DYES][3] = {{1.0, 0.87, 0.66}, {0.35, 0.75, 1.0}, {1.0, 0.42, 0.55}};
static const kf_colour ground = {9, 11, 20}, stone = {120, 124, 134};

/* A plane of values, [up][right]. In three dimensions x is to the right and z up. */
typedef struct plane {
    /* The scale is pixels per node; a negative one is nodes per pixel. */
    int width, height, scale;
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

/* Returns a component's value at a node of the plane, at the middle of y or summed along it. */
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

/* Interpolates between the four nodes around a pixel. */
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

/* --- Scales and words beside the plane ---------------------------------------------------------------- */

enum { LEFT = KF_FIELD_LEFT, TOP = KF_FIELD_TOP, RIGHT = 150, BOTTOM = 60, TICK = 6, TEXT = 2, BAR = 22 };
static const kf_colour white = {255, 255, 255}, black = {25, 25, 25};

/* Says what a picture shows: its title, and a scale from 0 to top where that is above 0. */
typedef struct caption {
    const char *title, *unit;
    double top;
} caption;

/* Rounds up to 1, 2 or 5 times a power of ten. */
static double round_up(double value) {
    const double power = pow(10, floor(log10(value))), digits = value / power;
    return power * (digits <= 1 ? 1 : digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

/* Draws ticks in metres from 0 to length, along the lower or the left side. name: of the axis. */
static void draw_axis(kf_canvas *outer, const plane *p, bool up, double length, char name) {
    const int pixels = up ? p->canvas_height : p->canvas_width, bottom = TOP + p->canvas_height;
    const double step = round_up(length * (up ? 60.0 : 100.0) / pixels);
    char text[32];
    for (int i = 0; i * step <= length * (1 + 1e-9); i++) {
        const int at = (int)lround(i * step / length * (pixels - 1));
        (void)snprintf(text, sizeof text, "%.4g", i * step);
        if (up) {
            kf_canvas_fill(outer, LEFT - TICK, bottom - 1 - at, TICK, 1, black);
            kf_canvas_text(outer, LEFT - TICK - 5 - kf_text_width(text, TEXT), bottom - 7 - at, TEXT, black,
                           text);
        } else {
            kf_canvas_fill(outer, LEFT + at, bottom, 1, TICK, black);
            kf_canvas_text(outer, LEFT + at - kf_text_width(text, TEXT) / 2, bottom + TICK + 5, TEXT, black,
                           text);
        }
    }
    (void)snprintf(text, sizeof text, "%c, m", name);
    if (up)
        kf_canvas_text(outer, LEFT - TICK - 5 - kf_text_width(text, TEXT), TOP - 26, TEXT, black, text);
    else
        kf_canvas_text(outer, LEFT + (pixels - kf_text_width(text, TEXT)) / 2, bottom + TICK + 28, TEXT,
                       black, text);
}

/* Draws the scale of colours from 0 to top, beside the plane. */
static void draw_bar(kf_canvas *outer, const plane *p, const caption *c) {
    enum { TICKS = 5 };
    const int x = LEFT + p->canvas_width + 28, height = p->canvas_height;
    char text[48];
    for (int y = 0; y < height; y++)
        kf_canvas_fill(outer, x, TOP + y, BAR, 1, kf_colour_map((height - y - 0.5) / height));
    kf_canvas_frame(outer, x - 1, TOP - 1, BAR + 2, height + 2, black);
    for (int i = 0; i <= TICKS; i++) {
        (void)snprintf(text, sizeof text, "%.4g", c->top * i / TICKS);
        kf_canvas_text(outer, x + BAR + 8, TOP + height - 7 - (int)lround((double)i / TICKS * (height - 1)),
                       TEXT, black, text);
    }
    kf_canvas_text(outer, x, TOP - 26, TEXT, black, c->unit);
}

/* Adds title, axes and scale to the plane, writes the picture, and frees the plane. */
static kf_status finish(const kf_snapshot *s, const plane *p, kf_canvas *canvas, const caption *c,
                        const char *path, kf_error *error) {
    const bool deep = s->nodes[2] > 1;
    kf_canvas outer;
    draw_solid(s, p, canvas);
    kf_canvas_begin(&outer, LEFT + p->canvas_width + RIGHT, TOP + p->canvas_height + BOTTOM, white);
    for (int y = 0; y < canvas->height; y++)
        memcpy(outer.pixels + 3 * ((size_t)(TOP + y) * (size_t)outer.width + LEFT),
               canvas->pixels + 3 * (size_t)y * (size_t)canvas->width, 3 * (size_t)canvas->width);
    kf_canvas_free(canvas);
    kf_canvas_frame(&outer, LEFT - 1, TOP - 1, p->canvas_width + 2, p->canvas_height + 2, black);
    draw_axis(&outer, p, false, p->width * s->spacing[0], 'x');
    draw_axis(&outer, p, true, p->height * s->spacing[deep ? 2 : 1], deep ? 'z' : 'y');
    if (c->top > 0.0) draw_bar(&outer, p, c);
    kf_canvas_text(&outer, LEFT, 10, TEXT, black, c->title);
    const kf_status status = kf_canvas_write_png(&outer, path, error);
    kf_canvas_free(&outer);
    return status;
}

/* Appends "plume  64x64  step 40  t = 1.2 s", what every picture says of its moment. */
static void append_title(const char *scene, const kf_snapshot *s, const char *what, kf_text *title) {
    kf_text_append(title, "%.48s  %s  %dx%d", scene, what, s->nodes[0], s->nodes[1]);
    if (s->nodes[2] > 1) kf_text_append(title, "x%d", s->nodes[2]);
    kf_text_append(title, "  step %llu  t = %.4g s", (unsigned long long)s->step, s->time);
}

static unsigned char shade(double value) {
    return (unsigned char)(255.0 * fmin(fmax(value, 0), 1) + 0.5);
}

/* Draws dyes. Each adds the light 1 - exp(-amount) of its colour. */
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
kf_status kf_dye_picture(const char *path, const char *scene, const kf_snapshot *snapshot, bool *written,
                         kf_error *error) {
    const plane p = plane_of(snapshot);
    float *fields[DYES];
    int count = 0;
    kf_text names = {0}, title = {0};
    for (size_t i = 0; i < snapshot->quantity_count && count < DYES; i++) {
        const kf_quantity *q = &snapshot->quantities[i];
        if (q->components != 1 || strcmp(q->name, "solid") == 0) continue;
        kf_text_append(&names, "%s%s", count > 0 ? ", " : "", q->name);
        fields[count++] = gather(snapshot, &p, q, true);
    }
    *written = count > 0;
    if (count == 0) return KF_OK;
    kf_canvas canvas;
    kf_canvas_begin(&canvas, p.canvas_width, p.canvas_height, ground);
    /* A cloud with a depth of a quarter of the box is as dense as one in a plane. */
    draw_dyes(&p, fields, count, snapshot->nodes[2] > 1 ? 10.0 / snapshot->nodes[1] : 2.5, &canvas);
    for (int i = 0; i < count; i++)
        free(fields[i]);
    append_title(scene, snapshot, names.text, &title);
    const kf_status status = finish(snapshot, &p, &canvas, &(caption){.title = title.text}, path, error);
    kf_text_free(&names);
    kf_text_free(&title);
    return status;
}

/* Draws the speed of a snapshot on a colour scale from 0 to a round number. */
kf_status kf_speed_picture(const char *path, const char *scene, const kf_snapshot *snapshot,
                           kf_error *error) {
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
    kf_text title = {0};
    append_title(scene, snapshot, "speed", &title);
    const caption words = {.title = title.text, .unit = velocity->unit, .top = top};
    const kf_status status = finish(snapshot, &p, &canvas, &words, path, error);
    kf_text_free(&title);
    return status;
}
