/* Computes the kinds of figures that every system has (docs/suites.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plan/plan.h"
#include "base/util/clock.h"
#include "base/util/text.h"
#include "harness/bench/suite_file.h"
#include "harness/roofs/roofs.h"

/* Returns a number of the row; 0: the row has none with this name. */
static double number(const kf_figure_input *input, const char *key) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(input->row, key);
    return cJSON_IsNumber(found) ? found->valuedouble : 0.0;
}

static double spread(const kf_measurement *m) {
    return (m->step_us.q3 - m->step_us.q1) / m->step_us.median;
}

/* Returns the least bytes that an update moves: those that the row gives, otherwise those of the plan. */
static double update_bytes(const kf_figure_input *input) {
    const kf_measurement *m = input->of.measurement;
    const double bytes = number(input, "bytes");
    return bytes > 0 ? bytes : m->effective_bandwidth / (m->updates_per_us * 1e6);
}

/* Sets a part of a whole, in per cent if that is the figure's unit. */
static void set_part(kf_figure *figure, double value, double low, double high) {
    const double factor = strcmp(figure->unit, "%") == 0 ? 100.0 : 1.0;
    kf_figure_set(figure, factor * value, factor * low, factor * high);
}

/* --- One timing --------------------------------------------------------------------------------------- */

static const char *const bytes_key[] = {"bytes", NULL};

/* Computes the rate in 10^9 updates a second, with the copy rate as its limit. */
static void rate(const kf_figure_input *input, kf_figure *figure) {
    const kf_measurement *m = input->of.measurement;
    const double updates = m->updates_per_us * m->step_us.median;
    if (figure->unit[0] == '\0') {
        const char *update = input->of.problem->system->update;
        (void)snprintf(figure->unit, sizeof figure->unit, strcmp(update, "node") == 0 ? "GLUPS" : "G%ss/s",
                       update);
    }
    kf_figure_set(figure, m->updates_per_us * 1e-3, updates / m->step_us.high * 1e-3,
                  updates / m->step_us.low * 1e-3);
    figure->spread = spread(m);
    figure->floor = input->limit / update_bytes(input) * 1e-9;
    figure->share = figure->value / figure->floor;
    if (isfinite(figure->floor)) return;
    figure->floor = figure->share = (double)NAN; /* the bytes that the plan moves are not known */
}

/* Computes the microseconds of a step, with the time of copying its bytes as the limit. */
static void step(const kf_figure_input *input, kf_figure *figure) {
    const kf_measurement *m = input->of.measurement;
    kf_figure_set(figure, m->step_us.median, m->step_us.low, m->step_us.high);
    figure->spread = spread(m);
    const double updates = m->updates_per_us * m->step_us.median;
    figure->floor = updates * update_bytes(input) / input->limit * 1e6;
    figure->share = figure->floor / figure->value;
    if (figure->floor > 0) return;
    figure->floor = figure->share = (double)NAN;
}

static void steps_per_second(const kf_figure_input *input, kf_figure *figure) {
    const kf_measurement *m = input->of.measurement;
    kf_figure_set(figure, 1e6 / m->step_us.median, 1e6 / m->step_us.high, 1e6 / m->step_us.low);
    figure->spread = spread(m);
}

/* Computes the rate as a share of its limit. */
static void limit_part(const kf_figure_input *input, kf_figure *figure) {
    const kf_measurement *m = input->of.measurement;
    const double part = m->updates_per_us * 1e6 * update_bytes(input) / input->limit;
    set_part(figure, part, part * m->step_us.median / m->step_us.high,
             part * m->step_us.median / m->step_us.low);
}

/* Computes the rate as a share of the peak of 32-bit arithmetic. The row gives the operations of an update
 * (flops). */
static void peak_part(const kf_figure_input *input, kf_figure *figure) {
    const kf_measurement *m = input->of.measurement;
    const double peak = kf_roof_peak_flops(input->device, 32);
    const double part = m->updates_per_us * 1e6 * number(input, "flops") / peak;
    if (peak > 0)
        set_part(figure, part, part * m->step_us.median / m->step_us.high,
                 part * m->step_us.median / m->step_us.low);
    else
        kf_copy_text(figure->verdict->note, sizeof figure->verdict->note,
                     "not available: the device's peak is not known");
}

/* Measures steps a second as in a run: the row's number of steps from the start, with one wait at their end.
 */
static const char *const steps_key[] = {"steps", NULL};

static kf_status time_run(kf_plan *plan, uint64_t steps, double *seconds, kf_error *error) {
    const uint64_t before = steps < 100 ? steps : 100; /* These steps make the graphs and let clocks rise. */
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(kf_plan_advance(plan, before, error));
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    const double begin = kf_clock_seconds();
    KF_TRY(kf_plan_advance(plan, steps, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    *seconds = kf_clock_seconds() - begin;
    return KF_OK;
}

static kf_status measure_run(const kf_figure_input *input, kf_backend *backend,
                             double values[KF_FIGURE_VALUES], kf_error *error) {
    const kf_problem *problem = input->of.problem;
    kf_plan *plan = NULL;
    KF_TRY(problem->system->plan(problem, input->of.config, backend, &plan, error));
    const kf_status status = time_run(plan, (uint64_t)number(input, "steps"), &values[0], error);
    kf_plan_free(plan);
    return status;
}

static void run_of_steps(const kf_figure_input *input, kf_figure *figure) {
    const double rate = number(input, "steps") / input->values[0];
    kf_figure_set(figure, rate, (double)NAN, (double)NAN);
}

/* --- Of two --------------------------------------------------------------------------------------------- */

/* Computes the time of a step divided by that of another timing. */
static void ratio(const kf_figure_input *input, kf_figure *figure) {
    const kf_summary *a = &input->of.measurement->step_us, *b = &input->against.measurement->step_us;
    kf_figure_set(figure, a->median / b->median, a->low / b->high, a->high / b->low);
}

/* Computes the rate divided by that of another timing. */
static void rate_ratio(const kf_figure_input *input, kf_figure *figure) {
    const kf_measurement *m = input->of.measurement, *other = input->against.measurement;
    const double value = m->updates_per_us / other->updates_per_us,
                 times = m->step_us.median / other->step_us.median;
    kf_figure_set(figure, value, value * times * other->step_us.low / m->step_us.high,
                  value * times * other->step_us.high / m->step_us.low);
}

/* Computes the share of a step's time that the other timing saves. */
static void difference(const kf_figure_input *input, kf_figure *figure) {
    const kf_summary *a = &input->of.measurement->step_us, *b = &input->against.measurement->step_us;
    set_part(figure, 1 - b->median / a->median, 1 - b->high / a->low, 1 - b->low / a->high);
}

static bool has_kernel(const kf_measurement *m, const char *name) {
    for (int i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return true;
    return false;
}

static bool is_without(const kf_figure_input *input, const char *name) {
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(input->row, "without")) {
        if (cJSON_IsString(kernel) && strcmp(kernel->valuestring, name) == 0) return true;
    }
    return false;
}

/* The sum of the kernels of a step that the other plan does not have. The row may leave some out (without).
 */
typedef struct kernel_sum {
    double us, low, high;
} kernel_sum;

static kernel_sum own_kernels(const kf_figure_input *input) {
    const kf_measurement *m = input->of.measurement;
    kernel_sum sum = {0};
    for (int i = 0; i < m->kernel_count; i++) {
        const kf_kernel_time *kernel = &m->kernels[i];
        if (has_kernel(input->against.measurement, kernel->name) || is_without(input, kernel->name)) continue;
        sum.us += kernel->launches_per_step * kernel->time_us.median;
        sum.low += kernel->launches_per_step * kernel->time_us.low;
        sum.high += kernel->launches_per_step * kernel->time_us.high;
    }
    return sum;
}

static const char *const without_key[] = {"without", NULL};
static const char *const throughput_keys[] = {"without", "fact", NULL};

static void own_kernels_part(const kf_figure_input *input, kf_figure *figure) {
    const kf_summary *whole = &input->of.measurement->step_us;
    const kernel_sum sum = own_kernels(input);
    set_part(figure, sum.us / whole->median, sum.low / whole->high, sum.high / whole->low);
}

/* Computes 10^9 of an amount (fact) that these kernels process a second. */
static void own_kernels_rate(const kf_figure_input *input, kf_figure *figure) {
    const kernel_sum sum = own_kernels(input);
    const kf_facts *facts = &input->of.problem->facts;
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(input->row, "fact"));
    const double amount = name != NULL ? kf_facts_value(facts, name) : (double)NAN;
    kf_figure_set(figure, amount * 1e-3 / sum.us, amount * 1e-3 / sum.high, amount * 1e-3 / sum.low);
    figure->verdict->details = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(figure->verdict->details, "facts", kf_facts_to_json(facts));
}

/* --- Some kernels ------------------------------------------------------------------------------------- */

/* Returns whether a kernel's name begins with a name that the row lists (kernels). */
static bool is_listed(const kf_figure_input *input, const char *name) {
    const cJSON *begin;
    cJSON_ArrayForEach(begin, cJSON_GetObjectItemCaseSensitive(input->row, "kernels")) {
        if (cJSON_IsString(begin) && strncmp(name, begin->valuestring, strlen(begin->valuestring)) == 0)
            return true;
    }
    return false;
}

/* Sums the listed kernels over a step. *bytes: the bytes that they move; 0: those of one of them are not
 * known. */
static kernel_sum listed_kernels(const kf_figure_input *input, const kf_measurement *m, double *bytes) {
    kernel_sum sum = {0};
    bool all_say = true;
    *bytes = 0;
    for (int i = 0; i < m->kernel_count; i++) {
        const kf_kernel_time *kernel = &m->kernels[i];
        if (!is_listed(input, kernel->name)) continue;
        sum.us += kernel->launches_per_step * kernel->time_us.median;
        sum.low += kernel->launches_per_step * kernel->time_us.low;
        sum.high += kernel->launches_per_step * kernel->time_us.high;
        *bytes += kernel->launches_per_step * kernel->bytes;
        all_say = all_say && kernel->bytes > 0;
    }
    if (!all_say) *bytes = 0;
    return sum;
}

static const char *const kernels_key[] = {"kernels", NULL};

static void no_such_kernel(kf_figure *figure) {
    kf_copy_text(figure->verdict->note, sizeof figure->verdict->note,
                 "not available: no kernel of the plan has such a name");
}

/* Computes the microseconds of the listed kernels in a step, with the time of copying their bytes as the
 * limit. */
static void kernels_time(const kf_figure_input *input, kf_figure *figure) {
    double bytes = 0;
    const kernel_sum sum = listed_kernels(input, input->of.measurement, &bytes);
    if (!(sum.us > 0)) {
        no_such_kernel(figure);
        return;
    }
    kf_figure_set(figure, sum.us, sum.low, sum.high);
    if (!(bytes > 0)) return;
    figure->floor = bytes / input->limit * 1e6;
    figure->share = figure->floor / figure->value;
}

static void kernels_ratio(const kf_figure_input *input, kf_figure *figure) {
    double bytes = 0;
    const kernel_sum a = listed_kernels(input, input->of.measurement, &bytes),
                     b = listed_kernels(input, input->against.measurement, &bytes);
    if (a.us > 0 && b.us > 0)
        kf_figure_set(figure, a.us / b.us, a.low / b.high, a.high / b.low);
    else
        no_such_kernel(figure);
}

/* Computes the share of these kernels' time that the other timing saves. */
static void kernels_difference(const kf_figure_input *input, kf_figure *figure) {
    double bytes = 0;
    const kernel_sum a = listed_kernels(input, input->of.measurement, &bytes),
                     b = listed_kernels(input, input->against.measurement, &bytes);
    if (a.us > 0 && b.us > 0)
        set_part(figure, 1 - b.us / a.us, 1 - b.high / a.low, 1 - b.low / a.high);
    else
        no_such_kernel(figure);
}

/* --- Beside a published time ---------------------------------------------------------------------------- */

static const char *const published_step_key[] = {"published_us", NULL};

/* Computes a published time of a step divided by the measured one. */
static void times_published(const kf_figure_input *input, kf_figure *figure) {
    const kf_summary *step_us = &input->of.measurement->step_us;
    const double us = number(input, "published_us");
    kf_figure_set(figure, us / step_us->median, us / step_us->high, us / step_us->low);
}

/* --- Of none -------------------------------------------------------------------------------------------- */

static const char *const roof_key[] = {"roof", NULL};

static void roof(const kf_figure_input *input, kf_figure *figure) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(input->row, "roof"));
    const kf_roof *found = kf_roofs_find(input->roofs, name != NULL ? name : "");
    kf_copy_text(figure->verdict->note, sizeof figure->verdict->note,
                 name != NULL ? kf_roof_about(name) : "");
    if (found == NULL) return;
    figure->value = found->value;
    figure->spread = found->spread;
    figure->floor = found->theoretical;
    figure->share = found->value / found->theoretical;
    kf_copy_text(figure->unit, sizeof figure->unit, found->unit);
}

/* Gives the copy rate, from which all limits follow. */
static void copy(const kf_figure_input *input, kf_figure *figure) {
    figure->value = input->limit * 1e-9;
}

static const char *const flops_key[] = {"flops", NULL};

const kf_figure_kind kf_figure_kinds[] = {
    {.name = "rate", .timings = 1, .keys = bytes_key, .unit = "", .make = rate},
    {.name = "step", .timings = 1, .keys = bytes_key, .unit = "us", .make = step},
    {.name = "steps_per_second", .timings = 1, .unit = "1/s", .make = steps_per_second},
    {.name = "run_of_steps",
     .timings = 1,
     .keys = steps_key,
     .unit = "1/s",
     .measure = measure_run,
     .make = run_of_steps},
    {.name = "limit_part", .timings = 1, .keys = bytes_key, .unit = "", .make = limit_part},
    {.name = "peak_part", .timings = 1, .keys = flops_key, .unit = "%", .make = peak_part},
    {.name = "ratio", .timings = 2, .unit = "x", .make = ratio},
    {.name = "rate_ratio", .timings = 2, .unit = "x", .make = rate_ratio},
    {.name = "difference", .timings = 2, .unit = "%", .make = difference},
    {.name = "own_kernels_part", .timings = 2, .keys = without_key, .unit = "%", .make = own_kernels_part},
    {.name = "own_kernels_rate",
     .timings = 2,
     .keys = throughput_keys,
     .unit = "G/s",
     .make = own_kernels_rate},
    {.name = "kernels_time", .timings = 1, .keys = kernels_key, .unit = "us", .make = kernels_time},
    {.name = "kernels_ratio", .timings = 2, .keys = kernels_key, .unit = "x", .make = kernels_ratio},
    {.name = "kernels_difference",
     .timings = 2,
     .keys = kernels_key,
     .unit = "%",
     .make = kernels_difference},
    {.name = "times_published",
     .timings = 1,
     .keys = published_step_key,
     .unit = "x",
     .make = times_published},
    {.name = "roof", .keys = roof_key, .unit = "", .make = roof},
    {.name = "copy", .unit = "GB/s", .make = copy},
    {.name = NULL},
};
