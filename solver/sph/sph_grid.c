/* The cells that particles are sorted by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/sph/sph.h"

static const double MOST_CELLS = 1.5e9;

void kf_sph_free_grid(kf_sph_grid *grid) {
    free(grid->columns);
    memset(grid, 0, sizeof *grid);
}

void kf_sph_bounds(const kf_particle_scene *scene, int axis, double *low, double *high) {
    const double beyond = scene->scheme == KF_SCHEME_THESIS ? scene->support : 0.0;
    *low = kf_side_is_wall(scene->sides[2 * axis]) ? -beyond : 0.0;
    *high = scene->size[axis] + (kf_side_is_wall(scene->sides[2 * axis + 1]) ? beyond : 0.0);
}

/* Cells are at least support / reach wide: with the skin, where lists have one. */
static kf_status divide(const kf_particle_scene *scene, const kf_sph_options *o, kf_sph_grid *grid,
                        kf_error *error) {
    const double width = scene->support * (1.0 + 0.01 * o->skin) / o->reach;
    for (int i = 0; i < 3; i++) {
        grid->cells[i] = 1;
        grid->inverse[i] = 0.0;
        if (i >= scene->dimensions) continue;
        const bool periodic = scene->sides[2 * i] == KF_SIDE_PERIODIC;
        double high;
        kf_sph_bounds(scene, i, &grid->low[i], &high);
        const double count = (high - grid->low[i]) / width;
        grid->cells[i] = (int)(periodic ? floor(count) : floor(count) + 1.0);
        /* The cells are slightly wider than required, because rounding must not hide a neighbour. */
        grid->inverse[i] = (periodic ? grid->cells[i] / scene->size[i] : 1.0 / width) * (1.0 - 1e-6);
        if (periodic && grid->cells[i] < 2 * o->reach + 1)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: the box is periodic and only %.3g supports long along %c; at least 3 are needed",
                scene->source, scene->size[i] / scene->support, "xyz"[i]);
    }
    return KF_OK;
}

/* Finds the lowest and highest ground below a column of cells. Heights between nodes lie between those of the
 * nodes. Slopes are sampled. */
static void ground_range(const kf_particle_scene *scene, const kf_sph_grid *grid, int cx, int cy, double *low,
                         double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int k = 0; k <= 2; k++)
        for (int l = 0; l <= 2; l++) {
            const double x = grid->low[0] + (cx + 0.5 * k) / grid->inverse[0],
                         y = grid->low[1] + (cy + 0.5 * l) / grid->inverse[1];
            const double height = kf_terrain_height(&scene->terrain, x, y, NULL);
            *low = fmin(*low, height);
            *high = fmax(*high, height);
        }
}

double kf_sph_highest(const kf_particle_scene *scene) {
    double highest = 0.0;
    for (size_t k = 0; k < scene->count; k++) {
        const float *p = scene->position + 3 * k;
        highest = fmax(highest,
                       (double)p[2] - kf_terrain_height(&scene->terrain, (double)p[0], (double)p[1], NULL));
    }
    return highest;
}

/* Sets the columns of cells on terrain. A column begins below the ground and ends where snow is not expected.
 * Particles above are in its last cell, and readers of the column look there too. */
static kf_status cut_columns(const kf_particle_scene *scene, int cut_axis, kf_sph_grid *grid,
                             kf_error *error) {
    const double allowed = 2.0 * kf_sph_highest(scene) + 4.0 * scene->support;
    double total = 0.0;
    grid->columns = kf_allocate((2 * (size_t)grid->rows + 1) * sizeof *grid->columns);
    int first = 0;
    for (int row = 0; row < grid->rows; row++) {
        double low, high;
        const int across = grid->cells[1 - cut_axis], cut = row / across, along = row % across;
        ground_range(scene, grid, cut_axis == 0 ? cut : along, cut_axis == 0 ? along : cut, &low, &high);
        const int last = grid->cells[2] - 1;
        int begin = (int)floor((fmax(low, 0.0) - grid->low[2]) * grid->inverse[2]) - 1;
        int end = (int)floor((high + allowed - grid->low[2]) * grid->inverse[2]);
        begin = begin < 0 ? 0 : begin > last ? last : begin;
        end = end > last ? last : end < begin ? begin : end;
        total += end - begin + 1;
        if (total > MOST_CELLS)
            return kf_fail(error, KF_MACHINE, "%s: more than %.2g cells above the terrain", scene->source,
                           MOST_CELLS);
        grid->columns[2 * row] = first;
        grid->columns[2 * row + 1] = begin;
        first += end - begin + 1;
    }
    grid->columns[2 * (size_t)grid->rows] = first;
    grid->cell_count = first;
    return KF_OK;
}

/* Returns the words of a mask for the candidates of all ranges, or the neighbours in a list. It is half more
 * than for the fluid at rest. */
static int words(const kf_particle_scene *scene, const kf_sph_options *o) {
    const double margin = 1.5;
    const int d = scene->dimensions, width = 2 * o->reach + 1;
    const double h = scene->support * (1.0 + 0.01 * o->skin), cell = h / o->reach;
    if (o->search == KF_SPH_LIST) {
        kf_particle_scene wider = *scene;
        wider.support = h;
        return (int)(margin * kf_sph_neighbours(&wider)) + 24;
    }
    if (o->search != KF_SPH_MASKS && !kf_sph_keeps_slots(scene, o)) return 0;
    const double a_row = width * cell * pow(cell, d - 1);
    const int rows = d == 3 ? width * width : width, runs = kf_sph_runs(o);
    const int a_word = (int)ceil(margin * a_row / 32.0) + runs - 1;
    return o->search == KF_SPH_MASKS ? rows * (a_word + 1) : 2 * rows * a_word;
}

/* Returns the number of all cells; with blocks of cells, of whole blocks. */
static double numbers(const kf_sph_options *o, int dimensions, kf_sph_grid *grid) {
    static const int sides[KF_SPH_CELL_ORDERS] = {1, 4, 8};
    const int side = sides[o->cell_order];
    double count = 1.0;
    for (int i = 0; i < 3; i++) {
        grid->tiles[i] = (grid->cells[i] + side - 1) / side;
        if (i < dimensions) count *= (double)grid->tiles[i] * side;
    }
    return count;
}

kf_status kf_sph_make_grid(const kf_particle_scene *scene, const kf_sph_options *options, kf_sph_grid *grid,
                           kf_error *error) {
    memset(grid, 0, sizeof *grid);
    KF_TRY(divide(scene, options, grid, error));
    const int up = scene->dimensions - 1;
    const double rows = (double)grid->cells[0] * (up == 2 ? grid->cells[1] : 1),
                 cells = numbers(options, scene->dimensions, grid);
    if (rows > 5e8) return kf_fail(error, KF_MACHINE, "%s: more than 5e8 rows of cells", scene->source);
    grid->rows = (int)rows;
    grid->capacity = words(scene, options);
    if (scene->terrain.heights != NULL && scene->dimensions == 3)
        return cut_columns(scene, options->cut_axis, grid, error);
    if (cells > MOST_CELLS)
        return kf_fail(error, KF_MACHINE, "%s: the box has %.3g cells; at most %.2g: make it smaller",
                       scene->source, cells, MOST_CELLS);
    grid->cell_count = (int)cells;
    return KF_OK;
}
