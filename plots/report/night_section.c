/* The nights. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "plots/history.h"
#include "plots/report/sections.h"

enum { SHOWN_NIGHTS = 20, SHOWN_HISTORIES = 24 };

typedef struct night_table {
    kf_text *page;
    kf_store *store;
    int count;
    int verdicts[KF_VERDICTS];
    kf_night newest;
} night_table;

static void add_verdict_word(kf_text *page, kf_verdict_state state) {
    kf_text_append(page, "<span class=\"v %s\">%s</span>", kf_verdict_names[state], kf_verdict_names[state]);
}

/* Adds a row for a verdict: word, benchmark, time, change, reason, and the kernel or counter that explains
 * it. */
static kf_status add_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    kf_text *page = ((night_table *)context)->page;
    char time[32];
    kf_text_append(page, "<tr><td>");
    add_verdict_word(page, verdict->state);
    kf_text_append(page, "</td><td>");
    kf_html_text(page, verdict->benchmark);
    kf_text_append(page, "</td><td class=\"n\">%s</td><td class=\"n\">",
                   isfinite(verdict->time_us) ? kf_human_time_us(verdict->time_us, time) : "–");
    if (isfinite(verdict->change)) kf_text_append(page, "%+.2f %%", 100.0 * verdict->change);
    kf_text_append(page, "</td><td class=\"c\">");
    kf_html_text(page, verdict->reason);
    if (verdict->kernel[0] != '\0') {
        kf_text_append(page, "<br>kernel ");
        kf_html_print(page, "%s %+.3g us a step", verdict->kernel, verdict->kernel_change_us);
    }
    if (verdict->counter[0] != '\0')
        kf_html_print(page, "; %s %.6g -> %.6g", verdict->counter, verdict->counter_before,
                      verdict->counter_after);
    kf_text_append(page, "</td></tr>\n");
    return KF_OK;
}

static kf_status count_verdict(void *context, const kf_verdict *verdict, kf_error *error) {
    (void)error;
    ((night_table *)context)->verdicts[verdict->state]++;
    return KF_OK;
}

/* Adds a row for a night with the counts of its verdicts. Nights beyond SHOWN_NIGHTS are only counted. */
static kf_status add_night(void *context, const kf_night *night, kf_error *error) {
    night_table *table = context;
    if (table->count++ >= SHOWN_NIGHTS) return KF_OK;
    memset(table->verdicts, 0, sizeof table->verdicts);
    KF_TRY(kf_store_verdicts(table->store, night->id, count_verdict, table, error));
    kf_text_append(table->page, "<tr><td class=\"n\">%" PRId64 "</td><td class=\"s\">%.16s</td><td>",
                   night->id, night->started);
    kf_html_text(table->page, night->suite);
    kf_text_append(table->page, "</td><td>");
    kf_html_text(table->page, night->label[0] != '\0' ? night->label : "–");
    kf_text_append(table->page, "</td><td>%.10s</td><td>%s</td><td>", night->program, night->state);
    for (int i = 0; i < KF_VERDICTS; i++) {
        if (table->verdicts[i] == 0) continue;
        kf_text_append(table->page, "%d ", table->verdicts[i]);
        add_verdict_word(table->page, (kf_verdict_state)i);
        kf_text_append(table->page, " ");
    }
    kf_text_append(table->page, "</td></tr>\n");
    return KF_OK;
}

static kf_status find_newest(void *context, const kf_night *night, kf_error *error) {
    (void)error;
    night_table *table = context;
    if (table->newest.id == 0 && strcmp(night->state, "finished") == 0) table->newest = *night;
    table->count++;
    return KF_OK;
}

/* --- Histories
 * ------------------------------------------------------------------------------------------------- */

typedef struct history_job {
    kf_store *store;
    char benchmark[KF_BENCHMARK];
} history_job;

static kf_status draw_history(const void *context, const char *path, kf_error *error) {
    const history_job *job = context;
    return kf_plot_history(job->store, job->benchmark, path, error);
}

typedef struct histories {
    kf_store *store;
    char names[SHOWN_HISTORIES][KF_BENCHMARK];
    int count, left_out;
} histories;

static kf_status note_benchmark(void *context, const kf_series_summary *series, kf_error *error) {
    (void)error;
    histories *list = context;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], series->benchmark) == 0) return KF_OK;
    if (list->count < SHOWN_HISTORIES)
        kf_copy_text(list->names[list->count++], KF_BENCHMARK, series->benchmark);
    else
        list->left_out++;
    return KF_OK;
}

static kf_status add_histories(kf_text *page, kf_store *store, kf_error *error) {
    histories *list = kf_allocate_zeroed(1, sizeof *list);
    kf_status status = kf_store_series_list(store, note_benchmark, list, error);
    kf_text_append(page, "<h3>History of each benchmark</h3>\n");
    for (int i = 0; status == KF_OK && i < list->count; i++) {
        history_job job = {.store = store};
        kf_copy_text(job.benchmark, sizeof job.benchmark, list->names[i]);
        kf_report_figure(page, draw_history, &job, "svg", list->names[i]);
    }
    if (list->left_out > 0)
        kf_text_append(page, "<p>%d more; 'kftune plot history --benchmark NAME' draws them.</p>\n",
                       list->left_out);
    free(list);
    return status;
}

/* Adds the section on nights: verdicts of the last finished one, histories, and the list of all. */
kf_status kf_report_nights(kf_text *page, kf_store *store, bool *any, kf_error *error) {
    night_table table = {.page = page, .store = store};
    KF_TRY(kf_store_nights(store, find_newest, &table, error));
    *any = table.count > 0;
    if (!*any) return KF_OK;
    kf_text_append(page, "<h2 id=\"nights\">Nights</h2>\n");
    if (table.newest.id > 0) {
        kf_text_append(page, "<p>The last finished night is number %" PRId64 ", of %.16s UTC.</p>\n",
                       table.newest.id, table.newest.started);
        kf_text_append(page, "<div class=\"wide\"><table><thead><tr><th>verdict</th><th>benchmark</th><th "
                             "class=\"n\">step</th>"
                             "<th class=\"n\">change</th><th>why</th></tr></thead><tbody>\n");
        KF_TRY(kf_store_verdicts(store, table.newest.id, add_verdict, &table, error));
        kf_text_append(page, "</tbody></table></div>\n");
    }
    KF_TRY(add_histories(page, store, error));
    kf_text_append(page,
                   "<h3>All nights</h3>\n<div class=\"wide\"><table><thead><tr><th "
                   "class=\"n\">night</th><th>started (UTC)</th><th>suite</th>"
                   "<th>label</th><th>program</th><th>state</th><th>verdicts</th></tr></thead><tbody>\n");
    table.count = 0;
    KF_TRY(kf_store_nights(store, add_night, &table, error));
    kf_text_append(page, "</tbody></table></div>\n");
    if (table.count > SHOWN_NIGHTS)
        kf_text_append(page, "<p>%d older ones are not shown.</p>\n", table.count - SHOWN_NIGHTS);
    return KF_OK;
}
