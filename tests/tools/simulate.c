#include "tests/tools/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "base/util/text.h"

/* --- Nights ------------------------------------------------------------------------------------------- */

static kf_night_level play_night(const kf_time_source *source, bool changed) {
    double times[KF_LEAST_PROCESSES];
    for (int i = 0; i < KF_LEAST_PROCESSES; i++)
        times[i] = source->time(source->context, changed);
    return kf_night_level_of(times, KF_LEAST_PROCESSES, false);
}

/* Plays the interleaved comparison within the night, with more processes where the first ones leave it
 * open. */
static kf_finding play_comparison(const kf_time_source *source, bool changed, double threshold,
                                  const kf_rules *rules) {
    double before[KF_MORE_PROCESSES], after[KF_MORE_PROCESSES];
    kf_comparison comparison = {0};
    for (size_t count = 0; count < KF_MORE_PROCESSES;) {
        before[count] = log(source->time(source->context, false));
        after[count++] = log(source->time(source->context, changed));
        if (count != KF_LEAST_PROCESSES && count != KF_MORE_PROCESSES) continue;
        comparison = kf_compare(before, count, after, count);
        if (!kf_undecided(&comparison, threshold, rules)) break;
    }
    return kf_confirm(&comparison, threshold, rules);
}

kf_finding kf_simulate_change(const kf_time_source *source, int history, const kf_rules *rules) {
    kf_night_level *nights = kf_allocate((size_t)(history + 1) * sizeof *nights);
    for (int i = 0; i <= history; i++) {
        source->begin_night(source->context);
        nights[i] = play_night(source, i == history);
    }
    kf_screening screening = kf_screen(nights, history + 1, rules);
    free(nights);
    return screening.candidate ? play_comparison(source, true, screening.threshold, rules) : KF_FINDING_NONE;
}

kf_alarms kf_simulate_nights(const kf_time_source *source, int history, int nights, const kf_rules *rules) {
    kf_alarms alarms = {.nights = nights};
    kf_night_level *levels = kf_allocate((size_t)(history + nights) * sizeof *levels);
    for (int i = 0; i < history + nights; i++) {
        source->begin_night(source->context);
        levels[i] = play_night(source, false);
        if (i < history) continue;
        kf_screening screening = kf_screen(levels, i + 1, rules);
        if (!screening.candidate) continue;
        alarms.candidates++;
        kf_finding finding = play_comparison(source, false, screening.threshold, rules);
        alarms.slower += finding == KF_FINDING_SLOWER;
        alarms.faster += finding == KF_FINDING_FASTER;
    }
    free(levels);
    return alarms;
}

/* --- From a model -------------------------------------------------------------------------------------- */

static double normal(uint64_t *seed) {
    double radius = sqrt(-2.0 * log(1.0 - kf_random_unit(seed)));
    return radius * cos(2.0 * M_PI * kf_random_unit(seed));
}

static void begin_noise_night(void *context) {
    kf_noise_model *model = context;
    bool bad = kf_random_unit(&model->seed) < model->bad_night_share;
    model->night = model->night_deviation * normal(&model->seed);
    if (bad) model->night += model->bad_night_deviation * normal(&model->seed);
}

static double noise_time(void *context, bool changed) {
    kf_noise_model *model = context;
    double value = model->night + model->process_deviation * normal(&model->seed);
    if (kf_random_unit(&model->seed) < model->slow_mode_share) value += model->slow_mode_shift;
    return exp(value + (changed ? model->change : 0.0));
}

kf_time_source kf_noise_source(kf_noise_model *model) {
    return (kf_time_source){model, begin_noise_night, noise_time};
}

/* --- From recorded nights --------------------------------------------------------------------------------
 */

static int draw(uint64_t *seed, int count) {
    return (int)(kf_random_unit(seed) * count);
}

static void begin_recorded_night(void *context) {
    kf_resampler *resampler = context;
    resampler->night = draw(&resampler->seed, resampler->recording->nights);
}

static double recorded_time(void *context, bool changed) {
    kf_resampler *resampler = context;
    const kf_recording *recording = resampler->recording;
    if (changed && resampler->planted >= 0) {
        int which = draw(&resampler->seed, recording->planted[resampler->planted].count);
        return recording->planted[resampler->planted].times_us[which];
    }
    int first = recording->first[resampler->night], end = recording->first[resampler->night + 1];
    double time = recording->times_us[first + draw(&resampler->seed, end - first)];
    return changed ? time * exp(resampler->change) : time;
}

kf_time_source kf_resampled_source(kf_resampler *resampler) {
    return (kf_time_source){resampler, begin_recorded_night, recorded_time};
}

/* --- Reading recordings ----------------------------------------------------------------------------------
 */

/* Appends the numbers of a list. Returns false when one is no time or there are too many. */
static bool read_times(const cJSON *list, double *times, int *count, int most) {
    const cJSON *item;
    if (!cJSON_IsArray(list)) return false;
    cJSON_ArrayForEach(item, list) {
        if (!cJSON_IsNumber(item) || !(item->valuedouble > 0.0) || !isfinite(item->valuedouble) ||
            *count == most)
            return false;
        times[(*count)++] = item->valuedouble;
    }
    return true;
}

static kf_status read_nights(kf_json_place place, const cJSON *json, kf_recording *recording,
                             kf_error *error) {
    const cJSON *night, *nights = cJSON_GetObjectItemCaseSensitive(json, "nights");
    int count = 0;
    cJSON_ArrayForEach(night, nights) {
        int before = count;
        if (recording->nights == 400 || !read_times(night, recording->times_us, &count, KF_RECORDED) ||
            count == before)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: nights: each of at most 400 must be a list of positive times, at most %d in all",
                place.file, KF_RECORDED);
        recording->first[++recording->nights] = count;
    }
    if (recording->nights == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: nights: must be a list of lists of times", place.file);
    return KF_OK;
}

static kf_status read_planted(kf_json_place place, const cJSON *json, kf_recording *recording,
                              kf_error *error) {
    static const char *const keys[] = {"percent", "times_us", NULL};
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "planted")) {
        int at = recording->planted_count;
        kf_json_place inner = {place.file, "planted"};
        if (at == KF_PLANTED)
            return kf_fail(error, KF_BAD_INPUT, "%s: planted: at most %d", place.file, KF_PLANTED);
        KF_TRY(kf_json_check_keys(inner, item, keys, error));
        KF_TRY(
            kf_json_number(inner, item, "percent", true, -99, 1e6, &recording->planted[at].percent, error));
        if (!read_times(cJSON_GetObjectItemCaseSensitive(item, "times_us"), recording->planted[at].times_us,
                        &recording->planted[at].count, 512) ||
            recording->planted[at].count == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: planted: times_us must be 1 to 512 positive times",
                           place.file);
        recording->planted_count++;
    }
    return KF_OK;
}

static kf_status read_recording(const char *file, const cJSON *json, kf_recording *recording,
                                kf_error *error) {
    static const char *const keys[] = {"benchmark", "device",           "step_us",           "nights",
                                       "planted",   "planted_round_us", "planted_launch_us", NULL};
    kf_json_place place = {file, "recordings"};
    const char *benchmark = "", *device = "", *backend = "";
    const cJSON *object = NULL;
    KF_TRY(kf_json_check_keys(place, json, keys, error));
    KF_TRY(kf_json_string(place, json, "benchmark", true, &benchmark, error));
    KF_TRY(kf_json_object(place, json, "device", true, &object, error));
    KF_TRY(kf_json_string(place, object, "name", true, &device, error));
    KF_TRY(kf_json_string(place, object, "backend", true, &backend, error));
    KF_TRY(kf_json_number(place, json, "step_us", true, 1e-6, 1e15, &recording->step_us, error));
    kf_copy_text(recording->benchmark, sizeof recording->benchmark, benchmark);
    kf_copy_text(recording->device, sizeof recording->device, device);
    kf_copy_text(recording->backend, sizeof recording->backend, backend);
    KF_TRY(read_nights(place, json, recording, error));
    return read_planted(place, json, recording, error);
}

kf_status kf_recording_read(const char *file, kf_recording **recordings, int *count, kf_error *error) {
    cJSON *root = NULL;
    KF_TRY(kf_json_read_file(file, &root, error));
    static const char *const keys[] = {"note", "recordings", NULL};
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "recordings"), *item;
    kf_status status = kf_json_check_keys((kf_json_place){file, ""}, root, keys, error);
    int number = cJSON_GetArraySize(list);
    if (status == KF_OK && number == 0)
        status = kf_fail(error, KF_BAD_INPUT, "%s: recordings: must be a list with at least one entry", file);
    *recordings = kf_allocate_zeroed((size_t)number + 1, sizeof **recordings);
    *count = 0;
    cJSON_ArrayForEach(item, list) if (status == KF_OK) status =
        read_recording(file, item, &(*recordings)[(*count)++], error);
    cJSON_Delete(root);
    if (status != KF_OK) {
        free(*recordings);
        *recordings = NULL;
    }
    return status;
}
