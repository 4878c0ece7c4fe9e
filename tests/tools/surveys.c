#include "tests/tools/surveys.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/systems.h"

kf_survey kf_surveys[KF_SURVEYS] = {
    {.system = "d2q9", .name = "survey-cavity2d-1024x1024x1"},
    {.system = "d2q9", .name = "survey-cavity2d-1536x1536x1"},
    {.system = "d2q9", .name = "survey-cylinder_array2d-1280x1280x1"},
    {.system = "d2q9", .name = "survey-cylinder_array2d-1792x1792x1"},
    {.system = "stable_fluids", .name = "decay-512x512x1"},
    {.system = "stable_fluids", .name = "decay-1536x1536x1"},
    {.system = "stable_fluids", .name = "survey-decay-768x768x1"},
    {.system = "stable_fluids", .name = "survey-decay-1024x1024x1"},
    {.system = "stable_fluids", .name = "survey-decay-1280x1280x1"},
    {.system = "stable_fluids", .name = "survey-decay-2048x2048x1"},
    {.system = "stable_fluids", .name = "survey-decay-2304x2304x1"},
    {.system = "stable_fluids", .name = "survey-decay-3072x3072x1"},
    {.system = "sph", .name = "survey-particles_32-80x80x80"},
    {.system = "sph", .name = "survey-particles_32-96x96x96"},
    {.system = "sph", .name = "survey-particles_80-72x72x72"},
    {.system = "sph", .name = "survey-particles_bingham-64x64x64"},
    {.system = "sph", .name = "survey-avalanche-300x300x150"},
    {.system = "sph", .name = "survey-dam_break_3d-120x120x120"},
    {.system = "incompressible", .name = "survey-ball-128x112x96"},
    {.system = "incompressible", .name = "survey-ball-160x96x80"},
};

static void stop(const kf_error *error) {
    (void)fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static bool is_preset(const kf_space *space, uint64_t index) {
    for (int i = 0; i < kf_space_preset_count(space); i++) {
        kf_config config;
        uint64_t at;
        char why[256];
        if (kf_space_preset(space, kf_space_preset_name(space, i), &config, NULL) == KF_OK &&
            kf_space_index(space, &config, &at, why, sizeof why) && at == index)
            return true;
    }
    return false;
}

/* Surveys contain values that the systems do not offer any more, so no model knows their cost. */
static bool has_no_model(const kf_space *space, uint64_t index) {
    static const char *const gone[] = {"prefetch=true", "solver=jacobi_cg"};
    bool found = false;
    kf_config config;
    kf_space_config(space, index, &config);
    char *text = kf_config_summary(&config);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        found = found || strstr(text, gone[i]) != NULL;
    free(text);
    return found;
}

/* Lists the survey's correct configs, presets first. */
static void list_configs(kf_survey *s) {
    const kf_landscape *l = s->landscape;
    s->configs = kf_allocate(l->size * sizeof *s->configs);
    s->measured = kf_allocate(l->size * sizeof *s->measured);
    s->said = kf_allocate(l->size * sizeof *s->said);
    for (int random = 0; random < 2; random++) {
        for (uint64_t i = 0; i < l->size; i++) {
            if (l->states[i] != KF_STATE_OK || is_preset(l->space, i) == (random > 0) ||
                has_no_model(l->space, i))
                continue;
            s->measured[s->count] = l->times_us[i];
            s->configs[s->count++] = i;
        }
        if (random == 0) s->presets = s->count;
    }
}

static void open_survey(kf_survey *s) {
    const char *data = NULL;
    char path[KF_PATH];
    kf_error error = {KF_OK, ""};
    kf_config config;
    if (kf_data_folder(&data, &error) != KF_OK ||
        kf_path(path, &error, "%s/results/measured/h200-%s.json.gz", data, s->name) != KF_OK ||
        kf_landscape_open(path, &s->landscape, &error) != KF_OK)
        stop(&error);
    kf_space_config(s->landscape->space, 0, &config);
    if (kf_problem_open(s->landscape->scene, config.system, &s->landscape->options, &s->problem, &error) !=
        KF_OK)
        stop(&error);
    kf_copy_text(s->device.backend, sizeof s->device.backend, s->landscape->backend);
    s->device.peak_bandwidth = s->landscape->peak_bandwidth;
    s->device.l2_bytes = s->landscape->l2_bytes;
    kf_cost_model_open(s->problem, &s->device, NULL, &s->model);
    list_configs(s);
}

static void close_survey(kf_survey *s) {
    free(s->configs);
    free(s->measured);
    free(s->said);
    kf_cost_model_close(s->model);
    kf_problem_free(s->problem);
    kf_landscape_free(s->landscape);
}

double kf_survey_predict(kf_survey *s) {
    for (size_t i = 0; i < s->count; i++) {
        kf_error error = {KF_OK, ""};
        kf_prediction prediction;
        kf_config config;
        kf_space_config(s->landscape->space, s->configs[i], &config);
        /* In these surveys a pass that overlaps began so early that it gained nothing. */
        if (strcmp(config.system, "stable_fluids") == 0) kf_config_set_boolean(&config, "overlap", false);
        if (kf_cost_model_predict(s->model, &config, NULL, &prediction, &error) != KF_OK) stop(&error);
        s->said[i] = prediction.time_us;
    }
    return kf_rank_correlation(s->measured, s->said, s->count);
}

void kf_surveys_open(const char *system) {
    for (int i = 0; i < KF_SURVEYS; i++)
        if (system == NULL || strcmp(system, kf_surveys[i].system) == 0) open_survey(&kf_surveys[i]);
}

void kf_surveys_close(void) {
    for (int i = 0; i < KF_SURVEYS; i++)
        if (kf_surveys[i].model != NULL) close_survey(&kf_surveys[i]);
}

/* --- Choosing rates with a survey left out -------------------------------------------------------------- */

double kf_survey_misfit(const kf_survey *s) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double off = log(s->measured[i] / s->said[i]);
        sum += off;
        squares += off * off;
    }
    return (squares - sum * sum / (double)s->count) / (double)s->count;
}

/* Returns the mean over the system's other surveys, plus a penalty for rates far from their guesses: a
 * factor of two counts as much as times that are 3 % more off. */
static double misfit(const char *system, int left_out, const kf_cost_rate *rates) {
    static const double PULL = 0.001;
    double sum = 0, used = 0;
    for (int i = 0; i < KF_SURVEYS; i++) {
        if (i == left_out || strcmp(kf_surveys[i].system, system) != 0) continue;
        (void)kf_survey_predict(&kf_surveys[i]);
        sum += kf_survey_misfit(&kf_surveys[i]);
        used++;
    }
    sum /= used;
    for (int r = 0; rates[r].name != NULL; r++) {
        const double factor = log2(*rates[r].value / rates[r].guess);
        sum += PULL * factor * factor;
    }
    return sum;
}

/* Makes one rate after the other larger or smaller while that helps. */
static void choose(const char *system, int left_out, const kf_cost_rate *rates) {
    double least = misfit(system, left_out, rates);
    double factor = 2;
    while (factor > 1.1) {
        for (bool better = true; better;) {
            better = false;
            for (int r = 0; rates[r].name != NULL; r++)
                for (int way = -1; way <= 1; way += 2) {
                    const double kept = *rates[r].value;
                    *rates[r].value *= pow(factor, way);
                    const double now = misfit(system, left_out, rates);
                    if (now < least - 1e-5) {
                        least = now;
                        better = true;
                    } else {
                        *rates[r].value = kept;
                    }
                }
        }
        factor = sqrt(factor);
    }
}

bool kf_surveys_choose(const char *system, int left_out, kf_chosen_rates *chosen) {
    *chosen = (kf_chosen_rates){.rates = NULL};
    for (int i = 0; i < KF_SURVEYS; i++)
        if (strcmp(kf_surveys[i].system, system) == 0)
            chosen->rates = kf_cost_model_rates(kf_surveys[i].model);
    if (chosen->rates == NULL) return false;
    for (; chosen->rates[chosen->count].name != NULL && chosen->count < KF_MOST_RATES; chosen->count++) {
        const kf_cost_rate *rate = &chosen->rates[chosen->count];
        chosen->began[chosen->count] = *rate->value;
        *rate->value = rate->guess;
    }
    choose(system, left_out, chosen->rates);
    return true;
}

void kf_surveys_restore(const kf_chosen_rates *chosen) {
    for (int r = 0; r < chosen->count; r++)
        *chosen->rates[r].value = chosen->began[r];
}
