#include "scene/particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "scene/particles_internal.h"

const char *const kf_side_names[KF_SIDES] = {"no_slip", "free_slip", "periodic", "open", "dummies"};

enum { LONGEST_SIDE = 200000 }; /* spacings */

double kf_particle_seconds(const kf_particle_scene *scene) {
    return scene->sound_speed / scene->spacing;
}

void kf_particle_scene_free(kf_particle_scene *scene) {
    if (scene == NULL) return;
    kf_terrain_free(&scene->terrain);
    free(scene->position);
    free(scene->velocity);
    free(scene->deviation);
    free(scene->notes);
    free(scene);
}

/* Hashes numbers. -0 and 0 give the same hash. */
static void hash_numbers(kf_hasher *hasher, size_t count, const double *values) {
    for (size_t i = 0; i < count; i++) {
        const double value = values[i] + 0.0;
        kf_hash_add(hasher, &value, sizeof value);
    }
}

/* Computes the hash of a scene of particles from all that its flow depends on. */
void kf_particle_scene_hash(kf_particle_scene *s) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, "kftune particles 1");
    kf_hash_add_string(&hasher, kf_law_names[s->material.law]);
    const double numbers[] = {s->dimensions,
                              s->spacing,
                              s->sound_speed,
                              s->density,
                              s->support,
                              (double)s->scheme,
                              s->material.yield_kind,
                              s->material.branch,
                              s->material.stiff,
                              s->material.viscosity,
                              s->material.consistency,
                              s->material.exponent,
                              s->material.yield,
                              s->material.friction,
                              s->material.friction_fast,
                              s->material.inertial_number,
                              s->material.grain,
                              s->material.viscosity_limit,
                              s->material.growth,
                              s->material.shear_modulus,
                              s->material.bed_friction,
                              s->thesis.xsph,
                              s->thesis.penalty,
                              s->thesis.damping,
                              s->thesis.drag,
                              s->thesis.drag_height,
                              s->thesis.speed_limit,
                              s->thesis.acceleration_limit,
                              s->thesis.viscosity_at_rest,
                              s->thesis.consistent,
                              s->diffusion,
                              s->artificial,
                              s->shifting,
                              s->tension,
                              s->courant,
                              s->time_step,
                              s->dummies_slip};
    kf_hash_add(&hasher, numbers, sizeof numbers);
    /* These keys are newer. They are hashed only when given, so the hashes of older scenes stay. */
    if (s->impact > 0.0) kf_hash_add(&hasher, &s->impact, sizeof s->impact);
    if (s->central_viscosity) kf_hash_add_string(&hasher, "central viscosity");
    hash_numbers(&hasher, 3, s->size);
    hash_numbers(&hasher, 3, s->origin);
    hash_numbers(&hasher, 3, s->gravity);
    hash_numbers(&hasher, 18, &s->side_velocity[0][0]);
    for (int f = 0; f < 6; f++)
        kf_hash_add_string(&hasher, kf_side_names[s->sides[f]]);
    kf_terrain_hash(&s->terrain, &hasher);
    kf_hash_add(&hasher, &s->wall_count, sizeof s->wall_count);
    kf_hash_add(&hasher, s->position, 3 * s->count * sizeof(float));
    kf_hash_add(&hasher, s->velocity, 3 * s->count * sizeof(float));
    kf_hash_add(&hasher, s->deviation, s->count * sizeof(float));
    kf_hash_end(&hasher, s->hash);
}

/* ---- The box ---- */

/* The keys of the faces. Two-dimensional scenes have the first four. */
static const char *const flat_faces[] = {"xmin", "xmax", "ymin", "ymax", NULL}, *const all_faces[] = {
                                                                                    "xmin", "xmax", "ymin",
                                                                                    "ymax", "zmin", "zmax",
                                                                                    NULL};

/* Reads box.faces. Both faces across a periodic axis must be periodic. */
static kf_status read_sides(const char *file, const cJSON *box, kf_particle_scene *s, kf_error *error) {
    const kf_json_place place = {file, "box.faces"};
    const char *const *keys = s->dimensions == 2 ? flat_faces : all_faces;
    const cJSON *faces;
    for (int f = 0; f < 6; f++)
        s->sides[f] = f < 2 * s->dimensions ? KF_SIDE_FREE_SLIP : KF_SIDE_PERIODIC;
    KF_TRY(kf_json_object((kf_json_place){file, "box"}, box, "faces", false, &faces, error));
    if (faces == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, faces, keys, error));
    for (int f = 0; f < 2 * s->dimensions; f++) {
        int side = (int)s->sides[f];
        KF_TRY(kf_json_choice(place, faces, keys[f], false, kf_side_names, KF_SIDES, &side, error));
        s->sides[f] = (kf_side)side;
    }
    for (int i = 0; i < s->dimensions; i++)
        if ((s->sides[2 * i] == KF_SIDE_PERIODIC) != (s->sides[2 * i + 1] == KF_SIDE_PERIODIC))
            return kf_fail(error, KF_BAD_INPUT, "%s: box.faces: %s is periodic, but the opposite face is not",
                           file, keys[2 * i + (s->sides[2 * i] != KF_SIDE_PERIODIC)]);
    return KF_OK;
}

/* Reads box.face_velocity. A no_slip face may move within its plane. */
static kf_status read_speeds(const char *file, const cJSON *box, kf_particle_scene *s, kf_error *error) {
    const kf_json_place place = {file, "box.face_velocity"};
    const char *const *keys = s->dimensions == 2 ? flat_faces : all_faces;
    const cJSON *object;
    KF_TRY(kf_json_object((kf_json_place){file, "box"}, box, "face_velocity", false, &object, error));
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    for (int f = 0; f < 2 * s->dimensions; f++) {
        double *v = s->side_velocity[f];
        KF_TRY(kf_json_numbers(place, object, keys[f], false, -1e5, 1e5, s->dimensions, v, error));
        if (v[f / 2] != 0.0 ||
            ((v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0) && s->sides[f] != KF_SIDE_NO_SLIP))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: box.face_velocity.%s: a no_slip face may move within its plane", file,
                           keys[f]);
    }
    return KF_OK;
}

/* Converts sizes to spacings. They become whole numbers, and the layers of particles beyond faces are added.
 */
static kf_status lay_out(const char *file, const double metres[3], kf_particle_scene *s, kf_text *notes,
                         kf_error *error) {
    const double layers = ceil(s->support);
    for (int i = 0; i < s->dimensions; i++) {
        const double exact = metres[i] / s->spacing, whole = nearbyint(exact);
        if (whole < ceil(2.0 * s->support) || whole > LONGEST_SIDE)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: box.size: %.4g spacings along %c; %.0f to %d are possible", file, exact,
                           "xyz"[i], ceil(2.0 * s->support), LONGEST_SIDE);
        if (fabs(whole - exact) > 1e-6 * exact)
            kf_note(notes, "box.size: %.6g m along %c, a whole number of spacings", whole * s->spacing,
                    "xyz"[i]);
        s->origin[i] = s->sides[2 * i] == KF_SIDE_DUMMIES ? layers : 0.0;
        s->size[i] = s->origin[i] + whole + (s->sides[2 * i + 1] == KF_SIDE_DUMMIES ? layers : 0.0);
    }
    return KF_OK;
}

/* Returns the spacing for a number of spacings along x, including the layers beyond the box's faces. When
 * that is the number that the scene has already, the result is the file's own spacing to the last bit. */
static double spacing_for(const kf_particle_scene *s, double metres, int spacings_x) {
    const double layers =
                     ceil(s->support) * ((s->sides[0] == KF_SIDE_DUMMIES) + (s->sides[1] == KF_SIDE_DUMMIES)),
                 wanted = fmax(1.0, spacings_x - layers);
    return wanted == nearbyint(metres / s->spacing) ? s->spacing : metres / wanted;
}

static kf_status read_box(const char *file, const cJSON *root, const kf_particle_options *options,
                          kf_particle_scene *s, double metres[3], kf_text *notes, kf_error *error) {
    static const char *const keys[] = {"size", "faces", "face_velocity", NULL};
    const kf_json_place place = {file, "box"};
    const cJSON *box;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "box", true, &box, error));
    KF_TRY(kf_json_check_keys(place, box, keys, error));
    KF_TRY(kf_json_numbers(place, box, "size", true, 1e-9, 1e6, s->dimensions, metres, error));
    KF_TRY(read_sides(file, box, s, error));
    if (options->spacings_x > 0) s->spacing = spacing_for(s, metres[0], options->spacings_x);
    if (options->spacing_scale > 0.0) s->spacing *= options->spacing_scale;
    KF_TRY(read_speeds(file, box, s, error));
    return lay_out(file, metres, s, notes, error);
}

static kf_status read_particles(const char *file, const cJSON *root, const kf_particle_options *options,
                                kf_particle_scene *s, kf_error *error) {
    static const char *const keys[] = {"spacing", "support", "dimensions", "seed", "shake", NULL};
    const kf_json_place place = {file, "particles"};
    const cJSON *object;
    long dimensions = 3, seed = 1;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "particles", true, &object, error));
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_number(place, object, "spacing", true, 1e-9, 1e4, &s->spacing, error));
    KF_TRY(kf_json_integer(place, object, "dimensions", false, 2, 3, &dimensions, error));
    KF_TRY(kf_json_integer(place, object, "seed", false, 1, KF_JSON_WHOLE, &seed, error));
    s->dimensions = (int)dimensions;
    s->seed = options->seed != 0 ? options->seed : (uint64_t)seed;
    s->support = dimensions == 2 ? 3.0 : 2.4;
    KF_TRY(kf_json_number(place, object, "support", false, 1.6, 4.0, &s->support, error));
    KF_TRY(kf_json_number(place, object, "shake", false, 0.0, 0.3, &s->shake, error));
    if (options->shake > 0.0) s->shake = options->shake;
    return KF_OK;
}

static kf_status read_gravity(const char *file, const cJSON *root, kf_particle_scene *s, kf_error *error) {
    return kf_json_numbers((kf_json_place){file, ""}, root, "gravity", false, -1e4, 1e4, s->dimensions,
                           s->gravity, error);
}

static kf_status read_terrain(const char *file, const cJSON *root, const double metres[3],
                              kf_particle_scene *s, kf_error *error) {
    const cJSON *object;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "terrain", false, &object, error));
    if (object == NULL) return KF_OK;
    KF_TRY(kf_terrain_read(file, object, s->dimensions, metres, &s->terrain, error));
    kf_terrain *t = &s->terrain;
    const double up = s->origin[s->dimensions - 1];
    for (int i = 0; i < 2; i++)
        t->origin[i] = t->origin[i] / s->spacing + s->origin[i];
    t->cell /= s->spacing;
    for (size_t k = 0; k < (size_t)t->nodes[0] * (size_t)t->nodes[1]; k++)
        t->heights[k] = t->heights[k] / s->spacing + up;
    return KF_OK;
}

/* ---- Output of a run ---- */

/* Checks a gauge's name, which is the title of a column in a table. It must be readable there and unique. */
static kf_status check_gauge_name(kf_json_place place, const char *name, const kf_gauge *others, int count,
                                  kf_error *error) {
    const size_t most = sizeof others->name - 1;
    if (name[0] == '\0' || strlen(name) > most || strpbrk(name, ",\"\n ") != NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.name: 1 to %zu characters without spaces, commas and quotes", place.file,
                       place.path, most);
    for (int g = 0; g < count; g++)
        if (strcmp(others[g].name, name) == 0)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.name: '%s' is the name of gauges[%d], too; give another", place.file,
                           place.path, name, g);
    return KF_OK;
}

/* Reads a gauge's position and the quantity that it measures. */
static kf_status read_gauge(const char *file, const cJSON *object, int number, kf_particle_scene *s,
                            kf_error *error) {
    static const char *const keys[] = {"name", "height", "pressure", NULL};
    char path[32];
    (void)snprintf(path, sizeof path, "gauges[%d]", number);
    const kf_json_place place = {file, path};
    kf_gauge *gauge = &s->gauges[number];
    const char *name = NULL;
    if (!cJSON_IsObject(object)) return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be an object", file, path);
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_string(place, object, "name", true, &name, error));
    KF_TRY(check_gauge_name(place, name, s->gauges, number, error));
    kf_copy_text(gauge->name, sizeof gauge->name, name);
    gauge->is_pressure = cJSON_GetObjectItemCaseSensitive(object, "pressure") != NULL;
    if (gauge->is_pressure && cJSON_GetObjectItemCaseSensitive(object, "height") != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: give \"height\" or \"pressure\", not both", file, path);
    KF_TRY(kf_json_numbers(place, object, gauge->is_pressure ? "pressure" : "height", true, -1e6, 1e6,
                           s->dimensions - !gauge->is_pressure, gauge->place, error));
    const int axes = s->dimensions - !gauge->is_pressure;
    for (int i = 0; i < axes; i++) {
        const double end = (kf_particle_box_end(s, i) - s->origin[i]) * s->spacing;
        if (gauge->place[i] < -s->spacing || gauge->place[i] > end + s->spacing)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s: %s is at %.6g m along %c, outside the box, which goes from 0 to %.6g m",
                           file, path, name, gauge->place[i], "xyz"[i], end);
    }
    for (int i = 0; i < 3; i++)
        gauge->place[i] = gauge->place[i] / s->spacing + s->origin[i];
    return KF_OK;
}

static kf_status read_gauges(const char *file, const cJSON *root, kf_particle_scene *s, kf_error *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "gauges");
    if (list == NULL) return KF_OK;
    const int count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count > KF_PARTICLE_GAUGES)
        return kf_fail(error, KF_BAD_INPUT, "%s: gauges: must be a list of up to %d gauges", file,
                       KF_PARTICLE_GAUGES);
    for (int g = 0; g < count; g++)
        KF_TRY(read_gauge(file, cJSON_GetArrayItem(list, g), g, s, error));
    s->gauge_count = count;
    return KF_OK;
}

const char *const kf_particle_colour_names[KF_COLOURS] = {"speed", "pressure", "yield"};

/* Reads run: end time, the windows in which steps are timed, and the quantity that colours pictures. */
static kf_status read_run(const char *file, const cJSON *root, kf_particle_scene *s, kf_error *error) {
    static const char *const keys[] = {"time", "windows", "colour", NULL};
    const kf_json_place place = {file, "run"};
    const cJSON *object;
    s->window_count = 1;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "run", false, &object, error));
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_number(place, object, "time", false, 1e-9, 1e6, &s->end_time, error));
    int colour = KF_COLOUR_SPEED;
    KF_TRY(
        kf_json_choice(place, object, "colour", false, kf_particle_colour_names, KF_COLOURS, &colour, error));
    if (colour == KF_COLOUR_YIELD && s->material.yield_kind == KF_YIELD_NONE)
        return kf_fail(error, KF_BAD_INPUT, "%s: run.colour: the material has no yield stress", file);
    s->colour = (kf_particle_colour)colour;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "windows");
    if (list == NULL) return KF_OK;
    const int most = (int)(sizeof s->windows / sizeof s->windows[0]), count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count < 1 || count > most)
        return kf_fail(error, KF_BAD_INPUT, "%s: run.windows: must be a list of 1 to %d times in seconds",
                       file, most);
    KF_TRY(kf_json_numbers(place, object, "windows", true, 0.0, 1e6, count, s->windows, error));
    for (int w = 1; w < count; w++)
        if (s->windows[w] <= s->windows[w - 1])
            return kf_fail(error, KF_BAD_INPUT, "%s: run.windows: times must increase", file);
    if (s->end_time > 0.0 && s->windows[count - 1] >= s->end_time)
        return kf_fail(error, KF_BAD_INPUT, "%s: run.windows: %g s is not before run.time, %g s", file,
                       s->windows[count - 1], s->end_time);
    s->window_count = count;
    return KF_OK;
}

/* ---- All of it ---- */

/* Refuses central_viscosity with other than Newtonian fluids, and with walls without particles. Their
 * friction acts on velocities of any direction. */
static kf_status check_friction(const kf_particle_scene *s, const char *file, kf_error *error) {
    bool rough = s->terrain.heights != NULL;
    for (int f = 0; f < 2 * s->dimensions; f++)
        rough = rough || s->sides[f] == KF_SIDE_NO_SLIP;
    if (s->central_viscosity && (rough || s->material.law != KF_LAW_NEWTONIAN))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: model: central_viscosity is for Newtonian fluids without faces of no_slip and terrain",
            file);
    return KF_OK;
}

static kf_status read_scene(const char *file, const cJSON *root, const kf_particle_options *options,
                            kf_particle_scene *s, kf_particle_bodies *bodies, kf_text *notes,
                            kf_error *error) {
    static const char *const keys[] = {"particles",   "box",     "gravity",   "material", "model",
                                       "terrain",     "fluid",   "obstacles", "gauges",   "run",
                                       "description", "comment", NULL};
    const char *words = NULL; /* "comment" is the former name of "description" */
    double metres[3] = {0.0, 0.0, 0.0};
    KF_TRY(kf_json_check_keys((kf_json_place){file, ""}, root, keys, error));
    KF_TRY(kf_json_string((kf_json_place){file, ""}, root, "description", false, &words, error));
    KF_TRY(read_particles(file, root, options, s, error));
    KF_TRY(read_box(file, root, options, s, metres, notes, error));
    KF_TRY(read_gravity(file, root, s, error));
    KF_TRY(kf_particle_material_read(file, root, s, notes, error));
    for (int i = 0; i < 3; i++)
        s->gravity[i] *= s->spacing / (s->sound_speed * s->sound_speed);
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < 3; i++)
            s->side_velocity[f][i] /= s->sound_speed;
    if (s->scheme == KF_SCHEME_THESIS && s->dimensions != 3)
        return kf_fail(error, KF_BAD_INPUT, "%s: model.scheme: thesis has three dimensions", file);
    KF_TRY(read_terrain(file, root, metres, s, error));
    KF_TRY(kf_particle_check_terrain(file, s, notes, error));
    KF_TRY(check_friction(s, file, error));
    KF_TRY(read_gauges(file, root, s, error));
    KF_TRY(read_run(file, root, s, error));
    KF_TRY(kf_particle_bodies_read(file, root, s, bodies, notes, error));
    return kf_particle_place(s, options, bodies, notes, error);
}

static kf_status check_scheme(const kf_particle_scene *s, kf_error *error) {
    if (s->scheme == KF_SCHEME_THESIS && s->wall_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: scheme thesis has walls without particles: no obstacles, no face of dummies",
                       s->source);
    return KF_OK;
}

static void name_scene(kf_particle_scene *s, const char *file) {
    const char *slash = strrchr(file, '/'), *base = slash == NULL ? file : slash + 1;
    kf_copy_text(s->source, sizeof s->source, file);
    kf_copy_text(s->name, sizeof s->name, base);
    char *dot = strchr(s->name, '.');
    if (dot != NULL) *dot = '\0';
}

static kf_status build(const char *file, const cJSON *root, const kf_particle_options *options,
                       kf_particle_scene **scene, kf_error *error) {
    static const kf_particle_options none = {0};
    kf_particle_scene *s = kf_allocate_zeroed(1, sizeof *s);
    kf_particle_bodies *bodies = kf_allocate_zeroed(1, sizeof *bodies);
    kf_text notes = {0};
    name_scene(s, file);
    kf_status status = read_scene(file, root, options == NULL ? &none : options, s, bodies, &notes, error);
    if (status == KF_OK) status = check_scheme(s, error);
    kf_particle_bodies_free(bodies);
    free(bodies);
    s->notes = notes.text;
    if (status != KF_OK) {
        kf_particle_scene_free(s);
        return status;
    }
    kf_particle_scene_hash(s);
    *scene = s;
    return KF_OK;
}

kf_status kf_particle_scene_open(const char *file, const kf_particle_options *options,
                                 kf_particle_scene **scene, kf_error *error) {
    cJSON *root;
    KF_TRY(kf_json_read_file(file, &root, error));
    const kf_status status = build(file, root, options, scene, error);
    cJSON_Delete(root);
    return status;
}

kf_status kf_particle_scene_parse(const char *name, const char *text, const kf_particle_options *options,
                                  kf_particle_scene **scene, kf_error *error) {
    cJSON *root;
    KF_TRY(kf_json_parse(name, text, strlen(text), &root, error));
    const kf_status status = build(name, root, options, scene, error);
    cJSON_Delete(root);
    return status;
}
