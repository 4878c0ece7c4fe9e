#include "solver/smoke/smoke.h"

#include <stdlib.h>

#include "base/util/memory.h"
#include "solver/flow/flow_problem.h"
#include "solver/smoke/picture.h"
#include "solver/smoke/sources.h"
#include "solver/smoke/tracers.h"

struct kf_smoke {
    kf_plan *plan;
    kf_smoke_sources sources;
    kf_tracers *tracers;
    kf_smoke_picture *picture;
    /* The refinement of the pictures' grid. */
    int refinement;
    /* The density on that grid, or on the plan's. */
    kf_buffer *density;
    /* The paint on that grid, or NULL. */
    kf_buffer *paint;
};

/* Pictures gain from a finer grid, because smoke is finer than the flow's cells: where it takes at most a
 * quarter of the device's memory. */
static int choose_refinement(const kf_plan *plan, kf_smoke_paint paint) {
    const int *n = kf_plan_scene(plan)->nodes;
    const kf_device_info *device = kf_backend_device(plan->backend);
    const double memory = (double)device->memory_bytes / (device->parts > 1 ? device->parts : 1);
    const bool solid = kf_plan_scene(plan)->mesh.triangle_count > 0;
    const double finer = 8, node = (paint == KF_PAINT_NONE ? 16 : 32) + (solid ? 4 : 0); /* bytes */
    return finer * node * n[0] * n[1] * n[2] <= 0.25 * memory ? 2 : 1;
}

static kf_status build(kf_smoke *smoke, const int picture_size[2], const kf_viewpoint *from,
                       kf_error *error) {
    kf_plan *plan = smoke->plan;
    kf_smoke_choose_sources(kf_plan_scene(plan), &smoke->sources);
    const double extinction = kf_smoke_extinction(kf_plan_scene(plan), &smoke->sources);
    smoke->refinement = choose_refinement(plan, smoke->sources.paint);
    KF_TRY(kf_tracers_open(plan, &smoke->sources, &smoke->tracers, error));
    KF_TRY(kf_buffer_create(plan->backend, kf_tracers_density_bytes(smoke->tracers, smoke->refinement),
                            &smoke->density, error));
    if (smoke->sources.paint != KF_PAINT_NONE)
        KF_TRY(kf_buffer_create(plan->backend, kf_tracers_density_bytes(smoke->tracers, smoke->refinement),
                                &smoke->paint, error));
    return kf_smoke_picture_open(plan->backend, kf_plan_scene(plan), smoke->sources.paint, extinction,
                                 smoke->refinement, picture_size, from, &smoke->picture, error);
}

kf_status kf_smoke_check(const kf_scene *scene, kf_error *error) {
    if (scene->nodes[2] == 1)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--smoke': smoke needs a three-dimensional flow, and %s is not one",
                       scene->name);
    if (scene->finer_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: nested grids carry no smoke; leave out --smoke, or \"refine\"", scene->source);
    if (scene->solid_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: smoke is drawn around one solid, and this scene has several; leave out --smoke",
                       scene->source);
    return KF_OK;
}

kf_status kf_smoke_open(kf_plan *plan, const int picture_size[2], const kf_viewpoint *from, kf_smoke **smoke,
                        kf_error *error) {
    KF_TRY(kf_smoke_check(kf_plan_scene(plan), error));
    kf_smoke *made = kf_allocate_zeroed(1, sizeof *made);
    made->plan = plan;
    kf_status status = build(made, picture_size, from, error);
    if (status != KF_OK)
        kf_smoke_free(made);
    else
        *smoke = made;
    return status;
}

void kf_smoke_free(kf_smoke *smoke) {
    if (smoke == NULL) return;
    kf_smoke_picture_free(smoke->picture);
    kf_tracers_free(smoke->tracers);
    if (smoke->density != NULL) kf_buffer_free(smoke->density);
    if (smoke->paint != NULL) kf_buffer_free(smoke->paint);
    free(smoke);
}

int kf_smoke_period(const kf_smoke *smoke) {
    return kf_tracers_period(smoke->tracers);
}

const kf_smoke_sources *kf_smoke_sources_of(const kf_smoke *smoke) {
    return &smoke->sources;
}

kf_status kf_smoke_advance(kf_smoke *smoke, uint64_t steps, kf_error *error) {
    kf_plan *plan = smoke->plan;
    const uint64_t period = (uint64_t)kf_tracers_period(smoke->tracers), end = plan->steps_done + steps;
    while (plan->steps_done < end) {
        const uint64_t left = end - plan->steps_done, due = period - plan->steps_done % period;
        KF_TRY(kf_plan_advance(plan, left < due ? left : due, error));
        if (plan->steps_done % period == 0) KF_TRY(kf_tracers_move(smoke->tracers, error));
    }
    return KF_OK;
}

/* Projects the tracers to a density on the scene's nodes, [z][y][x], in tracers per cell. *count is their
 * sum. */
kf_status kf_smoke_density(kf_smoke *smoke, float *density, uint64_t *count, kf_error *error) {
    const int *n = kf_plan_scene(smoke->plan)->nodes;
    const size_t plane = (size_t)n[0] * (size_t)n[1], bytes = plane * sizeof(long long);
    KF_TRY(kf_tracers_project(smoke->tracers, 1, smoke->density, error));
    KF_TRY(kf_backend_synchronize(smoke->plan->backend, error));
    long long *values = kf_allocate(bytes), sum = 0;
    kf_status status = KF_OK;
    for (size_t z = 0; z < (size_t)n[2] && status == KF_OK; z++) {
        status = kf_buffer_download(smoke->density, z * bytes, values, bytes, error);
        for (size_t i = 0; i < plane && status == KF_OK; i++) {
            sum += values[i];
            density[z * plane + i] = (float)values[i] / (float)KF_TRACER_UNIT;
        }
    }
    free(values);
    *count = (uint64_t)(sum / KF_TRACER_UNIT);
    return status;
}

kf_status kf_smoke_picture_png(kf_smoke *smoke, const char *path, kf_error *error) {
    kf_solid_pose pose;
    KF_TRY(
        kf_tracers_project_painted(smoke->tracers, smoke->refinement, smoke->density, smoke->paint, error));
    KF_TRY(kf_flow_pose(smoke->plan, &pose, error));
    return kf_smoke_picture_write(smoke->picture, smoke->density, smoke->paint, &pose, path, error);
}

size_t kf_smoke_state_size(const kf_smoke *smoke) {
    return kf_tracers_state_size(smoke->tracers);
}

void kf_smoke_hash(const kf_smoke *smoke, char hash[KF_HASH_HEX]) {
    kf_tracers_hash(smoke->tracers, hash);
}

kf_status kf_smoke_save(kf_smoke *smoke, void *state, kf_error *error) {
    return kf_tracers_save(smoke->tracers, state, error);
}

kf_status kf_smoke_restore(kf_smoke *smoke, const void *state, kf_error *error) {
    return kf_tracers_restore(smoke->tracers, state, error);
}
