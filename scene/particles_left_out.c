/* Counts the particles of a fluid's shapes that lie outside the box, so that a note reports them. Obstacles
 * are noted that end at a periodic face. */
#include <math.h>

#include "scene/particles_internal.h"

/* Returns how many points k + 0.5, with k a whole number, lie between low and high. */
static double points_between(double low, double high) {
    return fmax(0.0, floor(high - 0.5) - ceil(low - 0.5) + 1.0);
}

static double points_of_box(const kf_particle_scene *s, const kf_particle_body *body, bool inside) {
    double points = 1.0;
    for (int i = 0; i < s->dimensions; i++) {
        const double low = body->low[i], high = body->high[i];
        points *= points_between(inside ? fmax(low, s->origin[i]) : low,
                                 inside ? fmin(high, kf_particle_box_end(s, i)) : high);
    }
    return points;
}

/* Finds the part of a ball above the middle of a column, from low to high. Returns false when there is none.
 */
static bool ball_above(const kf_particle_scene *s, const kf_particle_body *body, double x, double y,
                       double *low, double *high) {
    const int up = s->dimensions - 1;
    const double dx = x - body->center[0], dy = up == 2 ? y - body->center[1] : 0.0,
                 square = body->radius * body->radius - dx * dx - dy * dy;
    if (square < 0.0) return false;
    *low = body->center[up] - sqrt(square);
    *high = body->center[up] + sqrt(square);
    return true;
}

static bool column_is_in_box(const kf_particle_scene *s, double x, double y) {
    return kf_particle_in_box(s, x, s->dimensions == 3 ? y : -1.0);
}

/* Counts a ball's points outside the box in the column at (x, y). */
static double outside_of_ball(const kf_particle_scene *s, const kf_particle_body *body, double x, double y) {
    const int up = s->dimensions - 1;
    double low, high;
    if (!ball_above(s, body, x, y, &low, &high)) return 0.0;
    const double all = points_between(low, high);
    if (!column_is_in_box(s, x, y)) return all;
    return all - points_between(fmax(low, s->origin[up]), fmin(high, kf_particle_box_end(s, up)));
}

/* Counts a polygon's layers in the column at (x, y), when that column is outside the box. */
static double beside_box(const kf_particle_scene *s, const kf_particle_body *body, double x, double y) {
    if (column_is_in_box(s, x, y) || !kf_particle_in_polygon(body, s->dimensions - 1, x, y)) return 0.0;
    return kf_particle_layers(s, body, x, y);
}

typedef double of_column(const kf_particle_scene *s, const kf_particle_body *body, double x, double y);

static double sum_of_columns(const kf_particle_scene *s, const kf_particle_body *body, of_column *points) {
    const bool wide = s->dimensions == 3;
    const long x0 = (long)ceil(body->low[0] - 0.5), x1 = (long)floor(body->high[0] - 0.5),
               y0 = wide ? (long)ceil(body->low[1] - 0.5) : 0,
               y1 = wide ? (long)floor(body->high[1] - 0.5) : 0;
    double sum = 0.0;
    for (long i = x0; i <= x1; i++)
        for (long j = y0; j <= y1; j++)
            sum += points(s, body, (double)i + 0.5, (double)j + 0.5);
    return sum;
}

/* Returns how far a shape extends out of the box, in spacings; 0 when it does not. */
static double reach(const kf_particle_scene *s, const kf_particle_body *body) {
    double most = 0.0;
    const int axes = body->kind == KF_BODY_POLYGON ? s->dimensions - 1 : s->dimensions;
    for (int i = 0; i < axes; i++)
        most = fmax(most, fmax(s->origin[i] - body->low[i], body->high[i] - kf_particle_box_end(s, i)));
    return most;
}

/* Counts the particles of a fluid's shape outside the box. A negative result means that there are too many to
 * count quickly. */
static double points_outside(const kf_particle_scene *s, const kf_particle_body *body, double inside) {
    static const double MOST_COLUMNS = 1e8;
    const double columns = (body->high[0] - body->low[0] + 1.0) *
                           (s->dimensions == 3 ? body->high[1] - body->low[1] + 1.0 : 1.0);
    kf_body solid;
    if (reach(s, body) <= 0.5) return 0.0;
    if (body->kind == KF_BODY_BOX) return points_of_box(s, body, false) - points_of_box(s, body, true);
    if (body->kind == KF_BODY_MESH) {
        (void)kf_mesh_body(&body->mesh, true, &solid);
        return fmax(0.0, nearbyint(fabs(solid.volume) - inside));
    }
    if (columns > MOST_COLUMNS) return -1.0;
    return body->kind == KF_BODY_BALL ? sum_of_columns(s, body, outside_of_ball)
                                      : sum_of_columns(s, body, beside_box);
}

/* Notes an obstacle that is cut off at a periodic face, behind which it does not go on. */
static void tell_cut_off(const kf_particle_scene *s, const kf_particle_body *body, int number,
                         kf_text *notes) {
    for (int i = 0; i < s->dimensions; i++) {
        const double size = kf_particle_box_end(s, i) - s->origin[i], low = body->low[i] - s->origin[i],
                     high = body->high[i] - s->origin[i];
        if (s->sides[2 * i] != KF_SIDE_PERIODIC || (low >= -0.5 && high <= size + 0.5)) continue;
        kf_note(notes,
                "obstacles[%d]: is cut off at the periodic faces along %c, from %.4g to %.4g m: give it once "
                "more, "
                "moved by the %.4g m of the box",
                number, "xyz"[i], low * s -> spacing, high * s -> spacing, size * s -> spacing);
    }
}

kf_status kf_particle_tell_left_out(const kf_particle_scene *s, const kf_particle_bodies *bodies,
                                    const kf_particle_fates *fates, kf_text *notes, kf_error *error) {
    int first = 0;
    for (; first < bodies->count && bodies->list[first].wall; first++)
        tell_cut_off(s, &bodies->list[first], first, notes);
    for (int b = first; b < bodies->count; b++) {
        const kf_particle_body *body = &bodies->list[b];
        const kf_particle_fates *f = &fates[b];
        const double lattice = points_outside(s, body, (double)(f->placed + f->in_ground)),
                     outside = lattice < 0.0 ? lattice : lattice + (double)f->above + (double)f->below;
        if (outside == 0.0 && f->in_ground == 0) continue;
        const char *about = body->kind == KF_BODY_MESH ? "about " : "";
        const double all = (double)f->placed + (double)f->in_ground + fmax(0.0, outside);
        if (f->placed == 0)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: fluid[%d]: none of its %s%.0f particles has room: %.0f outside the box, %zu in the "
                "ground; move the shape or change box.size",
                s->source, b - first, about, all, fmax(0.0, outside), (size_t)f->in_ground);
        if (outside < 0.0)
            kf_note(notes, "fluid[%d]: most of it lies outside the box, and is left out", b - first);
        else
            kf_note(
                notes,
                "fluid[%d]: %s%.0f of %.0f particles are left out: %.0f outside the box, %zu in the ground",
                b - first, about, outside + (double)f->in_ground, all, outside, (size_t)f->in_ground);
    }
    return KF_OK;
}
