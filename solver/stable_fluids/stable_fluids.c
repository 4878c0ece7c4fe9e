/* The table of the system, and its problems. */
#include "solver/stable_fluids/stable_fluids.h"

#include <math.h>
#include <string.h>

#include "base/backend/fft.h"
#include "solver/stable_fluids/stable_fluids_cases.h"

static void free_fluid(void *own) {
    kf_fluid_free(own);
}

/* Adds the numbers that describe a fluid: sizes, amounts of work, viscosity, accuracy. */
static void add_facts(const kf_fluid *f, kf_facts *facts) {
    int domain[3];
    kf_fluid_domain(f, domain);
    kf_facts_size(facts, domain, "cells");
    kf_facts_amount(facts, "node_count", (double)kf_fluid_cell_count(f) * f->simulations,
                    kf_fluid_domain_count(f) < (double)kf_fluid_cell_count(f) ? "cells with mirror images"
                                                                              : "cells in all");
    if (f->simulations > 1) kf_facts_amount(facts, "simulation_count", f->simulations, "simulations");
    if (f->particle_count > 0)
        kf_facts_amount(facts, "particle_count", (double)f->particle_count * f->simulations, "particles");
    kf_facts_number(facts, "dimensions", f->dimensions, "");
    kf_facts_number(facts, "cell_size", f->cell_size, "m");
    kf_facts_number(facts, "time_step", f->time_step, "s");
    kf_facts_number(facts, "viscosity", f->viscosity, "cell^2/step");
    kf_facts_word(facts, "advection", kf_fluid_advection_names[f->advection]);
}

kf_problem *kf_fluid_problem(kf_fluid *fluid, bool owned) {
    kf_problem *problem = kf_problem_make(fluid, owned ? free_fluid : NULL);
    problem->system = &kf_system_stable_fluids;
    kf_copy_text(problem->name, sizeof problem->name, fluid->name);
    kf_copy_text(problem->source, sizeof problem->source, fluid->source);
    memcpy(problem->hash, fluid->hash, sizeof problem->hash);
    problem->seed = fluid->seed;
    if (fluid->notes.text != NULL) kf_note(&problem->notes, "%s", fluid->notes.text);
    add_facts(fluid, &problem->facts);
    return problem;
}

static kf_status open_problem(const char *source, const kf_problem_options *options, kf_problem **problem,
                              kf_error *error) {
    kf_fluid *fluid = NULL;
    if (options->samples_per_cell > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: a stable_fluids scene has no surface samples: leave --samples-per-cell out",
                       source);
    if (options->accuracy > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: a stable_fluids scene says its accuracy itself: leave --accuracy out", source);
    KF_TRY(kf_fluid_open(source, options->nodes, &fluid, error));
    if (options->seed != 0 && options->seed != fluid->seed) {
        fluid->seed = options->seed;
        kf_fluid_finish(fluid);
    }
    *problem = kf_fluid_problem(fluid, true);
    return KF_OK;
}

/* Makes the same scene on a grid that is halved until the reference is quick, in waves that reach every
 * cell. A box that is small already stays as it is, and so do the kernels. */
static kf_status make_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    enum { CELLS = 300 * 300, CELLS_3D = 50 * 50 * 50, STEPS = 20 };
    const kf_fluid *f = kf_problem_fluid(problem);
    kf_fluid *trial = NULL;
    int cells[3];
    kf_fluid_domain(f, cells);
    const double images = (double)kf_fluid_cell_count(f) / kf_fluid_domain_count(f);
    const double most = f->dimensions == 3 ? CELLS_3D : CELLS;
    bool halved = false;
    while ((double)cells[0] * cells[1] * cells[2] * images > most) {
        bool even = true;
        for (int i = 0; i < f->dimensions; i++)
            even &= cells[i] % 2 == 0 && cells[i] >= 32;
        if (!even) break;
        for (int i = 0; i < f->dimensions; i++)
            cells[i] /= 2;
        halved = true;
    }
    if (halved && f->source[0] != '\0')
        KF_TRY(kf_fluid_open(f->source, cells, &trial, error));
    else
        trial = kf_fluid_copy(f);
    trial->simulations = f->simulations < 3 ? f->simulations : 3;
    if (trial->particle_count > 4096) trial->particle_count = 4096;
    if (trial->particle_count > f->particle_count) trial->particle_count = f->particle_count;
    trial->accuracy = f->accuracy;
    trial->seed = f->seed;
    trial->shake = trial->advection == KF_ADVECT_NONE ? 0.3 : 1.2;
    kf_fluid_finish(trial);
    *small = kf_fluid_problem(trial, true);
    (*small)->system = problem->system;
    *steps = STEPS;
    return KF_OK;
}

static kf_status accepts(const kf_problem *problem, kf_error *error) {
    (void)problem, (void)error;
    return KF_OK; /* what cannot run is refused when the file is read */
}

/* Names the numbers of scene and device that expressions of variants/stable_fluids.json may use. */
static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    const kf_fluid *f = kf_problem_fluid(problem);
    kf_error ignored;
    memset(variables, 0, sizeof *variables);
    kf_add_variable(variables, "gpu", kf_device_is_gpu(device));
    kf_add_variable(variables, "dimensions", f->dimensions);
    kf_add_variable(variables, "cells_x", f->cells[0]);
    kf_add_variable(variables, "cells_y", f->cells[1]);
    kf_add_variable(variables, "cells_z", f->cells[2]);
    kf_add_variable(variables, "last", f->cells[f->dimensions - 1]);
    kf_add_variable(variables, "walls", f->walls[0] || f->walls[1] || f->walls[2]);
    kf_add_variable(variables, "node_count", (double)kf_fluid_cell_count(f) * f->simulations);
    kf_add_variable(variables, "simulations", f->simulations);
    kf_add_variable(variables, "clock", kf_fluid_has_clock(f));
    kf_add_variable(variables, "plain",
                    f->dye_count == 0 && !f->reflection && f->confinement == 0 && f->particle_count == 0 &&
                        f->advection != KF_ADVECT_MACCORMACK && f->solid != KF_SOLID_MOVING &&
                        f->source_count == 0);
    kf_add_variable(variables, "library", kf_fft_available(device->backend, &ignored) == KF_OK);
    kf_add_variable(variables, "accuracy", f->accuracy);
    kf_add_device_variables(variables, device);
}

static kf_status visit_sources(const kf_problem *problem, const kf_config *config,
                               const kf_device_info *device,
                               kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                               void *data, kf_error *error) {
    const kf_fluid *f = kf_problem_fluid(problem);
    const bool gpu = kf_device_is_gpu(device);
    kf_fluid_options options;
    kf_fluid_design design;
    KF_TRY(kf_fluid_read_options(f, config, gpu, &options, error));
    KF_TRY(kf_fluid_design_of(f, &options, &design, error));
    for (int which = 0; which < KF_FLUID_MODULES; which++) {
        kf_source source;
        kf_defines defines;
        if (!kf_fluid_uses(f, &options, (kf_fluid_module)which)) continue;
        kf_fluid_define(f, &options, &design, (kf_fluid_module)which, gpu, &source, &defines);
        KF_TRY(visit(&source, data, error));
    }
    return KF_OK;
}

static const char *const sections[] = {"stable_fluids", NULL};

const kf_system kf_system_stable_fluids = {
    .name = "stable_fluids",
    .summary =
        "semi-Lagrangian advection, diffusion and projection in Fourier space, in two and three dimensions",
    .update = "cell",
    .space_file = "variants/stable_fluids.json",
    .runs = true,
    .sections = sections,
    .open = open_problem,
    .trial = make_trial,
    .accepts = accepts,
    .variables = describe,
    .plan = kf_fluid_make_plan,
    .sources = visit_sources,
    .reference = kf_fluid_reference,
    .verify = kf_fluid_verify,
    .free_reference = kf_fluid_free_reference,
    .cost = &kf_cost_stable_fluids,
    .cases = kf_stable_fluids_cases,
    .suite = &kf_stable_fluids_suite,
};
