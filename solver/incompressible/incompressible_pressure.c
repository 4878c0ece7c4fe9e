/* The launches of a pressure solve, and the grids of its multigrid. */
#include <math.h>
#include <string.h>

#include "solver/incompressible/incompressible.h"

enum { COARSEST_SWEEPS = 24, COARSEST_CELLS = 4 };
/* The damping of Jacobi's sweeps. 6/7 smooths best in three dimensions (Trottenberg et al., Multigrid, 2001,
 * section 2.9). */
static const double damping = 6.0 / 7.0;

static bool has_multigrid(const kf_incompressible *s) {
    return s->options.solver == KF_SOLVE_MULTIGRID || s->options.solver == KF_SOLVE_MULTIGRID_CG;
}

/* --- Grids
 * --------------------------------------------------------------------------------------------------- */

static bool can_halve(const kf_incompressible *s, const kf_grid_level *level) {
    bool large = false;
    for (int i = 0; i < 3; i++) {
        const bool periodic = s->arguments.faces[2 * i] == KF_FACE_PERIODIC;
        if (periodic && level->cells[i] > 1 && level->cells[i] % 2 != 0) return false;
        large |= level->cells[i] > COARSEST_CELLS;
    }
    return large;
}

void kf_incompressible_lay_out(kf_grid_level *level) {
    enum { ALIGNMENT = 8 };
    level->row = (level->cells[0] + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    level->plane = level->row * (level->cells[1] + 1);
    level->origin = level->plane + level->row + ALIGNMENT;
    level->origin = (level->origin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    level->capacity =
        level->origin + (long long)level->plane * (level->cells[2] + 2) + level->row + ALIGNMENT;
    level->capacity = (level->capacity + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Returns how open an outflow is on a level: the cell's size over the distance from the middle of the last
 * cell to the point of zero pressure. That point lies half a cell of the finest level outside. The last cell
 * may extend beyond the domain. Words hold little more than 2. */
static double outflow_openness(const kf_incompressible *s, int level, int face) {
    const int axis = face / 2;
    const double size = pow(2.0, level),
                 beyond = s->levels[level].cells[axis] * size - s->levels[0].cells[axis];
    return size / fmax(0.5 * size + 0.5 - (face % 2 ? beyond : 0.0), 0.48 * size);
}

void kf_incompressible_lay_out_levels(kf_incompressible *s) {
    kf_incompressible_lay_out(&s->levels[0]);
    s->level_count = 1;
    while (has_multigrid(s) && s->level_count < KF_LEVELS && can_halve(s, &s->levels[s->level_count - 1])) {
        kf_grid_level *fine = &s->levels[s->level_count - 1], *coarse = fine + 1;
        for (int i = 0; i < 3; i++)
            coarse->cells[i] = (fine->cells[i] + 1) / 2;
        for (int face = 0; face < KF_FACES; face++)
            fine->outflow_ratio[face] =
                outflow_openness(s, s->level_count, face) / outflow_openness(s, s->level_count - 1, face);
        kf_incompressible_lay_out(coarse);
        s->level_count++;
    }
}

/* --- Multigrid
 * ----------------------------------------------------------------------------------------------- */

static double bytes_of(const kf_incompressible *s, const kf_grid_level *level, double values) {
    return (double)level->cells[0] * level->cells[1] * level->cells[2] *
           (values * (double)s->real_bytes + sizeof(unsigned));
}

static kf_incompressible_arguments of_level(const kf_incompressible *s,
                                            const kf_incompressible_arguments *from, int level) {
    const kf_grid_level *l = &s->levels[level];
    kf_incompressible_arguments a = *from;
    memcpy(a.cells, l->cells, sizeof a.cells);
    a.row = l->row;
    a.plane = l->plane;
    a.origin = l->origin;
    a.capacity = l->capacity;
    a.open = kf_buffer_address(l->open);
    a.guess = kf_buffer_address(level > 0 ? l->guess : s->corrected);
    a.other = kf_buffer_address(level > 0 ? l->other : s->other);
    a.wanted = kf_buffer_address(level > 0 ? l->wanted : s->residual);
    a.damping = damping;
    memcpy(a.outflow_ratio, l->outflow_ratio, sizeof a.outflow_ratio);
    a.sweeps = s->options.sweeps;
    if (level + 1 < s->level_count) {
        const kf_grid_level *coarse = l + 1;
        memcpy(a.coarse_cells, coarse->cells, sizeof a.coarse_cells);
        a.coarse_row = coarse->row;
        a.coarse_plane = coarse->plane;
        a.coarse_origin = coarse->origin;
        a.coarse_open = kf_buffer_address(coarse->open);
        a.coarse_guess = kf_buffer_address(coarse->guess);
        a.coarse_wanted = kf_buffer_address(coarse->wanted);
    }
    return a;
}

void kf_incompressible_coarsen(kf_incompressible_builder *b) {
    const kf_incompressible *s = b->system;
    for (int level = 0; level + 1 < s->level_count; level++) {
        const kf_incompressible_arguments a = of_level(s, &s->arguments, level);
        const int extent[3] = {a.coarse_cells[0] + 1, a.coarse_cells[1] + 1, a.coarse_cells[2] + 1};
        kf_incompressible_launch(b, KF_INCOMPRESSIBLE_MULTIGRID, "coarsen", extent, &a, 0.0);
    }
}

static void swap(kf_incompressible_arguments *a) {
    void *guess = a->guess;
    a->guess = a->other;
    a->other = guess;
}

/* Does a cycle from wanted to a guess. The number of sweeps before the coarser levels is chosen so that the
 * result ends in the `guess` of the upper level's arguments (coarse_guess). This takes an even number of
 * swaps. */
static void cycle(kf_incompressible_builder *b, const kf_incompressible_arguments *from, int level,
                  bool products) {
    const kf_incompressible *s = b->system;
    const kf_grid_level *l = &s->levels[level];
    kf_incompressible_arguments a = of_level(s, from, level);
    if (level + 1 == s->level_count) {
        a.sweeps = COARSEST_SWEEPS;
        kf_incompressible_launch_one(b, KF_INCOMPRESSIBLE_MULTIGRID, "solve_coarsest", true, &a);
        return;
    }
    const int first = s->options.sweeps > 1 ? 2 : 1, before = s->options.sweeps - first,
              after = s->options.sweeps;
    if ((before + after) % 2 != 0) swap(&a);
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_MULTIGRID, "smooth_first", l->cells, &a, bytes_of(s, l, 2));
    for (int i = 0; i < before; i++, swap(&a))
        kf_incompressible_launch(b, KF_INCOMPRESSIBLE_MULTIGRID, "smooth", l->cells, &a, bytes_of(s, l, 3));
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_MULTIGRID, "restrict_residual", a.coarse_cells, &a,
                             bytes_of(s, l, 2.125));
    cycle(b, from, level + 1, false);
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_MULTIGRID, "interpolate", l->cells, &a,
                             bytes_of(s, l, 2.125));
    for (int i = 0; i < after; i++, swap(&a)) {
        const bool last = products && i + 1 == after;
        kf_incompressible_launch(b, KF_INCOMPRESSIBLE_MULTIGRID, last ? "smooth_last" : "smooth",
                                 last ? NULL : l->cells, &a, bytes_of(s, l, last ? 4 : 3));
    }
}

/* --- Solves
 * -------------------------------------------------------------------------------------------------- */

static void launch(kf_incompressible_builder *b, const char *name, bool sums,
                   const kf_incompressible_arguments *a, double values) {
    const kf_incompressible *s = b->system;
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_PRESSURE, name, sums ? NULL : a->cells, a,
                             bytes_of(s, &s->levels[0], values));
}
static void scalars(kf_incompressible_builder *b, const char *name, const kf_incompressible_arguments *a) {
    kf_incompressible_launch_one(b, KF_INCOMPRESSIBLE_PRESSURE, name, true, a);
}

/* Preconditions the residual to z, and sums their products. */
static void precondition(kf_incompressible_builder *b, const kf_incompressible_arguments *a) {
    if (b->system->options.solver == KF_SOLVE_MULTIGRID_CG) {
        cycle(b, a, 0, true);
        /* No smooth_last has summed them. */
        if (b->system->level_count == 1) launch(b, "products", true, a, 3);
    } else if (b->system->options.solver == KF_SOLVE_INCOMPLETE_CG) {
        launch(b, "factor_red", false, a, 1);
        launch(b, "factor_black", false, a, 2);
        launch(b, "factor_back", false, a, 2);
        launch(b, "products", true, a, 3);
    } else if (b->system->options.solver == KF_SOLVE_FOURIER_CG) {
        kf_incompressible_cosines(b, a);
        launch(b, "products", true, a, 3);
    } else {
        return;
    }
    scalars(b, "find_beta", a);
}

/* Returns whether a solve that is done at once has ended, which the host can see. */
static bool has_arrived(kf_incompressible_builder *b, const kf_incompressible_arguments *a) {
    const kf_solve_state *first = kf_buffer_address(b->system->solves);
    kf_solve_state states[KF_HALVES];
    if (b->status != KF_OK) return true;
    b->status = kf_incompressible_solves(b->plan, states, b->error);
    return b->status != KF_OK || states[a->solve - first].done;
}

/* Appends a solve for the pressure: this many iterations of multigrid, or of conjugate gradients with a
 * preconditioner. They return at once when the residual is small enough. */
void kf_incompressible_solve(kf_incompressible_builder *b, const kf_incompressible_arguments *arguments) {
    /* The number of iterations between two checks. */
    enum { LOOKS = 8 };
    const kf_incompressible_options *o = &b->system->options;
    const kf_incompressible_arguments *a = arguments;
    b->solving = true;
    scalars(b, "begin_solve", a);
    launch(b, "residual", true, a, 3);
    scalars(b, "begin_iterations", a);
    const int rounds = b->list != NULL ? 1 : o->iterations * (b->patient ? KF_PATIENCE : 1);
    b->iterating = true;
    for (int i = 0; i < rounds; i++) {
        if (b->at_once && i > 0 && i % LOOKS == 0 && has_arrived(b, a)) break;
        if (o->solver == KF_SOLVE_MULTIGRID) {
            cycle(b, a, 0, false);
            launch(b, "add_correction", false, a, 3);
            launch(b, "residual_again", true, a, 3);
        } else {
            precondition(b, a);
            launch(b, "direct", false, a, 3);
            launch(b, "apply", true, a, 2);
            scalars(b, "find_alpha", a);
            launch(b, "advance", true, a, 6);
        }
        scalars(b, "judge", a);
    }
    b->iterating = false;
    kf_incompressible_launch_one(b, KF_INCOMPRESSIBLE_PRESSURE, "end_solve", false, a);
    b->solving = false;
}
