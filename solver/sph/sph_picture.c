#include "solver/sph/sph_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "solver/picture/canvas.h"
#include "solver/sph/sph.h"
#include "solver/sph/sph_view.h"

static const kf_colour ink = {30, 34, 40}, paper = {250, 250, 250}, stone = {120, 116, 110},
                       dusk = {158, 170, 186};

/* The drawn snapshot, and how it is drawn. */
typedef struct subject {
    const kf_particle_scene *scene;
    const float *position;
    /* The value of each particle that gives its colour. */
    float *value;
    size_t count, fluid;
    /* The end of the colour scale. */
    double most;
} subject;

/* Returns the value that one particle in a thousand exceeds, so that a splash does not darken all others. */
static double end_of_scale(const subject *s) {
    enum { SAMPLES = 20000 };
    double *values = kf_allocate(SAMPLES * sizeof *values), end;
    const size_t n = s->fluid < SAMPLES ? s->fluid : SAMPLES;
    for (size_t k = 0; k < n; k++)
        values[k] = (double)s->value[k * s->fluid / n];
    qsort(values, n, sizeof *values, kf_ascending);
    end = n > 0 ? values[n - 1 - n / 1000] : 0.0;
    free(values);
    return end;
}

/* Returns the stress over the yield stress at its pressure; 1 where the material flows. */
static double yielded(const kf_particle_scene *s, double stress, double pressure) {
    const double unit = s->density * s->sound_speed * s->sound_speed, p = fmax(pressure / unit, 0.0);
    const kf_material *m = &s->material;
    const double limit = m->yield_kind == KF_YIELD_MU_I ? m->friction * p : m->yield + m->friction * p;
    return limit > 0.0 ? fmin(stress / unit / limit, 1.0) : 1.0;
}

/* Finds the value that each particle is coloured by (speed, pressure, or stress over yield stress) and the
 * end of the scale. */
static kf_status find_values(const kf_snapshot *snapshot, const char *path, subject *s, kf_error *error) {
    const kf_quantity *velocity = kf_snapshot_find(snapshot, "velocity"),
                      *pressure = kf_snapshot_find(snapshot, "pressure"),
                      *stress = kf_snapshot_find(snapshot, "shear_stress");
    const kf_particle_colour by = s->scene->colour;
    if (velocity == NULL || (by != KF_COLOUR_SPEED && pressure == NULL) ||
        (by == KF_COLOUR_YIELD && stress == NULL))
        return kf_fail(error, KF_BAD_INPUT, "%s: the snapshot lacks what particles are coloured by, %s", path,
                       kf_particle_colour_names[by]);
    s->value = kf_allocate(s->count * sizeof *s->value);
    for (size_t k = 0; k < s->count; k++) {
        const float *v = velocity->values + 3 * k;
        double value;
        if (by == KF_COLOUR_SPEED)
            value = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
        else if (by == KF_COLOUR_PRESSURE)
            value = (double)pressure->values[k];
        else
            value = yielded(s->scene, (double)stress->values[k], (double)pressure->values[k]);
        s->value[k] = (float)value;
    }
    /* Small motions of resting material are left out. */
    if (by == KF_COLOUR_SPEED)
        s->most = fmax(end_of_scale(s), 1e-3 * s->scene->sound_speed);
    else
        s->most = by == KF_COLOUR_PRESSURE ? fmax(end_of_scale(s), 1e-9) : 1.0;
    return KF_OK;
}

static kf_colour colour_of(const subject *s, double value) {
    const double share = fmin(fmax(value / s->most, 0.0), 1.0);
    if (s->scene->material.yield_kind == KF_YIELD_NONE || s->scene->colour == KF_COLOUR_PRESSURE)
        return kf_colour_map(0.15 + 0.85 * share);
    /* Snow at rest is white, then ice blue, then dark blue. */
    static const double stops[3][3] = {{250, 251, 254}, {128, 176, 226}, {24, 62, 140}};
    const int from = share < 0.5 ? 0 : 1;
    const double t = 2.0 * share - from;
    double mixed[3];
    for (int i = 0; i < 3; i++)
        mixed[i] = stops[from][i] + t * (stops[from + 1][i] - stops[from][i]);
    return (kf_colour){(unsigned char)mixed[0], (unsigned char)mixed[1], (unsigned char)mixed[2]};
}

/* ---- Labels ---- */

/* Draws the scene's name, time, number of particles and the box's size, and a scale of colours with its unit.
 */
static void draw_labels(kf_canvas *canvas, const subject *s, double time) {
    static const struct {
        const char *what, *unit;
    } labels[KF_COLOURS] = {{"speed", " m/s"}, {"pressure", " Pa"}, {"stress over yield stress", ""}};
    const kf_particle_scene *scene = s->scene;
    const double *size = scene->size, spacing = scene->spacing;
    char text[256], end[32], box[64] = "";
    const int bar = canvas->width / 4, left = canvas->width - bar - 40, top = canvas->height - 46;
    if (scene->dimensions == 3)
        (void)snprintf(box, sizeof box, "   box %.4g x %.4g x %.4g m", size[0] * spacing, size[1] * spacing,
                       size[2] * spacing);
    (void)snprintf(text, sizeof text, "%.40s   t = %.4g s   %zu particles%s", scene->name, time, s->fluid,
                   box);
    kf_canvas_text(canvas, 24, canvas->height - 40, 2, ink, text);
    for (int x = 0; x < bar; x++)
        kf_canvas_fill(canvas, left + x, top, 1, 12, colour_of(s, s->most * x / bar));
    kf_canvas_frame(canvas, left - 1, top - 1, bar + 2, 14, ink);
    (void)snprintf(end, sizeof end, "%.3g%s", s->most, labels[scene->colour].unit);
    kf_canvas_text(canvas, left, top + 20, 2, ink, "0");
    kf_canvas_text(canvas, left + bar - kf_text_width(end, 2), top + 20, 2, ink, end);
    const char *what = labels[scene->colour].what;
    kf_canvas_text(canvas, left + (bar - kf_text_width(what, 2)) / 2, top + 20, 2, ink, what);
}

/* ---- Two dimensions ---- */

static void draw_disc(kf_canvas *canvas, double x, double y, double radius, kf_colour colour) {
    for (int j = (int)floor(y - radius); j <= (int)ceil(y + radius); j++)
        for (int i = (int)floor(x - radius); i <= (int)ceil(x + radius); i++) {
            const double r = hypot(i + 0.5 - x, j + 0.5 - y);
            if (r < radius + 0.5) kf_canvas_blend(canvas, i, j, colour, fmin(1.0, radius + 0.5 - r));
        }
}

/* Returns 1, 2 or 5 times a power of ten, so that the range has at most about `most` steps. */
static double round_step(double range, double most) {
    const double least = range / most, power = pow(10.0, floor(log10(least)));
    return power * (least <= power ? 1.0 : least <= 2.0 * power ? 2.0 : least <= 5.0 * power ? 5.0 : 10.0);
}

/* Draws axes in metres along the lower and the left edge of the box. scale: pixels per metre. */
static void draw_axes(kf_canvas *canvas, double left, double bottom, double wide, double high, double scale) {
    const double sizes[2] = {wide, high};
    for (int axis = 0; axis < 2; axis++) {
        const double step =
            round_step(sizes[axis], fmax(1.0, sizes[axis] * scale / (axis == 0 ? 110.0 : 50.0)));
        for (int i = 0; i * step <= sizes[axis] * (1.0 + 1e-9); i++) {
            const int at = (int)lround(i * step * scale);
            char text[32];
            (void)snprintf(text, sizeof text, "%.4g%s", i * step, i == 0 && axis == 0 ? " m" : "");
            if (axis == 0) {
                kf_canvas_fill(canvas, (int)left + at, (int)bottom, 1, 5, ink);
                kf_canvas_text(canvas, (int)left + at - kf_text_width(text, 2) / 2, (int)bottom + 8, 2, ink,
                               text);
            } else if (i > 0) {
                kf_canvas_fill(canvas, (int)left - 6, (int)bottom - at, 5, 1, ink);
                kf_canvas_text(canvas, (int)left - 10 - kf_text_width(text, 2), (int)bottom - at - 7, 2, ink,
                               text);
            }
        }
    }
}

/* Draws a scene of two dimensions: terrain, particles as discs, the frame, labels. */
static void draw_flat(kf_canvas *canvas, const subject *s, double time) {
    const kf_particle_scene *scene = s->scene;
    const double wide = scene->size[0] * scene->spacing, high = scene->size[1] * scene->spacing;
    const double scale = fmin((canvas->width - 160) / wide, (canvas->height - 140) / high);
    const double left = 0.5 * (canvas->width - scale * wide), bottom = canvas->height - 96;
    /* Resting material is white. */
    if (scene->material.yield_kind != KF_YIELD_NONE)
        kf_canvas_fill(canvas, (int)left, (int)(bottom - scale * high), (int)(scale * wide),
                       (int)(scale * high), dusk);
    for (int x = 0; x < (int)(scale * wide) && scene->terrain.heights != NULL; x++) {
        const double ground =
            kf_terrain_height(&scene->terrain, x / scale / scene->spacing, 0.0, NULL) * scene->spacing;
        kf_canvas_fill(canvas, (int)left + x, (int)(bottom - scale * ground), 1, (int)(scale * ground) + 1,
                       stone);
    }
    for (size_t k = 0; k < s->count; k++) {
        const double x = (double)s->position[3 * k] + scene->origin[0] * scene->spacing,
                     y = (double)s->position[3 * k + 1] + scene->origin[1] * scene->spacing;
        draw_disc(canvas, left + scale * x, bottom - scale * y, 0.56 * scale * scene->spacing,
                  k < s->fluid ? colour_of(s, (double)s->value[k]) : stone);
    }
    kf_canvas_frame(canvas, (int)left - 1, (int)(bottom - scale * high), (int)(scale * wide) + 2,
                    (int)(scale * high) + 1, ink);
    draw_axes(canvas, left, bottom, wide, high, scale);
    draw_labels(canvas, s, time);
}

/* ---- Three dimensions ---- */

typedef struct colouring {
    const subject *subject;
    kf_canvas *canvas;
    const kf_sph_view *view;
} colouring;

static unsigned char shaded(double value) {
    return (unsigned char)fmin(255.0, fmax(0.0, value));
}

/* Colours bare ground: darker on steep slopes, with contour lines, and brown where the box cuts it. */
static void colour_ground(const kf_sph_pixel *pixel, double light, kf_colour *colour) {
    const double steep = fmin(1.0, fmax(0.0, 1.6 * (1.0 - pixel->normal[2])));
    if (pixel->cut) {
        *colour = (kf_colour){shaded(104 * (0.6 + 0.4 * light)), shaded(88 * (0.6 + 0.4 * light)),
                              shaded(74 * (0.6 + 0.4 * light))};
        return;
    }
    const double line = pixel->contour ? 0.86 : 1.0, shade = line * (0.45 + 0.75 * light);
    colour->red = shaded(shade * (176.0 - 66.0 * steep));
    colour->green = shaded(shade * (170.0 - 66.0 * steep));
    colour->blue = shaded(shade * (158.0 - 56.0 * steep));
}

static void colour_surface(const subject *s, const kf_sph_pixel *pixel, double light, const double half[3],
                           kf_colour *colour) {
    const kf_colour c = pixel->wall ? stone : colour_of(s, (double)pixel->value);
    const double *n = pixel->normal;
    const double shine = pow(fmax(0.0, n[0] * half[0] + n[1] * half[1] + n[2] * half[2]), 40.0);
    const double gloss = s->scene->material.yield_kind == KF_YIELD_NONE ? 110.0 : 18.0,
                 shade = 0.40 + 0.68 * light;
    colour->red = shaded(shade * c.red + gloss * shine);
    colour->green = shaded(shade * c.green + gloss * shine);
    colour->blue = shaded((shade + 0.05) * c.blue + gloss * shine);
}

/* Colours rows begin to end - 1 of the picture: sky, ground or surface, lit from the view's light. */
static void colour_rows(void *data, size_t begin, size_t end) {
    const colouring *c = data;
    const kf_sph_view *view = c->view;
    for (size_t y = begin; y < end; y++)
        for (size_t x = 0; x < (size_t)view->width; x++) {
            const kf_sph_pixel *pixel = &view->pixels[y * (size_t)view->width + x];
            kf_colour colour;
            if (pixel->kind == KF_SPH_NOTHING) {
                const double up = (double)y / view->height;
                colour = (kf_colour){shaded(178 + 62 * up), shaded(203 + 42 * up), shaded(232 + 18 * up)};
            } else {
                const double *n = pixel->normal, *l = view->light;
                const double light = fmax(0.0, n[0] * l[0] + n[1] * l[1] + n[2] * l[2]);
                double half[3], size = 0.0;
                for (int i = 0; i < 3; i++) {
                    half[i] = l[i] - view->ahead[i];
                    size += half[i] * half[i];
                }
                for (int i = 0; i < 3; i++)
                    half[i] /= sqrt(size);
                if (pixel->kind == KF_SPH_GROUND)
                    colour_ground(pixel, light, &colour);
                else
                    colour_surface(c->subject, pixel, light, half, &colour);
            }
            kf_canvas_blend(c->canvas, (int)x, (int)y, colour, 1.0);
        }
}

static void draw_solid(kf_canvas *canvas, const subject *s, double time) {
    kf_sph_view view;
    kf_sph_view_begin(s->scene, canvas->width, canvas->height, &view);
    kf_sph_view_ground(&view);
    for (size_t k = 0; k < s->count; k++) {
        const float *p = s->position + 3 * k;
        if (k >= s->fluid && s->scene->terrain.heights == NULL && !kf_sph_view_shows_wall(&view, p)) continue;
        kf_sph_view_particle(&view, p, s->value[k], k >= s->fluid);
    }
    kf_sph_view_end(&view);
    colouring work = {.subject = s, .canvas = canvas, .view = &view};
    kf_in_parallel((size_t)view.height, 16, colour_rows, &work);
    kf_sph_view_free(&view);
    draw_labels(canvas, s, time);
}

kf_status kf_sph_picture(const kf_particle_scene *scene, const kf_snapshot *snapshot, const char *path,
                         kf_error *error) {
    enum { WIDTH = 1600, HEIGHT = 900 };
    const kf_quantity *position = kf_snapshot_find(snapshot, "position");
    if (position == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: the snapshot has no positions to draw", path);
    subject s = {.scene = scene,
                 .position = position->values,
                 .count = snapshot->count,
                 .fluid = scene->count - scene->wall_count};
    KF_TRY(find_values(snapshot, path, &s, error));
    kf_canvas canvas;
    kf_canvas_begin(&canvas, WIDTH, HEIGHT, paper);
    if (scene->dimensions == 2)
        draw_flat(&canvas, &s, snapshot->time);
    else
        draw_solid(&canvas, &s, snapshot->time);
    const kf_status status = kf_canvas_write_png(&canvas, path, error);
    kf_canvas_free(&canvas);
    free(s.value);
    return status;
}

/* Makes a snapshot of a scene at its start, in SI units from the file's origin, without a plan. */
void kf_sph_first_snapshot(const kf_particle_scene *s, kf_snapshot *snapshot) {
    kf_snapshot_of_particles(snapshot, s->count);
    float *position = kf_snapshot_add(snapshot, "position", "m", 3),
          *velocity = kf_snapshot_add(snapshot, "velocity", "m/s", 3),
          *density = kf_snapshot_add(snapshot, "density", "kg/m3", 1),
          *pressure = kf_snapshot_add(snapshot, "pressure", "Pa", 1),
          *stress = kf_snapshot_add(snapshot, "shear_stress", "Pa", 1);
    for (size_t k = 0; k < s->count; k++) {
        const double e = (double)s->deviation[k];
        for (size_t i = 0; i < 3; i++) {
            position[3 * k + i] = (float)(((double)s->position[3 * k + i] - s->origin[i]) * s->spacing);
            velocity[3 * k + i] = (float)((double)s->velocity[3 * k + i] * s->sound_speed);
        }
        density[k] = (float)((1.0 + e) * s->density);
        pressure[k] = (float)kf_sph_pressure_of(s, e);
        stress[k] = 0.0f;
    }
}
