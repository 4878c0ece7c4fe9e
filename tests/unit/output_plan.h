/* A plan without physics for tests of the code around plans. It has no launches on a real backend, a state
 * of a few bytes, and potential flow as its fields. */
#ifndef KF_TESTS_UNIT_OUTPUT_PLAN_H
#define KF_TESTS_UNIT_OUTPUT_PLAN_H

#include "base/util/memory.h"
#include "tests/unit/output_scene.h"

enum { STATE_BYTES = 4096 };
typedef struct quiet_system {
    unsigned char state[STATE_BYTES];
    uint64_t blow_up_at;   /* step from which the fields hold a NAN; 0: never */
    uint64_t held_at;      /* step from which the solid's load is refused; 0: never */
    uint64_t interrupt_at; /* step at which the force sets interrupted; 0: never */
    volatile int interrupted;
} quiet_system;

static inline kf_status quiet_initialise(kf_plan *plan, kf_error *error) {
    (void)error;
    quiet_system *quiet = plan->system;
    for (int i = 0; i < STATE_BYTES; i++)
        quiet->state[i] = (unsigned char)(i * 7);
    return KF_OK;
}

static inline kf_status quiet_fields(kf_plan *plan, kf_fields *fields, kf_error *error) {
    (void)error;
    const quiet_system *quiet = plan->system;
    make_fields(kf_plan_scene(plan), fields);
    if (quiet->blow_up_at && plan->steps_done >= quiet->blow_up_at) fields->density[49] = NAN;
    return KF_OK;
}

static inline kf_status quiet_watch(kf_plan *plan, kf_error *error) {
    kf_fields fields;
    KF_TRY(quiet_fields(plan, &fields, error));
    const kf_status status = kf_fields_check(kf_plan_scene(plan), &fields, plan->steps_done, error);
    kf_fields_free(&fields);
    return status;
}

static inline kf_status quiet_load(kf_plan *plan, kf_solid_load *load, kf_error *error) {
    (void)error;
    quiet_system *quiet = plan->system;
    *load = (kf_solid_load){.force = {0.25 + (double)plan->steps_done, 0.5, -0.125}, .torque = {1, 2, 3}};
    if (quiet->held_at && plan->steps_done >= quiet->held_at)
        return kf_fail(error, KF_BAD_INPUT, "the free solid is held");
    if (quiet->interrupt_at && plan->steps_done >= quiet->interrupt_at) quiet->interrupted = 1;
    return KF_OK;
}

/* Returns a pose that follows the steps. */
static inline kf_status quiet_pose(kf_plan *plan, kf_solid_pose *pose, kf_error *error) {
    (void)error;
    *pose = (kf_solid_pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .quaternion = {1, 0, 0, 0}};
    pose->center[0] = 20 + (double)plan->steps_done;
    pose->velocity[0] = 1;
    return KF_OK;
}

static inline kf_status quiet_state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    (void)plan, (void)error;
    *bytes = STATE_BYTES;
    return KF_OK;
}

static inline kf_status quiet_save(kf_plan *plan, void *state, kf_error *error) {
    (void)error;
    memcpy(state, ((quiet_system *)plan->system)->state, STATE_BYTES);
    return KF_OK;
}

static inline kf_status quiet_restore(kf_plan *plan, const void *state, uint64_t step, kf_error *error) {
    (void)error;
    memcpy(((quiet_system *)plan->system)->state, state, STATE_BYTES);
    plan->steps_done = step;
    return KF_OK;
}

static inline void quiet_free(kf_plan *plan) {
    (void)plan;
}

/* Writes the same potential flow on the device. */
static inline kf_status quiet_velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error) {
    kf_fields fields;
    make_fields(kf_plan_scene(plan), &fields);
    size_t count = (size_t)fields.nodes[0] * (size_t)fields.nodes[1] * (size_t)fields.nodes[2];
    float *interleaved = kf_allocate_zeroed(count, 4 * sizeof(float));
    for (size_t node = 0; node < count; node++) {
        for (size_t a = 0; a < 3; a++)
            interleaved[4 * node + a] = fields.velocity[a][node];
    }
    kf_status status = kf_buffer_upload(buffer, 0, interleaved, 4 * count * sizeof(float), error);
    free(interleaved);
    kf_fields_free(&fields);
    return status;
}

static const kf_flow_methods quiet_flow = {
    .fields = quiet_fields, .velocity = quiet_velocity, .load = quiet_load, .pose = quiet_pose};

static const kf_plan_methods quiet_methods = {.initialise = quiet_initialise,
                                              .snapshot = kf_flow_snapshot,
                                              .record = kf_flow_record,
                                              .watch = quiet_watch,
                                              .time = kf_flow_time,
                                              .flow = &quiet_flow,
                                              .state_size = quiet_state_size,
                                              .save = quiet_save,
                                              .restore = quiet_restore,
                                              .free = quiet_free};

static const kf_system quiet_runner = {.name = "quiet", .update = "node"};

/* Makes a plan. The backend may be NULL if the plan is not advanced. */
static inline kf_plan *make_quiet_plan(const kf_scene *scene, kf_backend *backend) {
    const kf_config empty = {.count = 0};
    kf_plan *plan =
        kf_plan_create(backend, kf_flow_problem(&quiet_runner, (kf_scene *)(uintptr_t)scene, false), &empty,
                       &quiet_methods, kf_allocate_zeroed(1, sizeof(quiet_system)));
    plan->graph_steps = -1;
    plan->updates = (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
    kf_copy_text(plan->config.system, sizeof plan->config.system, "quiet");
    kf_config_set_name(&plan->config, "storage", "f32");
    kf_config_set_integer(&plan->config, "alpha", 8);
    return plan;
}

static inline void free_quiet_plan(kf_plan *plan) {
    kf_problem_free((kf_problem *)(uintptr_t)plan->problem);
    free(plan->system);
    free(plan);
}

#endif
