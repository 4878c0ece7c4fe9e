#include "solver/sph/sph_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"
#include "solver/sph/sph_problem.h"

const kf_case kf_sph_cases[] = {
    {"sph-operators", "sums on a lattice: density, gradient, viscosity of both schemes", false,
     kf_case_sph_operators, 0},
    {"sph-channel", "plane Poiseuille and Couette flow from rest, walls with and without particles", false,
     kf_case_sph_channel, 0},
    {"sph-bingham", "the plug of a Bingham fluid between plates", true, kf_case_sph_bingham, 0},
    {"sph-power", "power-law and Herschel-Bulkley fluids between plates", true, kf_case_sph_power, 0},
    {"sph-film", "a viscoplastic film on a slope: it flows with a plug, or rests", true, kf_case_sph_film, 0},
    {"sph-grains", "grains on a slope: the profile that mu(I) has", true, kf_case_sph_grains, 0},
    {"sph-hydrostatic", "a tank at rest: pressure, load, no motion", true, kf_case_sph_hydrostatic, 0},
    {"sph-taylor-green", "decay of vortices at Reynolds number 100", false, kf_case_sph_taylor_green, 0},
    {"sph-patch", "a rotating square patch: pressure at first, angular momentum", false, kf_case_sph_patch,
     0},
    {"sph-wave", "a standing wave: period, damping", false, kf_case_sph_wave, 0},
    {"sph-dam-break", "the tip of a collapsing column of water against the potential flow and an experiment",
     false, kf_case_sph_dam_break, 0},
    {"sph-spheric", "SPHERIC test 2: heights and pressures of a dam break onto a box", true,
     kf_case_sph_spheric, 0},
    {"sph-thesis", "scheme thesis: a tank at rest, a channel, energy", true, kf_case_sph_thesis, 0},
    {"sph-slump", "where the slump of a Bingham block comes to rest", true, kf_case_sph_slump, 0},
    {"sph-column", "run-out of granular columns", true, kf_case_sph_column, 0},
    {0},
};

kf_status kf_sph_open_scene(const kf_validation *validation, kf_particle_scene *scene,
                            const char *const *overrides, kf_sph_flow *flow, kf_error *error) {
    kf_config config;
    memset(flow, 0, sizeof *flow);
    flow->scene = scene;
    kf_particle_scene_hash(scene);
    flow->problem = kf_sph_problem(scene);
    KF_TRY(kf_system_sph.accepts(flow->problem, error));
    KF_TRY(kf_validation_configure(validation, flow->problem, overrides, &config, error));
    KF_TRY(kf_system_sph.plan(flow->problem, &config, validation->backend, &flow->plan, error));
    return kf_plan_initialise(flow->plan, error);
}

kf_status kf_sph_open(const kf_validation *validation, const char *text,
                      void (*prepare)(kf_particle_scene *scene), const char *const *overrides,
                      kf_sph_flow *flow, kf_error *error) {
    kf_particle_scene *scene;
    memset(flow, 0, sizeof *flow);
    KF_TRY(kf_particle_scene_parse(validation->case_name, text, NULL, &scene, error));
    if (prepare != NULL) prepare(scene);
    return kf_sph_open_scene(validation, scene, overrides, flow, error);
}

void kf_sph_close(kf_sph_flow *flow) {
    kf_plan_free(flow->plan);
    kf_problem_free(flow->problem);
    free(flow->values);
    memset(flow, 0, sizeof *flow);
}

kf_status kf_sph_until(const kf_validation *validation, kf_sph_flow *flow, double seconds, kf_error *error) {
    enum { STRETCH = 256 };
    const double unit = kf_particle_seconds(flow->scene);
    for (;;) {
        kf_sph_clock clock;
        KF_TRY(kf_sph_read_clock(flow->plan, &clock, error));
        flow->time = clock.time / unit;
        if (clock.flags != 0) return kf_sph_flagged(clock.flags, error);
        if (*validation->interrupted != 0) return kf_fail(error, KF_INTERRUPTED, "interrupted");
        const double left = ceil((seconds * unit - clock.time) / (double)clock.step - 1e-6);
        if (!(left > 0.0)) return KF_OK;
        KF_TRY(kf_plan_advance(flow->plan, left > STRETCH ? STRETCH : (uint64_t)left, error));
    }
}

kf_status kf_sph_look(kf_sph_flow *flow, kf_error *error) {
    free(flow->values);
    flow->values = NULL;
    return kf_sph_read(flow->plan, &flow->values, error);
}

double kf_sph_place(const kf_sph_flow *flow, size_t k, int axis) {
    const double place = (double)flow->values[k * KF_SPH_STATE_VALUES + (size_t)axis];
    return (place - flow->scene->origin[axis]) * flow->scene->spacing;
}

double kf_sph_velocity(const kf_sph_flow *flow, size_t k, int axis) {
    return (double)flow->values[k * KF_SPH_STATE_VALUES + 3 + (size_t)axis] * flow->scene->sound_speed;
}

double kf_sph_pressure(const kf_sph_flow *flow, size_t k) {
    const kf_particle_scene *s = flow->scene;
    const double e = (double)flow->values[k * KF_SPH_STATE_VALUES + 6];
    return kf_sph_pressure_of(s, e);
}

size_t kf_sph_fluid(const kf_sph_flow *flow) {
    return flow->scene->count - flow->scene->wall_count;
}

double kf_sph_mean_velocity(const kf_sph_flow *flow, int component, int axis, double x, double width) {
    double sum = 0.0, count = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++) {
        if (fabs(kf_sph_place(flow, k, axis) - x) > 0.5 * width) continue;
        sum += kf_sph_velocity(flow, k, component);
        count += 1.0;
    }
    return sum / count;
}

double kf_sph_kinetic(const kf_sph_flow *flow) {
    const kf_particle_scene *s = flow->scene;
    double sum = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        for (int i = 0; i < 3; i++)
            sum += 0.5 * kf_sph_velocity(flow, k, i) * kf_sph_velocity(flow, k, i);
    return sum * s->density * pow(s->spacing, s->dimensions);
}
