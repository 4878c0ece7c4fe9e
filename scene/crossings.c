#include "scene/crossings.h"

#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"

static void add_crossing(kf_crossings *c, size_t column, double height, int turn) {
    if (c->count == c->capacity) {
        c->capacity = c->capacity == 0 ? 1024 : 2 * c->capacity;
        c->list = kf_reallocate(c->list, c->capacity * sizeof *c->list);
    }
    c->list[c->count++] = (kf_crossing){(uint32_t)column, (float)height, turn};
}

/* Says on which side of an edge a point lies. */
typedef struct edge_side {
    /* Twice the signed area of edge and point in the plane. */
    double area;
    bool left;
} edge_side;

/* Finds on which side of an edge a point lies. Two triangles that share an edge get the same area to the last
 * bit. A point on the edge lies on one side only, as if it were moved slightly along y, and far less back
 * along x. */
static edge_side side_of(const double *a, const double *b, double x, double y) {
    const bool forward = a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
    const double *from = forward ? a : b, *to = forward ? b : a;
    const double area = (to[0] - from[0]) * (y - from[1]) - (to[1] - from[1]) * (x - from[0]);
    return (edge_side){forward ? area : -area, (area >= 0.0) == forward};
}

/* Finds where vertical lines through the middles of columns cross a triangle, and in which direction. */
static void cross_triangle(const int columns[2], const kf_mesh *mesh, size_t triangle, kf_crossings *out) {
    const double *corner[3];
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        corner[k] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + (size_t)k];
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], corner[k][i]);
            high[i] = fmax(high[i], corner[k][i]);
        }
    }
    int first[2], last[2];
    for (int i = 0; i < 2; i++) {
        first[i] = (int)fmin(columns[i], fmax(0.0, floor(low[i] - 0.5)));
        last[i] = (int)fmax(-1.0, fmin(columns[i] - 1.0, ceil(high[i] - 0.5)));
    }
    for (int i = first[0]; i <= last[0]; i++)
        for (int j = first[1]; j <= last[1]; j++) {
            /* The line is shifted slightly from the middle of the column. Lines through edges and corners of
             * an aligned mesh would be ambiguous. */
            const double x = i + 0.5 + 1.2345e-6, y = j + 0.5 + 2.3456e-6;
            const edge_side a = side_of(corner[1], corner[2], x, y), b = side_of(corner[2], corner[0], x, y),
                            c = side_of(corner[0], corner[1], x, y);
            const double sum = a.area + b.area + c.area;
            if (sum == 0.0 || a.left != b.left || b.left != c.left) continue;
            add_crossing(out, (size_t)i * (size_t)columns[1] + (size_t)j,
                         (a.area * corner[0][2] + b.area * corner[1][2] + c.area * corner[2][2]) / sum,
                         a.left ? 1 : -1);
        }
}

static int compare_crossings(const void *a, const void *b) {
    const kf_crossing *p = a, *q = b;
    if (p->column != q->column) return p->column < q->column ? -1 : 1;
    return p->height < q->height ? -1 : p->height > q->height;
}

/* Finds all crossings of a mesh's triangles with the vertical lines of the given number of columns. They are
 * sorted by column and height. */
kf_crossings kf_crossings_of(const kf_mesh *mesh, const int columns[2]) {
    const size_t outer = mesh->triangle_count - mesh->sheet_count,
                 count = (size_t)columns[0] * (size_t)columns[1];
    kf_crossings c = {.count = 0};
    for (size_t t = 0; t < outer + mesh->inner_count; t++)
        cross_triangle(columns, mesh, t < outer ? t : t + mesh->sheet_count, &c);
    if (c.count > 0) qsort(c.list, c.count, sizeof *c.list, compare_crossings);
    c.first = kf_allocate((count + 1) * sizeof *c.first);
    size_t at = 0;
    for (size_t column = 0; column <= count; column++) {
        while (at < c.count && c.list[at].column < column)
            at++;
        c.first[column] = at;
    }
    return c;
}

void kf_crossings_free(kf_crossings *crossings) {
    free(crossings->list);
    free(crossings->first);
}

bool kf_crossings_inside(const kf_crossings *c, size_t column, double height) {
    int around = 0;
    for (size_t k = c->first[column]; k < c->first[column + 1]; k++)
        around += (double)c->list[k].height < height ? c->list[k].turn : 0;
    return around != 0;
}
