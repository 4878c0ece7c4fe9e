/* Reads scene files: JSON in SI units. Unknown keys are refused. docs/scene-format.md is the manual. */
#include "scene/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/vector.h"

static const double HUGE_NUMBER = 1e12;
enum { LONGEST_AXIS = 16384 };

int kf_description_inflow(const kf_description *d) {
    int found = -1;
    double fastest = -1.0;
    for (int f = 0; f < KF_FACES; f++) {
        const double speed = d->face_velocity_given[f] ? kf_length(d->face_velocity[f]) : d->speed;
        if (d->faces[f] != KF_INFLOW || speed <= fastest) continue;
        found = f;
        fastest = speed;
    }
    return found;
}

/* Sets the defaults of all that a scene file may leave out. */
void kf_description_defaults(kf_description *d, const char *source) {
    memset(d, 0, sizeof *d);
    kf_copy_text(d->source, sizeof d->source, source);
    for (int f = 0; f < KF_FACES; f++)
        d->faces[f] = f == KF_XMIN ? KF_INFLOW : f == KF_XMAX ? KF_OUTFLOW : KF_FREE_SLIP;
    kf_copy_text(d->solid.path, sizeof d->solid.path, "solid");
    d->solid.scale = 1.0;
    d->solid.motion_axis[2] = 1.0;
    d->lattice_speed = 0.05;
    d->collision = KF_ACM_MRT;
    d->rate_rule = KF_RATE_ADAPTIVE_2020;
    d->high_order_rate = 1.98;
    d->accuracy = KF_DEFAULT_ACCURACY;
    d->immersed_passes = 1;
    d->trip = -1.0;
    d->samples_per_cell = 25.0;
    d->seed = 1;
    d->smoke.seed = 1;
    d->smoke.opacity = 2.0;
}

/* ---- Domain ---- */

static bool has_two(const cJSON *object, const char *key) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsArray(list) && cJSON_GetArraySize(list) == 2;
}

/* Reads the cells along x, y and z. Two numbers give a domain of two dimensions, one cell deep. */
static kf_status read_cells(kf_json_place place, const cJSON *object, int cells[3], bool *given,
                            kf_error *error) {
    *given = cJSON_HasObjectItem(object, "cells");
    const bool flat = has_two(object, "cells");
    double values[3] = {0, 0, flat ? 1 : 0};
    KF_TRY(kf_json_numbers(place, object, "cells", false, 1.0, LONGEST_AXIS, flat ? 2 : 3, values, error));
    for (int a = 0; a < 3; a++) {
        if (values[a] != floor(values[a]))
            return kf_fail(error, KF_BAD_INPUT, "%s: domain.cells: %g is not a whole number of cells",
                           place.file, values[a]);
        cells[a] = (int)values[a];
    }
    return KF_OK;
}

/* Reads domain. It holds two of cells, size and cell_size in metres; all three must agree. */
static kf_status read_domain(const char *file, const cJSON *root, kf_description *d, kf_error *error) {
    static const char *const keys[] = {"cells", "size", "cell_size", NULL};
    const kf_json_place top = {file, ""}, place = {file, "domain"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "domain", true, &object, error));
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    bool cells_given;
    double size[3] = {0};
    KF_TRY(read_cells(place, object, d->cells, &cells_given, error));
    const bool flat = has_two(object, "size");
    KF_TRY(kf_json_numbers(place, object, "size", false, 1e-9, 1e9, flat ? 2 : 3, size, error));
    KF_TRY(kf_json_number(place, object, "cell_size", false, 1e-12, 1e9, &d->cell_size, error));
    if (cells_given + (size[0] > 0.0) + (d->cell_size > 0.0) < 2)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: domain: give two of \"cells\" [nx, ny, nz], \"size\" [x, y, z] in "
                       "metres (both without z in two dimensions) and \"cell_size\" in metres",
                       file);
    if (d->cell_size == 0.0) d->cell_size = size[0] / d->cells[0];
    if (flat) size[2] = d->cell_size;
    for (int a = 0; a < 3; a++) {
        if (!cells_given) {
            const double cells = fmax(1.0, nearbyint(size[a] / d->cell_size));
            if (cells > LONGEST_AXIS)
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: domain: %g cells along %c, at most %d; make cell_size larger", file,
                               cells, "xyz"[a], LONGEST_AXIS);
            d->cells[a] = (int)cells;
        }
        const double length = d->cells[a] * d->cell_size;
        if (size[a] > 0.0 && fabs(length - size[a]) > 0.002 * size[a])
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: domain: %d cells of %g m are %g m along %c, but size says %g m; "
                           "cells are cubes, so make size and cells proportional",
                           file, d->cells[a], d->cell_size, length, "xyz"[a], size[a]);
    }
    return KF_OK;
}

/* ---- Boundaries ---- */

static kf_status read_face(const char *file, const cJSON *object, int face, kf_description *d,
                           kf_error *error) {
    static const char *const keys[] = {"type", "velocity", "profile", "specular_share", NULL};
    static const char *const profiles[] = {"uniform", "parabolic"};
    char path[32];
    (void)snprintf(path, sizeof path, "boundaries.%s", kf_face_names[face]);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, kf_face_names[face]);
    int type = 0;
    if (cJSON_IsObject(value)) {
        const kf_json_place place = {file, path};
        KF_TRY(kf_json_check_keys(place, value, keys, error));
        KF_TRY(kf_json_choice(place, value, "type", true, kf_boundary_names, KF_BOUNDARIES, &type, error));
        d->face_velocity_given[face] = cJSON_HasObjectItem(value, "velocity");
        KF_TRY(kf_json_numbers(place, value, "velocity", false, -1e6, 1e6, 3, d->face_velocity[face], error));
        if (d->face_velocity_given[face] && type != KF_WALL && type != KF_INFLOW)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.velocity: a face of type %s has no velocity of its own; remove the "
                           "key, or make the face a wall or an inflow",
                           file, path, kf_boundary_names[type]);
        int profile = 0;
        KF_TRY(kf_json_choice(place, value, "profile", false, profiles, 2, &profile, error));
        if (profile == 1 && (type != KF_INFLOW || face >= KF_ZMIN || d->cells[2] != 1))
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: %s.profile: only an inflow face of a two-dimensional scene (1 cell along z) has "
                "a profile; remove the key",
                file, path);
        d->parabolic_inflow = d->parabolic_inflow || profile == 1;
        KF_TRY(kf_json_number(place, value, "specular_share", false, 0.0, 0.95, &d->specular_share[face],
                              error));
        if (d->specular_share[face] > 0.0 && type != KF_WALL)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.specular_share: only a wall can reflect a share of the fluid specularly; "
                           "remove the key",
                           file, path);
        if (type == KF_WALL && d->face_velocity[face][face / 2] != 0.0)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: %s.velocity: a wall moves only within its own plane; set the %c component to 0", file,
                path, "xyz"[face / 2]);
    } else {
        const kf_json_place place = {file, "boundaries"};
        KF_TRY(kf_json_choice(place, object, kf_face_names[face], true, kf_boundary_names, KF_BOUNDARIES,
                              &type, error));
    }
    d->faces[face] = (kf_boundary)type;
    return KF_OK;
}

static kf_status read_boundaries(const char *file, const cJSON *root, kf_description *d, kf_text *notes,
                                 kf_error *error) {
    static const char *const keys[] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax", NULL};
    const kf_json_place top = {file, ""}, place = {file, "boundaries"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "boundaries", false, &object, error));
    if (object == NULL) {
        kf_note(notes, "boundaries: inflow at xmin, outflow at xmax, free_slip on the other faces");
        return KF_OK;
    }
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    for (int face = 0; face < KF_FACES; face++)
        KF_TRY(read_face(file, object, face, d, error));
    for (int a = 0; a < 3; a++)
        if ((d->faces[2 * a] == KF_PERIODIC) != (d->faces[2 * a + 1] == KF_PERIODIC))
            return kf_fail(error, KF_BAD_INPUT, "%s: boundaries: %s and %s must both be periodic, or neither",
                           file, kf_face_names[2 * a], kf_face_names[2 * a + 1]);
    return KF_OK;
}

/* ---- Flow ---- */

static kf_status read_flow(const char *file, const cJSON *root, kf_description *d, kf_text *notes,
                           kf_error *error) {
    static const char *const keys[] = {"speed",
                                       "reynolds",
                                       "viscosity",
                                       "reference_length",
                                       "reference_area",
                                       "reference_point",
                                       "lattice_speed",
                                       "lattice_viscosity",
                                       "initial",
                                       "initial_velocity",
                                       "acceleration",
                                       "disturbance",
                                       NULL};
    const kf_json_place top = {file, ""}, place = {file, "flow"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "flow", true, &object, error));
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_number(place, object, "speed", true, 1e-9, 1e6, &d->speed, error));
    KF_TRY(kf_json_number(place, object, "reynolds", false, 1e-6, HUGE_NUMBER, &d->reynolds, error));
    KF_TRY(kf_json_number(place, object, "viscosity", false, 1e-15, 1e6, &d->viscosity, error));
    if ((d->reynolds > 0.0) == (d->viscosity > 0.0))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow: give exactly one of \"reynolds\" and \"viscosity\" (m^2/s)", file);
    KF_TRY(kf_json_number(place, object, "reference_length", false, 1e-9, 1e9, &d->reference_length, error));
    KF_TRY(kf_json_number(place, object, "reference_area", false, 1e-12, 1e12, &d->reference_area, error));
    d->reference_point_given = cJSON_HasObjectItem(object, "reference_point");
    KF_TRY(kf_json_numbers(place, object, "reference_point", false, -1e9, 1e9, 3, d->reference_point, error));
    if (d->reference_point_given && d->solid.moving)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: flow.reference_point: moments of a solid that moves refer to its centre; remove the key",
            file);
    const char *of_solids = d->reference_area > 0.0    ? "reference_area"
                            : d->reference_point_given ? "reference_point"
                                                       : NULL;
    if (of_solids != NULL && !d->solid.present && d->mask.source == KF_MASK_NONE)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow.%s: is for the coefficients of a solid, and there is none; remove the key",
                       file, of_solids);
    KF_TRY(kf_json_number(place, object, "lattice_speed", false, 1e-6, 1e3, &d->lattice_speed, error));
    KF_TRY(
        kf_json_number(place, object, "lattice_viscosity", false, 1e-6, 2.0, &d->lattice_viscosity, error));
    if (d->lattice_viscosity > 0.0 && (d->viscosity == 0.0 || cJSON_HasObjectItem(object, "lattice_speed")))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow.lattice_viscosity: needs \"viscosity\", and no \"lattice_speed\"", file);
    if (d->lattice_viscosity == 0.0 && !cJSON_HasObjectItem(object, "lattice_speed"))
        kf_note(notes, "flow.lattice_speed: %g cells a step (Mach number %.2g)", d->lattice_speed,
                d->lattice_speed * sqrt(3.0));
    int initial = KF_INITIAL_UNIFORM;
    KF_TRY(kf_json_choice(place, object, "initial", false, kf_initial_names, KF_INITIALS, &initial, error));
    d->initial = (kf_initial)initial;
    d->initial_velocity_given = cJSON_HasObjectItem(object, "initial_velocity");
    KF_TRY(
        kf_json_numbers(place, object, "initial_velocity", false, -1e6, 1e6, 3, d->initial_velocity, error));
    if (d->initial_velocity_given && initial != KF_INITIAL_UNIFORM)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow.initial_velocity: a Taylor-Green flow starts with flow.speed; "
                       "remove the key",
                       file);
    KF_TRY(kf_json_number(place, object, "disturbance", false, 0, 0.1, &d->disturbance, error));
    return kf_json_numbers(place, object, "acceleration", false, -1e6, 1e6, 3, d->acceleration, error);
}

/* ---- Model and sampling ---- */

/* Reads the model of friction at the solid. It needs the solid, which is read before. */
static kf_status read_wall(const char *file, const cJSON *model, kf_description *d, kf_error *error) {
    static const char *const names[2] = {"no-slip", "law"};
    const kf_json_place place = {file, "model"};
    int wall = 0;
    KF_TRY(kf_json_choice(place, model, "wall", false, names, 2, &wall, error));
    d->wall_law = wall == 1;
    KF_TRY(kf_json_number(place, model, "trip", false, 0, 1e6, &d->trip, error));
    if (d->trip >= 0.0 && !(d->wall_law && kf_description_inflow(d) >= 0))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.trip: it applies to a law of the wall behind an inflow; add \"wall\": \"law\" and "
            "an inflow, or remove the key",
            file);
    static const char *const layers[2] = {"resolved", "modelled"};
    int modelled = 0;
    KF_TRY(kf_json_choice(place, model, "layers", false, layers, 2, &modelled, error));
    d->layers = modelled == 1;
    if (d->layers && !(d->wall_law && kf_description_inflow(d) >= 0))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.layers: \"modelled\" needs a law of the wall behind an inflow; add \"wall\": \"law\" "
            "and an inflow, or remove the key",
            file);
    if (!d->wall_law || (d->solid.linked && !d->solid.half_way)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: model.wall: \"law\" needs a solid with \"boundary\": \"links\" and interpolated "
                   "links; add that boundary, or remove the key",
                   file);
}

/* Reads model: collision, rates, basis, accuracy and passes of the immersed boundary. Refuses combinations
 * that do not work. */
static kf_status read_model(const char *file, const cJSON *root, kf_description *d, kf_text *notes,
                            kf_error *error) {
    static const char *const keys[] = {
        "collision", "rates", "high_order_rate", "basis",  "accuracy", "immersed_passes",
        "wall",      "trip",  "outer_rates",     "layers", NULL};
    const kf_json_place top = {file, ""}, place = {file, "model"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "model", false, &object, error));
    const bool of_d2q9 = d->mask.source != KF_MASK_NONE || d->parabolic_inflow;
    if (of_d2q9 && !cJSON_HasObjectItem(object, "collision")) {
        d->collision = KF_MRT;
        kf_note(notes, "model.collision: mrt, as a mask or a profile is for d2q9");
    }
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    int collision = (int)d->collision, rule = (int)d->rate_rule, basis = (int)d->basis;
    KF_TRY(kf_json_choice(place, object, "collision", false, kf_collision_names, KF_COLLISIONS, &collision,
                          error));
    KF_TRY(kf_json_choice(place, object, "rates", false, kf_rate_rule_names, KF_RATE_RULES, &rule, error));
    KF_TRY(kf_json_number(place, object, "accuracy", false, KF_DEFAULT_ACCURACY, 0.1, &d->accuracy, error));
    long passes = d->immersed_passes;
    KF_TRY(kf_json_integer(place, object, "immersed_passes", false, 1, KF_MOST_PASSES, &passes, error));
    if (passes > 1 && !d->solid.present)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.immersed_passes: acts on a solid, and there is none; remove the key", file);
    d->immersed_passes = (int)passes;
    KF_TRY(kf_json_number(place, object, "high_order_rate", false, 0.01, 1.999, &d->high_order_rate, error));
    KF_TRY(kf_json_choice(place, object, "basis", false, kf_moment_basis_names, KF_BASES, &basis, error));
    KF_TRY(read_wall(file, object, d, error));
    d->collision = (kf_collision)collision;
    d->rate_rule = (kf_rate_rule)rule;
    d->basis = (kf_moment_basis)basis;
    const bool rule_given = cJSON_HasObjectItem(object, "rates");
    if (rule_given && d->collision != KF_ACM_MRT && d->collision != KF_RM_MRT)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.rates: only the collisions \"acm_mrt\" and \"rm_mrt\" have a rate rule; "
                       "remove the key",
                       file);
    if (d->collision == KF_RM_MRT) {
        if (!rule_given) d->rate_rule = KF_RATE_CONSTANT;
        /* With 1 and 1.8 the flow diverges earlier. */
        if (!cJSON_HasObjectItem(object, "high_order_rate")) d->high_order_rate = 1.4;
    }
    if (d->wall_law && !rule_given && d->collision == KF_ACM_MRT) {
        d->rate_rule = KF_RATE_K17;
        kf_note(notes, "model.rates: k17, with which channels by a law of the wall are closest");
    }
    const bool of_raw_moments =
        d->rate_rule == KF_RATE_ONES || d->rate_rule == KF_RATE_CONSTANT || d->rate_rule == KF_RATE_SUGA_2015;
    if (d->collision == KF_RM_MRT && !of_raw_moments)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.rates: the collision \"rm_mrt\" takes \"suga_2015\", \"ones\" or \"constant\"", file);
    if (d->collision != KF_RM_MRT && d->rate_rule == KF_RATE_SUGA_2015)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.rates: \"suga_2015\" belongs to the collision \"rm_mrt\"", file);
    if (cJSON_HasObjectItem(object, "basis") && d->collision != KF_ACM_MRT)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.basis: only the collision \"acm_mrt\" has a choice of moments; remove the key", file);
    if (d->layers && (d->collision != KF_ACM_MRT || d->rate_rule != KF_RATE_K17))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model.layers: \"modelled\" needs the collision \"acm_mrt\" with the rates \"k17\"; "
            "choose these, or remove the key",
            file);
    if (cJSON_HasObjectItem(object, "high_order_rate") && d->rate_rule != KF_RATE_CONSTANT)
        return kf_fail(error, KF_BAD_INPUT, "%s: model.high_order_rate: needs \"rates\": \"constant\"", file);
    return KF_OK;
}

static kf_status read_sampling(const char *file, const cJSON *root, kf_description *d, kf_text *notes,
                               kf_error *error) {
    static const char *const keys[] = {"samples_per_cell", "seed", NULL};
    const kf_json_place top = {file, ""}, place = {file, "sampling"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "sampling", false, &object, error));
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    long seed = (long)d->seed;
    const double usual = d->samples_per_cell;
    KF_TRY(
        kf_json_number(place, object, "samples_per_cell", false, 1.0, 1000.0, &d->samples_per_cell, error));
    /* Files that kftune writes for a mesh have the usual number, whatever the solid's boundary becomes. */
    if (d->samples_per_cell != usual && (d->solid.linked || !d->solid.present))
        kf_note(notes, "sampling.samples_per_cell: changes nothing, because %s",
                d->solid.linked ? "a solid by links has no samples" : "there is no solid");
    KF_TRY(kf_json_integer(place, object, "seed", false, 1, KF_JSON_WHOLE, &seed, error));
    d->seed = (uint64_t)seed;
    return KF_OK;
}

/* Reads the options of the command line that a stored scene keeps. */
static kf_status read_asked(const char *file, const cJSON *root, kf_description *d, kf_error *error) {
    static const char *const keys[] = {"grid", "samples_per_cell", "accuracy", "seed", NULL};
    const kf_json_place place = {file, "asked"};
    const cJSON *asked = NULL;
    double nodes[3] = {0};
    long seed = (long)d->seed;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "asked", false, &asked, error));
    if (asked == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, asked, keys, error));
    KF_TRY(kf_json_numbers(place, asked, "grid", false, 1.0, LONGEST_AXIS, 3, nodes, error));
    KF_TRY(kf_json_number(place, asked, "samples_per_cell", false, 1.0, 1000.0, &d->samples_per_cell, error));
    KF_TRY(kf_json_number(place, asked, "accuracy", false, KF_DEFAULT_ACCURACY, KF_LOOSEST_ACCURACY,
                          &d->accuracy, error));
    KF_TRY(kf_json_integer(place, asked, "seed", false, 1, KF_JSON_WHOLE, &seed, error));
    d->seed = (uint64_t)seed;
    for (int a = 0; a < 3; a++)
        d->asked_nodes[a] = (int)nodes[a];
    return KF_OK;
}

/* Checks the keys of the scene file, including the sections of systems. */
static kf_status check_root_keys(kf_json_place top, const cJSON *root, const kf_scene_options *options,
                                 kf_error *error) {
    enum { OURS = 14 };
    const char *keys[OURS + KF_SCENE_SECTIONS + 1] = {
        "description", "placed", "asked",    "solid", "mask",   "domain", "boundaries",
        "flow",        "model",  "sampling", "smoke", "probes", "refine", "solids"};
    if (options->checked) return KF_OK;
    for (int i = 0; options->sections != NULL && options->sections[i] != NULL && i < KF_SCENE_SECTIONS; i++)
        keys[OURS + i] = options->sections[i]->name;
    return kf_json_check_keys(top, root, keys, error);
}

/* Refuses JSON that is not a scene, and says which command reads it. */
static kf_status check_is_scene(const char *file, const cJSON *root, kf_error *error) {
    static const struct {
        const char *key, *says;
    } others[] = {
        {"asset", "is a glTF mesh; let its name end in .gltf"},
        {"command", "is an answer of kftune; the scene of a run is scene.json in its folder"},
        {"config", "is a config of 'kftune tune'; run it with --config"},
        {"benchmarks", "is a suite; give it to 'kftune nightly --suite'"},
        {"cache", "is a cache of Kernel Tuner; 'kftune store import' reads it"},
        {"results", "is a list of measurements; 'kftune store import' reads it"},
    };
    if (cJSON_HasObjectItem(root, "flow") || cJSON_HasObjectItem(root, "domain")) return KF_OK;
    for (size_t o = 0; o < sizeof others / sizeof others[0]; o++)
        if (cJSON_GetObjectItemCaseSensitive(root, others[o].key) != NULL)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s", file, others[o].says);
    return KF_OK;
}

/* Reads the sections of a scene file. A section comes after those that it needs. */
static kf_status read_root(const char *file, const cJSON *root, const kf_scene_options *options,
                           kf_description *d, kf_text *notes, kf_error *error) {
    const kf_json_place top = {file, ""};
    if (!cJSON_IsObject(root))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: a scene file holds one JSON object, {\"domain\": ..., \"flow\": ...}", file);
    KF_TRY(check_is_scene(file, root, error));
    KF_TRY(check_root_keys(top, root, options, error));
    const char *description = NULL;
    const cJSON *placed = NULL;
    kf_placement placement;
    KF_TRY(kf_json_string(top, root, "description", false, &description, error));
    KF_TRY(kf_json_object(top, root, "placed", false, &placed, error));
    if (placed != NULL)
        KF_TRY(kf_placement_from_json((kf_json_place){file, "placed"}, placed, &placement, error));
    KF_TRY(kf_description_read_solid(file, root, d, error));
    KF_TRY(kf_description_read_mask(file, root, d, error));
    KF_TRY(read_domain(file, root, d, error));
    KF_TRY(read_boundaries(file, root, d, notes, error));
    KF_TRY(read_flow(file, root, d, notes, error));
    KF_TRY(read_model(file, root, d, notes, error));
    KF_TRY(kf_description_read_refine(file, root, d, notes, error));
    KF_TRY(read_sampling(file, root, d, notes, error));
    KF_TRY(read_asked(file, root, d, error));
    KF_TRY(kf_probes_of_file(file, root, &d->probes, error));
    return kf_description_read_smoke(file, root, &d->smoke, error);
}

kf_status kf_description_read(const char *file, const kf_scene_options *options, kf_description *description,
                              kf_text *notes, kf_error *error) {
    cJSON *root = NULL;
    KF_TRY(kf_json_read_file(file, &root, error));
    const kf_status status = read_root(file, root, options, description, notes, error);
    cJSON_Delete(root);
    return status;
}
