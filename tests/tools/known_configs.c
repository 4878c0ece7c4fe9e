#include "tests/tools/known_configs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "solver/systems.h"
#include "tests/tools/recording_backend.h"
#include "tests/unit/modelled_gpu.h"

#define BALL    "\"shape\": \"ball\""
#define LINKS   "\"boundary\": \"links\", "
#define TURNING "\"motion\": {\"axis\": [0, 1, 0], \"angular_velocity\": 10}, "
#define LEAVING "\"motion\": {\"axis\": [0, 1, 0], \"angular_velocity\": 10, \"center\": [0.23, 0.2, 0.2]}, "
#define FROM    "\"reynolds\": 1000"
#define TO                                                                                                   \
    ", \"reference_length\": 0.1, \"lattice_speed\": 0.05},\n  \"model\": {\"collision\": \"acm_mrt\", "     \
    "\"rates\": "
#define USUAL FROM TO "\"adaptive_2020\""
#define LAW   "\"reynolds\": 1e6" TO "\"k17\", \"wall\": \"law\""
const known_flow known_flows[] = {
    {"kinetic", "ball", &gpu, 1, true, {0}, NULL, NULL, 0, NULL},
    {"kinetic", "spinning_torus", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"kinetic", "settling", &recording_host, 1, false, {0}, NULL, NULL, 0, NULL},
    {"kinetic", "ball", &gpu, 2, true, {0}, NULL, NULL, 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, BALL, LINKS BALL, 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, BALL, LINKS TURNING BALL, 0, NULL},
    {"kinetic", "ball", &gpu, 2, false, {0}, BALL, LINKS BALL, 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, BALL, LINKS LEAVING BALL, 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, BALL, LINKS BALL, 0, LAW},
    {"kinetic", "ball", &gpu, 1, false, {0}, BALL, LINKS BALL, 0, LAW ", \"layers\": \"modelled\""},
    {"d2q9", "cylinder2d", &gpu, 1, true, {0}, NULL, NULL, 0, NULL},
    {"d2q9", "cavity2d", &recording_host, 1, false, {0}, NULL, NULL, 0, NULL},
    {"d2q9", "cylinder2d", &gpu, 2, true, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "plume", &recording_host, 1, true, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "kolmogorov", &recording_host, 1, false, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "plume3d", &recording_host, 1, false, {0}, NULL, NULL, 0, NULL},
    {"sph", "dam_break_3d", &gpu, 1, true, {0}, NULL, NULL, 0, NULL},
    {"sph", "slump", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"sph", "river", &recording_host, 1, false, {0}, NULL, NULL, 0, NULL},
    /* It has few triangles, because every config computes the distances of all nodes from them. */
    {"incompressible", "plate", &recording_host, 1, true, {0}, NULL, NULL, 0, NULL},
    {.system = NULL},
};

typedef struct walk {
    known_config known;
    const kf_space *space;
    take_known_config *take;
    void *data;
} walk;

static void take_config(walk *w, const char *name, const kf_config *config, bool is_preset) {
    w->known.name = name;
    w->known.config = config;
    w->known.is_preset = is_preset;
    w->take(w->data, &w->known);
}

/* Changes this many of the values from parameter first on, but not that of `kept`. */
static bool change_values(const kf_space *space, int *positions, int kept, int first, int changes,
                          uint64_t *index) {
    if (changes == 0) return kf_space_positions_index(space, positions, index);
    for (int p = first; p < kf_space_parameter_count(space); p++) {
        const int usual = positions[p];
        for (int i = 0; p != kept && i < kf_space_domain_size(space, p); i++) {
            if (i == usual) continue;
            positions[p] = i;
            if (change_values(space, positions, kept, p + 1, changes - 1, index)) return true;
        }
        positions[p] = usual;
    }
    return false;
}

/* Finds a config in which parameter p has value i and at most one other parameter differs from the usual
 * positions. */
static bool find_config(const kf_space *space, const int *usual, int p, int i, kf_config *config) {
    int positions[KF_CONFIG_VALUES];
    uint64_t index = 0;
    for (int changes = 0; changes <= 1; changes++) {
        memcpy(positions, usual, sizeof positions);
        positions[p] = i;
        if (change_values(space, positions, p, 0, changes, &index)) {
            kf_space_config(space, index, config);
            return true;
        }
    }
    return false;
}

static kf_status take_values(walk *w, kf_error *error) {
    const bool of_teams = w->known.flow->parts > 1;
    uint64_t index = 0;
    int usual[KF_CONFIG_VALUES] = {0};
    char why[256];
    if (!kf_space_index(w->space, w->known.usual, &index, why, sizeof why))
        return kf_fail(error, KF_GATE_FAILED, "the preset default is not in the space: %s", why);
    kf_space_positions(w->space, index, usual);
    for (int p = 0; p < kf_space_parameter_count(w->space); p++)
        for (int i = 0; i < kf_space_domain_size(w->space, p); i++) {
            kf_config config;
            kf_value value;
            kf_space_value(w->space, p, i, &value);
            if (strcmp(value.name, "nccl") == 0) continue; /* its library needs a GPU */
            if (i == usual[p] || (of_teams && !kf_space_parameter_is_of_team(w->space, p))) continue;
            if (find_config(w->space, usual, p, i, &config))
                take_config(w, kf_space_parameter_name(w->space, p), &config, false);
        }
    return KF_OK;
}

/* However many are drawn, their places are far apart: multiples of the golden ratio. */
static void take_drawn(walk *w) {
    const double ratio = 0.6180339887498949;
    for (int i = 1; i <= w->known.flow->drawn; i++) {
        kf_config config;
        const double place = i * ratio - (int)(i * ratio);
        kf_space_config(w->space, (uint64_t)(place * (double)kf_space_size(w->space)), &config);
        take_config(w, "drawn", &config, false);
    }
}

static kf_status take_all(walk *w, kf_error *error) {
    kf_config usual;
    KF_TRY(kf_space_preset(w->space, "default", &usual, error));
    w->known.usual = &usual;
    take_config(w, "default", &usual, true);
    for (int i = 0; i < kf_space_preset_count(w->space); i++) {
        kf_config config;
        const char *name = kf_space_preset_name(w->space, i);
        KF_TRY(kf_space_preset(w->space, name, &config, error));
        if (strcmp(name, "default") != 0) take_config(w, name, &config, true);
    }
    if (w->known.flow->every) KF_TRY(take_values(w, error));
    take_drawn(w);
    return KF_OK;
}

static kf_status walk_problem(walk *w, kf_problem *problem, kf_error *error) {
    kf_space *space = NULL;
    w->known.problem = problem;
    KF_TRY(kf_problem_space(problem, kf_backend_device(w->known.backend), NULL, 0, &space, error));
    w->space = space;
    const kf_status status = take_all(w, error);
    kf_space_free(space);
    return status;
}

static kf_status walk_trial(walk *w, kf_problem *large, kf_error *error) {
    kf_problem *problem = NULL;
    int steps = 0;
    KF_TRY(large->system->trial(large, &problem, &steps, error));
    problem->system = large->system;
    const kf_status status = walk_problem(w, problem, error);
    kf_problem_free(problem);
    return status;
}

/* Replaces the first occurrence of `of` in the text of the file `path`. */
static kf_status replace_text(const char *path, char **text, const char *of, const char *by,
                              kf_error *error) {
    kf_text changed = {0};
    const char *found = strstr(*text, of);
    if (found == NULL) return kf_fail(error, KF_BAD_INPUT, "%s: there is no '%s'", path, of);
    kf_text_append(&changed, "%.*s%s%s", (int)(found - *text), *text, by, found + strlen(of));
    free(*text);
    *text = changed.text;
    return KF_OK;
}

/* Writes the scene of the library with its text replaced to a file that the caller removes. */
static kf_status write_changed(const known_flow *flow, char path[KF_PATH], kf_error *error) {
    const char *data;
    char *text = NULL;
    size_t size = 0;
    KF_TRY(kf_data_folder(&data, error));
    KF_TRY(kf_path(path, error, "%s/scene/library/%s.json", data, flow->scene));
    KF_TRY(kf_file_read(path, 0, &text, &size, error));
    kf_status status = replace_text(path, &text, flow->of, flow->by, error);
    if (status == KF_OK && flow->model != NULL) status = replace_text(path, &text, USUAL, flow->model, error);
    if (status != KF_OK) {
        free(text);
        return status;
    }
    const char *folder = getenv("TMPDIR");
    status =
        kf_path(path, error, "%s/kftune-known-%ld.json", folder != NULL ? folder : "/tmp", (long)getpid());
    if (status == KF_OK) status = kf_file_write_own(path, text, strlen(text), error);
    free(text);
    return status;
}

kf_status each_known_config(const known_flow *flow, take_known_config *take, void *data, kf_error *error) {
    const kf_problem_options options = {.nodes = {flow->nodes[0], flow->nodes[1], flow->nodes[2]},
                                        .accuracy = strcmp(flow->system, "kinetic") == 0 ? 0.02 : 0};
    char changed[KF_PATH] = "";
    kf_problem *large = NULL;
    if (flow->of != NULL) KF_TRY(write_changed(flow, changed, error));
    kf_status status =
        kf_problem_open(flow->of != NULL ? changed : flow->scene, flow->system, &options, &large, error);
    if (status == KF_OK) {
        walk w = {.known = {.flow = flow, .backend = recording_open_team(flow->device, flow->parts)},
                  .take = take,
                  .data = data};
        status = (flow->nodes[0] > 0 ? walk_problem : walk_trial)(&w, large, error);
        kf_backend_close(w.known.backend);
    }
    kf_problem_free(large);
    if (flow->of != NULL) (void)unlink(changed);
    return status;
}
