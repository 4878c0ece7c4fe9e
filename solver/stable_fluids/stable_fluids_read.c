/* Reads scene files of the stable fluids system. SI units end here: a length is divided by the cell size h, a
 * velocity multiplied by dt / h. */
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "scene/probes.h"
#include "scene/scene.h"
#include "solver/stable_fluids/stable_fluids_reader.h"

enum { MOST_CELLS = 8192, MOST_SIMULATIONS = 4096 };

typedef kf_fluid_reader reader;

kf_status kf_fluid_section(const reader *r, const char *name, bool required, const char *const *keys,
                           const cJSON **object) {
    const kf_json_place top = {r->file, ""}, place = {r->file, name};
    KF_TRY(kf_json_object(top, r->root, name, required, object, r->error));
    return *object == NULL ? KF_OK : kf_json_check_keys(place, *object, keys, r->error);
}

kf_status kf_fluid_vector(const reader *r, kf_json_place place, const cJSON *object, const char *key,
                          bool required, double values[3]) {
    return kf_json_numbers(place, object, key, required, -KF_FLUID_FAR, KF_FLUID_FAR, r->fluid->dimensions,
                           values, r->error);
}

/* --- Domain --------------------------------------------------------------------------------------------- */

static kf_status check_size(const reader *r, int axis, int n) {
    int below, above;
    if (kf_fluid_size_fits(n)) return KF_OK;
    kf_fluid_nearest_sizes(n, &below, &above);
    return kf_fail(r->error, KF_BAD_INPUT,
                   "%s: domain.cells: %d along %c is not of the form 2^a 3^b 5^c (8 or more): take %d or %d",
                   r->file, n, "xyz"[axis], below, above);
}

/* Reads domain.walls, the axes between walls. */
static kf_status read_walls(const reader *r, const cJSON *domain, bool walls[3]) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(domain, "walls"), *entry;
    if (list == NULL) return KF_OK;
    if (!cJSON_IsArray(list))
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s: domain.walls: give the axes between walls, as [\"x\", \"y\"]", r->file);
    cJSON_ArrayForEach(entry, list) {
        const char *axes = "xyz", *found = NULL;
        if (cJSON_IsString(entry) && strlen(entry->valuestring) == 1)
            found = strchr(axes, entry->valuestring[0]);
        if (found == NULL || found - axes >= r->fluid->dimensions)
            return kf_fail(r->error, KF_BAD_INPUT, "%s: domain.walls: an axis is \"x\", \"y\"%s", r->file,
                           r->fluid->dimensions == 3 ? " or \"z\"" : "");
        walls[found - axes] = true;
    }
    return KF_OK;
}

/* Reads domain: cells (or those of the command line), length in metres, walls, simulations. An axis between
 * walls is computed together with its mirror image, so it has twice the cells. */
static kf_status read_domain(const reader *r, const int asked[3]) {
    static const char *const keys[] = {"cells", "length", "walls", "simulations", NULL};
    const kf_json_place place = {r->file, "domain"};
    const cJSON *domain;
    kf_fluid *f = r->fluid;
    double cells[3] = {0, 0, 0}, length = 1.0;
    KF_TRY(kf_fluid_section(r, "domain", true, keys, &domain));
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(domain, "cells");
    f->dimensions = cJSON_GetArraySize(given) == 3 ? 3 : 2;
    KF_TRY(kf_json_numbers(place, domain, "cells", true, 1, MOST_CELLS, f->dimensions, cells, r->error));
    KF_TRY(kf_json_number(place, domain, "length", false, 1e-9, KF_FLUID_FAR, &length, r->error));
    KF_TRY(read_walls(r, domain, f->walls));
    long simulations = 1;
    KF_TRY(kf_json_integer(place, domain, "simulations", false, 1, MOST_SIMULATIONS, &simulations, r->error));
    f->simulations = (int)simulations;
    if (simulations > 1)
        kf_note(&f->notes,
                "domain.simulations: files, pictures and tables of a run are of the first simulation");
    for (int i = 0; i < 3; i++) {
        int n = i < f->dimensions ? (int)cells[i] : 1;
        if (i < f->dimensions && cells[i] != n)
            return kf_fail(r->error, KF_BAD_INPUT, "%s: domain.cells: %g is not a whole number", r->file,
                           cells[i]);
        if (asked[i] > 0) n = asked[i];
        if (i < f->dimensions) KF_TRY(check_size(r, i, n));
        f->cells[i] = f->walls[i] ? 2 * n : n;
        if (f->cells[i] > MOST_CELLS)
            return kf_fail(r->error, KF_BAD_INPUT, "%s: domain.cells: at most %d along an axis%s", r->file,
                           MOST_CELLS, f->walls[i] ? ", the mirror image behind the wall included" : "");
        if (i == 0) f->cell_size = length / n;
    }
    if (f->dimensions == 2 && asked[2] > 1)
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s is two-dimensional: give a grid of two sizes, or 1 along z", r->file);
    if ((double)kf_fluid_cell_count(f) * f->simulations > 2.0e9)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: domain.cells: more than 2,000 million cells", r->file);
    return KF_OK;
}

/* --- Flow ----------------------------------------------------------------------------------------------- */

/* Reads stable_fluids: the scheme of advection, trace, diffusion, and the accuracy that the gate allows. */
static kf_status read_scheme(const reader *r) {
    static const char *const keys[] = {"advection", "trace", "reflection", "diffusion", "accuracy", NULL};
    static const char *const traces[] = {"euler", "midpoint"}, *const rules[] = {"implicit", "exponential"};
    const kf_json_place place = {r->file, "stable_fluids"};
    const cJSON *scheme;
    kf_fluid *f = r->fluid;
    int advection = (int)f->advection, trace = 0, rule = 0;
    KF_TRY(kf_fluid_section(r, "stable_fluids", true, keys, &scheme));
    KF_TRY(kf_json_choice(place, scheme, "advection", false, kf_fluid_advection_names, KF_ADVECTIONS,
                          &advection, r->error));
    KF_TRY(kf_json_choice(place, scheme, "trace", false, traces, 2, &trace, r->error));
    KF_TRY(kf_json_choice(place, scheme, "diffusion", false, rules, 2, &rule, r->error));
    KF_TRY(kf_json_boolean(place, scheme, "reflection", false, &f->reflection, r->error));
    KF_TRY(kf_json_number(place, scheme, "accuracy", false, 1e-4, 0.1, &f->accuracy, r->error));
    f->advection = (kf_fluid_advection)advection;
    f->midpoint = trace == 1;
    f->exponential = rule == 1;
    return KF_OK;
}

static kf_status read_flow(const reader *r) {
    static const char *const keys[] = {"viscosity", "time_step", "confinement", NULL};
    const kf_json_place place = {r->file, "flow"};
    const cJSON *flow;
    kf_fluid *f = r->fluid;
    double viscosity = 0, confinement = 0;
    KF_TRY(kf_fluid_section(r, "flow", true, keys, &flow));
    KF_TRY(kf_json_number(place, flow, "time_step", true, 1e-12, KF_FLUID_FAR, &f->time_step, r->error));
    KF_TRY(kf_json_number(place, flow, "viscosity", false, 0, KF_FLUID_FAR, &viscosity, r->error));
    KF_TRY(kf_json_number(place, flow, "confinement", false, 0, KF_FLUID_FAR, &confinement, r->error));
    f->viscosity = viscosity * f->time_step / (f->cell_size * f->cell_size);
    f->confinement =
        confinement * f->time_step; /* eps h (N x omega) dt^2 / h, with omega dt in lattice units */
    return KF_OK;
}

/* Reads the initial flow. Velocities become cells per step. */
static kf_status read_start(const reader *r) {
    static const char *const keys[] = {"kind", "velocity", "amplitude", "mode", "seed", NULL};
    static const char *const of_waves[] = {"amplitude", "mode", NULL};
    const kf_json_place place = {r->file, "initial"};
    const cJSON *initial;
    kf_fluid *f = r->fluid;
    int kind = KF_START_REST;
    long mode = 1, seed = 1;
    double amplitude = 0;
    KF_TRY(kf_fluid_section(r, "initial", false, keys, &initial));
    if (initial == NULL) return KF_OK;
    KF_TRY(kf_json_choice(place, initial, "kind", false, kf_fluid_start_names, KF_STARTS, &kind, r->error));
    KF_TRY(kf_fluid_vector(r, place, initial, "velocity", false, f->start_velocity));
    KF_TRY(kf_json_number(place, initial, "amplitude", false, -KF_FLUID_FAR, KF_FLUID_FAR, &amplitude,
                          r->error));
    KF_TRY(kf_json_integer(place, initial, "mode", false, 0, 1024, &mode, r->error));
    KF_TRY(kf_json_integer(place, initial, "seed", false, 0, KF_JSON_WHOLE, &seed, r->error));
    if (kind == KF_START_REST)
        KF_TRY(kf_json_refuse_keys(place, initial, of_waves, "is for another \"kind\" than rest", r->error));
    f->start = (kf_fluid_start)kind;
    f->start_mode = (int)mode;
    f->seed = (uint64_t)seed;
    f->start_amplitude = amplitude * kf_fluid_speed_unit(f);
    for (int i = 0; i < 3; i++)
        f->start_velocity[i] *= kf_fluid_speed_unit(f);
    return KF_OK;
}

/* Reads the section "kolmogorov": a body force that varies as a sine of this mode. */
static kf_status read_body(const reader *r) {
    static const char *const keys[] = {"acceleration", "mode", NULL};
    const kf_json_place place = {r->file, "kolmogorov"};
    const cJSON *body;
    kf_fluid *f = r->fluid;
    long mode = 1;
    double acceleration = 0;
    KF_TRY(kf_fluid_section(r, "kolmogorov", false, keys, &body));
    if (body == NULL) return KF_OK;
    KF_TRY(kf_json_number(place, body, "acceleration", true, -KF_FLUID_FAR, KF_FLUID_FAR, &acceleration,
                          r->error));
    KF_TRY(kf_json_integer(place, body, "mode", false, 0, 1024, &mode, r->error));
    f->body_amplitude = acceleration * f->time_step * kf_fluid_speed_unit(f);
    f->body_mode = (int)mode;
    return KF_OK;
}

/* Checks a dye's name. It names a field and a column of a table, so it must differ from those that every flow
 * has. */
static kf_status check_dye_name(const reader *r, const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    static const char *const taken[] = {"velocity", "solid", "kinetic_energy", "top_speed",
                                        "top_displacement"};
    const kf_fluid *f = r->fluid;
    const size_t most = sizeof f->dyes->name - 1;
    if (name[0] == '\0' || strlen(name) > most || name[strspn(name, letters)] != '\0')
        return kf_fail(r->error, KF_BAD_INPUT, "%s: dyes[%d].name: must be 1 to %zu letters, digits, _ and -",
                       r->file, f->dye_count, most);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(name, taken[i]) == 0)
            return kf_fail(r->error, KF_BAD_INPUT,
                           "%s: dyes[%d].name: '%s' is the name of another output; give another", r->file,
                           f->dye_count, name);
    for (int i = 0; i < f->dye_count; i++)
        if (strcmp(name, f->dyes[i].name) == 0)
            return kf_fail(r->error, KF_BAD_INPUT,
                           "%s: dyes[%d].name: '%s' is the name of dyes[%d], too; give another", r->file,
                           f->dye_count, name, i);
    return KF_OK;
}

/* Reads dyes: names, dissipation per second and lift in metres per second squared, which become those of a
 * step. */
static kf_status read_dyes(const reader *r) {
    static const char *const keys[] = {"name", "dissipation", "lift", NULL};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->root, "dyes"), *entry;
    kf_fluid *f = r->fluid;
    if (list == NULL) return KF_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > KF_FLUID_DYES)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: dyes: give a list of at most %d", r->file, KF_FLUID_DYES);
    cJSON_ArrayForEach(entry, list) {
        char path[32];
        (void)snprintf(path, sizeof path, "dyes[%d]", f->dye_count);
        const kf_json_place place = {r->file, path};
        kf_fluid_dye *dye = &f->dyes[f->dye_count];
        const char *name = "dye";
        double dissipation = 0, lift = 0;
        if (!cJSON_IsObject(entry))
            return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: must be an object {...}", r->file, path);
        KF_TRY(kf_json_check_keys(place, entry, keys, r->error));
        KF_TRY(kf_json_string(place, entry, "name", true, &name, r->error));
        KF_TRY(check_dye_name(r, name));
        KF_TRY(kf_json_number(place, entry, "dissipation", false, 0, KF_FLUID_FAR, &dissipation, r->error));
        KF_TRY(kf_json_number(place, entry, "lift", false, -KF_FLUID_FAR, KF_FLUID_FAR, &lift, r->error));
        kf_copy_text(dye->name, sizeof dye->name, name);
        dye->dissipation = dissipation * f->time_step;
        dye->lift = lift * f->time_step * kf_fluid_speed_unit(f);
        f->dye_count++;
    }
    return KF_OK;
}

/* --- Particles, and what must not be together --------------------------------------------------------------
 */

/* Reads particles: how many, one a cell if nothing is said, and how they are moved. */
static kf_status read_particles(const reader *r) {
    static const char *const keys[] = {"count", "rule", NULL};
    static const char *const rules[] = {"seed", "midpoint"};
    const kf_json_place place = {r->file, "particles"};
    const cJSON *particles;
    kf_fluid *f = r->fluid;
    int domain[3], rule = 1;
    KF_TRY(kf_fluid_section(r, "particles", false, keys, &particles));
    if (particles == NULL) return KF_OK;
    kf_fluid_domain(f, domain);
    long count = (long)domain[0] * domain[1] * domain[2];
    KF_TRY(kf_json_integer(place, particles, "count", false, 1, 1L << 31, &count, r->error));
    KF_TRY(kf_json_choice(place, particles, "rule", false, rules, 2, &rule, r->error));
    f->particle_count = count;
    f->particle_midpoint = rule == 1;
    return KF_OK;
}

static kf_status check_together(const reader *r) {
    const kf_fluid *f = r->fluid;
    const bool walled = f->walls[0] || f->walls[1] || f->walls[2];
    if (walled && f->solid == KF_SOLID_MOVING)
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s: a moving solid needs a periodic box: leave domain.walls out", r->file);
    if (walled && f->body_amplitude != 0)
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s: the kolmogorov force needs a periodic box: leave domain.walls out", r->file);
    if (f->confinement > 0 && f->body_amplitude != 0)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: give flow.confinement or kolmogorov, not both", r->file);
    return KF_OK;
}

/* Reads all sections of a scene file in the order in which they need each other. */
static kf_status read_all(const reader *r, const int cells[3]) {
    static const char *const keys[] = {"description", "stable_fluids", "domain", "flow",    "initial",
                                       "kolmogorov",  "dyes",          "pushes", "sources", "solid",
                                       "particles",   "probes",        NULL};
    const kf_json_place top = {r->file, ""};
    const char *description = NULL;
    kf_probe_texts probes;
    KF_TRY(kf_json_check_keys(top, r->root, keys, r->error));
    /* The command kftune run reads them. */
    KF_TRY(kf_probes_of_file(r->file, r->root, &probes, r->error));
    KF_TRY(kf_json_string(top, r->root, "description", false, &description, r->error));
    KF_TRY(read_domain(r, cells));
    KF_TRY(read_scheme(r));
    KF_TRY(read_flow(r));
    KF_TRY(read_start(r));
    KF_TRY(read_body(r));
    KF_TRY(read_dyes(r));
    KF_TRY(kf_fluid_read_pushes(r));
    KF_TRY(kf_fluid_read_sources(r));
    KF_TRY(read_particles(r));
    KF_TRY(kf_fluid_read_solid(r->file, r->root, r->fluid, r->error));
    KF_TRY(check_together(r));
    kf_fluid_mirror_sources(r->fluid);
    return KF_OK;
}

/* Opens a scene file of this system. Cells that are not 0 replace those of the file. On success the caller
 * frees the fluid; on failure there is none. */
kf_status kf_fluid_open(const char *source, const int cells[3], kf_fluid **fluid, kf_error *error) {
    static const int smallest[3] = {8, 8, 8};
    char path[KF_PATH];
    cJSON *root = NULL;
    KF_TRY(kf_scene_find(source, path, error));
    KF_TRY(kf_json_read_file(path, &root, error));
    reader r = {.file = path, .root = root, .fluid = kf_fluid_make(2, smallest), .error = error};
    kf_status status = read_all(&r, cells);
    cJSON_Delete(root);
    if (status != KF_OK) {
        kf_fluid_free(r.fluid);
        return status;
    }
    kf_scene_name(path, r.fluid->name);
    kf_copy_text(r.fluid->source, sizeof r.fluid->source, path);
    kf_fluid_finish(r.fluid);
    *fluid = r.fluid;
    return KF_OK;
}
