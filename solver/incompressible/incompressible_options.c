#include <stdio.h>
#include <string.h>

#include "base/space/options.h"
#include "solver/incompressible/incompressible.h"

const char *const kf_pressure_solver_names[KF_PRESSURE_SOLVERS + 1] = {
    "cg", "incomplete_cg", "multigrid", "multigrid_cg", "fourier_cg", NULL};

double kf_incompressible_tolerance(const kf_scene *scene) {
    const double tolerance = kf_incompressible_model_of(scene)->tolerance;
    return tolerance > 0.0 ? tolerance : KF_DEFAULT_TOLERANCE;
}

kf_viscous_term kf_incompressible_viscous_term(const kf_scene *scene) {
    const kf_viscous_term term = kf_incompressible_model_of(scene)->viscous_term;
    const double most =
        kf_scene_fastest(scene) < 1.0 ? KF_MOST_EXPLICIT_VISCOSITY : 0.5 * KF_MOST_EXPLICIT_VISCOSITY;
    if (term != KF_VISCOUS_AUTOMATIC) return term;
    return scene->viscosity > most * (1.0 + 1e-9) ? KF_VISCOUS_IMPLICIT : KF_VISCOUS_EXPLICIT;
}

#define NUMBER(member, low, high)                                                                            \
    KF_NUMBER(kf_incompressible_options, KF_OPTION_INT, member, #member, low, high)
#define FLAG(member)                   KF_FLAG(kf_incompressible_options, member, #member)
#define SECOND(member, parameter, ...) KF_SECOND(kf_incompressible_options, member, parameter, __VA_ARGS__)
static const kf_config_field table[] = {
    {"solver", KF_OPTION_CHOICE, offsetof(kf_incompressible_options, solver), 0, 0, kf_pressure_solver_names},
    SECOND(double_precision, "storage", "f32", "f64"),
    SECOND(keeps_bounds, "bounds", "found", "kept"),
    SECOND(one_address, "addresses", "eight", "one"),
    NUMBER(iterations, 1, 10000),
    NUMBER(least_iterations, 0, 10000),
    NUMBER(sweeps, 1, 8),
    NUMBER(threads, 32, 1024),
    NUMBER(block_x, 1, 1024),
    NUMBER(block_y, 1, 1024),
    FLAG(fixed_rows),
    FLAG(graph),
    FLAG(overlap),
};

kf_status kf_incompressible_read_options(const kf_config *config, bool gpu,
                                         kf_incompressible_options *options, kf_error *error) {
    memset(options, 0, sizeof *options);
    KF_TRY(kf_options_read(config, table, sizeof table / sizeof *table, options, error));
    options->gpu = gpu;
    if (options->graph && !gpu) return kf_fail(error, KF_BAD_INPUT, "config: graph is for GPUs");
    if (options->overlap && !gpu) return kf_fail(error, KF_BAD_INPUT, "config: overlap is for GPUs");
    if ((options->threads & (options->threads - 1)) != 0)
        return kf_fail(error, KF_BAD_INPUT, "config: threads must be a power of two");
    if (options->block_x * options->block_y > 1024 && gpu)
        return kf_fail(error, KF_BAD_INPUT, "config: a block has at most 1024 threads");
    if (options->least_iterations > options->iterations)
        return kf_fail(error, KF_BAD_INPUT, "config: least_iterations must be at most iterations");
    return KF_OK;
}

bool kf_incompressible_overlaps(const kf_incompressible_options *options, kf_incompressible_source which) {
    return options->overlap && (which == KF_INCOMPRESSIBLE_PRESSURE || which == KF_INCOMPRESSIBLE_MULTIGRID);
}

bool kf_incompressible_uses(const kf_scene *scene, const kf_incompressible_options *options,
                            kf_incompressible_source which) {
    (void)scene;
    if (which == KF_INCOMPRESSIBLE_COSINE || which == KF_INCOMPRESSIBLE_COSINE_SECOND)
        return options->solver == KF_SOLVE_FOURIER_CG;
    if (which == KF_INCOMPRESSIBLE_MULTIGRID)
        return options->solver == KF_SOLVE_MULTIGRID || options->solver == KF_SOLVE_MULTIGRID_CG;
    return true;
}

static void define_cosine(const kf_scene *scene, const kf_incompressible_options *options, int axis,
                          kf_defines *defines) {
    const int cells = scene->nodes[axis];
    int radices[KF_COSINE_STAGES];
    const int stages = kf_incompressible_cosine_radices(cells, radices);
    kf_define_to(defines, "KF_AXIS", axis);
    kf_define_to(defines, "KF_LINE", cells);
    kf_define_to(
        defines, "KF_PAIRS",
        kf_incompressible_cosine_pairs(cells, options->double_precision ? sizeof(double) : sizeof(float)));
    kf_define_to(defines, "KF_STAGES", stages);
    kf_define *list = &defines->list[defines->count++];
    list->name = "KF_RADICES";
    list->value[0] = '\0';
    for (int i = 0; i < stages; i++)
        (void)snprintf(list->value + strlen(list->value), sizeof list->value - strlen(list->value), "%s%d",
                       i > 0 ? "," : "", radices[i]);
}

void kf_incompressible_define(const kf_scene *scene, const kf_incompressible_options *options,
                              kf_incompressible_source which, kf_source *source, kf_defines *defines) {
    static const char *const files[KF_INCOMPRESSIBLE_SOURCES] = {
        "kernels/incompressible/advection.cu", "kernels/incompressible/projection.cu",
        "kernels/incompressible/pressure.cu",  "kernels/incompressible/multigrid.cu",
        "kernels/incompressible/cosine.cu",    "kernels/incompressible/cosine.cu",
        "kernels/incompressible/solid.cu",     "kernels/incompressible/state.cu"};
    const kf_incompressible_model *model = kf_incompressible_model_of(scene);
    const kf_viscous_term viscous = kf_incompressible_viscous_term(scene);
    defines->count = 0;
    kf_define_to(defines, "KF_DOUBLE", options->double_precision);
    kf_define_to(defines, "KF_SOLID",
                 scene->mesh.triangle_count == 0 ? KF_NO_SOLID
                 : scene->motion.moving          ? KF_MOVING_SOLID
                                                 : KF_STILL_SOLID);
    kf_define_to(defines, "KF_THREADS", options->threads);
    if (kf_incompressible_overlaps(options, which)) kf_define_to(defines, "KF_OVERLAP", 1);
    int axes[2];
    if ((which == KF_INCOMPRESSIBLE_COSINE || which == KF_INCOMPRESSIBLE_COSINE_SECOND) &&
        kf_incompressible_cosine_axes(scene, axes))
        define_cosine(scene, options, axes[which == KF_INCOMPRESSIBLE_COSINE_SECOND], defines);
    /* The loops of the other kernels on the cpu do not vectorise when places may wrap. */
    if (which == KF_INCOMPRESSIBLE_ADVECTION || !options->gpu)
        kf_define_to(defines, "KF_PERIODIC", kf_scene_has_face(scene, KF_PERIODIC));
    if (which == KF_INCOMPRESSIBLE_ADVECTION) {
        kf_define_to(defines, "KF_MIDPOINT", model->trace == KF_TRACE_MIDPOINT);
        kf_define_to(defines, "KF_LIMITER",
                     model->unlimited        ? KF_NO_LIMITER
                     : options->keeps_bounds ? KF_KEPT_LIMITER
                                             : KF_GATHERED_LIMITER);
        kf_define_to(defines, "KF_VISCOUS",
                     viscous == KF_VISCOUS_OFF        ? KF_NO_VISCOUS_TERM
                     : viscous == KF_VISCOUS_EXPLICIT ? KF_EXPLICIT_VISCOUS_TERM
                                                      : KF_IMPLICIT_VISCOUS_TERM);
        kf_define_to(defines, "KF_STEPS", options->one_address);
        if (options->fixed_rows) {
            kf_grid_level level = {.cells = {scene->nodes[0], scene->nodes[1], scene->nodes[2]}};
            kf_incompressible_lay_out(&level);
            kf_define_to(defines, "KF_ROW", level.row);
            kf_define_to(defines, "KF_PLANE", level.plane);
        }
    }
    *source = (kf_source){.file = files[which], .defines = defines->list, .define_count = defines->count};
}
