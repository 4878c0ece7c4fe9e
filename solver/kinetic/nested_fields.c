/* The fields of nested grids on one grid, for files, pictures and probes. Each place has the values of its
 * finest level, at most the level asked for. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "solver/kinetic/nested_fields.h"

enum { VALUES = 4 };

static float *values_of(const kf_fields *fields, int value) {
    return value == 0 ? fields->density : fields->velocity[value - 1];
}

static size_t count_of(const kf_fields *fields) {
    return (size_t)fields->nodes[0] * (size_t)fields->nodes[1] * (size_t)fields->nodes[2];
}

static void allocate(kf_fields *fields) {
    fields->density = kf_allocate(count_of(fields) * sizeof(float));
    for (int a = 0; a < 3; a++)
        fields->velocity[a] = kf_allocate(count_of(fields) * sizeof(float));
}

/* The two coarse nodes on both sides of a fine node. FAR_SHARE is the interpolation weight of the farther
 * one. */
typedef struct between {
    size_t near, far;
} between;
static const float FAR_SHARE = 0.25F;

/* Finds the coarse nodes of a fine node. At a periodic face the farther node is on the opposite side of the
 * domain. At any other face it is the nearer node. */
static between find(int fine, int coarse_nodes, bool periodic) {
    const int near = fine / 2, far = fine % 2 == 0 ? near - 1 : near + 1;
    const bool beyond = far < 0 || far >= coarse_nodes;
    const int other = !beyond ? far : periodic ? (far + coarse_nodes) % coarse_nodes : near;
    return (between){(size_t)near, (size_t)other};
}

static float mix(float near, float far) {
    return near + FAR_SHARE * (far - near);
}

/* The fields to interpolate, whose rows are divided among threads. */
typedef struct making {
    const kf_fields *coarse;
    const kf_fields *fine;
    bool periodic[3];
} making;

/* Interpolates a row of the fine grid linearly along each axis from the coarse grid. */
static void make_row(const making *m, size_t number) {
    const int columns = m->fine->nodes[0], j = (int)(number % (size_t)m->fine->nodes[1]),
              k = (int)(number / (size_t)m->fine->nodes[1]);
    const size_t row = (size_t)m->coarse->nodes[0], plane = row * (size_t)m->coarse->nodes[1];
    const between y = find(j, m->coarse->nodes[1], m->periodic[1]),
                  z = find(k, m->coarse->nodes[2], m->periodic[2]);
    const size_t lines[4] = {z.near * plane + y.near * row, z.near * plane + y.far * row,
                             z.far * plane + y.near * row, z.far * plane + y.far * row};
    for (int value = 0; value < VALUES; value++) {
        const float *from = values_of(m->coarse, value);
        float *to = values_of(m->fine, value) + number * (size_t)columns;
        for (int i = 0; i < columns; i++) {
            const between x = find(i, m->coarse->nodes[0], m->periodic[0]);
            float line[4];
            for (int l = 0; l < 4; l++)
                line[l] = mix(from[lines[l] + x.near], from[lines[l] + x.far]);
            to[i] = mix(mix(line[0], line[1]), mix(line[2], line[3]));
        }
    }
}
static void make_rows(void *data, size_t begin, size_t end) {
    for (size_t row = begin; row < end; row++)
        make_row(data, row);
}

/* Interpolates fine values from coarse ones, linearly along each axis. */
static void make_finer(const kf_scene *scene, const kf_fields *coarse, kf_fields *fine) {
    enum { FEW_ROWS = 64 };
    making m = {.coarse = coarse, .fine = fine};
    for (int a = 0; a < 3; a++) {
        fine->nodes[a] = 2 * coarse->nodes[a];
        m.periodic[a] = scene->faces[2 * a] == KF_PERIODIC;
    }
    allocate(fine);
    kf_in_parallel((size_t)fine->nodes[1] * (size_t)fine->nodes[2], FEW_ROWS, make_rows, &m);
}

/* Copies the values of a level's box into the fields of the whole domain in this level's cells. */
static void put_box(const kf_nested_level *level, const kf_fields *own, kf_fields *whole) {
    int from[3], to[3];
    for (int a = 0; a < 3; a++) {
        from[a] = level->ghosts[2 * a];
        to[a] = own->nodes[a] - level->ghosts[2 * a + 1];
    }
    for (int value = 0; value < VALUES; value++)
        for (int k = from[2]; k < to[2]; k++)
            for (int j = from[1]; j < to[1]; j++) {
                const float *source = values_of(own, value) +
                                      ((size_t)k * (size_t)own->nodes[1] + (size_t)j) * (size_t)own->nodes[0];
                const size_t z = (size_t)k + (size_t)level->origin[2],
                             y = (size_t)j + (size_t)level->origin[1];
                float *target =
                    values_of(whole, value) + (z * (size_t)whole->nodes[1] + y) * (size_t)whole->nodes[0];
                memcpy(target + from[0] + level->origin[0], source + from[0],
                       (size_t)(to[0] - from[0]) * sizeof *target);
            }
}

/* Copies the fields of a level without its ghost nodes. */
void kf_nested_crop_fields(const kf_nested_level *level, const kf_fields *own, kf_fields *box) {
    for (int a = 0; a < 3; a++)
        box->nodes[a] = own->nodes[a] - level->ghosts[2 * a] - level->ghosts[2 * a + 1];
    allocate(box);
    for (int value = 0; value < VALUES; value++) {
        float *to = values_of(box, value);
        for (int k = 0; k < box->nodes[2]; k++)
            for (int j = 0; j < box->nodes[1]; j++, to += box->nodes[0]) {
                const size_t z = (size_t)k + (size_t)level->ghosts[4],
                             y = (size_t)j + (size_t)level->ghosts[2];
                const float *row = values_of(own, value) +
                                   (z * (size_t)own->nodes[1] + y) * (size_t)own->nodes[0] + level->ghosts[0];
                memcpy(to, row, (size_t)box->nodes[0] * sizeof *to);
            }
    }
}

kf_status kf_nested_join_fields(const kf_nested *nested, kf_plan *const *plans, int last, kf_fields *joined,
                                kf_error *error) {
    KF_TRY(plans[0]->methods->flow->fields(plans[0], joined, error));
    for (int l = 1; l <= last; l++) {
        kf_fields finer, own;
        const kf_status status = plans[l]->methods->flow->fields(plans[l], &own, error);
        if (status != KF_OK) {
            kf_fields_free(joined);
            return status;
        }
        make_finer(nested->level[0].whole, joined, &finer);
        put_box(&nested->level[l], &own, &finer);
        kf_fields_free(&own);
        kf_fields_free(joined);
        *joined = finer;
    }
    return KF_OK;
}
