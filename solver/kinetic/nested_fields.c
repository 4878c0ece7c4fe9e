/* The fields of nested grids on one grid, for files, pictures and probes. Each place has the values of its
 * finest level, at most the level asked for. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "solver/kinetic/kinetic.h"
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

/* --- Cells that a solid by links cuts --------------------------------------------------------------------
 */

/* Restriction takes the nodes inside of the solid for fluid at rest. Fields of a coarser level than the
 * finest have the mean density of the fluid's nodes alone in and beside the cells that the solid cuts. This
 * is a box of cells of the level that is asked for, and its nodes of the finest level. */
typedef struct cut_box {
    const kf_nested_level *fine;
    int shift;                    /* cells are 2^shift nodes wide */
    int low[3], cells[3];         /* the first cell in the whole domain, and their number */
    unsigned char *inside, *near; /* [nodes] inside of the solid; [cells] holding or beside such a node */
} cut_box;

static size_t cell_at(const cut_box *b, int x, int y, int z) {
    return ((size_t)z * (size_t)b->cells[1] + (size_t)y) * (size_t)b->cells[0] + (size_t)x;
}

static size_t node_at(const cut_box *b, int x, int y, int z) {
    const size_t width = (size_t)b->cells[0] << b->shift, depth = (size_t)b->cells[1] << b->shift;
    return ((size_t)z * depth + (size_t)y) * width + (size_t)x;
}

/* Finds the cells that hold nodes inside, with one cell more at each side as far as the finest level goes. */
static void find_box(cut_box *b) {
    const kf_nested_level *fine = b->fine;
    const kf_links *links = &fine->scene.links;
    const int width = 1 << b->shift;
    kf_kinetic_region box = {{0}, {0}};
    for (size_t i = 0; i < links->inside_count; i++) {
        int cell[3];
        for (int a = 0; a < 3; a++)
            cell[a] = (links->inside[i][a] + fine->origin[a]) >> b->shift;
        kf_kinetic_extend_box(&box, cell);
    }
    for (int a = 0; a < 3; a++) {
        const int begin = fine->origin[a] + fine->ghosts[2 * a],
                  end = fine->origin[a] + fine->scene.nodes[a] - fine->ghosts[2 * a + 1],
                  least = (begin + width - 1) / width, most = end / width;
        b->low[a] = box.low[a] - 1 < least ? least : box.low[a] - 1;
        const int high = box.high[a] + 1 > most ? most : box.high[a] + 1;
        b->cells[a] = high > b->low[a] ? high - b->low[a] : 0;
    }
}

/* Marks a node inside, and the cells around it. */
static void mark(cut_box *b, const int node[3]) {
    int at[3], cell[3];
    for (int a = 0; a < 3; a++) {
        at[a] = node[a] + b->fine->origin[a] - (b->low[a] << b->shift);
        if (at[a] < 0 || at[a] >= b->cells[a] << b->shift) return;
        cell[a] = at[a] >> b->shift;
    }
    b->inside[node_at(b, at[0], at[1], at[2])] = 1;
    for (int z = cell[2] - 1; z <= cell[2] + 1; z++)
        for (int y = cell[1] - 1; y <= cell[1] + 1; y++)
            for (int x = cell[0] - 1; x <= cell[0] + 1; x++)
                if (x >= 0 && y >= 0 && z >= 0 && x < b->cells[0] && y < b->cells[1] && z < b->cells[2])
                    b->near[cell_at(b, x, y, z)] = 1;
}

/* Lists the fluid's nodes of the cells that are marked, in ascending order, with the cell of each. */
static size_t list_nodes(const cut_box *b, size_t *nodes, size_t *cells) {
    const int *own = b->fine->scene.nodes;
    size_t count = 0;
    for (int z = 0; z < b->cells[2] << b->shift; z++)
        for (int y = 0; y < b->cells[1] << b->shift; y++)
            for (int x = 0; x < b->cells[0] << b->shift; x++) {
                const size_t cell = cell_at(b, x >> b->shift, y >> b->shift, z >> b->shift);
                if (!b->near[cell] || b->inside[node_at(b, x, y, z)]) continue;
                if (nodes != NULL) {
                    const int at[3] = {x, y, z};
                    size_t index = 0;
                    for (int a = 2; a >= 0; a--)
                        index = index * (size_t)own[a] +
                                (size_t)(at[a] + (b->low[a] << b->shift) - b->fine->origin[a]);
                    nodes[count] = index;
                    cells[count] = cell;
                }
                count++;
            }
    return count;
}

static void put_means(const cut_box *b, const size_t *cells, float (*values)[4], size_t count,
                      kf_fields *joined) {
    const size_t all = (size_t)b->cells[0] * (size_t)b->cells[1] * (size_t)b->cells[2];
    double *sums = kf_allocate_zeroed(all + 1, sizeof *sums);
    int *fluid = kf_allocate_zeroed(all + 1, sizeof *fluid);
    for (size_t i = 0; i < count; i++) {
        sums[cells[i]] += (double)values[i][0] - 1.0;
        fluid[cells[i]]++;
    }
    for (int z = 0; z < b->cells[2]; z++)
        for (int y = 0; y < b->cells[1]; y++)
            for (int x = 0; x < b->cells[0]; x++) {
                const size_t cell = cell_at(b, x, y, z),
                             at = ((size_t)(z + b->low[2]) * (size_t)joined->nodes[1] +
                                   (size_t)(y + b->low[1])) *
                                      (size_t)joined->nodes[0] +
                                  (size_t)(x + b->low[0]);
                if (!b->near[cell]) continue;
                joined->density[at] = fluid[cell] > 0 ? (float)(1.0 + sums[cell] / fluid[cell]) : 1.0F;
                for (int a = 0; a < 3 && fluid[cell] == 0; a++)
                    joined->velocity[a][at] = 0.0F;
            }
    free(sums);
    free(fluid);
}

/* Sets the density of cells of the joined fields in and beside a solid by links of the finest level. */
static kf_status mend_cut_cells(const kf_nested *nested, kf_plan *finest, int last, kf_fields *joined,
                                kf_error *error) {
    cut_box b = {.fine = &nested->level[nested->count - 1], .shift = nested->count - 1 - last};
    const kf_links *links = &b.fine->scene.links;
    if (b.shift == 0 || links->inside_count == 0) return KF_OK;
    find_box(&b);
    const size_t cells = (size_t)b.cells[0] * (size_t)b.cells[1] * (size_t)b.cells[2];
    if (cells == 0) return KF_OK;
    b.near = kf_allocate_zeroed(cells, 1);
    b.inside = kf_allocate_zeroed(cells << (3 * b.shift), 1);
    for (size_t i = 0; i < links->inside_count; i++)
        mark(&b, links->inside[i]);
    const size_t count = list_nodes(&b, NULL, NULL);
    size_t *nodes = kf_allocate(count * sizeof *nodes + 1), *of = kf_allocate(count * sizeof *of + 1);
    float(*values)[4] = kf_allocate(count * sizeof *values + 1);
    (void)list_nodes(&b, nodes, of);
    const kf_status status =
        count > 0 ? finest->methods->flow->nodes(finest, nodes, count, values, error) : KF_OK;
    if (status == KF_OK) put_means(&b, of, values, count, joined);
    free(values);
    free(of);
    free(nodes);
    free(b.inside);
    free(b.near);
    return status;
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
    const kf_status status = mend_cut_cells(nested, plans[nested->count - 1], last, joined, error);
    if (status != KF_OK) kf_fields_free(joined);
    return status;
}
