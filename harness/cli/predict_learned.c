#include "harness/cli/predict_learned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/backend/device_json.h"
#include "base/statistics/statistics.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/search/forecast.h"

enum { MOST_CONFIGS = 1000000 };

typedef struct kf_guess {
    double predicted_us, measured_us; /* measured_us is NAN if the config was not measured */
    uint64_t index;
    bool known; /* learned from */
} kf_guess;

typedef struct kf_learned {
    kf_guess *guesses; /* [count], the shortest predicted time first */
    size_t count, held_out;
    int first;
    double correlation, median_error; /* of the configs that were held out; NAN: there are fewer than two */
} kf_learned;

static int compare_guesses(const void *left, const void *right) {
    const kf_guess *a = left, *b = right;
    if (a->predicted_us != b->predicted_us) return a->predicted_us < b->predicted_us ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Learns from the first measured configs and predicts all configs of the space. Measured times are kept
 * beside the predictions for comparison. */
static void learn(const kf_learned_request *request, kf_learned *learned) {
    uint64_t *asked = kf_allocate(learned->count * sizeof *asked);
    double *predicted = kf_allocate(learned->count * sizeof *predicted);
    for (size_t i = 0; i < learned->count; i++)
        asked[i] = i;
    kf_forecast(request->space, request->indices, request->times_us, learned->first, asked, learned->count,
                predicted);
    for (size_t i = 0; i < learned->count; i++)
        learned->guesses[i] = (kf_guess){.predicted_us = predicted[i], .measured_us = NAN, .index = i};
    for (size_t i = 0; i < request->count; i++) {
        learned->guesses[request->indices[i]].measured_us = request->times_us[i];
        learned->guesses[request->indices[i]].known = i < (size_t)learned->first;
    }
    free(asked);
    free(predicted);
}

/* Judges the predictions by the configs that were held out. */
static void judge(kf_learned *learned) {
    double *measured = kf_allocate(learned->count * sizeof *measured);
    double *predicted = kf_allocate(learned->count * sizeof *predicted);
    double *errors = kf_allocate(learned->count * sizeof *errors);
    size_t count = 0;
    for (size_t i = 0; i < learned->count; i++) {
        const kf_guess *guess = &learned->guesses[i];
        if (guess->known || !isfinite(guess->measured_us)) continue;
        measured[count] = guess->measured_us;
        predicted[count] = guess->predicted_us;
        errors[count++] = fabs(guess->predicted_us / guess->measured_us - 1);
    }
    learned->held_out = count;
    learned->correlation = learned->median_error = NAN;
    if (count >= 2) {
        learned->correlation = kf_rank_correlation(predicted, measured, count);
        qsort(errors, count, sizeof *errors, kf_ascending);
        learned->median_error = errors[count / 2];
    }
    free(measured);
    free(predicted);
    free(errors);
}

/* Prints the learned ranking, and how well it agrees with the configs that were held out. */
static void print_table(const kf_learned_request *request, const kf_learned *learned) {
    printf("%s on %s: there is no cost model; learned from the first %d of %zu configs that were measured\n",
           request->problem, request->device->name, learned->first, request->count);
    if (learned->held_out >= 2)
        printf("the other %zu: rank correlation %.3f, median error %.0f %%\n", learned->held_out,
               learned->correlation, 100 * learned->median_error);
    printf("\n%zu configs predicted; the first:\n\n%10s %10s\n", learned->count, "predicted", "measured");
    for (size_t i = 0; i < learned->count && i < (size_t)request->top; i++) {
        const kf_guess *guess = &learned->guesses[i];
        char predicted[32], measured[32] = "-";
        kf_config config;
        kf_space_config(request->space, guess->index, &config);
        char *values = kf_config_summary(&config);
        if (isfinite(guess->measured_us)) (void)kf_human_time_us(guess->measured_us, measured);
        printf("%10s %10s  %s%s\n", kf_human_time_us(guess->predicted_us, predicted), measured, values,
               guess->known ? " (learned from)" : "");
        free(values);
    }
}

/* Prints the learned ranking as one JSON object. */
static void print_json(const kf_learned_request *request, const kf_learned *learned) {
    cJSON *json = kf_json_answer("predict");
    const kf_device_info *device = request->device;
    (void)cJSON_AddItemToObject(json, "device",
                                device->spec[0] != '\0'
                                    ? kf_device_to_json(device)
                                    : kf_device_remembered_to_json(device->name, device->backend));
    (void)cJSON_AddStringToObject(json, "scene", request->problem);
    (void)cJSON_AddNumberToObject(json, "configs", (double)learned->count);
    cJSON *list = cJSON_AddArrayToObject(json, "ranking");
    for (size_t i = 0; i < learned->count && i < (size_t)request->top; i++) {
        const kf_guess *guess = &learned->guesses[i];
        kf_config config;
        kf_space_config(request->space, guess->index, &config);
        cJSON *row = cJSON_CreateObject();
        (void)cJSON_AddItemToObject(row, "config", kf_config_to_json(&config));
        (void)cJSON_AddNumberToObject(row, "predicted_us", guess->predicted_us);
        kf_json_add_number(row, "measured_us", guess->measured_us);
        (void)cJSON_AddStringToObject(row, "limit", "not known: there is no cost model");
        (void)cJSON_AddItemToArray(list, row);
    }
    (void)cJSON_AddNumberToObject(json, "measured", (double)request->count);
    (void)cJSON_AddNumberToObject(json, "learned_from", learned->first);
    kf_json_add_number(json, "rank_correlation", learned->correlation);
    kf_json_add_number(json, "median_error", learned->median_error);
    kf_json_print(json);
}

/* Learns from the first measured configs of a problem without a cost model, compares the prediction with the
 * others, and prints it. Every config of the space is predicted, so the size of the space is limited. */
kf_status kf_predict_learned(const kf_learned_request *request, kf_error *error) {
    kf_learned learned = {.count = (size_t)kf_space_size(request->space)};
    if (learned.count > MOST_CONFIGS)
        return kf_fail(error, KF_BAD_INPUT,
                       "predict: %zu configs are too many to learn about; --fix some of them", learned.count);
    if (request->count < 2)
        return kf_fail(
            error, KF_BAD_INPUT,
            "predict: %s has no cost model, and %zu of its configs are measured; give measurements "
            "with --store or --landscape",
            request->problem, request->count);
    learned.first = request->count < (size_t)request->first ? (int)request->count : request->first;
    learned.guesses = kf_allocate(learned.count * sizeof *learned.guesses);
    learn(request, &learned);
    judge(&learned);
    qsort(learned.guesses, learned.count, sizeof *learned.guesses, compare_guesses);
    if (request->json)
        print_json(request, &learned);
    else
        print_table(request, &learned);
    free(learned.guesses);
    return KF_OK;
}
