#include "plots/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util/program.h"
#include "plots/plot.h"
#include "plots/report/sections.h"

enum { SHOWN_RUNS = 30 };

/* --- All runs
 * ---------------------------------------------------------------------------------------------------- */

typedef struct run_table {
    kf_text *page;
    int count;
} run_table;

/* Adds a row for a run. Runs beyond SHOWN_RUNS are only counted. */
static void add_run(void *context, const kf_run_summary *run) {
    run_table *table = context;
    if (table->count++ >= SHOWN_RUNS) return;
    if (table->count == 1)
        kf_text_append(table->page, "<div class=\"wide\"><table><thead><tr><th class=\"n\">run</th>"
                                    "<th>started (UTC)</th><th>scene</th><th>size</th><th>device</th>"
                                    "<th>state</th><th class=\"n\">results</th><th class=\"n\">best step</th>"
                                    "</tr></thead><tbody>\n");
    char time[32], facts[KF_FACTS_TEXT];
    kf_text_append(table->page, "<tr><td class=\"n\">%" PRId64 "</td><td class=\"s\">%.16s</td><td>", run->id,
                   run->started);
    kf_html_text(table->page, run->scene);
    kf_text_append(table->page, "</td><td>");
    kf_html_text(table->page, kf_facts_text(run->facts, facts));
    kf_text_append(table->page, "</td><td>");
    kf_html_text(table->page, run->device);
    kf_text_append(table->page, "</td><td>");
    kf_html_text(table->page, strcmp(run->origin, "imported") == 0 ? run->origin : run->state);
    kf_text_append(table->page, "</td><td class=\"n\">%d</td><td class=\"n\">%s</td></tr>\n", run->results,
                   isfinite(run->best_us) ? kf_human_time_us(run->best_us, time) : "–");
}

static kf_status add_runs(kf_text *page, kf_store *store, kf_error *error) {
    run_table table = {.page = page};
    kf_text_append(page, "<h2 id=\"runs\">All runs</h2>\n");
    KF_TRY(kf_store_runs(store, add_run, &table, error));
    kf_text_append(page, table.count > 0 ? "</tbody></table></div>\n"
                                         : "<p>None yet; <code>kftune tune</code> makes them.</p>\n");
    if (table.count > SHOWN_RUNS)
        kf_text_append(page, "<p>%d older ones are not shown.</p>\n", table.count - SHOWN_RUNS);
    return KF_OK;
}

/* --- The page
 * ------------------------------------------------------------------------------------------------------ */

/* Adds the head of the page: title, run, program, and links to the sections. */
static void add_head(kf_text *page, const kf_store *store, const kf_run_summary *run) {
    char now[32];
    time_t seconds = time(NULL);
    struct tm parts;
    (void)gmtime_r(&seconds, &parts);
    (void)strftime(now, sizeof now, "%Y-%m-%d %H:%M", &parts);
    char title[320];
    (void)snprintf(title, sizeof title, "kftune: %s", run != NULL ? run->scene : "nights");
    kf_html_begin(page, title);
    kf_text_append(page, "<h1>");
    kf_html_text(page, title);
    kf_text_append(page, "</h1>\n<p class=\"quiet\">");
    if (run != NULL)
        kf_html_print(page, "Run %" PRId64 " of %.16s UTC on %s. ", run->id, run->started, run->device);
    kf_html_print(page, "Written %s UTC by kftune %s from %s.", now, KF_VERSION, kf_store_path(store));
    kf_text_append(page, "</p>\n<nav>");
    static const char *const links[][2] = {{"best", "Best config"},     {"scene", "Scene"},
                                           {"kernels", "Kernels"},      {"plots", "Plots"},
                                           {"results", "Results"},      {"environment", "Environment"},
                                           {"reproduce", "Do it again"}};
    for (size_t i = 0; run != NULL && i < sizeof links / sizeof links[0]; i++)
        kf_text_append(page, "<a href=\"#%s\">%s</a>", links[i][0], links[i][1]);
    kf_text_append(page, "<a href=\"#nights\">Nights</a><a href=\"#runs\">All runs</a></nav>\n");
}

static kf_status add_content(kf_text *page, kf_store *store, const char *name, kf_error *error) {
    kf_run_summary run;
    kf_error no_run = {KF_OK, ""};
    bool any = kf_plot_find_run(store, name, &run, &no_run) == KF_OK, nights = false;
    if (!any && name != NULL) return kf_fail(error, KF_BAD_INPUT, "%s", no_run.message);
    add_head(page, store, any ? &run : NULL);
    if (any) KF_TRY(kf_report_run(page, store, &run, error));
    KF_TRY(kf_report_nights(page, store, &nights, error));
    if (!any && !nights) return kf_fail(error, KF_BAD_INPUT, "%s", no_run.message);
    if (!nights)
        kf_text_append(
            page,
            "<h2 id=\"nights\">Nights</h2>\n<p>None yet; <code>kftune nightly</code> makes them.</p>\n");
    return add_runs(page, store, error);
}

kf_status kf_report_write(kf_store *store, const char *run, const char *path, kf_error *error) {
    kf_text page = {0};
    kf_status status = add_content(&page, store, run, error);
    kf_html_end(&page);
    if (status == KF_OK) status = kf_file_write_atomic(path, page.text, page.length, error);
    kf_text_free(&page);
    return status;
}
