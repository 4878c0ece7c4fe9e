/* Scenes of suites that are another scene with something changed, and share its samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_problem.h"
#include "solver/flow/flow_suite.h"

/* A changed problem contains a scene. These members of it belong to this problem only. */
typedef struct changed_scene {
    /* It comes first, because kf_problem_scene finds it there. */
    kf_scene scene;
    double *x, *y, *z, *area, *vertices;
    const kf_device_info *device;
    char *reason;
} changed_scene;

static void free_changed(void *own) {
    changed_scene *made = own;
    free(made->x);
    free(made->y);
    free(made->z);
    free(made->area);
    free(made->vertices);
    free(made);
}

static void refuse(changed_scene *made, const char *reason) {
    if (made->reason[0] == '\0') kf_copy_text(made->reason, 256, reason);
}

static double *scaled(const double *values, size_t count, double factor, double offset) {
    double *copy = kf_allocate(count * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = factor * values[i] + offset;
    return copy;
}

/* --- The changes ---------------------------------------------------------------------------------------- */

/* Raises accuracy to at least this value. 16-bit storage needs it. */
static kf_status accuracy(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    double least = 0;
    KF_TRY(kf_json_number(place, changes, "accuracy", true, KF_DEFAULT_ACCURACY, 0.1, &least, error));
    made->scene.accuracy = fmax(made->scene.accuracy, least);
    return KF_OK;
}

static kf_status collision(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    int chosen = 0;
    KF_TRY(
        kf_json_choice(place, changes, "collision", true, kf_collision_names, KF_COLLISIONS, &chosen, error));
    made->scene.collision = (kf_collision)chosen;
    return KF_OK;
}

static kf_status rates(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    int chosen = 0;
    KF_TRY(kf_json_choice(place, changes, "rates", true, kf_rate_rule_names, KF_RATE_RULES, &chosen, error));
    made->scene.rate_rule = (kf_rate_rule)chosen;
    return KF_OK;
}

static kf_status viscosity(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    return kf_json_number(place, changes, "viscosity", true, 1e-9, 10, &made->scene.viscosity, error);
}

/* without_solid: true. */
static kf_status without_solid(changed_scene *made, const cJSON *changes, kf_json_place place,
                               kf_error *error) {
    bool without = false;
    kf_scene *scene = &made->scene;
    KF_TRY(kf_json_boolean(place, changes, "without_solid", true, &without, error));
    if (!without) return KF_OK;
    memset(&scene->samples, 0, sizeof scene->samples);
    memset(&scene->mesh, 0, sizeof scene->mesh);
    memset(scene->solid_low, 0, sizeof scene->solid_low);
    memset(scene->solid_high, 0, sizeof scene->solid_high);
    scene->solid_area = scene->frontal_area = 0.0;
    return KF_OK;
}

/* The change turn_steps moves the body to the middle of the domain and turns it about its length. Its rim
 * stays slower than sound. */
static kf_status turn_steps(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    static const double PI = 3.14159265358979323846;
    kf_scene *scene = &made->scene;
    double steps = 0;
    KF_TRY(kf_json_number(place, changes, "turn_steps", true, 1, 1e9, &steps, error));
    const double middle = 0.5 * (scene->nodes[2] - 1);
    const double lift = middle - 0.5 * (scene->solid_low[2] + scene->solid_high[2]);
    made->z = scaled(scene->samples.z, scene->samples.count, 1.0, lift);
    made->vertices = scaled(scene->mesh.vertices, 3 * scene->mesh.vertex_count, 1.0, 0.0);
    for (size_t v = 0; v < scene->mesh.vertex_count; v++)
        made->vertices[3 * v + 2] += lift;
    scene->samples.z = made->z;
    scene->mesh.vertices = made->vertices;
    scene->solid_low[2] += lift;
    scene->solid_high[2] += lift;
    kf_motion *motion = &scene->motion;
    *motion = (kf_motion){.moving = true, .axis = {1, 0, 0}, .angular_speed = 2.0 * PI / steps};
    double radius = 0;
    for (int a = 0; a < 3; a++) {
        motion->center[a] = 0.5 * (scene->solid_low[a] + scene->solid_high[a]);
        if (a > 0) radius = hypot(radius, 0.5 * (scene->solid_high[a] - scene->solid_low[a]));
    }
    for (int a = 1; a < 3; a++)
        if (motion->center[a] - radius < 1.0 || motion->center[a] + radius > scene->nodes[a] - 2.0)
            refuse(made, "the body has no room to turn in this domain");
    return KF_OK;
}

/* The change more_nodes adds this many nodes to the domain along each axis; negative numbers remove nodes. */
static kf_status more_nodes(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    double more[3] = {0};
    KF_TRY(kf_json_numbers(place, changes, "more_nodes", true, -1e4, 1e4, 3, more, error));
    for (int a = 0; a < 3; a++)
        made->scene.nodes[a] += (int)more[a];
    return KF_OK;
}

/* The change nodes puts the unchanged body into a domain of this many nodes, which contains the old domain.
 */
static kf_status nodes(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    double wanted[3] = {0};
    KF_TRY(kf_json_numbers(place, changes, "nodes", true, 1, 1 << 20, 3, wanted, error));
    for (int a = 0; a < 3; a++) {
        if (wanted[a] < made->scene.nodes[a]) refuse(made, "the scene that it is made of is larger");
        made->scene.nodes[a] = (int)wanted[a];
    }
    return KF_OK;
}

/* Cells that hold a sample when the samples are scaled about the lower corner of their box. */
static double occupied_cells(const kf_scene *scene, double scale) {
    const kf_samples *samples = &scene->samples;
    const double *low = scene->solid_low, *high = scene->solid_high;
    size_t extent[3];
    for (int a = 0; a < 3; a++)
        extent[a] = (size_t)(scale * (high[a] - low[a])) + 3;
    unsigned char *cells = kf_allocate_zeroed(extent[0] * extent[1], extent[2]);
    double occupied = 0;
    for (size_t s = 0; s < samples->count; s++) {
        const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
        size_t cell[3];
        for (int a = 0; a < 3; a++) {
            const double inside = floor(scale * (position[a] - low[a]) + (low[a] - floor(low[a])));
            cell[a] = inside < 0 ? 0 : (size_t)fmin(inside, (double)extent[a] - 1);
        }
        unsigned char *place = &cells[cell[0] + extent[0] * (cell[1] + extent[1] * cell[2])];
        occupied += *place == 0;
        *place = 1;
    }
    free(cells);
    return occupied;
}

/* The change samples_in_a_cell scales the body until a cell with samples has this many, to a tenth. The
 * domain just contains the body. */
static kf_status samples_in_a_cell(changed_scene *made, const cJSON *changes, kf_json_place place,
                                   kf_error *error) {
    enum { MARGIN = 8, ATTEMPTS = 6 };
    kf_scene *scene = &made->scene;
    const kf_samples samples = scene->samples;
    double scale = 1.0, wanted = 0;
    KF_TRY(kf_json_number(place, changes, "samples_in_a_cell", true, 1, 1000, &wanted, error));
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        const double reached = (double)samples.count / occupied_cells(scene, scale);
        if (fabs(reached / wanted - 1.0) <= 0.1) break;
        scale *= sqrt(reached / wanted);
    }
    double *const coordinates[3] = {samples.x, samples.y, samples.z};
    double **const own[3] = {&made->x, &made->y, &made->z};
    for (int a = 0; a < 3; a++) {
        const double low = scene->solid_low[a], fraction = low - floor(low),
                     length = scene->solid_high[a] - low;
        *own[a] = scaled(coordinates[a], samples.count, scale, MARGIN + fraction - scale * low);
        scene->solid_low[a] = MARGIN + fraction;
        scene->solid_high[a] = scene->solid_low[a] + scale * length;
        scene->nodes[a] = (int)ceil(scene->solid_high[a]) + MARGIN;
    }
    made->area = scaled(samples.area, samples.count, scale * scale, 0.0);
    scene->samples = (kf_samples){samples.count, made->x, made->y, made->z, made->area, .solid = NULL};
    scene->solid_area *= scale * scale;
    return KF_OK;
}

/* The change cache_bytes_a_node makes the domain the largest cube of multiples of 8 nodes that fills 0.6
 * of the last-level cache. */
static kf_status cache_bytes_a_node(changed_scene *made, const cJSON *changes, kf_json_place place,
                                    kf_error *error) {
    enum { LEAST_EDGE = 16 };
    static const double filled = 0.6;
    double bytes = 0;
    KF_TRY(kf_json_number(place, changes, "cache_bytes_a_node", true, 1, 1e6, &bytes, error));
    const int edge = (int)cbrt(filled * (double)made->device->l2_bytes / bytes) / 8 * 8;
    if (edge < LEAST_EDGE) refuse(made, "the last-level cache is too small, or not known");
    for (int a = 0; a < 3; a++)
        made->scene.nodes[a] = edge;
    return KF_OK;
}

/* The changes, in the order of their use. */
static const struct {
    const char *key;
    kf_status (*make)(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error);
    /* The change needs a solid. */
    bool of_solid;
} table[] = {{"accuracy", accuracy, false},
             {"collision", collision, false},
             {"rates", rates, false},
             {"viscosity", viscosity, false},
             {"without_solid", without_solid, false},
             {"more_nodes", more_nodes, false},
             {"nodes", nodes, false},
             {"turn_steps", turn_steps, true},
             {"samples_in_a_cell", samples_in_a_cell, true},
             {"cache_bytes_a_node", cache_bytes_a_node, false}};
enum { CHANGES = sizeof table / sizeof *table };

/* --- The problem ---------------------------------------------------------------------------------------- */

static kf_status apply(changed_scene *made, const cJSON *changes, kf_json_place place, kf_error *error) {
    const char *keys[CHANGES + 1] = {NULL};
    for (int i = 0; i < CHANGES; i++)
        keys[i] = table[i].key;
    KF_TRY(kf_json_check_keys(place, changes, keys, error));
    for (int i = 0; i < CHANGES; i++) {
        if (!cJSON_HasObjectItem(changes, table[i].key)) continue;
        if (table[i].of_solid && made->scene.samples.count == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: the scene has no solid", place.file, place.path,
                           table[i].key);
        KF_TRY(table[i].make(made, changes, place, error));
    }
    return KF_OK;
}

kf_status kf_flow_change(const kf_problem *from, const cJSON *changes, kf_json_place place,
                         const kf_device_info *device, kf_problem **changed, char reason[256],
                         kf_error *error) {
    if (kf_problem_scene(from)->finer_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: changes of a scene are for one grid, and this one is nested", place.file,
                       place.path);
    if (kf_problem_scene(from)->solid_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: changes of a scene are for one solid, and this one has several", place.file,
                       place.path);
    changed_scene *made = kf_allocate_zeroed(1, sizeof *made);
    made->scene = *kf_problem_scene(from);
    made->scene.notes = NULL;
    made->device = device;
    made->reason = reason;
    *changed = NULL;
    reason[0] = '\0';
    const kf_status status = apply(made, changes, place, error);
    if (status != KF_OK || reason[0] != '\0') {
        free_changed(made);
        return status;
    }
    kf_problem *problem = *changed = kf_flow_problem(from->system, &made->scene, false);
    problem->free_own = free_changed;
    if (made->scene.samples.count > 0)
        kf_facts_number(&problem->facts, "samples_in_a_cell",
                        (double)made->scene.samples.count / occupied_cells(&made->scene, 1.0), "");
    kf_facts_word(&problem->facts, "solid",
                  made->scene.samples.count == 0 ? "none"
                  : made->scene.motion.moving    ? "moving"
                                                 : "static");
    return KF_OK;
}

/* Keeps the angle a step: the rim is then slower, as far as the body is smaller. */
void kf_flow_adjust_trial(const kf_problem *changed, kf_problem *trial) {
    kf_scene *reduced = trial->own;
    reduced->motion.angular_speed = kf_problem_scene(changed)->motion.angular_speed;
}
