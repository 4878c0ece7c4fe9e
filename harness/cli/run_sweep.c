#include "harness/cli/run_sweep.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/number.h"
#include "base/util/text.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/run_figures.h"
#include "harness/cli/sweep_lanes.h"
#include "harness/cli/sweep_result.h"
#include "results/best_config.h"
#include "scene/document.h"
#include "solver/systems.h"

enum { LONGEST_VALUE = 512 };

enum { YAW, SPEED, REYNOLDS, GRIDS, SEEDS, SCENES, KINDS };

/* The options that may be swept: each takes several values and gives a single run one of them. */
static const struct {
    const char *option, *each, *word, *axis;
} kinds[KINDS] = {[YAW] = {"--yaw", "--yaw", "yaw", "yaw in degrees"},
                  [SPEED] = {"--speed", "--speed", "speed", "speed in m/s"},
                  [REYNOLDS] = {"--reynolds", "--reynolds", "re", "Reynolds number"},
                  [GRIDS] = {"--grids", "--cells", "cells", "cells along the solid"},
                  [SEEDS] = {"--seeds", "", "seed", "seed of the samples"},
                  [SCENES] = {"--scene", "--scene", "", "scene"}};

typedef struct sweep {
    const kf_arguments *arguments;
    kf_run_one run;
    kf_sweep_lanes lanes;
    bool neighbours; /* a run begins from the flow of the run before it */
    int kind, count;
    char values[KF_SWEEP_POINTS][LONGEST_VALUE];
    bool placed;                           /* the meshes are placed, so options no longer place them */
    char scenes[KF_SWEEP_POINTS][KF_PATH]; /* the scene of each run; "": as the command line says */
    char folder[KF_PATH];                  /* the folder of the whole sweep */
} sweep;

/* ---- Which values ---- */

/* Returns whether an option exists only for sweeps. */
static bool is_plural(int kind) {
    return kind == GRIDS || kind == SEEDS;
}

/* Returns whether a value is a list. The name of a single file may contain a comma. */
static bool is_list(int kind, const char *value) {
    if (is_plural(kind)) return true;
    if (strchr(value, ',') != NULL) return kind != SCENES || access(value, F_OK) != 0;
    return kind != SCENES && strchr(value, ':') != NULL;
}

bool kf_run_is_sweep(const kf_arguments *arguments) {
    for (int k = 0; k < KINDS; k++) {
        const char *value = kf_argument(arguments, kinds[k].option, NULL);
        if (value != NULL && is_list(k, value)) return true;
    }
    return false;
}

static kf_status too_many(const char *option, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "option '%s': more than %d values", option, KF_SWEEP_POINTS);
}

/* Reads exactly three decimal numbers with colons between them. */
static bool read_three(const char *text, double numbers[3]) {
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        numbers[i] = kf_read_decimal(text, &end);
        if (end == text || *end != (i < 2 ? ':' : '\0')) return false;
        text = end + 1;
    }
    return true;
}

/* Reads a range: "-10:10:5" means -10, -5, 0, 5, 10. */
static kf_status read_range(sweep *s, const char *option, const char *text, kf_error *error) {
    double numbers[3] = {0.0};
    const bool read = read_three(text, numbers);
    const double from = numbers[0], to = numbers[1], step = numbers[2];
    const bool leads = read && step * (to - from) > 0.0;
    if (leads && (to - from) / step >= KF_SWEEP_POINTS) return too_many(option, error);
    if (!leads || !(fabs(from) + fabs(to) < 1e9))
        return kf_fail(error, KF_BAD_INPUT,
                       "option '%s': '%s' is no range; give FROM:TO:STEP, for example -10:10:5, or a list",
                       option, text);
    const double steps = floor((to - from) / step + 1e-6);
    if (steps + 1.0 > KF_SWEEP_POINTS) return too_many(option, error);
    const double last = from + steps * step;
    if (fabs(to - last) > 1e-5 * fabs(step))
        return kf_fail(error, KF_BAD_INPUT,
                       "option '%s': '%s' does not reach %.9g: steps of %.9g from %.9g end at %.9g; give "
                       "another end or step, or a list",
                       option, text, to, step, from, last);
    for (int i = 0; i <= (int)steps; i++)
        (void)snprintf(s->values[s->count++], LONGEST_VALUE, "%.9g",
                       fabs(from + i * step) < 1e-9 * fabs(step) ? 0.0 : from + i * step);
    return KF_OK;
}

static kf_status read_list(sweep *s, const char *option, const char *text, kf_error *error) {
    for (const char *word = text;; word++) {
        const size_t length = strcspn(word, ",");
        if (length == 0 || length >= LONGEST_VALUE)
            return kf_fail(error, KF_BAD_INPUT, "option '%s': '%.100s' contains an empty or infinite value",
                           option, text);
        if (s->count == KF_SWEEP_POINTS) return too_many(option, error);
        (void)snprintf(s->values[s->count++], LONGEST_VALUE, "%.*s", (int)length, word);
        word += length;
        if (*word == '\0') return KF_OK;
    }
}

/* Returns whether two values are one, as 5 and 5.0 are. */
static bool is_repeated(int kind, const char *one, const char *other) {
    char *end = NULL, *other_end = NULL;
    const double a = kf_read_decimal(one, &end), b = kf_read_decimal(other, &other_end);
    const bool numbers = kind != SCENES && end != one && other_end != other;
    return strcmp(one, other) == 0 || (numbers && a == b && strcmp(end, other_end) == 0);
}

/* Reads the values of the option that has several, as a list or a range. Two such options are refused, and so
 * is a repeated value. */
static kf_status read_values(sweep *s, kf_error *error) {
    s->kind = -1;
    for (int k = 0; k < KINDS; k++) {
        const char *option = kinds[k].option, *text = kf_argument(s->arguments, option, NULL);
        if (text == NULL || !is_list(k, text)) continue;
        if (s->kind >= 0)
            return kf_fail(error, KF_BAD_INPUT,
                           "options '%s' and '%s': a sweep varies one quantity; give one list",
                           kinds[s->kind].option, option);
        s->kind = k;
        KF_TRY(strchr(text, ':') != NULL && k != SCENES ? read_range(s, option, text, error)
                                                        : read_list(s, option, text, error));
    }
    for (int i = 0; i < 2 && s->kind == GRIDS; i++) {
        const char *other = i == 0 ? "--grid" : "--cells";
        if (kf_argument_given(s->arguments, other))
            return kf_fail(
                error, KF_BAD_INPUT,
                "options '--grids' and '%s': each run has the cells that --grids says; leave %s out", other,
                other);
    }
    return KF_OK;
}

/* --- The options of each run -------------------------------------------------------------------------- */

static void leave_out_placement(kf_arguments *arguments) {
    static const kf_option placing[] = {KF_PLACEMENT_OPTIONS};
    for (size_t i = 0; i < sizeof placing / sizeof *placing; i++)
        kf_argument_set(arguments, placing[i].name, NULL);
}

/* Returns the angle farthest from 0. Its tunnel has room for all other angles. */
static const char *widest(const sweep *s) {
    int found = 0;
    for (int i = 1; i < s->count; i++)
        if (fabs(strtod(s->values[i], NULL)) > fabs(strtod(s->values[found], NULL))) found = i;
    return s->values[found];
}

/* Places the first mesh in a tunnel. The other meshes replace it in the same tunnel. */
static kf_status place_meshes(sweep *s, const char *first, kf_error *error) {
    kf_arguments *own = kf_allocate(sizeof *own);
    cJSON *like = NULL;
    int nodes[3] = {0};
    double samples = 0.0;
    *own = *s->arguments;
    kf_argument_set(own, kinds[s->kind].option, s->kind == YAW ? widest(s) : NULL);
    kf_status status = kf_argument_grid(own, "--grid", nodes, error);
    if (status == KF_OK) status = kf_argument_number(own, "--samples-per-cell", &samples, error);
    for (int i = 0; i < s->count && status == KF_OK; i++) {
        const bool scenes = s->kind == SCENES;
        const char *source = scenes ? s->values[i] : first;
        char name[128];
        cJSON *document = NULL;
        if (!scenes && i > 0) {
            kf_copy_text(s->scenes[i], KF_PATH, s->scenes[0]);
            continue;
        }
        if (!kf_scene_is_mesh(source)) continue;
        if (like != NULL) leave_out_placement(own);
        status = kf_argument_document(own, nodes, samples, source, like, &document, name, error);
        if (status == KF_OK) status = kf_scene_document_pin(document, error);
        kf_scene_name(source, name); /* the folder's name says what differs */
        if (status == KF_OK) status = kf_scene_document_keep(document, name, s->scenes[i], NULL, error);
        if (like == NULL)
            like = document;
        else
            cJSON_Delete(document);
    }
    cJSON_Delete(like);
    free(own);
    return status;
}

static kf_status read_cells(const char *text, double *cells, kf_error *error) {
    char *end = NULL;
    *cells = kf_read_decimal(text, &end);
    if (*end == '\0' && *cells >= 4.0 && *cells <= 4096.0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '--grids': '%s' is not a number of cells from 4 to 4096",
                   text);
}

static kf_status read_seed(const char *text, uint64_t *seed, kf_error *error) {
    char *end = NULL;
    *seed = strtoull(text, &end, 10);
    if (*end == '\0' && text[0] != '-' && *seed >= 1 && *seed <= 1ull << 53) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '--seeds': '%s' is not a whole number of at least 1", text);
}

/* Writes a value that has a unit in that of the sweep, in which tables and charts have all of them. */
static void write_in_unit(const sweep *s, const kf_placement *placement, char value[LONGEST_VALUE]) {
    char *end = NULL;
    (void)kf_read_decimal(value, &end);
    if (*end != '\0' && s->kind == SPEED) (void)snprintf(value, LONGEST_VALUE, "%.9g", placement->speed);
    if (*end != '\0' && s->kind == YAW) (void)snprintf(value, LONGEST_VALUE, "%.9g", placement->yaw);
}

/* Checks all values as a run would, before any mesh is read. None is given twice. */
static kf_status check_values(sweep *s, kf_error *error) {
    kf_arguments *own = kf_allocate(sizeof *own);
    kf_placement placement;
    kf_status status = KF_OK;
    *own = *s->arguments;
    for (int i = 0; i < s->count && status == KF_OK; i++) {
        double cells;
        uint64_t seed;
        const bool placing = s->kind == YAW || s->kind == SPEED || s->kind == REYNOLDS;
        if (s->kind == GRIDS) status = read_cells(s->values[i], &cells, error);
        if (s->kind == SEEDS) status = read_seed(s->values[i], &seed, error);
        if (placing) kf_argument_set(own, kinds[s->kind].each, s->values[i]);
        if (status == KF_OK) status = kf_argument_placement(own, &placement, error);
        if (status == KF_OK && placing) write_in_unit(s, &placement, s->values[i]);
    }
    for (int i = 0; i < s->count && status == KF_OK; i++)
        for (int j = 0; j < i && status == KF_OK; j++)
            if (is_repeated(s->kind, s->values[i], s->values[j]))
                status = kf_fail(error, KF_BAD_INPUT, "option '%s': %s is given twice", kinds[s->kind].option,
                                 s->values[i]);
    free(own);
    return status;
}

/* Computes the grid of a scene that was not made from a mesh, for this number of cells along its reference
 * length. */
static kf_status grid_of(const char *source, const char *cells, char grid[48], kf_error *error) {
    const kf_scene_options options = {.sections = kf_systems_scene_sections(), .samples_per_cell = 1.0};
    kf_scene *scene = NULL;
    double wanted;
    KF_TRY(read_cells(cells, &wanted, error));
    KF_TRY(kf_scene_open(source, &options, &scene, error));
    const double ratio = wanted / scene->reference_length;
    (void)snprintf(grid, 48, "%.0fx%.0fx%.0f", fmax(1.0, round(ratio * scene->nodes[0])),
                   fmax(1.0, round(ratio * scene->nodes[1])),
                   scene->nodes[2] == 1 ? 1.0 : fmax(1.0, round(ratio * scene->nodes[2])));
    kf_scene_free(scene);
    return KF_OK;
}

static bool has_placement(const char *scene) {
    cJSON *document = NULL;
    kf_error ignored;
    const bool placed = kf_scene_document_read(scene, &document, &ignored) == KF_OK &&
                        cJSON_HasObjectItem(document, "placed");
    cJSON_Delete(document);
    return placed;
}

/* Names a scene's run by its file, or by its folder and file where another scene's file has the same name. */
static void name_scene(const sweep *s, int point, char name[128]) {
    const char *value = s->values[point], *slash = strrchr(value, '/');
    char other[128], both[KF_PATH];
    bool alone = true;
    kf_scene_name(value, name);
    for (int i = 0; i < s->count; i++) {
        kf_scene_name(s->values[i], other);
        alone = alone && (i == point || strcmp(other, name) != 0);
    }
    if (alone || slash == NULL || slash == value) return;
    const char *folder = slash;
    while (folder > value && folder[-1] != '/')
        folder--;
    if (kf_path(both, NULL, "%.*s-%s", (int)(slash - folder), folder, name) == KF_OK)
        kf_copy_text(name, 128, both);
}

/* Names a run's folder by the swept value, as in "yaw-10". */
static void name_point(const sweep *s, int point, char name[128]) {
    const char *word = kinds[s->kind].word;
    if (s->kind == SCENES) {
        name_scene(s, point, name);
        return;
    }
    size_t length = (size_t)snprintf(name, 128, "%s", word);
    for (const char *c = s->values[point]; *c != '\0' && length + 1 < 128; c++)
        if (isalnum((unsigned char)*c) || strchr("+-.", *c) != NULL) name[length++] = *c;
    name[length] = '\0';
}

/* Refuses a scene in which a seed draws nothing, so that all runs would be the same. */
static kf_status check_drawn(const char *scene, const cJSON *document, kf_error *error) {
    const cJSON *solid = cJSON_GetObjectItemCaseSensitive(document, "solid"),
                *flow = cJSON_GetObjectItemCaseSensitive(document, "flow");
    const char *boundary = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(solid, "boundary"));
    const bool sampled = cJSON_HasObjectItem(document, "solids") ||
                         (solid != NULL && (boundary == NULL || strcmp(boundary, "links") != 0));
    const double disturbance = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(flow, "disturbance"));
    if (flow != NULL && (sampled || disturbance > 0.0)) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "option '--seeds': a seed draws the samples of an immersed solid and a flow's disturbance, "
        "and %s has neither; all runs would be the same",
        kf_argument_source(scene));
}

/* Makes the scene with another seed for its samples, as an option would. */
static kf_status seed_scene(const char *scene, const char *seed, char file[KF_PATH], kf_error *error) {
    char name[128];
    uint64_t number;
    cJSON *document = NULL;
    KF_TRY(read_seed(seed, &number, error));
    KF_TRY(kf_scene_document_read(scene, &document, error));
    kf_status status = check_drawn(scene, document, error);
    kf_scene_document_ask(document, &(kf_scene_options){.seed = number});
    kf_scene_name(scene, name);
    if (status == KF_OK) status = kf_scene_document_keep(document, name, file, NULL, error);
    cJSON_Delete(document);
    return status;
}

/* Makes the arguments of one run. The caller provides the memory for grid, scene and folder. */
static kf_status make_point(sweep *s, int point, kf_arguments *own, char grid[48], char folder[KF_PATH],
                            kf_error *error) {
    char name[128];
    *own = *s->arguments;
    name_point(s, point, name);
    KF_TRY(kf_path(folder, error, "%s/%s", s->folder, name));
    kf_argument_set(own, kinds[s->kind].option, NULL);
    kf_argument_set(own, "--json", NULL);
    kf_argument_set(own, "--output", folder);
    const bool placed = s->placed && s->scenes[point][0] != '\0';
    if (placed) {
        leave_out_placement(own);
        kf_argument_set(own, "--scene", s->scenes[point]);
    }
    if (s->kind == SEEDS) {
        KF_TRY(seed_scene(kf_argument(own, "--scene", ""), s->values[point], s->scenes[point], error));
        kf_argument_set(own, "--scene", s->scenes[point]);
    } else if (!placed || s->kind != SCENES) {
        kf_argument_set(own, kinds[s->kind].each, s->values[point]);
    }
    const char *scene = kf_argument(own, "--scene", NULL);
    if (s->kind != GRIDS || placed || scene == NULL || has_placement(scene)) return KF_OK;
    kf_argument_set(own, "--cells", NULL);
    KF_TRY(grid_of(scene, s->values[point], grid, error));
    kf_argument_set(own, "--grid", grid);
    return KF_OK;
}

/* ---- The runs ---- */

/* Finds the run before it, if its flow has settled and a checkpoint exists. */
static kf_status find_neighbour(const sweep *s, int before, kf_run_part *part, kf_error *error) {
    char name[128];
    kf_run_figures figures;
    kf_error why;
    memset(part, 0, sizeof *part);
    if (!s->neighbours || before < 0) return KF_OK;
    name_point(s, before, name);
    KF_TRY(kf_path(part->neighbour, error, "%s/%s", s->folder, name));
    const kf_status read = kf_run_figures_read(part->neighbour, &figures, &why);
    if (read == KF_OK && figures.settled) kf_copy_text(part->checkpoint, KF_PATH, figures.checkpoint);
    if (part->checkpoint[0] == '\0') part->neighbour[0] = '\0';
    kf_run_figures_free(&figures);
    return read == KF_HOST ? kf_fail(error, read, "%s", why.message) : KF_OK;
}

/* Does one run on its lane's devices. */
static kf_status run_point(void *context, int point, int before, const char *devices, kf_error *error) {
    sweep *s = context;
    kf_arguments *own = kf_allocate(sizeof *own);
    kf_run_part *part = kf_allocate(sizeof *part);
    char grid[48], folder[KF_PATH];
    kf_status status = make_point(s, point, own, grid, folder, error);
    if (status == KF_OK) status = find_neighbour(s, before, part, error);
    part->first = point == 0;
    part->alike = s->kind == YAW || s->kind == SEEDS;
    if (status == KF_OK && devices[0] != '\0') {
        kf_argument_set(own, "--devices", devices);
        kf_argument_set(own, "--device", NULL);
    }
    if (status == KF_OK) {
        kf_info("run %d of %d: %s %s", point + 1, s->count, kinds[s->kind].axis, s->values[point]);
        status = s->run(own, part, error);
    }
    free(part);
    free(own);
    return status;
}

static const char *describe_point(void *context, int point) {
    static char text[LONGEST_VALUE + 64];
    const sweep *s = context;
    (void)snprintf(text, sizeof text, "%s %s", kinds[s->kind].axis, s->values[point]);
    return text;
}

/* Refuses options that belong to a single run, and configs or seeds that do not go with what is swept. */
static kf_status check(const sweep *s, kf_error *error) {
    static const char *const alone[] = {"--restart", "--smoke", "--film"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (kf_argument_given(s->arguments, alone[i]))
            return kf_fail(error, KF_BAD_INPUT, "option '%s': is for a single run, not for a sweep",
                           alone[i]);
    const bool config = kf_argument_given(s->arguments, "--config"),
               scene = kf_argument_given(s->arguments, "--scene");
    if (config && s->kind == GRIDS)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--grids': a config belongs to one grid; leave --config out, or tune each");
    if (s->kind == SEEDS && !scene)
        return kf_fail(error, KF_BAD_INPUT, "option '--seeds': give the scene with --scene");
    if (!config && !scene)
        return kf_fail(error, KF_BAD_INPUT, "run: --scene FILE or --config FILE is missing for the sweep");
    return KF_OK;
}

/* Names the sweep after the scene, or the config. */
static void name_sweep(const sweep *s, char name[128]) {
    kf_scene_name(s->kind != SCENES
                      ? kf_argument(s->arguments, "--scene", kf_argument(s->arguments, "--config", "scene"))
                      : s->values[0],
                  name);
    if (kf_ends_in(name, ".kftune")) name[strlen(name) - strlen(".kftune")] = '\0';
}

/* Chooses the folder: <scene>-sweep, or that of --output. */
static kf_status choose_folder(sweep *s, kf_error *error) {
    const char *given = kf_argument(s->arguments, "--output", NULL);
    char name[128];
    name_sweep(s, name);
    return given != NULL ? kf_path(s->folder, error, "%s", given)
                         : kf_path(s->folder, error, "%s-sweep", name);
}

/* Refuses two runs that would have one folder, and a folder with the table of another sweep, which would be
 * lost. */
static kf_status check_names(const sweep *s, kf_error *error) {
    const char *values[KF_SWEEP_POINTS];
    char name[128], other[128];
    for (int i = 0; i < s->count; i++) {
        values[i] = s->values[i];
        name_point(s, i, name);
        for (int j = 0; j < i; j++) {
            name_point(s, j, other);
            if (strcmp(name, other) == 0)
                return kf_fail(error, KF_BAD_INPUT,
                               "option '%s': %.100s and %.100s would both be run in %s/%s; rename one",
                               kinds[s->kind].option, s->values[j], s->values[i], s->folder, name);
        }
    }
    if (kf_argument_given(s->arguments, "--force")) return KF_OK;
    return kf_sweep_result_check(s->folder, kinds[s->kind].axis, s->count, values, error);
}

/* Makes the scene and the options of each run before the first one starts. */
static kf_status check_points(sweep *s, kf_error *error) {
    kf_arguments *own = kf_allocate(sizeof *own);
    char grid[48], folder[KF_PATH];
    kf_status status = KF_OK;
    for (int i = 0; i < s->count && status == KF_OK; i++)
        status = make_point(s, i, own, grid, folder, error);
    free(own);
    return status;
}

bool kf_run_is_of_sweeps(const char *option) {
    static const char *const own[] = {"--resume", "--start", "--devices-each"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(option, own[i]) == 0) return true;
    return false;
}

/* Reads how runs begin, and their devices. Runs on different grids cannot begin from each other's flow. */
static kf_status read_ways(sweep *s, kf_error *error) {
    const char *start = kf_argument(s->arguments, "--start", "neighbour");
    long each = 1;
    if (strcmp(start, "neighbour") != 0 && strcmp(start, "scene") != 0)
        return kf_fail(error, KF_BAD_INPUT, "option '--start': '%s' is not known; use neighbour or scene",
                       start);
    s->neighbours = start[0] == 'n' && s->kind != GRIDS;
    KF_TRY(kf_argument_integer(s->arguments, "--devices-each", &each, error));
    return kf_sweep_lanes_open(&s->lanes, kf_argument(s->arguments, "--devices", NULL), (int)each, error);
}

/* Warns if different speeds give the same flow. In a scene with a given Reynolds number the speed only
 * changes the units, unless a solid moves or a force drives the flow. */
static void warn_of_like_speeds(const sweep *s) {
    const char *config = kf_argument(s->arguments, "--config", NULL),
               *scene = s->scenes[0][0] != '\0' ? s->scenes[0] : kf_argument(s->arguments, "--scene", NULL);
    cJSON *document = NULL;
    kf_best_config best = {0};
    kf_error ignored;
    if (s->kind != SPEED || kf_argument_given(s->arguments, "--viscosity")) return;
    if (scene != NULL)
        (void)kf_scene_document_read(scene, &document, &ignored);
    else if (kf_best_config_read(config, &best, &ignored) == KF_OK)
        document = best.document;
    const cJSON *flow = cJSON_GetObjectItemCaseSensitive(document, "flow"),
                *solid = cJSON_GetObjectItemCaseSensitive(document, "solid");
    const bool given = cJSON_HasObjectItem(flow, "reynolds") || kf_argument_given(s->arguments, "--reynolds");
    if (given && !cJSON_HasObjectItem(flow, "acceleration") && !cJSON_HasObjectItem(solid, "motion"))
        kf_warn(
            "option '--speed': the Reynolds number is the same at every speed, and so are all coefficients; "
            "give --viscosity, with which it changes");
    if (scene != NULL) cJSON_Delete(document);
    kf_best_config_free(&best);
}

static kf_status prepare(sweep *s, kf_error *error) {
    KF_TRY(read_values(s, error));
    KF_TRY(check(s, error));
    KF_TRY(check_values(s, error));
    KF_TRY(read_ways(s, error));
    KF_TRY(choose_folder(s, error));
    KF_TRY(check_names(s, error));
    const char *first = s->kind != SCENES ? kf_argument(s->arguments, "--scene", "") : s->values[0];
    if (!kf_argument_given(s->arguments, "--config") && kf_scene_is_mesh(first))
        KF_TRY(place_meshes(s, first, error));
    s->placed = s->scenes[0][0] != '\0';
    KF_TRY(check_points(s, error));
    warn_of_like_speeds(s);
    return KF_OK;
}

static kf_status run_all(sweep *s, kf_error *error) {
    const kf_status worst = kf_sweep_lanes_run(&s->lanes, s->count, run_point, describe_point, s, error);
    if (worst == KF_INTERRUPTED)
        return kf_fail(error, KF_INTERRUPTED, "interrupted; the same command with --resume goes on");
    return worst;
}

/* Runs the sweep and writes its table, even if the sweep is unfinished. Returns the first failure. */
kf_status kf_run_sweep(const kf_arguments *arguments, kf_run_one run, kf_error *error) {
    sweep *s = kf_allocate_zeroed(1, sizeof *s);
    kf_sweep_result *result = kf_allocate_zeroed(1, sizeof *result);
    s->arguments = arguments;
    s->run = run;
    kf_status status = prepare(s, error);
    if (status == KF_OK) {
        status = run_all(s, error);
        result->axis = kinds[s->kind].axis;
        name_sweep(s, result->title);
        result->numbers = s->kind != SCENES;
        result->grids = s->kind == GRIDS;
        result->seeds = s->kind == SEEDS;
        for (int i = 0; i < s->count; i++) {
            char name[128], folder[KF_PATH];
            name_point(s, i, name);
            if (kf_path(folder, NULL, "%s/%s", s->folder, name) == KF_OK)
                kf_sweep_result_add(result, s->values[i], folder);
        }
    }
    if (result->count > 0 && status != KF_BAD_INPUT) {
        kf_error writing = {KF_OK, ""};
        const kf_status written =
            kf_sweep_result_write(result, s->folder, kf_arguments_json(arguments), &writing);
        if (status == KF_OK && written != KF_OK) {
            *error = writing;
            status = written;
        }
    }
    kf_sweep_result_free(result);
    free(result);
    free(s);
    return status;
}
