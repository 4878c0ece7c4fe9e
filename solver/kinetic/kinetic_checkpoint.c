/* Checkpoints of a kinetic plan. They hold averages, outflow, listed nodes, links, pose, samples' order, and
 * populations or moments [z][i][y][x], whatever the number of parts and processes. */
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_link.h"
#include "solver/kinetic/kinetic.h"

static kf_kinetic *kinetic_of(const kf_plan *plan) {
    return plan->system;
}

static int smaller(int left, int right) {
    return left < right ? left : right;
}

typedef struct state_part {
    /* NULL: the list, which kinetic_list.c makes. */
    kf_buffer *buffer;
    size_t bytes;
} state_part;

enum { SMALL_PARTS = 10 };
/* Lists the small buffers that every part of a team has the same. */
static int small_parts(const kf_plan *plan, const kf_kinetic *kinetic, state_part parts[SMALL_PARTS]) {
    int count = 0;
    if (kinetic->averages != NULL) parts[count++] = (state_part){kinetic->averages, 3 * kinetic->real_bytes};
    if (kinetic->outflow[0] != NULL)
        parts[count++] = (state_part){kinetic->outflow[plan->steps_done % 2], kinetic->outflow_bytes};
    if (kinetic->listed_all > 0) parts[count++] = (state_part){NULL, kf_kinetic_list_bytes(kinetic)};
    if (kinetic->link_memory != NULL)
        parts[count++] = (state_part){kinetic->link_memory,
                                      kf_kinetic_link_bytes(kinetic, kf_plan_scene(plan)->links.count)};
    for (int i = 0; i < 2 && kinetic->layer[i] != NULL; i++)
        parts[count++] = (state_part){kinetic->layer[i], kinetic->layer_bytes[i]};
    if (kinetic->pose != NULL) parts[count++] = (state_part){kinetic->pose, sizeof(kf_pose)};
    if (kinetic->moving_mass != NULL)
        parts[count++] = (state_part){kinetic->moving_mass, sizeof(kf_moving_mass)};
    if (kinetic->solid_poses != NULL)
        parts[count++] =
            (state_part){kinetic->solid_poses, (size_t)kinetic->arguments.solids.count * sizeof(kf_pose)};
    return count;
}

static size_t plane_bytes(const kf_plan *plan) {
    return (size_t)kinetic_of(plan)->node_values * (size_t)kf_plan_scene(plan)->nodes[0] *
           (size_t)kf_plan_scene(plan)->nodes[1] * kinetic_of(plan)->store_bytes;
}

kf_status kf_kinetic_state_size(kf_plan *plan, size_t *bytes, kf_error *error) {
    (void)error;
    state_part parts[SMALL_PARTS];
    int count = small_parts(plan, kinetic_of(plan), parts);
    *bytes = plane_bytes(plan) * (size_t)kf_plan_scene(plan)->nodes[2];
    for (int i = 0; i < count; i++)
        *bytes += parts[i].bytes;
    return KF_OK;
}

/* Planes that fit the slab buffer, which was made for four values a node. */
static int checkpoint_planes(const kf_plan *plan) {
    int planes = kinetic_of(plan)->slab_planes * 4 / kinetic_of(plan)->node_values;
    return planes > 0 ? planes : 1;
}

/* Brings what waits outside of a part's nodes from what the part keeps. */
static void take_outflow(const kf_plan *plan, const kf_kinetic *kinetic, const char *kept, char *all) {
    const kf_scene *scene = kf_plan_scene(plan);
    const int *n = scene->nodes, first[3] = {0, kinetic->first_row, kinetic->first_plane},
              count[3] = {n[0], kinetic->rows, kinetic->planes};
    for (int face = 0; face < KF_FACES; face++) {
        const int axis = face / 2, u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2,
                  edge = face % 2 == 1 ? n[axis] - 1 : 0;
        if (scene->faces[face] != KF_OUTFLOW || edge < first[axis] || edge >= first[axis] + count[axis])
            continue;
        const size_t value = kinetic->real_bytes, row = (size_t)n[u] * value,
                     start =
                         (size_t)kinetic->arguments.outflow.start[face] * value + (size_t)first[u] * value;
        for (int i = 0; i < 9; i++)
            for (int line = first[v]; line < first[v] + count[v]; line++) {
                const size_t at = start + row * ((size_t)i * (size_t)n[v] + (size_t)line);
                memcpy(all + at, kept + at, (size_t)count[u] * value);
            }
    }
}

/* Gathers what waits outside of outflows, of all parts of all processes. */
static kf_status gather_outflow(kf_plan *plan, char *all, kf_error *error) {
    const kf_kinetic *kinetics = kinetic_of(plan);
    const size_t bytes = kinetics->outflow_bytes;
    char *kept = kf_allocate(bytes), *merged = kf_allocate_zeroed(bytes + sizeof(int64_t), 1);
    kf_status status = KF_OK;
    for (int part = 0; part < plan->part_count && status == KF_OK; part++) {
        const kf_kinetic *kinetic = &kinetics[part];
        status = kf_buffer_download(kinetic->outflow[plan->steps_done % 2], 0, kept, bytes, error);
        if (status == KF_OK) take_outflow(plan, kinetic, kept, merged);
    }
    if (status == KF_OK) status = kf_world_merge(merged, bytes, error);
    if (all != NULL) memcpy(all, merged, bytes);
    free(merged);
    free(kept);
    return status;
}

/* Brings a grid's own rows of planes [i][y][x] from a buffer of whole planes. */
static kf_status take_rows(const kf_plan *plan, int grid, int planes, char *target, kf_error *error) {
    const kf_kinetic *kinetic = &kinetic_of(plan)[grid];
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t bytes = plane_bytes(plan) * (size_t)planes, row = (size_t)n[0] * kinetic->store_bytes,
                 sheets = (size_t)planes * (size_t)kinetic->node_values;
    if (kinetic->rows == n[1]) return kf_buffer_download(kinetic->slab, 0, target, bytes, error);
    char *all = kf_allocate(bytes);
    const kf_status status = kf_buffer_download(kinetic->slab, 0, all, bytes, error);
    for (size_t sheet = 0; sheet < sheets; sheet++) {
        const size_t at = row * (sheet * (size_t)n[1] + (size_t)kinetic->first_row);
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the first process has all */
        memcpy(target + at, all + at, row * (size_t)kinetic->rows);
    }
    free(all);
    return status;
}

/* Brings this process's own planes of all grids. */
static kf_status take_own_planes(kf_plan *plan, char *all, kf_error *error) {
    const int step = checkpoint_planes(plan);
    for (int grid = 0; grid < kf_kinetic_grids(plan); grid++) {
        int begin, end;
        kf_kinetic_own_planes(plan, grid, &begin, &end);
        for (int first = begin, planes = 0; first < end; first += planes) {
            planes = smaller(end - first, step);
            KF_TRY(kf_kinetic_on_slab(plan, "pack", grid, first, planes, false, error));
            KF_TRY(take_rows(plan, grid, planes, all + plane_bytes(plan) * (size_t)first, error));
        }
    }
    return KF_OK;
}

/* Rows of a box between whole planes [sheet][y][..] and themselves alone, one after the other. */
static void move_rows(const kf_plan *plan, const kf_kinetic_box *box, int planes, char *whole, char *alone,
                      bool out) {
    const kf_kinetic *kinetic = kinetic_of(plan);
    const int *n = kf_plan_scene(plan)->nodes;
    const size_t row = (size_t)n[0] * kinetic->store_bytes, own = row * (size_t)box->count[0];
    for (size_t sheet = 0; sheet < (size_t)planes * (size_t)kinetic->node_values; sheet++) {
        char *place = whole + row * (sheet * (size_t)n[1] + (size_t)box->first[0]);
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the first process has all */
        memcpy(out ? alone + own * sheet : place, out ? place : alone + own * sheet, own);
    }
}

/* Sends some planes of a part from its process to the first one, which passes them to all. */
static kf_status send_planes(kf_plan *plan, int number, const kf_kinetic_box *box, int first, int planes,
                             char *all, kf_error *error) {
    const kf_kinetic *kinetic = kinetic_of(plan);
    const int process = kf_flow_link_process(kinetic->link, number);
    const size_t plane = plane_bytes(plan), whole = plane * (size_t)planes,
                 bytes = whole / (size_t)kf_plan_scene(plan)->nodes[1] * (size_t)box->count[0];
    kf_status status = KF_OK;
    if (kf_world_rank() != process && kf_world_rank() != 0) return KF_OK;
    char *alone = kf_allocate(bytes);
    if (kf_world_rank() == process) {
        const int grid = kf_kinetic_grids(plan) > 1 ? number - plan->first_part : 0;
        char *taken = kf_allocate(whole);
        status = kf_kinetic_on_slab(plan, "pack", grid, first, planes, false, error);
        if (status == KF_OK) status = take_rows(plan, grid, planes, taken, error);
        move_rows(plan, box, planes, taken, alone, true);
        free(taken);
        if (status == KF_OK) status = kf_flow_pass(0, true, alone, bytes, error);
    } else {
        status = kf_flow_pass(process, false, alone, bytes, error);
        if (status == KF_OK) move_rows(plan, box, planes, all + plane * (size_t)first, alone, false);
    }
    free(alone);
    return status;
}

/* Collects the planes of all processes in the first one. The others send theirs, because they have no memory
 * for the whole domain. */
static kf_status collect_planes(kf_plan *plan, char *all, kf_error *error) {
    const kf_kinetic *kinetics = kinetic_of(plan);
    const int step = checkpoint_planes(plan);
    kf_kinetic_box boxes[KF_MOST_PARTS];
    kf_kinetic_cut_all(kf_plan_scene(plan), &kinetics->options, boxes);
    if (kf_world_rank() == 0) KF_TRY(take_own_planes(plan, all, error));
    for (int number = 0; number < plan->all_parts; number++) {
        const kf_kinetic_box *box = &boxes[number];
        const int end = box->first[1] + box->count[1];
        if (kf_world_size() == 1 || kf_flow_link_process(kinetics->link, number) == 0) continue;
        for (int first = box->first[1], planes = 0; first < end; first += planes) {
            planes = smaller(end - first, step);
            KF_TRY(send_planes(plan, number, box, first, planes, all, error));
        }
    }
    return KF_OK;
}

/* Saves what is not a field: the small buffers of the first part, and the outflows of all. state is NULL in
 * all processes but the first. */
static kf_status save_small_parts(kf_plan *plan, char *state, size_t *list_at, size_t *bytes,
                                  kf_error *error) {
    const kf_kinetic *kinetic = kinetic_of(plan);
    state_part parts[SMALL_PARTS];
    const int count = small_parts(plan, kinetic, parts);
    *bytes = 0;
    for (int i = 0; i < count; *bytes += parts[i++].bytes) {
        char *target = state != NULL ? state + *bytes : NULL;
        const bool list = parts[i].buffer == NULL, links = !list && parts[i].buffer == kinetic->link_memory;
        if (list) *list_at = *bytes;
        if (!list && !links && target != NULL)
            KF_TRY(kf_buffer_download(parts[i].buffer, 0, target, parts[i].bytes, error));
        if (links) KF_TRY(kf_kinetic_save_links(plan, target, error));
        if (!list && parts[i].buffer == kinetic->outflow[plan->steps_done % 2] && plan->all_parts > 1)
            KF_TRY(gather_outflow(plan, target, error));
    }
    return KF_OK;
}

/* Saves the populations with a list. All processes need all planes, to count the nodes before their own. */
static kf_status save_with_list(kf_plan *plan, char *state, size_t list_at, size_t before, kf_error *error) {
    const size_t planes = plane_bytes(plan) * (size_t)kf_plan_scene(plan)->nodes[2];
    char *whole = state != NULL ? NULL : kf_allocate(before + planes),
         *target = state != NULL ? state : whole;
    kf_status status = take_own_planes(plan, target + before, error);
    if (status == KF_OK)
        status = kf_kinetic_gather_planes(plan, target + before, plane_bytes(plan),
                                          kinetic_of(plan)->node_values, error);
    if (status == KF_OK) status = kf_kinetic_save_list(plan, target + list_at, target + before, error);
    free(whole);
    return status;
}

kf_status kf_kinetic_save(kf_plan *plan, void *state, kf_error *error) {
    size_t list_at = 0, before;
    KF_TRY(kf_kinetic_settle_state(plan, error));
    KF_TRY(save_small_parts(plan, state, &list_at, &before, error));
    if (kf_kinetic_list_bytes(kinetic_of(plan)) > 0)
        return save_with_list(plan, state, list_at, before, error);
    KF_TRY(collect_planes(plan, state != NULL ? (char *)state + before : NULL, error));
    /* No process continues before the others have read. */
    return kf_kinetic_settle(plan, error);
}

/* Restores some planes, [z][i][y][x]. With a list, its nodes also get their places on the device. */
static kf_status restore_planes(kf_plan *plan, int grid, const char *source, int first, int planes,
                                kf_list_placing *placing, kf_error *error) {
    kf_buffer *slab = kinetic_of(plan)[grid].slab;
    const size_t bytes = plane_bytes(plan) * (size_t)planes;
    if (placing == NULL) return kf_buffer_upload(slab, 0, source, bytes, error);
    char *words = kf_allocate(bytes);
    memcpy(words, source, bytes);
    kf_kinetic_place_listed(placing, grid, first, planes, words);
    const kf_status status = kf_buffer_upload(slab, 0, words, bytes, error);
    free(words);
    return status;
}

/* Restores a grid from all populations, [z][i][y][x]. */
static kf_status restore_grid(kf_plan *plan, int grid, const char *source, kf_list_placing *placing,
                              kf_error *error) {
    int range[KF_PLANE_RANGES][2];
    const int ranges = kf_kinetic_kept_planes(plan, grid, range), step = checkpoint_planes(plan);
    const size_t plane = plane_bytes(plan);
    for (int r = 0; r < ranges; r++)
        for (int first = range[r][0], planes = 0; first < range[r][1]; first += planes) {
            planes = smaller(range[r][1] - first, step);
            KF_TRY(restore_planes(plan, grid, source + plane * (size_t)first, first, planes, placing, error));
            KF_TRY(kf_kinetic_on_slab(plan, "unpack", grid, first, planes, true, error));
        }
    return KF_OK;
}

static kf_status restore_grids(kf_plan *plan, const char *source, const char *list, kf_error *error) {
    kf_status status = KF_OK;
    kf_list_placing placing;
    if (list != NULL) kf_kinetic_begin_placing(&placing, plan, list);
    for (int grid = 0; grid < kf_kinetic_grids(plan) && status == KF_OK; grid++)
        status = restore_grid(plan, grid, source, list != NULL ? &placing : NULL, error);
    return list != NULL ? kf_kinetic_end_placing(&placing, status, error) : status;
}

static kf_status restore_part(const kf_plan *plan, const kf_kinetic *kinetic, const state_part *part,
                              const char *source, kf_error *error) {
    return part->buffer == kinetic->link_memory
               ? kf_kinetic_restore_links(plan, kinetic, source, error)
               : kf_buffer_upload(part->buffer, 0, source, part->bytes, error);
}

/* Restores a checkpoint. Each part gets the small buffers, and then the grids, with the list's nodes at the
 * places of this plan. At step 0 the solid is where its own scene has it, because the flow may be that of
 * another scene. */
kf_status kf_kinetic_restore(kf_plan *plan, const void *state, uint64_t steps, kf_error *error) {
    kf_kinetic *kinetic = kinetic_of(plan);
    const char *source = state, *list = NULL;
    KF_TRY(kf_kinetic_initialise(plan, error));
    /* The number of steps decides where the parts are. */
    plan->steps_done = steps;
    state_part parts[SMALL_PARTS];
    int count = 0;
    for (int part = 0; part < plan->part_count; part++) {
        count = small_parts(plan, &kinetic[part], parts);
        source = state;
        for (int i = 0; i < count; source += parts[i++].bytes)
            if (parts[i].buffer == NULL)
                list = source;
            else if (steps > 0 ||
                     (parts[i].buffer != kinetic[part].pose && parts[i].buffer != kinetic[part].solid_poses))
                KF_TRY(restore_part(plan, &kinetic[part], &parts[i], source, error));
    }
    KF_TRY(restore_grids(plan, source, list, error));
    KF_TRY(kf_kinetic_settle(plan, error));
    return KF_OK;
}
