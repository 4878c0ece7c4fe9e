#include "plots/run_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

/* Copies a kernel's counters for the plots. An efficiency of 0 without any access becomes NAN. */
static void take_counters(const kf_measurement *m, const kf_kernel_time *from, kf_plot_kernel *kernel) {
    static const char *const levels[KF_PLOT_LEVELS] = {"l1_bytes", "l2_bytes", "dram_bytes"};
    static const char *const efficiencies[KF_PLOT_EFFICIENCIES] = {
        "achieved_occupancy", "load_efficiency", "store_efficiency", "branch_uniformity", "warp_efficiency"};
    kernel->launch_us = from->time_us.median;
    kernel->registers = from->registers;
    kernel->block_threads = from->block_threads;
    kernel->shared_bytes = from->shared_bytes;
    kernel->theoretical_occupancy = from->theoretical_occupancy;
    kf_copy_text(kernel->occupancy_limit, sizeof kernel->occupancy_limit, from->occupancy_limit);
    kernel->achieved_occupancy = 0.01 * kf_counter_value(m, from->name, "achieved_occupancy");
    kernel->operations = kf_counter_value(m, from->name, "operations");
    kernel->double_operations = kf_counter_value(m, from->name, "fp64_operations");
    for (int i = 0; i < KF_PLOT_LEVELS; i++)
        kernel->bytes[i] = kf_counter_value(m, from->name, levels[i]);
    for (int i = 0; i < KF_PLOT_EFFICIENCIES; i++) {
        const double value = kf_counter_value(m, from->name, efficiencies[i]);
        /* A kernel without branches, or without ordinary stores, has an efficiency of 0 that means nothing.
         */
        kernel->efficiency[i] = value > 0.0 ? value : (double)NAN;
    }
}

static void take_kernels(const kf_measurement *measurement, kf_plot_result *result) {
    result->kernels = kf_allocate_zeroed((size_t)measurement->kernel_count + 1, sizeof *result->kernels);
    for (int i = 0; i < measurement->kernel_count; i++) {
        const kf_kernel_time *kernel = &measurement->kernels[i];
        int at = 0;
        while (at < result->kernel_count && strcmp(result->kernels[at].name, kernel->name) != 0)
            at++;
        if (at == result->kernel_count) {
            kf_copy_text(result->kernels[at].name, sizeof result->kernels[at].name, kernel->name);
            take_counters(measurement, kernel, &result->kernels[at]);
            result->kernel_count++;
        }
        result->kernels[at].time_us += kf_kernel_step_us(kernel);
    }
}

static kf_status take_result(void *context, int sequence, const char *role, const kf_config *config,
                             const kf_measurement *measurement, kf_error *error) {
    (void)error;
    kf_plot_results *results = context;
    results->results = kf_reallocate(results->results, (results->count + 1) * sizeof *results->results);
    kf_plot_result *result = &results->results[results->count++];
    *result = (kf_plot_result){.sequence = sequence, .config = *config};
    kf_copy_text(result->role, sizeof result->role, role);
    result->ok = measurement->state == KF_STATE_OK && measurement->step_us.median > 0;
    if (!result->ok) return KF_OK;
    result->time_us = measurement->step_us.median;
    result->counted = measurement->counter_count > 0;
    for (int i = 0; i < results->objective.count; i++) {
        result->goals[i] = kf_measurement_quantity(measurement, results->objective.goals[i].name);
        result->costs[i] = kf_measurement_goal_cost(measurement, &results->objective.goals[i]);
    }
    take_kernels(measurement, result);
    return KF_OK;
}

kf_status kf_plot_results_read(kf_store *store, const kf_run_summary *run, kf_plot_results *results,
                               kf_error *error) {
    *results = (kf_plot_results){.winner = run->winner};
    kf_objective_of_text(run->objective, &results->objective);
    kf_status status = kf_store_results(store, run->id, take_result, results, error);
    if (status != KF_OK) kf_plot_results_free(results);
    return status;
}

void kf_plot_results_free(kf_plot_results *results) {
    for (size_t i = 0; i < results->count; i++)
        free(results->results[i].kernels);
    free(results->results);
    *results = (kf_plot_results){0};
}

static const kf_plot_result *fastest(const kf_plot_results *results, const char *role) {
    const kf_plot_result *best = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const kf_plot_result *result = &results->results[i];
        if (!result->ok || (role && strcmp(result->role, role) != 0)) continue;
        if (!best || result->time_us < best->time_us) best = result;
    }
    return best;
}

bool kf_plot_same_config(const kf_config *a, const kf_config *b) {
    char first[KF_HASH_HEX], second[KF_HASH_HEX];
    kf_config_hash(a, first);
    kf_config_hash(b, second);
    return strcmp(first, second) == 0;
}

static const kf_plot_result *fastest_counted(const kf_plot_results *results, const kf_config *config) {
    const kf_plot_result *best = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const kf_plot_result *result = &results->results[i];
        if (!result->ok || !result->counted || (config && !kf_plot_same_config(&result->config, config)))
            continue;
        if (!best || result->time_us < best->time_us) best = result;
    }
    return best;
}

const kf_plot_result *kf_plot_best_counted(const kf_plot_results *results) {
    const kf_plot_result *best = kf_plot_best(results);
    const kf_plot_result *counted = best ? fastest_counted(results, &best->config) : NULL;
    return counted ? counted : fastest_counted(results, NULL);
}

const kf_plot_result *kf_plot_preset_counted(const kf_plot_results *results, const char *preset) {
    const kf_plot_result *found = kf_plot_preset(results, preset);
    return found ? fastest_counted(results, &found->config) : NULL;
}

const kf_plot_result *kf_plot_preset(const kf_plot_results *results, const char *preset) {
    char role[KF_NAME + 8];
    (void)snprintf(role, sizeof role, "preset:%s", preset);
    return fastest(results, role);
}

const kf_plot_result *kf_plot_best(const kf_plot_results *results) {
    for (size_t i = 0; i < results->count; i++)
        if (results->results[i].ok && results->results[i].sequence == results->winner)
            return &results->results[i];
    const kf_plot_result *final = fastest(results, "final");
    return final ? final : fastest(results, NULL);
}

int kf_plot_slower_first(const void *left, const void *right) {
    const kf_plot_kernel *a = *(const kf_plot_kernel *const *)left,
                         *b = *(const kf_plot_kernel *const *)right;
    return (a->time_us < b->time_us) - (a->time_us > b->time_us);
}
