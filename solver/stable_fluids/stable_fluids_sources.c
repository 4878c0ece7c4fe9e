/* Reads the pushes and sources of a scene file of the stable fluids system, and mirrors them at walls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/number.h"
#include "solver/stable_fluids/stable_fluids_reader.h"

enum { MOST_SOURCES = 64, MOST_IMPULSES = 1000000 };

typedef kf_fluid_reader reader;

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

/* Returns the cell that contains a place in metres. */
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
    KF_TRY(kf_json_integer(place, entry, "step", true, 0, KF_JSON_WHOLE, &step, r->error));
    KF_TRY(kf_fluid_vector(r, place, entry, "at", true, at));
    KF_TRY(check_inside(r, at_key, true, at));
    KF_TRY(kf_fluid_vector(r, place, entry, "velocity", true, impulse.vector));
    impulse.step = step;
    for (int i = 0; i < f->dimensions; i++) {
        impulse.cell[i] = cell_of(f, i, at[i]);
        impulse.vector[i] *= kf_fluid_speed_unit(f);
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
    KF_TRY(kf_json_number(place, test, "displacement", false, -KF_FLUID_FAR, KF_FLUID_FAR, &displacement,
                          r->error));
    KF_TRY(kf_json_number(place, test, "strength", false, 0, KF_FLUID_FAR, &strength, r->error));
    const double length = f->cell_size * f->cells[0];
    for (long i = 0; i < steps; i += every) {
        const long hundreds = i / 100;
        kf_fluid_impulse impulse = {.step = i, .reach = (int)reach};
        for (int axis = 0; axis < f->dimensions; axis++) {
            impulse.cell[axis] = (int)((double)f->cells[axis] / (double)(hundreds + 1)) % f->cells[axis];
            impulse.vector[axis] =
                axis < 2 ? strength * f->time_step * displacement * length * kf_fluid_speed_unit(f) : 0;
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
        good = fabs(v[i]) < KF_FLUID_FAR;
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
        impulse.vector[i] = v[1 + f->dimensions + i] * kf_fluid_speed_unit(f);
    }
    impulse.step = (long long)v[0];
    add_impulse(f, &impulse);
    return KF_OK;
}

/* Reads lines of "step,x,y,u,v" (with z and w in three dimensions), in metres and metres per second. '#'
 * begins a comment. */
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
kf_status kf_fluid_read_pushes(const reader *r) {
    static const char *const keys[] = {"reach", "list", "stress_test", "file", NULL};
    const kf_json_place place = {r->file, "pushes"};
    const cJSON *pushes, *entry;
    const char *file = NULL;
    long reach = 4;
    int number = 0;
    KF_TRY(kf_fluid_section(r, "pushes", false, keys, &pushes));
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

/* Reads a source: a ball that holds the fluid's velocity, accelerates it or adds dye between two times. Its
 * values become cells and steps. */
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
    KF_TRY(kf_fluid_vector(r, place, entry, "center", true, s->center));
    KF_TRY(check_inside(r, center, false, s->center));
    KF_TRY(kf_json_number(place, entry, "radius", true, f->cell_size, KF_FLUID_FAR, &radius, r->error));
    KF_TRY(kf_fluid_vector(r, place, entry, "velocity", false, s->velocity));
    KF_TRY(kf_fluid_vector(r, place, entry, "acceleration", false, s->acceleration));
    KF_TRY(kf_json_number(place, entry, "hold", false, 1e-9, KF_FLUID_FAR, &hold, r->error));
    KF_TRY(kf_json_number(place, entry, "from", false, 0, KF_FLUID_FAR, &from, r->error));
    KF_TRY(kf_json_number(place, entry, "until", false, 0, KF_FLUID_FAR, &until, r->error));
    if (until <= from)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: until is not after from", r->file, path);
    if (!cJSON_HasObjectItem(entry, "velocity"))
        KF_TRY(kf_json_refuse_keys(place, entry, of_velocity, "is for a source with a velocity", r->error));
    if (cJSON_HasObjectItem(entry, "dye"))
        KF_TRY(kf_json_numbers(place, entry, "dye", true, -KF_FLUID_FAR, KF_FLUID_FAR, f->dye_count, s->dye,
                               r->error));
    s->radius = radius / f->cell_size;
    for (int i = 0; i < f->dimensions; i++) {
        s->center[i] = s->center[i] / f->cell_size - 0.5;
        s->velocity[i] *= kf_fluid_speed_unit(f);
        s->acceleration[i] *= f->time_step * kf_fluid_speed_unit(f);
        if (!(2 * s->radius + 3 <= f->cells[i]))
            return kf_fail(r->error, KF_BAD_INPUT, "%s: %s: a ball of radius %g does not fit into the box",
                           r->file, path, radius);
    }
    /* During "hold" seconds the velocity is pulled to that of the source; without it, at once. */
    if (cJSON_HasObjectItem(entry, "velocity")) s->pull = hold > 0 ? 1 - exp(-f->time_step / hold) : 1;
    for (int i = 0; i < f->dye_count; i++)
        s->dye[i] *= f->time_step;
    s->first = (long long)floor(from / f->time_step + 1e-9);
    s->last = isinf(until) ? INT64_MAX : (long long)ceil(until / f->time_step - 1e-9) - 1;
    return KF_OK;
}

/* Reads the sources of a scene, with their mirror images behind walls. */
kf_status kf_fluid_read_sources(const reader *r) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(r->root, "sources"), *entry;
    kf_fluid *f = r->fluid;
    if (list == NULL) return KF_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > MOST_SOURCES)
        return kf_fail(r->error, KF_BAD_INPUT, "%s: sources: give a list of at most %d", r->file,
                       MOST_SOURCES);
    /* The mirror images need space. */
    const int images = 1 << (f->walls[0] + f->walls[1] + f->walls[2]);
    f->sources = kf_allocate_zeroed((size_t)(cJSON_GetArraySize(list) * images) + 1, sizeof *f->sources);
    cJSON_ArrayForEach(entry, list) {
        const int number = f->source_count++;
        KF_TRY(read_source(r, entry, number, &f->sources[number]));
    }
    return KF_OK;
}

/* --- Mirror images -------------------------------------------------------------------------------------- */

/* Mirrors what acts in a domain between walls, with the velocity across turned, so that the mirror image
 * does the same. */
void kf_fluid_mirror_sources(kf_fluid *f) {
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
