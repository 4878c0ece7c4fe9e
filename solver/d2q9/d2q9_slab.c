/* Processes that do not reach each other's memory, on several hosts. Each has only its own rows, a slab, and
 * copies of the neighbouring rows on both sides. In every step the rows beside the cuts are packed [y][i][x]
 * and sent by MPI. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/flow/flow_link.h"
#include "solver/flow/flow_problem.h"

kf_status kf_d2q9_check_slab(const kf_plan *plan, const kf_d2q9_options *options, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    if (scene->nodes[1] / plan->all_parts < KF_D2Q9_BESIDE)
        return kf_fail(error, KF_BAD_INPUT,
                       "%d devices are too many for %d rows: of several hosts each device has %d or more",
                       plan->all_parts, scene->nodes[1], KF_D2Q9_BESIDE);
    if (options->plan == KF_D2Q9_IN_PLACE && options->folded_boundary && !options->full_way &&
        kf_d2q9_has_solid(scene))
        return kf_fail(error, KF_BAD_INPUT,
                       "plan inplace with folded_boundary and solid nodes that bounce back half-way runs on "
                       "one host; use a config with folded_boundary=false");
    return KF_OK;
}

/* --- Making -------------------------------------------------------------------------------------------- */

static size_t side_bytes(const kf_plan *plan, const kf_d2q9 *system) {
    return 9 * (size_t)KF_D2Q9_BESIDE * (size_t)kf_plan_scene(plan)->nodes[0] * system->store_bytes;
}

/* Returns the process on that side, or -1. */
static int process_beside(const kf_plan *plan, const kf_d2q9 *system, int side) {
    const bool ring = kf_plan_scene(plan)->faces[KF_YMIN] == KF_PERIODIC;
    const int parts = plan->all_parts,
              number = side == KF_D2Q9_BELOW ? plan->first_part - 1 : plan->first_part + plan->part_count;
    if (!ring && (number < 0 || number >= parts)) return -1;
    return kf_flow_link_process(system->link, (number + parts) % parts);
}

/* Makes the buffers and the two messages of one side, on the host too when messages cannot be on the device.
 * Without a process there it makes nothing. */
static kf_status make_side(kf_plan *plan, kf_d2q9 *system, int side, kf_error *error) {
    kf_d2q9_side *s = &system->sides[side];
    const size_t bytes = side_bytes(plan, system);
    const int other = process_beside(plan, system, side);
    if (other < 0) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, bytes, &s->packed, error));
    KF_TRY(kf_plan_buffer(plan, bytes, &s->taken, error));
    s->sent = s->packed;
    s->come = s->taken;
    if (!kf_flow_link_takes_device_memory(plan)) {
        KF_TRY(kf_plan_on_host(plan, bytes, &s->sent, error));
        KF_TRY(kf_plan_on_host(plan, bytes, &s->come, error));
    }
    /* Two processes may be neighbours on both sides, so the tag is the receiver's side. */
    kf_flow_link_add(system->link, &(kf_message){other, 1 - side, true, kf_buffer_address(s->sent), bytes});
    kf_flow_link_add(system->link, &(kf_message){other, side, false, kf_buffer_address(s->come), bytes});
    return KF_OK;
}

kf_status kf_d2q9_make_sides(kf_plan *plan, kf_d2q9 *system, kf_error *error) {
    if (!system->options.slab) return KF_OK;
    system->link = kf_flow_link_make(plan);
    for (int side = 0; side < 2; side++)
        KF_TRY(make_side(plan, system, side, error));
    const int links = system->arguments.link_count;
    return links > 0 ? kf_plan_buffer(plan, (size_t)links * system->real_bytes, &system->link_values, error)
                     : KF_OK;
}

/* --- A step -------------------------------------------------------------------------------------------- */

static void schedule(kf_item *item, int parity, int lane) {
    item->period = 2;
    item->phase = parity;
    item->lane = lane;
}

/* Rows of the grid that a step of that parity leaves, between it and a buffer. */
static kf_status append_rows(kf_plan *plan, const kf_d2q9 *system, const char *name, int first, int parity,
                             int lane, const kf_buffer *packed, kf_error *error) {
    const uint64_t after = (uint64_t)parity + 1;
    const int block[3] = {64, 1, 1};
    kf_d2q9_arguments a = system->arguments;
    kf_function *function;
    kf_launch launch;
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_STATE], name, &function, error));
    a.scheme = kf_d2q9_scheme(system, after);
    a.source = kf_buffer_address(system->populations[kf_d2q9_grid(system, after)]);
    a.extent[0] = a.nodes[0];
    a.extent[1] = KF_D2Q9_BESIDE;
    a.extent[2] = 1;
    a.first_row = first;
    a.compact = kf_buffer_address(packed);
    kf_launch_set(&launch, name, function, block, &a, sizeof a);
    kf_item *item = kf_plan_add_kernel(plan, &launch);
    schedule(item, parity, lane);
    item->bytes = 2.0 * (double)side_bytes(plan, system);
    return KF_OK;
}

static void append_copy(kf_plan *plan, const kf_d2q9 *system, const char *name, kf_buffer *target,
                        const kf_buffer *source, int parity, int lane) {
    const kf_copy copy = {.target = target, .source = source, .bytes = side_bytes(plan, system), .rows = 1};
    if (target != source) schedule(kf_plan_add_copy(plan, name, &copy), parity, lane);
}

kf_status kf_d2q9_append_send(kf_plan *plan, const kf_d2q9 *system, int parity, int lane, kf_error *error) {
    const int first = system->geometry.first_row,
              rows[2] = {first, first + system->geometry.rows - KF_D2Q9_BESIDE};
    for (int side = 0; side < 2; side++) {
        const kf_d2q9_side *s = &system->sides[side];
        if (s->packed == NULL) continue;
        KF_TRY(append_rows(plan, system, "pack", rows[side], parity, lane, s->packed, error));
        append_copy(plan, system, "to_host", s->sent, s->packed, parity, lane);
    }
    return KF_OK;
}

void kf_d2q9_append_post(kf_plan *plan, const kf_d2q9 *system, int parity, int lane) {
    const kf_call call = {.enqueue = kf_flow_link_post, .object = system->link};
    schedule(kf_plan_add_call(plan, "post_rows", &call), parity, lane);
}

kf_status kf_d2q9_append_take(kf_plan *plan, const kf_d2q9 *system, int parity, int lane, kf_error *error) {
    const int first = system->geometry.first_row,
              rows[2] = {first - KF_D2Q9_BESIDE, first + system->geometry.rows};
    const kf_call call = {.enqueue = kf_flow_link_await, .object = system->link};
    schedule(kf_plan_add_call(plan, "await_rows", &call), parity, lane);
    for (int side = 0; side < 2; side++) {
        const kf_d2q9_side *s = &system->sides[side];
        if (s->packed == NULL) continue;
        append_copy(plan, system, "from_host", s->taken, s->come, parity, lane);
        KF_TRY(append_rows(plan, system, "unpack", rows[side], parity, lane, s->taken, error));
    }
    return KF_OK;
}

/* --- The force ----------------------------------------------------------------------------------------- */

/* Reads the values of this process's links. The places of the others do not change. */
static kf_status read_own_links(kf_plan *plan, kf_d2q9_arguments a, char *values, kf_error *error) {
    const kf_d2q9 *system = plan->system;
    const size_t at = (size_t)system->first_link * system->real_bytes;
    const int block[3] = {64, 1, 1};
    kf_function *function;
    kf_launch launch;
    if (system->own_links == 0) return KF_OK;
    KF_TRY(kf_module_function(system->modules[KF_D2Q9_BOUNDARY], "read_links", &function, error));
    a.links += system->first_link;
    a.compact = (char *)kf_buffer_address(system->link_values) + at;
    a.extent[0] = system->own_links;
    a.extent[1] = a.extent[2] = 1;
    kf_launch_set(&launch, "read_links", function, block, &a, sizeof a);
    KF_TRY(kf_backend_launch(plan->backend, &launch, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    return kf_buffer_download(system->link_values, at, values + at,
                              (size_t)system->own_links * system->real_bytes, error);
}

kf_status kf_d2q9_gather_links(kf_plan *plan, kf_d2q9_arguments a, kf_error *error) {
    const kf_d2q9 *system = plan->system;
    const size_t bytes = (size_t)a.link_count * system->real_bytes;
    char *values = kf_allocate_zeroed(bytes + sizeof(int64_t), 1);
    kf_status status = read_own_links(plan, a, values, error);
    if (status == KF_OK) status = kf_world_merge(values, bytes, error);
    if (status == KF_OK && bytes > 0) status = kf_buffer_upload(system->link_values, 0, values, bytes, error);
    free(values);
    return status;
}
