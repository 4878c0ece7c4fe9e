/* Compares solvers with different steps: time for a second of the flow, memory of a plan, and the cost of a
 * pressure solve. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/record/suite_system.h"
#include "solver/incompressible/incompressible.h"

static double step_seconds(const kf_timed *timed) {
    return kf_facts_value(&timed->problem->facts, "time_step");
}

/* Seconds that a second of the flow takes, against what copying the least bytes of its steps would. */
static void physical_second(const kf_figure_input *input, kf_figure *figure) {
    const kf_summary *step = &input->of.measurement->step_us;
    const double steps = 1e-6 / step_seconds(&input->of),
                 share = input->of.measurement->effective_bandwidth / input->limit;
    kf_figure_set(figure, steps * step->median, steps * step->low, steps * step->high);
    if (!(share > 0.0) || !isfinite(share)) return;
    figure->share = share;
    figure->floor = share * figure->value;
}

static void second_ratio(const kf_figure_input *input, kf_figure *figure) {
    const kf_summary *of = &input->of.measurement->step_us, *against = &input->against.measurement->step_us;
    const double steps = step_seconds(&input->against) / step_seconds(&input->of);
    kf_figure_set(figure, steps * of->median / against->median, steps * of->low / against->high,
                  steps * of->high / against->low);
}

static kf_status open_plan(const kf_figure_input *input, kf_backend *backend, kf_plan **plan,
                           kf_error *error) {
    const kf_problem *problem = input->of.problem;
    return problem->system->plan(problem, input->of.config, backend, plan, error);
}

static kf_status measure_memory(const kf_figure_input *input, kf_backend *backend,
                                double values[KF_FIGURE_VALUES], kf_error *error) {
    kf_plan *plan = NULL;
    KF_TRY(open_plan(input, backend, &plan, error));
    for (size_t i = 0; i < plan->buffer_count; i++)
        values[0] += (double)kf_buffer_size(plan->buffers[i]);
    kf_plan_free(plan);
    return KF_OK;
}

static void plan_memory(const kf_figure_input *input, kf_figure *figure) {
    kf_figure_set(figure, input->values[0] / 1048576.0, (double)NAN, (double)NAN);
}

/* In the first steps: the mean iterations of a solve, the largest final residual, and the number of solves
 * that missed the tolerance. For a solve with these iterations: the bytes that its launches move, and the
 * least bytes. */
enum { ITERATIONS, RESIDUAL, MISSED, MOVED, LEAST };
static kf_status measure_solves(const kf_figure_input *input, kf_backend *backend,
                                double values[KF_FIGURE_VALUES], kf_error *error) {
    enum { STEPS = 20 };
    kf_plan *plan = NULL;
    kf_solve_state states[KF_HALVES] = {{0}};
    KF_TRY(open_plan(input, backend, &plan, error));
    const kf_incompressible *system = plan->system;
    const kf_solve_bytes bytes = kf_incompressible_solve_bytes(kf_plan_scene(plan), &system->options);
    kf_status status = kf_plan_initialise(plan, error);
    if (status == KF_OK) status = kf_plan_advance(plan, STEPS, error);
    if (status == KF_OK) status = kf_incompressible_solves(plan, states, error);
    kf_plan_free(plan);
    KF_TRY(status);
    values[ITERATIONS] = (double)(states[0].all_iterations + states[1].all_iterations) /
                         (double)(states[0].solves + states[1].solves);
    values[RESIDUAL] = fmax(states[0].residual, states[1].residual);
    values[MISSED] = (double)(states[0].missed + states[1].missed);
    values[MOVED] = bytes.start + values[ITERATIONS] * bytes.moved;
    values[LEAST] = bytes.start + values[ITERATIONS] * bytes.least;
    return KF_OK;
}

static void solve_iterations(const kf_figure_input *input, kf_figure *figure) {
    kf_figure_set(figure, input->values[ITERATIONS], (double)NAN, (double)NAN);
    (void)snprintf(figure->verdict->note, sizeof figure->verdict->note,
                   "residual %.2g at the end; %g solves missed the tolerance", input->values[RESIDUAL],
                   input->values[MISSED]);
}

/* Adds what a solve moves, and how much that is of what copying could move in that time. */
static void add_solve(const kf_figure_input *input, kf_figure *figure) {
    const double *values = input->values, could = figure->value * 1e-3 * input->limit;
    cJSON *solve;
    if (!(could > 0.0) || !isfinite(could)) return;
    figure->share = values[MOVED] / could;
    figure->floor = figure->share * figure->value;
    figure->verdict->details = cJSON_CreateObject();
    solve = cJSON_AddObjectToObject(figure->verdict->details, "solve");
    (void)cJSON_AddNumberToObject(solve, "iterations", values[ITERATIONS]);
    (void)cJSON_AddNumberToObject(solve, "bytes", values[MOVED]);
    (void)cJSON_AddNumberToObject(solve, "least_bytes", values[LEAST]);
    (void)cJSON_AddNumberToObject(solve, "share", figure->share);
    (void)cJSON_AddNumberToObject(solve, "least_share", values[LEAST] / could);
    (void)snprintf(figure->verdict->note, sizeof figure->verdict->note,
                   "%.3g iterations, %g solves missed the tolerance; least bytes: %.1f %% of the copy rate",
                   values[ITERATIONS], values[MISSED], 100.0 * values[LEAST] / could);
}

/* Sets the figure to half of a step's time without its other kernels, each of which is far longer than a
 * launch. Adding the times of a solve's kernels would be wrong, because most of its launches return at once.
 */
static void solve_time(const kf_figure_input *input, kf_figure *figure) {
    static const char *const others[] = {"predict", "correct", "diffuse", "divergence", "project"};
    const kf_measurement *m = input->of.measurement;
    double us = 0.0;
    for (int i = 0; i < m->kernel_count; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (strncmp(m->kernels[i].name, others[k], strlen(others[k])) == 0)
                us += m->kernels[i].launches_per_step * m->kernels[i].time_us.median;
    kf_figure_set(figure, 5e-4 * (m->step_us.median - us), 5e-4 * (m->step_us.low - us),
                  5e-4 * (m->step_us.high - us));
    add_solve(input, figure);
}

const kf_figure_kind kf_incompressible_figure_kinds[] = {
    {.name = "physical_second", .timings = 1, .unit = "s", .make = physical_second},
    {.name = "second_ratio", .timings = 2, .unit = "x", .make = second_ratio},
    {.name = "plan_memory", .timings = 1, .unit = "MiB", .measure = measure_memory, .make = plan_memory},
    {.name = "solve_iterations",
     .timings = 1,
     .unit = "",
     .measure = measure_solves,
     .make = solve_iterations},
    {.name = "solve_time", .timings = 1, .unit = "ms", .measure = measure_solves, .make = solve_time},
    {.name = NULL},
};
