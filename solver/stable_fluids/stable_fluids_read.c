/* Reads scene files of the stable fluids system. SI units end here: a length is divided by the cell size h, a
 * velocity multiplied by dt / h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/number.h"
#include "scene/probes.h"
#include "scene/scene.h"
#include "solver/stable_fluids/stable_fluids_problem.h"

enum { MOST_CELLS = 8192, MOST_SIMULATIONS = 4096, MOST_SOURCES = 64, MOST_IMPULSES = 1000000 };
#define FAR 1e9 /* no number in a scene file is larger */

typedef struct reader {
    const char *file;
    const cJSON *root;
    kf_fluid *fluid;
    kf_error *error;
} reader;

static double speed_unit(const kf_fluid *f) {
    return f->time_step / f->cell_size;
}

static kf_status section(const reader *r, const char *name, bool required, const char *const *keys,
                         const cJSON **object) {
    const kf_json_place top = {r->file, ""}, place = {r->file, name};
    KF_TRY(kf_json_object(top, r->root, name, required, object, r->error));
    return *object == NULL ? KF_OK : kf_json_check_keys(place, *object, keys, r->error);
}

/* A vector of as many numbers as the box has dimensions. */
static kf_status vector(const reader *r, kf_json_place place, const cJSON *object, const char *key,
                        bool required, double values[3]) {
    return kf_json_numbers(place, object, key, required, -FAR, FAR, r->fluid->dimensions, values, r->error);
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

/* Reads domain: cells (or those that the user asked for), length in metres, walls, simulations. An axis
 * between walls is computed with its mirror image, so it has twice the cells. */
static kf_status read_domain(const reader *r, const int asked[3]) {
    static const char *const keys[] = {"cells", "length", "walls", "simulations", NULL};
    const kf_json_place place = {r->file, "domain"};
    const cJSON *domain;
    kf_fluid *f = r->fluid;
    double cells[3] = {0, 0, 0}, length = 1.0;
    KF_TRY(section(r, "domain", true, keys, &domain));
    const cJSON *given = cJSON_GetObjectItemCaseSensitive(domain, "cells");
    f->dimensions = cJSON_GetArraySize(given) == 3 ? 3 : 2;
    KF_TRY(kf_json_numbers(place, domain, "cells", true, 1, MOST_CELLS, f->dimensions, cells, r->error));
    KF_TRY(kf_json_number(place, domain, "length", false, 1e-9, FAR, &length, r->error));
    KF_TRY(read_walls(r, domain, f->walls));
    long simulations = 1;
    KF_TRY(kf_json_integer(place, domain, "simulations", false, 1, MOST_SIMULATIONS, &simulations, r->error));
    f->simulations = (int)simulations;
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
    KF_TRY(section(r, "stable_fluids", true, keys, &scheme));
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
    KF_TRY(section(r, "flow", true, keys, &flow));
    KF_TRY(kf_json_number(place, flow, "time_step", true, 1e-12, FAR, &f->time_step, r->error));
    KF_TRY(kf_json_number(place, flow, "viscosity", false, 0, FAR, &viscosity, r->error));
    KF_TRY(kf_json_number(place, flow, "confinement", false, 0, FAR, &confinement, r->error));
    f->viscosity = viscosity * f->time_step / (f->cell_size * f->cell_size);
    f->confinement =
        confinement * f->time_step; /* eps h (N x omega) dt^2 / h, with omega dt in lattice units */
    return KF_OK;
}

/* Reads initial: how the flow starts; velocities become cells a step. */
static kf_status read_start(const reader *r) {
    static const char *const keys[] = {"kind", "velocity", "amplitude", "mode", "seed", NULL};
    static const char *const of_waves[] = {"amplitude", "mode", NULL};
    const kf_json_place place = {r->file, "initial"};
    const cJSON *initial;
    kf_fluid *f = r->fluid;
    int kind = KF_START_REST;
    long mode = 1, seed = 1;
    double amplitude = 0;
    KF_TRY(section(r, "initial", false, keys, &initial));
    if (initial == NULL) return KF_OK;
    KF_TRY(kf_json_choice(place, initial, "kind", false, kf_fluid_start_names, KF_STARTS, &kind, r->error));
    KF_TRY(vector(r, place, initial, "velocity", false, f->start_velocity));
    KF_TRY(kf_json_number(place, initial, "amplitude", false, -FAR, FAR, &amplitude, r->error));
    KF_TRY(kf_json_integer(place, initial, "mode", false, 0, 1024, &mode, r->error));
    KF_TRY(kf_json_integer(place, initial, "seed", false, 0, 1L << 53, &seed, r->error));
    if (kind == KF_START_REST)
        KF_TRY(kf_json_refuse_keys(place, initial, of_waves, "is for another \"kind\" than rest", r->error));
    f->start = (kf_fluid_start)kind;
    f->start_mode = (int)mode;
    f->seed = (uint64_t)seed;
    f->start_amplitude = amplitude * speed_unit(f);
    for (int i = 0; i < 3; i++)
        f->start_velocity[i] *= speed_unit(f);
    return KF_OK;
}

static kf_status read_body(const reader *r) {
    static const char *const keys[] = {"acceleration", "mode", NULL};
    const kf_json_place place = {r->file, "kolmogorov"};
    const cJSON *body;
    kf_fluid *f = r->fluid;
    long mode = 1;
    double acceleration = 0;
    KF_TRY(section(r, "kolmogorov", false, keys, &body));
    if (body == NULL) return KF_OK;
    KF_TRY(kf_json_number(place, body, "acceleration", true, -FAR, FAR, &acceleration, r->error));
    KF_TRY(kf_json_integer(place, body, "mode", false, 0, 1024, &mode, r->error));
    f->body_amplitude = acceleration * f->time_step * speed_unit(f);
    f->body_mode = (int)mode;
    return KF_OK;
}

/* A dye's name heads its field and its column of a table, beside those that a flow has without it. */
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
        KF_TRY(kf_json_number(place, entry, "dissipation", false, 0, FAR, &dissipation, r->error));
        KF_TRY(kf_json_number(place, entry, "lift", false, -FAR, FAR, &lift, r->error));
        kf_copy_text(dye->name, sizeof dye->name, name);
        dye->dissipation = dissipation * f->time_step;
        dye->lift = lift * f->time_step * speed_unit(f);
        f->dye_count++;
    }
    return KF_OK;
}

/* --- Forces and sources ------------------------------------------------------------------------------- */

static void add_impulse(kf_fluid *f, const kf_fluid_impulse *impulse) {
    if ((f->impulse_count & (f->impulse_count - 1)) == 0)
        f->impulses =
            kf_reallocate(f->impulses, (f->impulse_count == 0 ? 1 : 2 * f->impulse_count) * sizeof *impulse);
    f->impulses[f->impulse_count++] = *impulse;
}

/* Refuses a place in metres, of what `key` names, that lies out of the box: behind a wall, or, where places
 * beyond periodic faces are not taken for those that they repeat, anywhere. */
static kf_status check_inside(const reader *r, const char *key, bool repeats, const double place[3]) {
    const kf_fluid *f = r->fluid;
    int cells[3];
    kf_fluid_domain(f, cells);
    for (int i = 0; i < f->dimensions; i++) {
        const double size = cells[i] * f->cell_size;
        if (repeats && !f->walls[i]) continue;
        if (!(place[i] >= 0.0 && place[i] <= size * (1.0 + 1e-9)))
            return kf_fail(r->error, KF_BAD_INPUT,
                           "%s: %s: %.6g m along %c lies out of the box, which goes from 0 to %.6g m",
                           r->file, key, place[i], "xyz"[i], size);
    }
    return KF_OK;
}

/* The cell that holds a place in metres. */
static int cell_of(const kf_fluid *f, int axis, double metres) {
    const int n = f->cells[axis];
    const double wrapped = fmod(floor(metres / f->cell_size), n);
    return (int)(wrapped < 0 ? wrapped + n : wrapped);
}

/* Reads one push {"step", "at", "velocity"}, in metres and metres per second, into cells and cells a step. */
static kf_status read_push(const reader *r, const cJSON *entry, int number, long reach) {
    static const char *const keys[] = {"step", "at", "velocity", NULL};
    char path[48], at_key[64];
    (void)snprintf(path, sizeof path, "pushes.list[%d]", number);
    (void)snprintf(at_key, sizeof at_key, "%s.at", path);
    const kf_json_place place = {r->file, path};
    kf_fluid *f = r->fluid;
    kf_fluid_impulse impulse = {.reach = (int)reach};
    double at[3] = {0, 0, 0};
    long step = 0;
    if (!cJSON_IsObject(entry))
        return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: must be an object {...}", r->file, path);
    KF_TRY(kf_json_check_keys(place, entry, keys, r->error));
    KF_TRY(kf_json_integer(place, entry, "step", true, 0, 1L << 53, &step, r->error));
    KF_TRY(vector(r, place, entry, "at", true, at));
    KF_TRY(check_inside(r, at_key, true, at));
    KF_TRY(vector(r, place, entry, "velocity", true, impulse.vector));
    impulse.step = step;
    for (int i = 0; i < f->dimensions; i++) {
        impulse.cell[i] = cell_of(f, i, at[i]);
        impulse.vector[i] *= speed_unit(f);
    }
    add_impulse(f, &impulse);
    return KF_OK;
}

/* The stress test of rtfluids: every so many steps a click at (W / (i / 100 + 1), H / (i / 100 + 1)) that
 * drags the mouse by so many pixels in a window as large as the grid; F = strength N dt (displacement / N).
 */
static kf_status read_stress_test(const reader *r, const cJSON *pushes, long reach) {
    static const char *const keys[] = {"every", "steps", "displacement", "strength", NULL};
    const kf_json_place top = {r->file, "pushes"}, place = {r->file, "pushes.stress_test"};
    const cJSON *test;
    kf_fluid *f = r->fluid;
    long every = 10, steps = 10000;
    double displacement = 35, strength = 5.8;
    KF_TRY(kf_json_object(top, pushes, "stress_test", false, &test, r->error));
    if (test == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, test, keys, r->error));
    KF_TRY(kf_json_integer(place, test, "every", false, 1, MOST_IMPULSES, &every, r->error));
    KF_TRY(kf_json_integer(place, test, "steps", false, 1, MOST_IMPULSES, &steps, r->error));
    KF_TRY(kf_json_number(place, test, "displacement", false, -FAR, FAR, &displacement, r->error));
    KF_TRY(kf_json_number(place, test, "strength", false, 0, FAR, &strength, r->error));
    const double length = f->cell_size * f->cells[0];
    for (long i = 0; i < steps; i += every) {
        const long hundreds = i / 100;
        kf_fluid_impulse impulse = {.step = i, .reach = (int)reach};
        for (int axis = 0; axis < f->dimensions; axis++) {
            impulse.cell[axis] = (int)((double)f->cells[axis] / (double)(hundreds + 1)) % f->cells[axis];
            impulse.vector[axis] =
                axis < 2 ? strength * f->time_step * displacement * length * speed_unit(f) : 0;
        }
        add_impulse(f, &impulse);
    }
    return KF_OK;
}

/* Reads the line of a push: step, place and velocity, and nothing behind them. */
static bool read_push_line(const kf_fluid *f, const char *line, double v[7]) {
    const char *at = line;
    char *end;
    int count = 0;
    for (; count < 7; count++, at = *end == ',' ? end + 1 : end) {
        at += strspn(at, " \t");
        v[count] = kf_read_decimal(at, &end);
        if (end == at) break;
    }
    bool good = at[strspn(at, " \t\r")] == '\0' && count == 1 + 2 * f->dimensions && v[0] >= 0 &&
                v[0] == floor(v[0]) && v[0] < 1e15;
    for (int i = 1; good && i < count; i++)
        good = fabs(v[i]) < FAR;
    return good;
}

/* Adds the push of a line, which messages name by its number. */
static kf_status add_push_line(const reader *r, const char *path, int number, const char *line, long reach) {
    kf_fluid *f = r->fluid;
    kf_fluid_impulse impulse = {.reach = (int)reach};
    double v[7];
    char key[KF_PATH + 16];
    if (!read_push_line(f, line, v) || f->impulse_count >= MOST_IMPULSES)
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s:%d: a push is \"step,x,y,%su,v%s\" in metres and metres a second", path, number,
                       f->dimensions == 3 ? "z," : "", f->dimensions == 3 ? ",w" : "");
    (void)snprintf(key, sizeof key, "%s:%d", path, number);
    KF_TRY(check_inside(r, key, true, v + 1));
    for (int i = 0; i < f->dimensions; i++) {
        impulse.cell[i] = cell_of(f, i, v[1 + i]);
        impulse.vector[i] = v[1 + f->dimensions + i] * speed_unit(f);
    }
    impulse.step = (long long)v[0];
    add_impulse(f, &impulse);
    return KF_OK;
}

/* Lines of "step,x,y,u,v" (z and w in between in three dimensions), metres and metres a second; '#' begins a
 * comment. */
static kf_status read_push_file(const reader *r, const char *name, long reach) {
    char path[KF_PATH], *text = NULL;
    size_t size;
    const char *slash = strrchr(r->file, '/');
    KF_TRY(name[0] == '/' || slash == NULL
               ? kf_path(path, r->error, "%s", name)
               : kf_path(path, r->error, "%.*s/%s", (int)(slash - r->file), r->file, name));
    KF_TRY(kf_file_read(path, 1 << 28, &text, &size, r->error));
    kf_status status = KF_OK;
    int number = 0;
    for (char *rest = text, *line; status == KF_OK && (line = strsep(&rest, "\n")) != NULL;) {
        number++;
        if (line[0] != '#' && line[strspn(line, " \t\r")] != '\0')
            status = add_push_line(r, path, number, line, reach);
    }
    free(text);
    return status;
}

static int by_step(const void *a, const void *b) {
    const kf_fluid_impulse *p = a, *q = b;
    if (p->step != q->step) return p->step < q->step ? -1 : 1;
    return memcmp(p->cell, q->cell, sizeof p->cell);
}

/* Reads pushes: a list, the stress test's own and those of a file, and sorts them by step. */
static kf_status read_pushes(const reader *r) {
    static const char *const keys[] = {"reach", "list", "stress_test", "file", NULL};
    const kf_json_place place = {r->file, "pushes"};
    const cJSON *pushes, *entry;
    const char *file = NULL;
    long reach = 4;
    int number = 0;
    KF_TRY(section(r, "pushes", false, keys, &pushes));
    if (pushes == NULL) return KF_OK;
    KF_TRY(kf_json_integer(place, pushes, "reach", false, 0, 32, &reach, r->error));
    for (int i = 0; i < r->fluid->dimensions; i++)
        if (2 * reach + 1 > r->fluid->cells[i])
            return kf_fail(r->error, KF_BAD_INPUT, "%s: pushes.reach: %ld cells are more than the box holds",
                           r->file, reach);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(pushes, "list");
    if (list != NULL && !cJSON_IsArray(list))
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s: pushes.list: give a list of {\"step\", \"at\", \"velocity\"}", r->file);
    cJSON_ArrayForEach(entry, list) KF_TRY(read_push(r, entry, number++, reach));
    KF_TRY(read_stress_test(r, pushes, reach));
    KF_TRY(kf_json_string(place, pushes, "file", false, &file, r->error));
    if (file != NULL) KF_TRY(read_push_file(r, file, reach));
    if (r->fluid->impulse_count > 1)
        qsort(r->fluid->impulses, r->fluid->impulse_count, sizeof(kf_fluid_impulse), by_step);
    return KF_OK;
}

/* Reads a source: a ball that holds the fluid's velocity, accelerates it or adds dye, between two times;
 * all become cells and steps. */
static kf_status read_source(const reader *r, const cJSON *entry, int number, kf_fluid_source *s) {
    static const char *const keys[] = {"center", "radius", "velocity", "hold", "acceleration",
                                       "dye",    "from",   "until",    NULL},
                             *const of_velocity[] = {"hold", NULL};
    char path[32], center[48];
    (void)snprintf(path, sizeof path, "sources[%d]", number);
    (void)snprintf(center, sizeof center, "%s.center", path);
    const kf_json_place place = {r->file, path};
    kf_fluid *f = r->fluid;
    double radius = 0, hold = 0, from = 0, until = INFINITY;
    if (!cJSON_IsObject(entry))
        return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: must be an object {...}", r->file, path);
    KF_TRY(kf_json_check_keys(place, entry, keys, r->error));
    KF_TRY(vector(r, place, entry, "center", true, s->center));
    KF_TRY(check_inside(r, center, false, s->center));
    KF_TRY(kf_json_number(place, entry, "radius", true, f->cell_size, FAR, &radius, r->error));
    KF_TRY(vector(r, place, entry, "velocity", false, s->velocity));
    KF_TRY(vector(r, place, entry, "acceleration", false, s->acceleration));
    KF_TRY(kf_json_number(place, entry, "hold", false, 1e-9, FAR, &hold, r->error));
    KF_TRY(kf_json_number(place, entry, "from", false, 0, FAR, &from, r->error));
    KF_TRY(kf_json_number(place, entry, "until", false, 0, FAR, &until, r->error));
    if (until <= from)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: until is not after from", r->file, path);
    if (!cJSON_HasObjectItem(entry, "velocity"))
        KF_TRY(kf_json_refuse_keys(place, entry, of_velocity, "is for a source with a velocity", r->error));
    if (cJSON_HasObjectItem(entry, "dye"))
        KF_TRY(kf_json_numbers(place, entry, "dye", true, -FAR, FAR, f->dye_count, s->dye, r->error));
    s->radius = radius / f->cell_size;
    for (int i = 0; i < f->dimensions; i++) {
        s->center[i] = s->center[i] / f->cell_size - 0.5;
        s->velocity[i] *= speed_unit(f);
        s->acceleration[i] *= f->time_step * speed_unit(f);
        if (!(2 * s->radius + 3 <= f->cells[i]))
            return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: a ball of radius %g does not fit into the box",
                           r->file, path, radius);
    }
    /* "hold" seconds pull the velocity to that of the source; without it, at once. */
    if (cJSON_HasObjectItem(entry, "velocity")) s->pull = hold > 0 ? 1 - exp(-f->time_step / hold) : 1;
    for (int i = 0; i < f->dye_count; i++)
        s->dye[i] *= f->time_step;
    s->first = (long long)floor(from / f->time_step + 1e-9);
    s->last = isinf(until) ? INT64_MAX : (long long)ceil(until / f->time_step - 1e-9) - 1;
    return KF_OK;
}

static kf_status read_sources(const reader *r) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->root, "sources"), *entry;
    kf_fluid *f = r->fluid;
    if (list == NULL) return KF_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > MOST_SOURCES)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: sources: give a list of at most %d", r->file,
                       MOST_SOURCES);
    const int images = 1 << (f->walls[0] + f->walls[1] + f->walls[2]); /* room for the mirror images */
    f->sources = kf_allocate_zeroed((size_t)(cJSON_GetArraySize(list) * images) + 1, sizeof *f->sources);
    cJSON_ArrayForEach(entry, list) {
        const int number = f->source_count++;
        KF_TRY(read_source(r, entry, number, &f->sources[number]));
    }
    return KF_OK;
}

/* Reads particles: how many, one a cell if nothing is said, and how they are moved. */
static kf_status read_particles(const reader *r) {
    static const char *const keys[] = {"count", "rule", NULL};
    static const char *const rules[] = {"seed", "midpoint"};
    const kf_json_place place = {r->file, "particles"};
    const cJSON *particles;
    kf_fluid *f = r->fluid;
    int domain[3], rule = 1;
    KF_TRY(section(r, "particles", false, keys, &particles));
    if (particles == NULL) return KF_OK;
    kf_fluid_domain(f, domain);
    long count = (long)domain[0] * domain[1] * domain[2];
    KF_TRY(kf_json_integer(place, particles, "count", false, 1, 1L << 31, &count, r->error));
    KF_TRY(kf_json_choice(place, particles, "rule", false, rules, 2, &rule, r->error));
    f->particle_count = count;
    f->particle_midpoint = rule == 1;
    return KF_OK;
}

/* --- Mirror images -------------------------------------------------------------------------------------- */

/* Mirrors what acts in a domain between walls, with the velocity across turned, so that the mirror image
 * does the same. */
static void mirror(kf_fluid *f) {
    for (int axis = 0; axis < f->dimensions; axis++) {
        if (!f->walls[axis]) continue;
        const size_t impulses = f->impulse_count;
        const int sources = f->source_count, n = f->cells[axis];
        for (size_t i = 0; i < impulses; i++) {
            kf_fluid_impulse image = f->impulses[i];
            image.cell[axis] = n - 1 - image.cell[axis];
            image.vector[axis] = -image.vector[axis];
            add_impulse(f, &image);
        }
        for (int i = 0; i < sources; i++) {
            kf_fluid_source *image = &f->sources[f->source_count++];
            *image = f->sources[i];
            image->center[axis] = n - 1 - image->center[axis];
            image->velocity[axis] = -image->velocity[axis];
            image->acceleration[axis] = -image->acceleration[axis];
        }
    }
    if (f->impulse_count > 1) qsort(f->impulses, f->impulse_count, sizeof *f->impulses, by_step);
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
    KF_TRY(kf_probes_of_file(r->file, r->root, &probes, r->error)); /* which kftune run reads */
    KF_TRY(kf_json_string(top, r->root, "description", false, &description, r->error));
    KF_TRY(read_domain(r, cells));
    KF_TRY(read_scheme(r));
    KF_TRY(read_flow(r));
    KF_TRY(read_start(r));
    KF_TRY(read_body(r));
    KF_TRY(read_dyes(r));
    KF_TRY(read_pushes(r));
    KF_TRY(read_sources(r));
    KF_TRY(read_particles(r));
    KF_TRY(kf_fluid_read_solid(r->file, r->root, r->fluid, r->error));
    KF_TRY(check_together(r));
    mirror(r->fluid);
    return KF_OK;
}

/* Opens a scene file of this system; cells that are not 0 replace the file's. On success the caller frees
 * the fluid, on failure there is none. */
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
