/* Several solids: the solid of each sample, the pose of each solid, and its load. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_samples.h"

/* Returns the steps of a turn. A solid that moves on never returns to its place. One that hardly turns counts
 * as not turning. */
static uint64_t turn_steps_of(const kf_motion *motion) {
    static const double TURN = 6.283185307179586, LONGEST = 1e9;
    bool travels = motion->velocity[0] != 0.0 || motion->velocity[1] != 0.0 || motion->velocity[2] != 0.0;
    double speed = fabs(motion->angular_speed);
    return !motion->moving || travels || speed * LONGEST < TURN ? 0 : (uint64_t)ceil(TURN / speed);
}

uint64_t kf_kinetic_turn_steps(const kf_scene *scene) {
    uint64_t most = 0;
    if (scene->solid_count == 0) return turn_steps_of(&scene->motion);
    for (int s = 0; s < scene->solid_count; s++) {
        const uint64_t steps = turn_steps_of(&scene->solids[s].motion);
        most = steps > most ? steps : most;
    }
    return most;
}

/* Refuses what several solids cannot have beside each other. */
kf_status kf_kinetic_check_solids(const kf_scene *scene, kf_error *error) {
    if (scene->solid_count == 0) return KF_OK;
    if (scene->immersed_passes > 1)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.immersed_passes: several passes work with one solid only; remove the key, or "
            "\"solids\"",
            scene->source);
    return KF_OK;
}

void kf_kinetic_group_by_solid(const kf_samples *samples, uint32_t *permutation) {
    size_t first[KF_MOST_SOLIDS + 1] = {0};
    if (samples->solid == NULL) return;
    for (size_t s = 0; s < samples->count; s++)
        first[samples->solid[s] + 1]++;
    for (int i = 0; i < KF_MOST_SOLIDS; i++)
        first[i + 1] += first[i];
    uint32_t *grouped = kf_allocate(samples->count * sizeof *grouped);
    for (size_t n = 0; n < samples->count; n++)
        grouped[first[samples->solid[permutation[n]]]++] = permutation[n];
    memcpy(permutation, grouped, samples->count * sizeof *grouped);
    free(grouped);
}

/* Fills a patch. A patch has samples of one solid only. The rest of a solid's last patch gets copies of its
 * last sample without area. */
void kf_kinetic_fill_patch(const kf_kinetic *kinetic, kf_ordered_samples *ordered) {
    const size_t length = (size_t)kinetic->options.patch_length;
    if (length == 0) return;
    for (; ordered->count % length != 0; ordered->count++) {
        const size_t last = ordered->count - 1;
        for (int i = 0; i < 3; i++)
            ordered->coordinate[i][last + 1] = ordered->coordinate[i][last];
        ordered->area[last + 1] = 0.0;
        ordered->corner[last + 1] = ordered->corner[last];
        ordered->identity[last + 1] = ordered->identity[last];
        ordered->solid[last + 1] = ordered->solid[last];
    }
}

void kf_kinetic_reach(const kf_scene *scene, int axis, double ends[2]) {
    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (int s = 0; s < scene->solid_count; s++) {
        ends[0] = fmin(ends[0], scene->solids[s].low[axis]);
        ends[1] = fmax(ends[1], scene->solids[s].high[axis]);
    }
}

/* Returns the largest distance of a solid's points from its centre. */
static double radius_of(const kf_solid *solid) {
    double square = 0.0;
    for (int a = 0; a < 3; a++) {
        const double center = solid->motion.center[a];
        square += pow(fmax(solid->high[a] - center, center - solid->low[a]), 2);
    }
    return sqrt(square);
}

/* Puts the pose of each to step 0, and the sums of their loads to zero. */
kf_status kf_kinetic_reset_solids(const kf_scene *scene, kf_kinetic *kinetic, kf_error *error) {
    kf_pose poses[KF_MOST_SOLIDS];
    if (scene->solid_count == 0) return KF_OK;
    for (int s = 0; s < scene->solid_count; s++) {
        const kf_motion *motion = &scene->solids[s].motion;
        kf_pose *pose = &poses[s];
        *pose = (kf_pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                          .quaternion = {1, 0, 0, 0},
                          .angular_speed = motion->angular_speed,
                          .radius = radius_of(&scene->solids[s]),
                          .left_at = -1,
                          .moving = 1};
        memcpy(pose->center, motion->center, sizeof pose->center);
        memcpy(pose->center_start, motion->center, sizeof pose->center_start);
        memcpy(pose->axis, motion->axis, sizeof pose->axis);
        for (int a = 0; a < 3; a++)
            pose->angular_velocity[a] = motion->angular_speed * motion->axis[a];
    }
    KF_TRY(kf_buffer_fill(kinetic->solid_loads, 0, error));
    return kf_buffer_upload(kinetic->solid_poses, 0, poses, (size_t)scene->solid_count * sizeof *poses,
                            error);
}

kf_status kf_kinetic_upload_solids(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                                   kf_error *error) {
    const size_t solids = (size_t)kf_plan_scene(plan)->solid_count;
    kf_kinetic_solids *a = &kinetic->arguments.solids;
    if (solids == 0) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, ordered->count, &kinetic->solid_of, error));
    KF_TRY(kf_plan_buffer(plan, solids * sizeof(kf_pose), &kinetic->solid_poses, error));
    KF_TRY(kf_plan_buffer(plan, solids * KF_LOAD_SLOTS * KF_LOAD_SUMS * sizeof(long long),
                          &kinetic->solid_loads, error));
    a->count = (int)solids;
    a->of = kf_buffer_address(kinetic->solid_of);
    a->poses = kf_buffer_address(kinetic->solid_poses);
    a->load_sums = kf_buffer_address(kinetic->solid_loads);
    return kf_buffer_upload(kinetic->solid_of, 0, ordered->solid, ordered->count, error);
}

/* Sums the fixed-point sums of all slots. Returns NAN where a force was not a valid number. */
static void add_up(const long long sums[KF_LOAD_SLOTS][KF_LOAD_SUMS], kf_solid_load *load) {
    unsigned long long total[KF_LOAD_SUMS] = {0};
    for (int slot = 0; slot < KF_LOAD_SLOTS; slot++)
        for (int i = 0; i < KF_LOAD_SUMS; i++)
            total[i] += (unsigned long long)sums[slot][i];
    const bool sound = total[KF_LOAD_SUMS - 1] == 0;
    for (int i = 0; i < 3; i++) {
        load->force[i] = sound ? (double)(long long)total[i] / KF_FORCE_SCALE : (double)NAN;
        load->torque[i] = sound ? (double)(long long)total[i + 3] / KF_TORQUE_SCALE : (double)NAN;
    }
}

/* Asks the device for the sums of the last step, which no step works out by itself. */
kf_status kf_kinetic_solid_loads(kf_plan *plan, kf_solid_load *loads, kf_error *error) {
    kf_kinetic *kinetic = plan->system;
    const size_t solids = (size_t)kf_plan_scene(plan)->solid_count,
                 bytes = solids * sizeof(long long[KF_LOAD_SLOTS][KF_LOAD_SUMS]);
    memset(loads, 0, solids * sizeof *loads);
    if (plan->steps_done == 0) return KF_OK;
    long long(*sums)[KF_LOAD_SLOTS][KF_LOAD_SUMS] = kf_allocate(bytes);
    kf_status status = kf_buffer_fill(kinetic->solid_loads, 0, error);
    if (status == KF_OK) status = kf_backend_launch(plan->backend, &kinetic->solids_launch, error);
    if (status == KF_OK) status = kf_backend_synchronize(plan->backend, error);
    if (status == KF_OK) status = kf_buffer_download(kinetic->solid_loads, 0, sums, bytes, error);
    for (size_t s = 0; s < solids && status == KF_OK; s++)
        add_up(sums[s], &loads[s]);
    free(sums);
    return status;
}
