/* The system's table, and its plans. */
#include "solver/incompressible/incompressible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_distance.h"
#include "solver/flow/flow_problem.h"
#include "solver/incompressible/incompressible_cases.h"

enum { LEAST_CELLS = 8 };

/* Says that the number of samples has no effect here, because the solid is its mesh. */
/* Opens the problem. From here on the scene's time step is that of the solver. */
static kf_status open_problem(const char *source, const kf_problem_options *options, kf_problem **problem,
                              kf_error *error) {
    static const kf_scene_section *const own[] = {&kf_incompressible_section, NULL};
    kf_problem_options with_section = *options;
    kf_scene *scene = NULL;
    if (with_section.sections == NULL) with_section.sections = own;
    KF_TRY(kf_flow_scene_open(source, &with_section, &scene, error));
    const double steps = kf_incompressible_model_of(scene)->steps;
    if (steps > 0.0) kf_scene_stretch_time(scene, steps);
    *problem = kf_flow_problem(&kf_system_incompressible, scene, true);
    if (options->samples_per_cell > 0.0)
        kf_note(&(*problem)->notes,
                "incompressible: the solid is its mesh, so --samples-per-cell changes nothing");
    return KF_OK;
}

/* Makes the trial. The reference solves to rounding, so the trial must nearly do so too. */
static kf_status make_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    enum { STEPS = 4 };
    static const double tolerance = 1e-5;
    KF_TRY(kf_flow_problem_trial(problem, small, steps, error));
    kf_scene *scene = (*small)->own;
    kf_incompressible_own_model(scene)->tolerance = tolerance;
    *steps = STEPS;
    return KF_OK;
}

/* Refuses a flow into the box that cannot leave it. */
static kf_status check_faces(const kf_scene *scene, kf_error *error) {
    double through = 0.0, most = 0.0;
    for (int face = 0; face < KF_FACES; face++) {
        const int axis = face / 2;
        const double area = (double)scene->nodes[(axis + 1) % 3] * scene->nodes[(axis + 2) % 3],
                     speed = scene->face_velocity[face][axis];
        if (scene->faces[face] == KF_PERIODIC) continue;
        through += (face % 2 ? 1.0 : -1.0) * area * speed;
        most = fmax(most, area * fabs(speed));
    }
    if (!kf_scene_has_face(scene, KF_OUTFLOW) && fabs(through) > 1e-9 * most)
        return kf_fail(error, KF_BAD_INPUT,
                       "incompressible: fluid that flows in through the faces must be able to leave: make a "
                       "face an outflow");
    return KF_OK;
}

/* Refuses scenes that this system cannot compute, with what to do instead. */
static kf_status accepts(const kf_problem *problem, kf_error *error) {
    static const kf_boundary known[] = {KF_PERIODIC, KF_WALL, KF_FREE_SLIP, KF_INFLOW, KF_OUTFLOW};
    const kf_scene *scene = kf_problem_scene(problem);
    KF_TRY(kf_scene_refuse_solids(scene, "incompressible", error));
    KF_TRY(kf_flow_check_faces(scene, "incompressible", known, sizeof known / sizeof *known, error));
    if (scene->mask != NULL)
        return kf_fail(error, KF_BAD_INPUT, "incompressible: a solid is a mesh or a shape, not a mask");
    for (int i = 0; i < 3; i++)
        if (scene->nodes[i] < LEAST_CELLS)
            return kf_fail(error, KF_BAD_INPUT,
                           "incompressible: at least %d cells are needed along each axis", LEAST_CELLS);
    if ((double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2] > 1.5e9)
        return kf_fail(error, KF_BAD_INPUT, "incompressible: at most 1.5e9 cells");
    if (scene->motion.free)
        return kf_fail(error, KF_BAD_INPUT,
                       "incompressible: solids move as prescribed; the fluid does not move them");
    if (scene->mesh.triangle_count == 0 && scene->samples.count > 0)
        return kf_fail(error, KF_BAD_INPUT, "incompressible: the solid needs a mesh, not samples alone");
    if (scene->linked)
        return kf_fail(error, KF_BAD_INPUT,
                       "incompressible: solid.boundary: \"links\" are the system kinetic's; remove the key");
    if (scene->parabolic_inflow)
        return kf_fail(error, KF_BAD_INPUT, "incompressible: only the system d2q9 has a parabolic inflow");
    if (kf_incompressible_model_of(scene)->viscous_term == KF_VISCOUS_EXPLICIT &&
        scene->viscosity > KF_MOST_EXPLICIT_VISCOSITY * (1.0 + 1e-9))
        return kf_fail(error, KF_BAD_INPUT,
                       "incompressible: with an explicit viscous term a viscosity of %.3g cells^2 a step is "
                       "too large (at most %.3g): set \"viscous_term\": \"implicit\", or shorter steps",
                       scene->viscosity, KF_MOST_EXPLICIT_VISCOSITY);
    return check_faces(scene, error);
}

/* Names the numbers of scene and device that expressions of variants/incompressible.json may use. */
static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    const kf_scene *scene = kf_problem_scene(problem);
    memset(variables, 0, sizeof *variables);
    kf_add_variable(variables, "gpu", kf_device_is_gpu(device));
    kf_add_variable(variables, "node_count", (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2]);
    kf_add_variable(variables, "nodes_x", scene->nodes[0]);
    kf_add_variable(variables, "nodes_y", scene->nodes[1]);
    kf_add_variable(variables, "nodes_z", scene->nodes[2]);
    kf_add_variable(variables, "solid", scene->mesh.triangle_count > 0);
    kf_add_variable(variables, "moving", scene->motion.moving);
    int axes[2];
    kf_add_variable(variables, "cosines", kf_incompressible_cosine_axes(scene, axes));
    kf_add_variable(variables, "limiter", !kf_incompressible_model_of(scene)->unlimited);
    kf_add_variable(variables, "accuracy", scene->accuracy);
    kf_add_device_variables(variables, device);
}

static kf_status visit_sources(const kf_problem *problem, const kf_config *config,
                               const kf_device_info *device,
                               kf_status (*visit)(const kf_source *source, void *data, kf_error *error),
                               void *data, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    kf_incompressible_options options;
    KF_TRY(kf_incompressible_read_options(config, kf_device_is_gpu(device), &options, error));
    for (int which = 0; which < KF_INCOMPRESSIBLE_SOURCES; which++) {
        kf_source source;
        kf_defines defines;
        if (!kf_incompressible_uses(scene, &options, (kf_incompressible_source)which)) continue;
        kf_incompressible_define(scene, &options, (kf_incompressible_source)which, &source, &defines);
        KF_TRY(visit(&source, data, error));
    }
    return KF_OK;
}

/* --- Plans
 * --------------------------------------------------------------------------------------------------- */

static int face_kind(kf_boundary boundary) {
    switch (boundary) {
    case KF_PERIODIC:
        return KF_FACE_PERIODIC;
    case KF_OUTFLOW:
        return KF_FACE_OUTFLOW;
    case KF_FREE_SLIP:
        return KF_FACE_SLIP;
    default:
        return KF_FACE_FIXED;
    }
}

/* Sets the arguments that all launches share: grid, faces, solid's motion, viscosity, tolerance, and how
 * the pressure is solved for. */
static void set_arguments(const kf_scene *scene, kf_incompressible *s) {
    enum { SUMS = 2048 };
    kf_incompressible_arguments *a = &s->arguments;
    const kf_grid_level *level = &s->levels[0];
    memcpy(a->cells, scene->nodes, sizeof a->cells);
    a->row = level->row;
    a->plane = level->plane;
    a->origin = level->origin;
    a->capacity = level->capacity;
    double speed = 0.0;
    for (int face = 0; face < KF_FACES; face++)
        for (int i = 0; i < 3; i++) {
            a->face_velocity[face][i] = scene->face_velocity[face][i];
            speed = fmax(speed, fabs(scene->face_velocity[face][i]));
        }
    for (int i = 0; i < 3; i++) {
        a->force[i] = scene->body_force[i];
        a->start[i] = scene->motion.center[i];
        a->axis[i] = scene->motion.axis[i];
        a->speed[i] = scene->motion.velocity[i];
        speed = fmax(speed, fabs(scene->initial_velocity[i]));
    }
    a->angular_speed = scene->motion.moving ? scene->motion.angular_speed : 0.0;
    a->duration = 0.5;
    a->viscosity = kf_incompressible_viscous_term(scene) == KF_VISCOUS_OFF ? 0.0 : scene->viscosity;
    /* With such velocities rounding leaves a divergence of this size. A smaller tolerance is not possible. */
    const double rounding = (s->options.double_precision ? 2e-16 : 1e-7) * fmax(speed, 1e-3);
    a->tolerance = kf_incompressible_tolerance(scene);
    a->floor = rounding * rounding * scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
    a->singular = !kf_scene_has_face(scene, KF_OUTFLOW);
    const int lines = scene->nodes[1] * scene->nodes[2];
    a->rows_per_block = (lines + SUMS - 1) / SUMS;
    a->blocks = (lines + a->rows_per_block - 1) / a->rows_per_block;
    a->partial_room = a->blocks;
    a->least_iterations = s->options.least_iterations;
    a->preconditioned = s->options.solver != KF_SOLVE_CG;
    a->flexible = s->options.solver == KF_SOLVE_MULTIGRID_CG;
}

/* Makes a buffer with zeros, because some parts are never written. */
static kf_status make_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error) {
    KF_TRY(kf_plan_buffer(plan, bytes, buffer, error));
    return kf_buffer_fill(*buffer, 0, error);
}

/* Makes the fields that the config needs; velocities are three arrays with ghosts. */
static kf_status make_fields(kf_plan *plan, kf_incompressible *s, kf_error *error) {
    const size_t scalar = (size_t)s->arguments.capacity * s->real_bytes;
    const kf_pressure_solver solver = s->options.solver;
    KF_TRY(make_buffer(plan, 3 * scalar, &s->velocity, error));
    KF_TRY(make_buffer(plan, 3 * scalar, &s->advected, error));
    KF_TRY(make_buffer(plan, 3 * scalar, &s->predicted, error));
    KF_TRY(make_buffer(plan, 3 * scalar, &s->second, error));
    if (s->options.keeps_bounds) KF_TRY(make_buffer(plan, 6 * scalar, &s->kept, error));
    kf_buffer *const written[] = {s->advected, s->predicted, s->second, s->kept};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        kf_plan_fresh(plan, written[i], 1, 0);
    for (int half = 0; half < KF_HALVES; half++)
        KF_TRY(make_buffer(plan, scalar, &s->pressures[half], error));
    KF_TRY(make_buffer(plan, scalar, &s->residual, error));
    s->right = s->residual;
    if (solver == KF_SOLVE_MULTIGRID) KF_TRY(make_buffer(plan, scalar, &s->right, error));
    if (solver != KF_SOLVE_MULTIGRID) {
        KF_TRY(make_buffer(plan, scalar, &s->direction, error));
        KF_TRY(make_buffer(plan, scalar, &s->image, error));
    }
    if (s->arguments.preconditioned) KF_TRY(make_buffer(plan, scalar, &s->corrected, error));
    if (solver == KF_SOLVE_MULTIGRID || solver == KF_SOLVE_MULTIGRID_CG || solver == KF_SOLVE_FOURIER_CG)
        KF_TRY(make_buffer(plan, scalar, &s->other, error));
    return solver == KF_SOLVE_FOURIER_CG ? kf_incompressible_make_cosines(plan, s, error) : KF_OK;
}

static kf_status make_levels(kf_plan *plan, kf_incompressible *s, kf_error *error) {
    for (int i = 0; i < s->level_count; i++) {
        kf_grid_level *level = &s->levels[i];
        const size_t scalar = (size_t)level->capacity * s->real_bytes;
        KF_TRY(make_buffer(plan, (size_t)level->capacity * sizeof(unsigned), &level->open, error));
        if (i == 0) continue;
        KF_TRY(make_buffer(plan, scalar, &level->guess, error));
        KF_TRY(make_buffer(plan, scalar, &level->other, error));
        KF_TRY(make_buffer(plan, scalar, &level->wanted, error));
    }
    return KF_OK;
}

/* Makes the solid's state, the table of the distance to its surface, and the sums of its load. */
static kf_status make_solid(kf_plan *plan, kf_incompressible *s, kf_error *error) {
    kf_incompressible_arguments *a = &s->arguments;
    KF_TRY(make_buffer(plan, sizeof(kf_solid_state), &s->solid_state, error));
    a->solid = kf_buffer_address(s->solid_state);
    if (s->solid == 0) return KF_OK;
    KF_TRY(kf_flow_upload_distance(plan, &a->distance, error));
    KF_TRY(make_buffer(plan, 6 * (size_t)a->partial_room * sizeof(double), &s->load, error));
    a->load = kf_buffer_address(s->load);
    return KF_OK;
}

/* Makes all memory of a plan, and points the arguments to it. */
static kf_status make_buffers(kf_plan *plan, kf_incompressible *s, kf_error *error) {
    kf_incompressible_arguments *a = &s->arguments;
    KF_TRY(make_fields(plan, s, error));
    KF_TRY(make_levels(plan, s, error));
    KF_TRY(make_buffer(plan, 3 * (size_t)a->partial_room * sizeof(double), &s->partial, error));
    KF_TRY(make_buffer(plan, KF_HALVES * sizeof(kf_solve_state), &s->solves, error));
    a->open = kf_buffer_address(s->levels[0].open);
    a->right = kf_buffer_address(s->right);
    a->residual = kf_buffer_address(s->residual);
    a->direction = kf_buffer_address(s->direction);
    a->image = kf_buffer_address(s->image);
    a->corrected = kf_buffer_address(s->corrected);
    a->partial = kf_buffer_address(s->partial);
    a->solve = kf_buffer_address(s->solves);
    a->other = kf_buffer_address(s->other);
    return make_solid(plan, s, error);
}

/* Returns the Jacobi iterations of the implicit viscous term that reduce its error to a thousandth. Each
 * multiplies it by 6 s / (1 + 6 s), where s is the effect of the viscosity in a sub-step. */
static int diffusions_of(const kf_scene *scene) {
    if (kf_incompressible_viscous_term(scene) != KF_VISCOUS_IMPLICIT) return 0;
    const double s = 6.0 * scene->viscosity * 0.5, rate = s / (1.0 + s);
    const double count = ceil(log(1e-3) / log(fmax(rate, 1e-3)));
    return (int)fmin(fmax(count, 1.0), 200.0);
}

void kf_incompressible_outline(const kf_scene *scene, kf_incompressible *s) {
    s->real_bytes = s->options.double_precision ? sizeof(double) : sizeof(float);
    s->solid = scene->mesh.triangle_count == 0 ? 0 : scene->motion.moving ? 2 : 1;
    s->diffusions = diffusions_of(scene);
    memcpy(s->levels[0].cells, scene->nodes, sizeof s->levels[0].cells);
    for (int face = 0; face < KF_FACES; face++)
        s->arguments.faces[face] = face_kind(scene->faces[face]);
    kf_incompressible_lay_out_levels(s);
    set_arguments(scene, s);
    if (s->options.solver == KF_SOLVE_FOURIER_CG && kf_incompressible_cosine_axes(scene, s->cosine_axes))
        s->arguments.stream = 3 - s->cosine_axes[0] - s->cosine_axes[1];
}

/* Builds a plan: its outline and memory, modules, and the steps. */
static kf_status build(kf_plan *plan, kf_incompressible *s, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    kf_incompressible_outline(scene, s);
    plan->updates = (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
    /* The page docs/incompressible.md counts 40 values and 6 words, and the start of the solves. Their
     * iterations are left out. */
    plan->least_bytes = plan->updates * (44.0 * (double)s->real_bytes + 8.0 * sizeof(unsigned));
    /* Buffers come first, so a problem that is too large fails before kernels compile. */
    KF_TRY(make_buffers(plan, s, error));
    for (int which = 0; which < KF_INCOMPRESSIBLE_SOURCES; which++) {
        kf_source source;
        kf_defines defines;
        if (!kf_incompressible_uses(scene, &s->options, (kf_incompressible_source)which)) continue;
        kf_incompressible_define(scene, &s->options, (kf_incompressible_source)which, &source, &defines);
        KF_TRY(kf_plan_module(plan, &source, &s->modules[which], error));
    }
    kf_incompressible_builder b = {.plan = plan, .system = s, .error = error, .status = KF_OK};
    kf_incompressible_make_steps(&b);
    return b.status;
}

static kf_status make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                           kf_plan **plan, kf_error *error) {
    KF_TRY(accepts(problem, error));
    kf_incompressible_options options;
    const bool gpu = kf_device_is_gpu(kf_backend_device(backend));
    KF_TRY(kf_incompressible_read_options(config, gpu, &options, error));
    int axes[2];
    if (options.solver == KF_SOLVE_FOURIER_CG &&
        !kf_incompressible_cosine_axes(kf_problem_scene(problem), axes))
        return kf_fail(error, KF_BAD_INPUT,
                       "config: fourier_cg needs two axes between walls, inflows or free slip");
    kf_incompressible *system = kf_allocate_zeroed(1, sizeof *system);
    system->options = options;
    kf_plan *made = kf_plan_create(backend, problem, config, &kf_incompressible_methods, system);
    if (!options.graph) made->graph_steps = -1;
    const kf_status status = build(made, system, error);
    return kf_plan_built(made, status, plan);
}

static const char *const sections[] = {"incompressible", NULL};

const kf_system kf_system_incompressible = {
    .name = "incompressible",
    .summary = "advection and reflection with MacCormack's scheme and a pressure solve, on a staggered grid",
    .update = "cell",
    .space_file = "variants/incompressible.json",
    .runs = true,
    .sections = sections,
    .scene_section = &kf_incompressible_section,
    .open = open_problem,
    .trial = make_trial,
    .accepts = accepts,
    .variables = describe,
    .plan = make_plan,
    .sources = visit_sources,
    .reference = kf_incompressible_reference,
    .verify = kf_incompressible_verify,
    .free_reference = kf_incompressible_free_reference,
    .cost = &kf_cost_incompressible,
    .cases = kf_incompressible_cases,
    .suite = &kf_incompressible_suite,
};
