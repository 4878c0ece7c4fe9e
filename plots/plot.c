#include "plots/plot.h"

#include <inttypes.h>
#include <string.h>

#include "plots/gnuplot.h"
#include "plots/run_results.h"
#include "plots/tables.h"

const char *const kf_plot_names[KF_PLOTS] = {"kernels",  "surface",   "convergence",
                                             "roofline", "occupancy", "front"};

/* --- Which run -------------------------------------------------------------------------------------------
 */

typedef struct run_search {
    const char *name; /* NULL: the newest finished run with an ok result, otherwise the newest run with one */
    kf_run_summary *found;
    int matches;
    bool finished; /* the run that was found is finished */
} run_search;

static void look_at_run(void *context, const kf_run_summary *run) {
    run_search *search = context;
    char id[32];
    (void)snprintf(id, sizeof id, "%" PRId64, run->id);
    bool exact = search->name && (strcmp(search->name, id) == 0 || strcmp(search->name, run->uuid) == 0);
    bool begins = search->name && strlen(search->name) >= 4 &&
                  strncmp(search->name, run->uuid, strlen(search->name)) == 0;
    /* A search that was interrupted shows little of what can be reached. */
    const bool finished = strcmp(run->state, "finished") == 0;
    bool newest = !search->name && run->ok > 0 && (search->matches == 0 || (finished && !search->finished));
    if (!exact && !begins && !newest) return;
    if (exact || newest || search->matches == 0) *search->found = *run;
    search->finished = search->finished || (newest && finished);
    search->matches++;
}

/* Finds the run to draw: by number or beginning of its UUID, or the newest with results. */
kf_status kf_plot_find_run(kf_store *store, const char *name, kf_run_summary *run, kf_error *error) {
    run_search search = {.name = name, .found = run};
    KF_TRY(kf_store_runs(store, look_at_run, &search, error));
    if (name != NULL && search.matches > 1 && strcmp(run->uuid, name) != 0) {
        char id[32];
        (void)snprintf(id, sizeof id, "%" PRId64, run->id);
        if (strcmp(id, name) != 0)
            return kf_fail(error, KF_BAD_INPUT, "--run '%s' fits %d runs; give more of its characters", name,
                           search.matches);
    }
    if (search.matches > 0) return KF_OK;
    if (name) {
        return kf_fail(error, KF_BAD_INPUT, "%s: has no run '%s'; 'kftune store list' shows them",
                       kf_store_path(store), name);
    }
    return kf_fail(error, KF_BAD_INPUT, "%s: no run in it has a result that counts; run 'kftune tune' first",
                   kf_store_path(store));
}

/* --- Drawing it ------------------------------------------------------------------------------------------
 */

kf_status kf_plot_check_path(const char *path, kf_error *error) {
    if (kf_gnuplot_format(path)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "--out '%s': must end in .svg, .png or .pdf", path);
}

typedef struct plot_table {
    kf_text data;
    kf_time_unit unit;
    int blocks;
    const char *plan; /* the plan that is shown; NULL: all */
    kf_text axes[2];  /* names of both axes, if they are not fixed */
} plot_table;

static kf_status make_table(kf_plot_kind kind, const kf_plot_results *results, const kf_plot_roofs *roofs,
                            plot_table *table, kf_error *error) {
    switch (kind) {
    case KF_PLOT_ROOFLINE:
        return kf_table_roofline(results, roofs, &table->data, &table->blocks, error);
    case KF_PLOT_FRONT:
        return kf_table_front(results, &table->data, table->axes, error);
    case KF_PLOT_OCCUPANCY:
        return kf_table_occupancy(results, &table->data, &table->blocks, error);
    case KF_PLOT_KERNELS:
        return kf_table_kernels(results, &table->data, &table->unit, &table->blocks, error);
    case KF_PLOT_SURFACE:
        return kf_table_surface(results, &table->data, &table->unit, &table->plan, error);
    default:
        return kf_table_convergence(results, &table->data, &table->unit, &table->blocks, error);
    }
}

kf_status kf_plot_write(kf_plot_kind kind, kf_store *store, const kf_run_summary *run, const char *path,
                        kf_error *error) {
    static const char *const titles[KF_PLOTS] = {"Kernels of a time step",
                                                 "Time of a step over sample block length and layout",
                                                 "Search: best time of a step so far",
                                                 "Roofline: kernels of the best config",
                                                 "Occupancy of each kernel, achieved and theoretical",
                                                 "Front: configs that none is better than in every goal"};
    KF_TRY(kf_plot_check_path(path, error));
    kf_plot_results results;
    KF_TRY(kf_plot_results_read(store, run, &results, error));
    plot_table table = {.unit = {"us", 1}};
    kf_plot_roofs roofs;
    kf_status status = kf_store_run_roofs(store, run->id, &roofs.measured, &roofs.peak_bandwidth, error);
    if (status == KF_OK) status = make_table(kind, &results, &roofs, &table, error);
    if (status == KF_OK) {
        char facts[KF_FACTS_TEXT], script[64], blocks[16], subtitle[512];
        (void)snprintf(script, sizeof script, "%s.gp", kf_plot_names[kind]);
        (void)snprintf(blocks, sizeof blocks, "%d", table.blocks);
        (void)kf_facts_text(run->facts, facts);
        const bool named = run->device[0] != '\0' && strcmp(run->device, "unknown") != 0;
        (void)snprintf(subtitle, sizeof subtitle, "%s%s%s%s%s", run->scene, facts[0] != '\0' ? " " : "",
                       facts, named ? ", on " : "", named ? run->device : "");
        if (table.plan != NULL && table.plan[0] != '\0') {
            const size_t used = strlen(subtitle);
            (void)snprintf(subtitle + used, sizeof subtitle - used, "; configs with plan=%.32s", table.plan);
        }
        kf_gnuplot_job job = {.script = script,
                              .data = table.data.text,
                              .title = titles[kind],
                              .subtitle = subtitle,
                              .values = {table.unit.name, blocks, table.axes[0].text, table.axes[1].text},
                              .path = path};
        status = kf_gnuplot_run(&job, error);
    } else {
        (void)kf_fail_context(error, "run %" PRId64, run->id);
    }
    kf_text_free(&table.data);
    for (int i = 0; i < 2; i++)
        kf_text_free(&table.axes[i]);
    kf_plot_results_free(&results);
    return status;
}
