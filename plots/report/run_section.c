/* One run in full. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/plot.h"
#include "plots/report/sections.h"
#include "plots/run_results.h"
#include "results/facts.h"

enum { SHOWN = 15, PRESETS = 3 };
static const char *const presets[PRESETS] = {"baseline", "paper", "default"};

/* The part of a result that the page needs. */
typedef struct row {
    int sequence;
    char role[KF_NAME + 8];
    kf_config config;
    kf_state state;
    char reason[512];
    kf_summary step_us;
    double updates_per_us, bandwidth, error, bound;
    kf_kernel_time *kernels; /* owned */
    int kernel_count;
    double spread;          /* spread of a second launch from equal inputs; NAN: there was none */
    kf_user_value *metrics; /* owned */
    int metric_count;
} row;

typedef struct rows {
    row *items;
    int count, capacity;
    int states[KF_STATES];
} rows;

static kf_status collect(void *context, int sequence, const char *role, const kf_config *config,
                         const kf_measurement *m, kf_error *error) {
    (void)error;
    rows *all = context;
    if (all->count == all->capacity) {
        all->capacity = 2 * all->capacity + 64;
        all->items = kf_reallocate(all->items, (size_t)all->capacity * sizeof *all->items);
    }
    row *r = &all->items[all->count++];
    *r = (row){.sequence = sequence,
               .config = *config,
               .state = m->state,
               .step_us = m->step_us,
               .updates_per_us = m->updates_per_us,
               .bandwidth = m->effective_bandwidth,
               .error = m->verification.error,
               .bound = m->verification.bound,
               .spread = m->verification.repeated ? m->verification.spread : (double)NAN,
               .metric_count = m->user_value_count,
               .kernel_count = m->kernel_count};
    kf_copy_text(r->role, sizeof r->role, role);
    kf_copy_text(r->reason, sizeof r->reason, m->reason);
    size_t bytes = (size_t)m->kernel_count * sizeof *r->kernels;
    if (bytes > 0) r->kernels = memcpy(kf_allocate(bytes), m->kernels, bytes);
    bytes = (size_t)m->user_value_count * sizeof *r->metrics;
    if (bytes > 0) r->metrics = memcpy(kf_allocate(bytes), m->user_values, bytes);
    if (strcmp(role, "final") != 0) all->states[m->state]++;
    return KF_OK;
}

static void free_rows(rows *all) {
    for (int i = 0; i < all->count; i++) {
        free(all->items[i].kernels);
        free(all->items[i].metrics);
    }
    free(all->items);
}

static bool better(const row *candidate, const row *best) {
    return candidate->state == KF_STATE_OK &&
           (best == NULL || candidate->step_us.median < best->step_us.median);
}

/* Returns the result that the run chose. If that is not known, it is the fastest, among those in the final if
 * there are any. */
static const row *best_of(const rows *all, int winner) {
    const row *best = NULL, *final = NULL;
    for (int i = 0; i < all->count; i++) {
        if (all->items[i].sequence == winner && all->items[i].state == KF_STATE_OK) return &all->items[i];
        if (better(&all->items[i], best)) best = &all->items[i];
        if (strcmp(all->items[i].role, "final") == 0 && better(&all->items[i], final)) final = &all->items[i];
    }
    return final != NULL ? final : best;
}

/* Returns a preset's last measurement, which is that of the final if it took part. */
static const row *preset_of(const rows *all, const char *name) {
    char role[KF_NAME + 8];
    (void)snprintf(role, sizeof role, "preset:%s", name);
    const row *preset = NULL, *last = NULL;
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->items[i].role, role) == 0) preset = &all->items[i];
    for (int i = 0; preset != NULL && i < all->count; i++)
        if (all->items[i].state == KF_STATE_OK && kf_plot_same_config(&all->items[i].config, &preset->config))
            last = &all->items[i];
    return last;
}

/* --- Figures
 * --------------------------------------------------------------------------------------------------- */

typedef struct plot_job {
    kf_plot_kind kind;
    kf_store *store;
    const kf_run_summary *run;
} plot_job;

static kf_status draw_plot(const void *context, const char *path, kf_error *error) {
    const plot_job *job = context;
    return kf_plot_write(job->kind, job->store, job->run, path, error);
}

static kf_status draw_picture(const void *context, const char *path, kf_error *error) {
    const plot_job *job = context;
    return kf_report_scene_picture(job->store, job->run, path, error);
}

static void add_fact(void *context, const char *name, const char *value) {
    kf_html_fact(context, name, value);
}

static kf_status add_facts(kf_text *page, kf_store *store, const kf_run_summary *run, kf_fact_group group,
                           kf_error *error) {
    kf_text_append(page, "<table class=\"facts\">\n");
    kf_status status = kf_store_facts(store, run->id, group, add_fact, page, error);
    kf_text_append(page, "</table>\n");
    return status;
}

/* --- Parts
 * ----------------------------------------------------------------------------------------------------- */

static void add_card(kf_text *page, const char *name, const char *value, const char *note) {
    kf_text_append(page, "<li>");
    kf_html_text(page, name);
    kf_text_append(page, "<b>");
    kf_html_text(page, value);
    kf_text_append(page, "</b><span class=\"quiet\">");
    kf_html_text(page, note);
    kf_text_append(page, "</span></li>\n");
}

/* Adds a card for each of the user's metrics, and one if the config's results differ between launches. */
static void add_metric_cards(kf_text *page, const row *best) {
    char value[64];
    for (int i = 0; i < best->metric_count; i++) {
        (void)snprintf(value, sizeof value, isfinite(best->metrics[i].value) ? "%.5g" : "not known",
                       best->metrics[i].value);
        add_card(page, best->metrics[i].name, value, "a metric of the user's");
    }
    if (!(best->spread > 0.0)) return;
    (void)snprintf(value, sizeof value, "%.2g", best->spread);
    add_card(page, "nondeterministic", value, "two launches from equal inputs differ by so much");
}

/* Adds the cards with the main figures: best step, rate, bandwidth, gain over the presets, verified error. */
static void add_cards(kf_text *page, const kf_run_summary *run, const rows *all, const row *best) {
    char value[64], note[96], time[32], unit[KF_RATE_TEXT];
    kf_text_append(page, "<ul class=\"cards\">\n");
    (void)snprintf(note, sizeof note, "median; 95 %% interval ±%.2f %%",
                   50.0 * (best->step_us.high - best->step_us.low) / best->step_us.median);
    add_card(page, "best time step", kf_human_time_us(best->step_us.median, time), note);
    (void)snprintf(value, sizeof value, best->updates_per_us < 100.0 ? "%.3g" : "%.0f", best->updates_per_us);
    (void)snprintf(note, sizeof note, "million %.40s updates a second", run->update);
    add_card(page, kf_rate_unit(run->update, unit), value, note);
    if (best->bandwidth > 0.0) {
        (void)snprintf(value, sizeof value, best->bandwidth < 1e11 ? "%.3g GB/s" : "%.0f GB/s",
                       1e-9 * best->bandwidth);
        add_card(page, "effective bandwidth", value, "least bytes of a step by its time");
    }
    add_metric_cards(page, best);
    for (int i = 0; i < PRESETS; i++) {
        const row *preset = preset_of(all, presets[i]);
        if (preset == NULL) continue;
        (void)snprintf(value, sizeof value, "%.2f ×", preset->step_us.median / best->step_us.median);
        (void)snprintf(note, sizeof note, "%s takes %s", presets[i],
                       kf_human_time_us(preset->step_us.median, time));
        char name[64];
        (void)snprintf(name, sizeof name, "faster than %s", presets[i]);
        add_card(page, name, value, note);
    }
    for (int i = 0; i < all->count; i++) {
        if (isnan(all->items[i].error) || !kf_plot_same_config(&all->items[i].config, &best->config))
            continue;
        (void)snprintf(value, sizeof value, "%.2g", all->items[i].error);
        (void)snprintf(note, sizeof note, "from the double precision reference; %.2g is accepted",
                       all->items[i].bound);
        add_card(page, "verified error", value, note);
        break;
    }
    kf_text_append(page, "</ul>\n");
}

static void value_text(const kf_value *value, char text[64]) {
    if (value->kind == KF_VALUE_NAME)
        kf_copy_text(text, 64, value->name);
    else if (value->kind == KF_VALUE_BOOLEAN)
        kf_copy_text(text, 64, value->integer != 0 ? "true" : "false");
    else
        (void)snprintf(text, 64, "%ld", value->integer);
}

/* Adds the table of the best config's parameters. The default's value stands beside a different one. */
static void add_config(kf_text *page, const row *best, const row *usual) {
    kf_text_append(page, "<h3>Its config</h3>\n<table class=\"facts\">\n");
    for (int i = 0; i < best->config.count; i++) {
        const kf_value *value = &best->config.values[i],
                       *theirs = usual != NULL ? kf_config_find(&usual->config, value->parameter) : NULL;
        char text[64], other[64] = "", both[160];
        value_text(value, text);
        if (theirs != NULL) value_text(theirs, other);
        const bool differs = theirs != NULL && strcmp(text, other) != 0;
        (void)snprintf(both, sizeof both, differs ? "%s (default: %s)" : "%s", text, other);
        kf_html_fact(page, value->parameter, both);
    }
    kf_text_append(page, "</table>\n");
}

/* Appends a row for a kernel: time and share of the step, rate, launches, registers, occupancy. */
static void append_kernel(const kf_kernel_time *kernel, double total, kf_text *page) {
    char time[32], rate[32] = "–", registers[16] = "–", spilled[16] = "–", occupancy[32] = "–";
    const double median = kernel->time_us.median,
                 share = median > 0.0 ? 100.0 * kf_kernel_step_us(kernel) / total : 0.0;
    if (kernel->bytes > 0.0 && median > 0.0)
        (void)snprintf(rate, sizeof rate, "%.0f", 1e-3 * kernel->bytes / median);
    if (kernel->registers > 0) { /* kernels on a cpu have none */
        (void)snprintf(registers, sizeof registers, "%d", kernel->registers);
        (void)snprintf(spilled, sizeof spilled, "%d B", kernel->spill_bytes);
    }
    if (isfinite(kernel->theoretical_occupancy))
        (void)snprintf(occupancy, sizeof occupancy, "%.0f %%", 100.0 * kernel->theoretical_occupancy);
    kf_text_append(page, "<tr><td>");
    kf_html_text(page, kernel->name);
    kf_text_append(page,
                   "</td><td class=\"n\">%s</td><td class=\"s\">%.1f %%<span class=\"bar\" "
                   "style=\"width:%.1f%%\"></span></td><td class=\"n\">%s</td>"
                   "<td class=\"n\">%.3g</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td "
                   "class=\"n\">%s</td></tr>\n",
                   median > 0.0 ? kf_human_time_us(kf_kernel_step_us(kernel), time) : "–", share, share, rate,
                   kernel->launches_per_step, registers, spilled, occupancy);
}

/* Adds the table of the best config's kernels. */
static void add_kernels(kf_text *page, const row *best) {
    double total = 0.0;
    for (int i = 0; i < best->kernel_count; i++)
        if (best->kernels[i].time_us.median > 0.0) total += kf_kernel_step_us(&best->kernels[i]);
    if (total <= 0.0) return;
    bool parts = false;
    for (int i = 0; i < best->kernel_count; i++)
        parts = parts || best->kernels[i].fastest_us > 0.0;
    kf_text_append(page, "<h2 id=\"kernels\">Kernels of the best config</h2>\n%s",
                   parts ? "<p>Times are of the slowest part of the team, rates of all parts together.</p>\n"
                         : "");
    kf_text_append(page, "<div "
                         "class=\"wide\"><table><thead><tr><th>kernel</th>"
                         "<th class=\"n\">time a step</th><th>share</th><th class=\"n\">GB/s</th><th "
                         "class=\"n\">launches a step</th>"
                         "<th class=\"n\">registers</th><th class=\"n\">spilled</th><th "
                         "class=\"n\">occupancy</th></tr></thead><tbody>\n");
    for (int i = 0; i < best->kernel_count; i++)
        append_kernel(&best->kernels[i], total, page);
    kf_text_append(page, "</tbody></table></div>\n");
}

/* Counters as a table with a row for each metric and a column for each kernel. The last column is the whole
 * step. */
typedef struct counter_row {
    char metric[48];
    double *values; /* [column]; NAN: not counted; owned */
} counter_row;

typedef struct counter_table {
    int kernel_count;  /* it is also the index of the last column */
    counter_row *rows; /* in the order of their first values; owned */
    int count;
    bool *used; /* [column]; owned */
} counter_table;

static counter_row *row_of(counter_table *table, const char *metric) {
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].metric, metric) == 0) return &table->rows[i];
    table->rows = kf_reallocate(table->rows, (size_t)(table->count + 1) * sizeof *table->rows);
    counter_row *made = &table->rows[table->count++];
    kf_copy_text(made->metric, sizeof made->metric, metric);
    made->values = kf_allocate(((size_t)table->kernel_count + 1) * sizeof *made->values);
    for (int i = 0; i <= table->kernel_count; i++)
        made->values[i] = (double)NAN;
    return made;
}

static void note_counter(void *context, int ordinal, const char *metric, double value) {
    counter_table *table = context;
    const int column = ordinal >= 0 && ordinal < table->kernel_count ? ordinal : table->kernel_count;
    row_of(table, metric)->values[column] = value;
    table->used[column] = true;
}

/* Adds a value as "3.63 G", "99.9" or "0.0125". */
static void add_value(kf_text *page, double value) {
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}};
    if (!isfinite(value)) {
        kf_text_append(page, "<td class=\"n\">–</td>");
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(value) >= units[i].size) {
            const double scale = units[i].size == 1e4 ? 1e3 : units[i].size;
            kf_text_append(page, "<td class=\"n\">%.4g %s</td>", value / scale, units[i].name);
            return;
        }
    kf_text_append(page, "<td class=\"n\">%.4g</td>", value);
}

/* The whole step, then the kernels, the longest first. Returns how many. */
static int choose_columns(const counter_table *table, const row *best, int *columns) {
    int count = 0;
    if (table->used[table->kernel_count]) columns[count++] = table->kernel_count;
    const int first = count;
    for (int i = 0; i < table->kernel_count; i++) {
        if (!table->used[i]) continue;
        int at = count++;
        for (; at > first &&
               kf_kernel_step_us(&best->kernels[columns[at - 1]]) < kf_kernel_step_us(&best->kernels[i]);
             at--)
            columns[at] = columns[at - 1];
        columns[at] = i;
    }
    return count;
}

/* A name that may be broken after its underscores. */
static void add_breakable(kf_text *page, const char *name) {
    kf_text text = {0};
    for (; *name != '\0'; name++)
        kf_text_append(&text, *name == '_' ? "_\xe2\x80\x8b" : "%c", *name);
    kf_html_text(page, text.text != NULL ? text.text : "");
    kf_text_free(&text);
}

/* Adds the table of hardware counters: a row a metric, a column a kernel. */
static void add_counter_table(kf_text *page, const counter_table *table, const row *best) {
    int *columns = kf_allocate(((size_t)table->kernel_count + 1) * sizeof *columns);
    const int count = choose_columns(table, best, columns);
    kf_text_append(page, "<h3>Hardware counters</h3>\n<div class=\"wide counters\"><table><thead><tr>"
                         "<th>metric</th>");
    for (int i = 0; i < count; i++) {
        kf_text_append(page, "<th class=\"n\">");
        add_breakable(page,
                      columns[i] == table->kernel_count ? "whole step" : best->kernels[columns[i]].name);
        kf_text_append(page, "</th>");
    }
    kf_text_append(page, "</tr></thead><tbody>\n");
    for (int r = 0; r < table->count; r++) {
        kf_text_append(page, "<tr><td>");
        kf_html_text(page, table->rows[r].metric);
        kf_text_append(page, "</td>");
        for (int i = 0; i < count; i++)
            add_value(page, table->rows[r].values[columns[i]]);
        kf_text_append(page, "</tr>\n");
    }
    kf_text_append(page, "</tbody></table></div>\n");
    free(columns);
}

static kf_status add_counters(kf_text *page, kf_store *store, const kf_run_summary *run, const rows *all,
                              const row *best, kf_error *error) {
    counter_table table = {.kernel_count = best->kernel_count};
    table.used = kf_allocate_zeroed((size_t)best->kernel_count + 1, sizeof *table.used);
    kf_status status = KF_OK;
    /* Counted once, in whichever of its measurements. */
    for (int i = 0; i < all->count && table.count == 0 && status == KF_OK; i++)
        if (kf_plot_same_config(&all->items[i].config, &best->config))
            status = kf_store_counters(store, run->id, all->items[i].sequence, note_counter, &table, error);
    if (status == KF_OK && table.count > 0) add_counter_table(page, &table, best);
    for (int i = 0; i < table.count; i++)
        free(table.rows[i].values);
    free(table.rows);
    free(table.used);
    return status;
}

static int compare_rows(const void *left, const void *right) {
    const row *a = *(const row *const *)left, *b = *(const row *const *)right;
    bool first = a->state == KF_STATE_OK, second = b->state == KF_STATE_OK;
    if (first != second) return first ? -1 : 1;
    if (first && a->step_us.median != b->step_us.median)
        return a->step_us.median < b->step_us.median ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Adds the table of the fastest results, and counts of all states. */
static void add_results(kf_text *page, const kf_run_summary *run, const rows *all) {
    char unit[KF_RATE_TEXT];
    kf_text_append(page, "<h2 id=\"results\">Results</h2>\n<p>");
    for (int i = 0, shown = 0; i < KF_STATES; i++)
        if (all->states[i] > 0)
            kf_text_append(page, "%s%d %s", shown++ > 0 ? ", " : "", all->states[i], kf_state_names[i]);
    const row *usual = preset_of(all, "default");
    kf_text_append(page, ". The fastest%s:</p>\n", usual != NULL ? ", by what differs from the default" : "");
    if (usual != NULL) {
        char *whole = kf_config_summary(&usual->config);
        kf_text_append(page, "<p class=\"quiet\">");
        kf_html_print(page, "default: %s", whole);
        kf_text_append(page, "</p>\n");
        free(whole);
    }
    kf_text_append(page, "<div class=\"wide\"><table><thead><tr><th class=\"n\">step</th><th "
                         "class=\"n\">±</th>"
                         "<th class=\"n\">");
    kf_html_text(page, kf_rate_unit(run->update, unit));
    kf_text_append(page, "</th><th>role</th><th>config, or what went wrong</th></tr></thead><tbody>\n");
    const row **sorted = kf_allocate(((size_t)all->count + 1) * sizeof(row *));
    for (int i = 0; i < all->count; i++)
        sorted[i] = &all->items[i];
    qsort(sorted, (size_t)all->count, sizeof(row *), compare_rows);
    for (int i = 0; i < all->count && i < SHOWN; i++) {
        const row *r = sorted[i];
        char time[32],
            *summary = kf_config_relative(&r->config, usual != NULL ? &usual->config : NULL, "default");
        if (r->state == KF_STATE_OK)
            kf_text_append(
                page, "<tr><td class=\"n\">%s</td><td class=\"n\">%.2f %%</td><td class=\"n\">%.1f</td><td>",
                kf_human_time_us(r->step_us.median, time),
                50.0 * (r->step_us.high - r->step_us.low) / r->step_us.median, r->updates_per_us);
        else
            kf_text_append(page, "<tr><td class=\"n\">%s</td><td></td><td></td><td>",
                           kf_state_names[r->state]);
        kf_html_text(page, r->role);
        kf_text_append(page, "</td><td class=\"c\">");
        if (r->state != KF_STATE_OK) kf_html_print(page, "%s; ", r->reason);
        if (r->spread > 0.0) kf_html_print(page, "nondeterministic, spread %.2g; ", r->spread);
        for (int k = 0; k < r->metric_count; k++)
            if (isfinite(r->metrics[k].value))
                kf_html_print(page, "%s %.5g; ", r->metrics[k].name, r->metrics[k].value);
        kf_html_text(page, summary);
        kf_text_append(page, "</td></tr>\n");
        free(summary);
    }
    free(sorted);
    kf_text_append(page, "</tbody></table></div>\n");
}

/* Adds a word as a command has it that a shell takes as it is. */
static void add_quoted(kf_text *page, const char *word) {
    kf_text plain = {0};
    kf_text_append(&plain, "'");
    for (; *word != '\0'; word++)
        kf_text_append(&plain, *word == '\'' ? "'\\''" : "%c", *word);
    kf_text_append(&plain, "'");
    kf_html_text(page, plain.text);
    kf_text_free(&plain);
}

static void note_source(void *context, const char *name, const char *value) {
    if (strcmp(name, "file") == 0) kf_copy_text(context, KF_PATH, value);
}

static void note_budget(void *context, const char *name, const char *value) {
    if (strcmp(name, "budget") == 0) kf_copy_text(context, KF_NAME, value);
}

static kf_status add_reproduction(kf_text *page, kf_store *store, const kf_run_summary *run,
                                  kf_error *error) {
    char source[KF_PATH] = "", budget[KF_NAME] = "", grid[KF_GRID_TEXT];
    const kf_problem_options options = kf_problem_options_of(run->facts, run->seed);
    kf_status status = kf_store_facts(store, run->id, KF_FACTS_SCENE, note_source, source, error);
    if (status == KF_OK) status = kf_store_facts(store, run->id, KF_FACTS_RUN, note_budget, budget, error);
    kf_text_append(page, "<h2 id=\"reproduce\">How to do it again</h2>\n<pre>kftune tune --scene ");
    add_quoted(page, source);
    kf_html_print(page, " --system %s", run->system);
    if (options.nodes[0] > 0) kf_html_print(page, " --grid %s", kf_grid_text(options.nodes, grid));
    if (options.samples_per_cell > 0) kf_html_print(page, " --samples-per-cell %g", options.samples_per_cell);
    kf_html_print(page, " --seed %" PRIu64 " --strategy ", run->seed);
    add_quoted(page, run->strategy);
    if (budget[0] != '\0') kf_html_print(page, " --budget %s", budget);
    kf_text_append(page, "\n");
    kf_text_append(page, "kftune store show --run %.8s --store ", run->uuid);
    add_quoted(page, kf_store_path(store));
    kf_text_append(page, "\nkftune store export --run %.8s --format csv --out run.csv --store ", run->uuid);
    add_quoted(page, kf_store_path(store));
    kf_text_append(page, "</pre>\n");
    return status;
}

static void add_plots(kf_text *page, kf_store *store, const kf_run_summary *run) {
    kf_text_append(page, "<h2 id=\"plots\">Plots</h2>\n");
    for (int kind = 0; kind < KF_PLOTS; kind++) {
        if (kind == KF_PLOT_FRONT && strchr(run->objective, ',') == NULL) continue;
        const plot_job job = {(kf_plot_kind)kind, store, run};
        kf_report_figure(page, draw_plot, &job, "svg", kf_plot_names[kind]);
    }
}

static kf_status add_parts(kf_text *page, kf_store *store, const kf_run_summary *run, const rows *all,
                           kf_error *error) {
    const row *best = best_of(all, run->winner);
    const plot_job picture = {KF_PLOT_KERNELS, store, run};
    kf_text_append(page, "<h2 id=\"best\">Best config</h2>\n");
    if (best == NULL)
        kf_text_append(page, "<p>No config of this run is ok.</p>\n");
    else
        add_cards(page, run, all, best);
    kf_text_append(page, "<div class=\"two\"><div>\n<h3 id=\"scene\">The scene</h3>\n");
    kf_report_figure(page, draw_picture, &picture, "png", "the solid in its domain");
    KF_TRY(add_facts(page, store, run, KF_FACTS_SCENE, error));
    kf_text_append(page, "</div><div>\n");
    if (best != NULL) add_config(page, best, preset_of(all, "default"));
    kf_text_append(page, "</div></div>\n");
    if (best != NULL) {
        add_kernels(page, best);
        KF_TRY(add_counters(page, store, run, all, best, error));
    }
    add_plots(page, store, run);
    add_results(page, run, all);
    kf_text_append(page, "<h2 id=\"environment\">Environment</h2>\n<div class=\"two\"><div>\n");
    KF_TRY(add_facts(page, store, run, KF_FACTS_ENVIRONMENT, error));
    kf_text_append(page, "</div><div>\n");
    KF_TRY(add_facts(page, store, run, KF_FACTS_RUN, error));
    kf_text_append(page, "</div></div>\n");
    return add_reproduction(page, store, run, error);
}

kf_status kf_report_run(kf_text *page, kf_store *store, const kf_run_summary *run, kf_error *error) {
    rows all = {0};
    kf_status status = kf_store_results(store, run->id, collect, &all, error);
    if (status == KF_OK) status = add_parts(page, store, run, &all, error);
    free_rows(&all);
    return status;
}
