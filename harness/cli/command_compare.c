/* The command kftune compare compares runs with the first one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/compare_pictures.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/run_figures.h"
#include "scene/document.h"

static const kf_option options[] = {
    {"--floor", "SHARE",
     "smallest significant difference of drag, as a share of the first run's: 1% (depends on the grid: 1.5% "
     "on 16 cells, 0.2% on 32)",
     KF_TEXT},
    {"--pictures", "FOLDER",
     "also draw speed and pressure of the runs and their differences from the first there, each in one scale",
     KF_TEXT},
    {NULL, NULL, NULL, KF_FLAG},
};
static const char *const positional[] = {"RUN...", NULL};

/* Returns three standard deviations of the drag over seeds, as a share of the drag. They were measured for a
 * box on wheels, by cells along its length (results/measured/sample-scatter.md). Beyond 40 cells other errors
 * are larger. */
static double usual_floor(double cells) {
    static const double floor = 0.015, cells_there = 16.0, least = 0.001;
    return isfinite(cells) ? fmax(least, floor * pow(cells_there / cells, 3.0)) : floor;
}

/* The verdict on a run's difference from the first run. */
typedef enum verdict { ALIKE, DIFFERENT, UNKNOWN, VERDICTS } verdict;
static const char *const verdicts[VERDICTS] = {"cannot be told apart", "differs", "not known"};

typedef struct comparison {
    kf_figure difference[KF_FIGURES];
    verdict drag;
    char why[160];  /* the reason for the verdict */
    kf_text scenes; /* differences between the scenes; empty: none is known */
} comparison;

static kf_figure minus(const kf_figure *one, const kf_figure *other) {
    return (kf_figure){one->mean - other->mean, hypot(one->half, other->half)};
}

/* Judges a run against the first. The floor is a share of the first drag; a negative floor is replaced by the
 * one that the grids give. The runs' errors are independent, so the halves of their intervals add by squares.
 */
static void judge(const kf_run_figures *first, const kf_run_figures *run, double floor, comparison *c) {
    const kf_figure *d = &c->difference[KF_FIGURE_DRAG];
    if (floor < 0.0) floor = fmax(usual_floor(first->cells), usual_floor(run->cells));
    const double least = floor * fabs(first->wind[KF_FIGURE_DRAG].mean), size = fabs(d->mean);
    c->drag = UNKNOWN;
    if (!first->known || !run->known)
        (void)snprintf(c->why, sizeof c->why, "%s has no drag", first->known ? "it" : "the first run");
    else if (!first->settled || !run->settled)
        (void)snprintf(c->why, sizeof c->why, "%s has not settled; let it go on",
                       first->settled ? "it" : "the first run");
    else if (!isfinite(d->half))
        (void)snprintf(c->why, sizeof c->why, "an interval is missing; let it go on");
    else if (size <= d->half) {
        c->drag = ALIKE;
        (void)snprintf(c->why, sizeof c->why, "the difference lies within its 95 %% interval");
    } else if (size <= least) {
        c->drag = ALIKE;
        (void)snprintf(c->why, sizeof c->why,
                       "the difference is below the floor of %.10g %%, which the samples' places make",
                       kf_percent(floor));
    } else
        c->drag = DIFFERENT;
}

static void compare(const kf_run_figures *first, const kf_run_figures *run, double floor, comparison *c) {
    for (int k = 0; k < KF_FIGURES; k++)
        c->difference[k] = minus(&run->wind[k], &first->wind[k]);
    judge(first, run, floor, c);
    if (first->scene != NULL && run->scene != NULL)
        kf_scene_document_difference(first->scene, run->scene, &c->scenes);
}

/* ---- Saying it ---- */

static void print_run(const char *letter, const kf_run_figures *run, int width) {
    char texts[KF_FIGURES][48];
    printf("%-7s %-*s", letter, width, run->folder);
    for (int k = 0; k < KF_FIGURES; k++)
        printf("  %-18s", kf_figure_text(&run->wind[k], texts[k]));
    printf("  %s", !run->known ? "no coefficients" : run->settled ? "settled" : "NOT settled");
    printf("%s%s\n", strcmp(run->state, "finished") != 0 ? ", " : "",
           strcmp(run->state, "finished") != 0 ? run->state : "");
}

static void print_difference(const char *letter, const kf_run_figures *first, const comparison *c,
                             int width) {
    char texts[KF_FIGURES][48];
    printf("%s - a   %-*s", letter, width, "");
    for (int k = 0; k < KF_FIGURES; k++) {
        char text[48];
        (void)snprintf(texts[k], sizeof texts[k], "%s%.46s", c->difference[k].mean > 0.0 ? "+" : "",
                       kf_figure_text(&c->difference[k], text));
        printf("  %-18s", texts[k]);
    }
    const double drag = first->wind[KF_FIGURE_DRAG].mean;
    printf("  drag %s", verdicts[c->drag]);
    if (c->drag == DIFFERENT) printf(" by %+.2g %%", 100.0 * c->difference[KF_FIGURE_DRAG].mean / fabs(drag));
    printf("%s%s\n", c->why[0] != '\0' ? ": " : "", c->why);
    if (c->scenes.length > 0) printf("        scenes: %s\n", c->scenes.text);
}

/* Prints reasons why coefficients of two runs are not comparable, whatever their difference. */
static void print_cautions(const char *letter, const kf_run_figures *first, const kf_run_figures *run) {
    static const double like = 1e-3;
    const struct {
        const char *what;
        double one, other;
    } facts[] = {{"area of reference, m^2", first->area, run->area},
                 {"Reynolds number", first->reynolds, run->reynolds},
                 {"cells along the length", first->cells, run->cells}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (fabs(facts[i].one - facts[i].other) > like * fabs(facts[i].one))
            printf("        %s: %.4g in a, %.4g in %s\n", facts[i].what, facts[i].one, facts[i].other,
                   letter);
}

/* Prints the drag in an open stream with its interval and the interval's parts. */
static void print_open_stream(const char *letter, const kf_run_figures *run, int width) {
    char text[256];
    if (run->judged)
        printf("%-7s %-*s  drag %s\n", letter, width, run->folder,
               kf_drag_interval_text(&run->open_stream, text));
}

/* Prints all runs as a table, then the difference of each from the first one, with cautions. */
static void print_all(const kf_run_figures *runs, const comparison *found, int count) {
    int width = 0;
    for (int i = 0; i < count; i++)
        width = (int)strlen(runs[i].folder) > width ? (int)strlen(runs[i].folder) : width;
    printf("%-7s %-*s  %-18s  %-18s  %-18s\n", "", width, "", "drag", "lift", "side");
    for (int i = 0; i < count; i++)
        print_run((const char[]){(char)('a' + i), '\0'}, &runs[i], width);
    for (int i = 1; i < count; i++) {
        const char letter[] = {(char)('a' + i), '\0'};
        print_difference(letter, &runs[0], &found[i], width);
        print_cautions(letter, &runs[0], &runs[i]);
    }
    puts("Coefficients are means in the tunnel with 95 % intervals of their statistics alone: where grid and "
         "tunnel are alike, so is what they are off by. In an open stream:");
    for (int i = 0; i < count; i++)
        print_open_stream((const char[]){(char)('a' + i), '\0'}, &runs[i], width);
}

/* Makes the JSON of all runs with their differences from the first; the caller owns it. */
static cJSON *to_json(const kf_run_figures *runs, const comparison *found, int count) {
    cJSON *json = kf_json_answer("compare"), *list = cJSON_AddArrayToObject(json, "runs");
    for (int i = 0; i < count; i++) {
        cJSON *run = cJSON_CreateObject();
        cJSON_AddItemToArray(list, run);
        cJSON_AddStringToObject(run, "folder", runs[i].folder);
        cJSON_AddStringToObject(run, "scene", runs[i].name);
        cJSON_AddStringToObject(run, "state", runs[i].state);
        cJSON_AddBoolToObject(run, "settled", runs[i].settled);
        for (int k = 0; k < KF_FIGURES; k++)
            cJSON_AddItemToObject(run, kf_figure_names[k], kf_figure_json(&runs[i].wind[k]));
        cJSON_AddItemToObject(run, "open_stream_drag",
                              runs[i].judged ? kf_drag_interval_json(&runs[i].open_stream)
                                             : cJSON_CreateNull());
        if (i == 0) continue;
        cJSON *difference = cJSON_AddObjectToObject(run, "difference");
        for (int k = 0; k < KF_FIGURES; k++)
            cJSON_AddItemToObject(difference, kf_figure_names[k], kf_figure_json(&found[i].difference[k]));
        cJSON_AddStringToObject(run, "drag_is", verdicts[found[i].drag]);
        cJSON_AddStringToObject(run, "because", found[i].why);
        cJSON_AddStringToObject(run, "scenes_differ", found[i].scenes.length > 0 ? found[i].scenes.text : "");
    }
    return json;
}

/* Compares the runs in the named folders with the first of them. KF_GATE_FAILED if a drag differs or cannot
 * be compared. */
static kf_status compare_runs(const kf_arguments *arguments, kf_error *error) {
    enum { MOST = 26 };
    const int count = arguments->positional_count;
    double floor = -1.0;
    int read = 0;
    if (count < 2 || count > MOST)
        return kf_fail(error, KF_BAD_INPUT, "compare: give the folders of 2 to %d runs", MOST);
    KF_TRY(kf_argument_share(arguments, "--floor", 0.0, 1.0, &floor, error));
    kf_run_figures *runs = kf_allocate_zeroed((size_t)count, sizeof *runs);
    comparison found[MOST] = {{.drag = ALIKE}};
    kf_status status = KF_OK;
    for (; read < count && status == KF_OK; read++)
        status = kf_run_figures_read(arguments->positional[read], &runs[read], error);
    bool alike = true;
    for (int i = 1; i < count && status == KF_OK; i++) {
        compare(&runs[0], &runs[i], floor, &found[i]);
        alike = alike && found[i].drag == ALIKE;
    }
    const char *pictures = kf_argument(arguments, "--pictures", NULL);
    if (status == KF_OK && pictures != NULL)
        status = kf_compare_pictures(arguments->positional, count, pictures, error);
    if (status == KF_OK && kf_arguments_json(arguments))
        kf_json_print(to_json(runs, found, count));
    else if (status == KF_OK)
        print_all(runs, found, count);
    if (status == KF_OK && pictures != NULL && !kf_arguments_json(arguments))
        printf("pictures of speed and pressure, and of the differences: %s/*.png\n", pictures);
    for (int i = 0; i < count; i++) {
        kf_run_figures_free(&runs[i]);
        kf_text_free(&found[i].scenes);
    }
    free(runs);
    return status == KF_OK && !alike ? KF_GATE_FAILED : status;
}

extern const kf_command kf_command_compare;
const kf_command kf_command_compare = {
    .name = "compare",
    .summary = "compare runs: do their drags differ?",
    .synopsis = "kftune compare RUN RUN... [options]",
    .description =
        "Reads the folders of runs around a solid. Prints drag, lift and side force of each, the\n"
        "differences from the first run with their 95 % intervals, and the differences of the scenes.\n"
        "Exit status 0: no drag differs significantly. 1: a drag differs, or is not known because a run\n"
        "has not settled.",
    .example = "kftune compare car-run car-yaw5-run",
    .options = options,
    .positional = positional,
    .run = compare_runs,
};
