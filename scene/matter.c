/* Computes volume, centre and inertia of a solid whose bodies may overlap. The overlap counts once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/crossings.h"

/* A smaller share of the volume counts as zero. */
static const double OVERLAP = 1e-6;

/* The columns across the box of a mesh. */
typedef struct raster {
    int columns[2];
    /* Lower corner and width of a column, in the mesh's units. */
    double low[2], width[2];
    kf_crossings crossings;
} raster;

/* Finds the crossings of a mesh with fineness^2 columns over its box. */
static raster cross_mesh(const kf_mesh *mesh, int fineness) {
    const kf_box box = kf_mesh_bounds(mesh);
    raster r = {.columns = {fineness, fineness}};
    double matrix[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1}, offset[3] = {0};
    for (int a = 0; a < 2; a++) {
        r.low[a] = box.low[a];
        r.width[a] = (box.high[a] - box.low[a]) / fineness;
        matrix[4 * a] = 1.0 / r.width[a];
        offset[a] = -box.low[a] / r.width[a];
    }
    kf_mesh copy = *mesh;
    const size_t bytes = 3 * mesh->vertex_count * sizeof *copy.vertices;
    copy.vertices = memcpy(kf_allocate(bytes), mesh->vertices, bytes);
    kf_mesh_transform(&copy, matrix, offset);
    r.crossings = kf_crossings_of(&copy, r.columns);
    free(copy.vertices);
    return r;
}

/* The integrals of 1, of the position, and of the products of its coordinates. */
typedef struct moments {
    double volume, first[3], second[9];
} moments;

/* Adds the part of a column between two heights. */
static void add_piece(moments *m, const double at[2], double low, double high) {
    const double length = high - low, middle = 0.5 * (high + low), place[3] = {at[0], at[1], middle};
    m->volume += length;
    for (int i = 0; i < 3; i++) {
        m->first[i] += length * place[i];
        for (int j = 0; j < 3; j++)
            m->second[3 * i + j] += length * place[i] * place[j];
    }
    m->second[8] += length * length * length / 12.0;
}

/* Integrates the moments of the solid's parts in the columns. In signed_volume an overlap of two bodies
 * counts twice. */
static moments integrate(const raster *r, double *signed_volume) {
    const kf_crossings *c = &r->crossings;
    const double area = r->width[0] * r->width[1];
    moments m = {.volume = 0.0};
    double sum = 0.0;
    for (size_t column = 0; column < (size_t)r->columns[0] * (size_t)r->columns[1]; column++) {
        const size_t i = column / (size_t)r->columns[1], j = column % (size_t)r->columns[1];
        const double at[2] = {r->low[0] + ((double)i + 0.5) * r->width[0],
                              r->low[1] + ((double)j + 0.5) * r->width[1]};
        int around = 0;
        for (size_t k = c->first[column]; k < c->first[column + 1]; k++) {
            const double height = (double)c->list[k].height;
            if (around != 0) add_piece(&m, at, (double)c->list[k - 1].height, height);
            around += c->list[k].turn;
            sum += c->list[k].turn * height;
        }
    }
    *signed_volume = fabs(sum) * area;
    m.volume *= area;
    for (int i = 0; i < 9; i++) {
        m.second[i] *= area;
        if (i < 3) m.first[i] *= area;
    }
    for (int a = 0; a < 2; a++)
        m.second[4 * a] += m.volume * r->width[a] * r->width[a] / 12.0;
    return m;
}

static void set_body(const moments *m, kf_body *body) {
    double second[9], trace = 0.0;
    body->volume = m->volume;
    for (int a = 0; a < 3; a++)
        body->center[a] = m->first[a] / m->volume;
    for (int i = 0; i < 9; i++) {
        second[i] = m->second[i] - m->volume * body->center[i / 3] * body->center[i % 3];
        trace += i % 4 == 0 ? second[i] : 0.0;
    }
    for (int i = 0; i < 9; i++)
        body->inertia[i] = (i % 4 == 0 ? trace : 0.0) - second[i];
}

size_t kf_mesh_matter(const kf_mesh *mesh, kf_body *body) {
    enum { COARSE = 128, FINE = 1024 };
    const size_t open = kf_mesh_body(mesh, true, body);
    if (open > 0 || !(body->volume > 0.0)) return open;
    for (int fineness = COARSE; fineness <= FINE; fineness *= FINE / COARSE) {
        double whole = 0.0;
        raster r = cross_mesh(mesh, fineness);
        const moments m = integrate(&r, &whole);
        kf_crossings_free(&r.crossings);
        /* Without overlap the volume is exact already. */
        if (fabs(whole - m.volume) <= OVERLAP * m.volume) break;
        if (fineness == FINE) set_body(&m, body);
    }
    return 0;
}
