/* Computes the area of a mesh's shadow. Parallel lines with equal distances cross the shadow. On each line
 * the covered length is summed exactly. The lines divide the height of the shadow, so a thin rod has as many
 * as a thick one. The result does not depend on the grid of the flow. */
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

enum { LINES = 2048, FEWEST_LINES = 256 };
/* The largest number of intersections of lines and triangles. For more, the number of lines is reduced. */
static const double MOST_CROSSINGS = 3e8;

typedef struct interval {
    double from, to;
    uint32_t triangle;
} interval;

/* A triangle in the plane, with its corners sorted by height. */
typedef struct flat {
    double x[3], y[3];
} flat;

typedef struct shadow {
    const kf_mesh *mesh;
    /* Unit vectors along the lines and across them. */
    double u[3], v[3];
    flat *flats; /* [triangle_count] */
    /* Line i lies at low + (i + 1/2) step. */
    double low, step;
    size_t lines;
    /* [lines] The first triangle that begins at each line, or NONE. */
    uint32_t *first;
    /* [triangle_count] The next triangle of the same line. */
    uint32_t *next;
    /* [triangle_count] What the triangles that meet the line cover. */
    interval *covered;
    size_t count;
} shadow;
static const uint32_t NONE = UINT32_MAX;

/* Finds two unit vectors that are perpendicular to direction and to each other. */
static void normal_plane(const double direction[3], double u[3], double v[3]) {
    const double length = kf_length(direction);
    const double d[3] = {direction[0] / length, direction[1] / length, direction[2] / length};
    int least = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(d[a]) < fabs(d[least])) least = a;
    for (int a = 0; a < 3; a++)
        u[a] = (a == least ? 1.0 : 0.0) - d[least] * d[a];
    kf_normalise(u);
    kf_cross(d, u, v);
}

static flat flatten(const shadow *s, size_t triangle) {
    flat f = {{0}, {0}};
    for (size_t i = 0; i < 3; i++) {
        const double *p = s->mesh->vertices + 3 * (size_t)s->mesh->triangles[3 * triangle + i];
        const double x = kf_dot(s->u, p), y = kf_dot(s->v, p);
        size_t at = i;
        for (; at > 0 && f.y[at - 1] > y; at--) {
            f.x[at] = f.x[at - 1];
            f.y[at] = f.y[at - 1];
        }
        f.x[at] = x;
        f.y[at] = y;
    }
    return f;
}

/* Returns the first line above a height. */
static double line_above(const shadow *s, double y) {
    return fmax(0.0, ceil((y - s->low) / s->step - 0.5));
}

static double crossing(const flat *f, int from, int to, double y) {
    return f->x[from] + (f->x[to] - f->x[from]) * (y - f->y[from]) / (f->y[to] - f->y[from]);
}

/* Returns the interval of a line that a triangle covers. */
static interval cover(const shadow *s, uint32_t triangle, double y) {
    const flat *f = &s->flats[triangle];
    const double one = crossing(f, 0, 2, y),
                 other = y < f->y[1] ? crossing(f, 0, 1, y) : crossing(f, 1, 2, y);
    return (interval){fmin(one, other), fmax(one, other), triangle};
}

/* Compares by beginning. Of those that begin together the longest comes first, so that the sum of lengths
 * does not depend on the order in which they were given. */
static int by_beginning(const void *left, const void *right) {
    const interval *a = left, *b = right;
    if (a->from != b->from) return (a->from > b->from) - (a->from < b->from);
    return (a->to < b->to) - (a->to > b->to);
}

/* Sorts the intervals. From one line to the next most keep their order, and few have to move. Where many
 * triangles begin, qsort is faster. */
static void sort_intervals(interval *list, size_t count) {
    enum { MOVES = 16 };
    size_t moves = 0;
    for (size_t i = 1; i < count && moves < MOVES * count; i++) {
        const interval one = list[i];
        size_t at = i;
        for (; at > 0 && by_beginning(&one, &list[at - 1]) < 0; at--)
            list[at] = list[at - 1];
        list[at] = one;
        moves += i - at;
    }
    if (moves >= MOVES * count && count > 0) qsort(list, count, sizeof *list, by_beginning);
}

/* Returns the length of the union of sorted intervals. */
static double covered_length(const interval *list, size_t count) {
    double length = 0.0, end = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (list[i].to <= end) continue;
        length += list[i].to - fmax(end, list[i].from);
        end = list[i].to;
    }
    return length;
}

/* Sorts the triangles by the line at which they begin. Triangles that no line crosses cover nothing. */
static void line_up(shadow *s) {
    s->first = kf_allocate(s->lines * sizeof *s->first);
    s->next = kf_allocate(s->mesh->triangle_count * sizeof *s->next);
    s->covered = kf_allocate(s->mesh->triangle_count * sizeof *s->covered);
    for (size_t line = 0; line < s->lines; line++)
        s->first[line] = NONE;
    for (size_t t = 0; t < s->mesh->triangle_count; t++) {
        const flat *f = &s->flats[t];
        const double line = line_above(s, f->y[0]);
        if (line >= (double)s->lines || line >= line_above(s, f->y[2])) continue;
        s->next[t] = s->first[(size_t)line];
        s->first[(size_t)line] = (uint32_t)t;
    }
}

static double length_at(shadow *s, size_t line) {
    const double y = s->low + ((double)line + 0.5) * s->step;
    size_t kept = 0;
    for (uint32_t t = s->first[line]; t != NONE; t = s->next[t])
        s->covered[s->count++].triangle = t;
    for (size_t i = 0; i < s->count; i++)
        if (s->flats[s->covered[i].triangle].y[2] > y)
            s->covered[kept++] = cover(s, s->covered[i].triangle, y);
    s->count = kept;
    sort_intervals(s->covered, kept);
    return covered_length(s->covered, kept);
}

/* Projects the triangles on the plane. Finds the height of the shadow and its lines. */
static void choose_lines(shadow *s) {
    double high = -INFINITY, crossings = 0.0;
    s->low = INFINITY;
    s->flats = kf_allocate(s->mesh->triangle_count * sizeof *s->flats);
    for (size_t t = 0; t < s->mesh->triangle_count; t++) {
        const flat f = s->flats[t] = flatten(s, t);
        s->low = fmin(s->low, f.y[0]);
        high = fmax(high, f.y[2]);
        crossings += f.y[2] - f.y[0];
    }
    s->lines = LINES;
    while (s->lines > FEWEST_LINES && crossings / (high - s->low) * (double)s->lines > MOST_CROSSINGS)
        s->lines /= 2;
    s->step = (high - s->low) / (double)s->lines;
}

/* Returns the area of a mesh's shadow along a direction. It is the sum of the lengths that triangles cover on
 * evenly spaced lines. */
double kf_mesh_shadow(const kf_mesh *mesh, const double direction[3]) {
    shadow s = {.mesh = mesh};
    double area = 0.0;
    if (mesh->triangle_count == 0) return 0.0;
    normal_plane(direction, s.u, s.v);
    choose_lines(&s);
    if (s.step > 0.0) {
        line_up(&s);
        for (size_t line = 0; line < s.lines; line++)
            area += length_at(&s, line) * s.step;
    }
    free(s.flats);
    free(s.first);
    free(s.next);
    free(s.covered);
    return area;
}
