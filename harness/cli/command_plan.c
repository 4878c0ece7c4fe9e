/* The command kftune plan predicts the grid, time and memory for a drag of a given accuracy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "cost_model/model.h"
#include "harness/cli/drag_interval.h"
#include "harness/cli/known_config.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_plan.h"
#include "harness/cli/scene_fit.h"
#include "harness/cli/scene_summary.h"

static const kf_option options[] = {
    {"--scene", "FILE|NAME", "a mesh, a scene file or a shipped scene with a solid in a stream", KF_TEXT},
    {"--drag-within", "SHARE", "wanted half-width of the drag's 95 % interval: 0.05, 5% (5%)", KF_TEXT},
    {"--system", "NAME", "family of solver (default: the first that runs the scene)", KF_TEXT},
    {"--grid", "NXxNY[xNZ]", "grid with which the search begins (default: as the scene says)",
     KF_CHECKED(kf_value_grid)},
    KF_SAMPLES_OPTION,
    {"--store", "FILE",
     "store with measured rates of this machine (default: kftune.db in $XDG_DATA_HOME/kftune, if there is "
     "one)",
     KF_TEXT},
    {"--fix", "KEY=VALUE", "the default config, with this value of a parameter",
     KF_ALL_CHECKED(kf_value_pair)},
    {"--device", "cuda:N|cpu", "device that will run it (the best there is)", KF_TEXT},
    KF_TEAM_OPTION,
    KF_PLACEMENT_OPTIONS,
    KF_ACCURACY_OPTION,
    {NULL, NULL, NULL, KF_FLAG},
};

/* A run with --until settled ends when the interval of its statistics is within 1 %. Its settled part takes
 * three flow-throughs and at most half of the run. The drag coefficient of a bluff body, by its front, is
 * about 1. */
static const double STATISTICS = 0.01, FLOW_THROUGHS = 6.0, BLUFF_DRAG = 1.0, LEAST_CELLS = 4.0,
                    TUNNEL_SHARE = 0.6;

/* The accuracy that a scene is expected to have on one grid in one tunnel. */
typedef struct outlook {
    double across, y_plus; /* cells across the front; y+ of the first nodes */
    double grid, tunnel;   /* half of each part of the interval, as a share of the drag; NAN: not known */
    char grid_why[160], tunnel_why[160];
} outlook;

typedef struct plan {
    const kf_arguments *arguments;
    kf_arguments *own; /* the user's options, with the chosen grid and tunnel */
    char cells[32], grid[KF_GRID_TEXT], blockage[32];
    kf_grid_prior prior;
    kf_problem *problem;
    kf_backend *backend;
    double within;
    outlook look;
    kf_run_plan foretold;
    kf_scene_fit fit;
    double updates_per_second; /* NAN: not known yet */
    char rate_from[96];
} plan;

extern const kf_command kf_command_plan;

static const kf_scene *scene_of(const plan *p) {
    return kf_run_scene(p->problem);
}

/* Opens the scene with the user's options and with what is chosen so far. */
static kf_status open_problem(plan *p, kf_error *error) {
    kf_problem_free(p->problem);
    p->problem = NULL;
    const kf_problem_options known = {.seed = 0};
    KF_TRY(kf_argument_problem(p->own, &kf_command_plan, NULL, NULL, &known, &p->problem, error));
    const kf_scene *scene = scene_of(p);
    if (scene != NULL && scene->finer_count > 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: kftune plan needs a scene on one grid, and \"refine\" asks for nested grids: "
                       "remove the key, or use 'kftune scene' for their cost",
                       p->problem->name);
    if (scene == NULL || scene->mesh.triangle_count == 0 || !(scene->frontal_area > 0.0) ||
        kf_scene_flow_through(scene) == 0.0)
        return kf_fail(error, KF_BAD_INPUT, "%s: has no solid in a stream, so there is no drag to plan for",
                       p->problem->name);
    return KF_OK;
}

/* Estimates the accuracy on a grid that is `finer` times as fine as the scene's. */
static outlook look(const plan *p, double finer) {
    const kf_scene *scene = scene_of(p);
    outlook found = {.across = finer * kf_cells_across(scene),
                     .y_plus = kf_scene_wall_distance(scene) / finer,
                     .tunnel = (double)NAN};
    found.grid = kf_grid_prior_of(scene, &p->prior, found.across, found.y_plus, found.grid_why);
    const kf_tunnel_effect effect = kf_tunnel_effect_of(scene, BLUFF_DRAG);
    kf_copy_text(found.tunnel_why, sizeof found.tunnel_why, effect.why);
    if (effect.known) found.tunnel = (effect.high - effect.low) / (effect.high + effect.low);
    return found;
}

/* Returns the share of all parts together. A part that is not known counts as 0, because the plan names it.
 */
static double share_of(const outlook *found) {
    const kf_drag_interval shares = {.half = {[KF_PART_STATISTICS] = STATISTICS,
                                              [KF_PART_GRID] = found->grid,
                                              [KF_PART_TUNNEL] = found->tunnel}};
    return kf_drag_interval_total(&shares);
}

/* ---- The choice ---- */

/* Makes the tunnel of a mesh wider if its effect alone exceeds the wanted accuracy, unless the user chose its
 * width. */
static kf_status choose_tunnel(plan *p, kf_error *error) {
    const char *source = kf_argument(p->own, "--scene", "");
    const outlook now = look(p, 1.0);
    if (!kf_scene_is_mesh(source) || kf_argument_given(p->own, "--blockage") || !isfinite(now.tunnel) ||
        now.tunnel <= TUNNEL_SHARE * p->within)
        return KF_OK;
    const double blockage = kf_summarise_scene(scene_of(p)).blockage * TUNNEL_SHARE * p->within / now.tunnel;
    (void)snprintf(p->blockage, sizeof p->blockage, "%.2g%%", fmax(0.1, 100.0 * blockage));
    kf_argument_set(p->own, "--blockage", p->blockage);
    return open_problem(p, error);
}

/* Returns how many times finer than the scene's grid the chosen grid must be. If no grid is fine enough, it
 * is the finest grid that the prior covers. */
static double choose_finer(const plan *p) {
    enum { STEPS = 60 };
    const double most = fmax(1.0, p->prior.most_cells / kf_cells_across(scene_of(p)));
    double low = fmax(p->prior.least_cells, LEAST_CELLS) / kf_cells_across(scene_of(p)), high = most;
    low = fmin(low, high);
    for (int i = 0; i < STEPS; i++) {
        const double middle = sqrt(low * high);
        const outlook found = look(p, middle);
        const bool enough = isfinite(found.grid) && share_of(&found) <= p->within;
        if (enough)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Sets the grid to `finer` times as many cells: for a mesh cells along its length, for a scene file nodes. */
static kf_status set_grid(plan *p, double finer, kf_error *error) {
    const kf_scene *scene = scene_of(p);
    if (kf_scene_is_mesh(kf_argument(p->own, "--scene", ""))) {
        const double cells = finer * scene->reference_length;
        (void)snprintf(p->cells, sizeof p->cells, "%.0f", fmax(LEAST_CELLS, ceil(cells - 1e-6)));
        kf_argument_set(p->own, "--grid", NULL);
        kf_argument_set(p->own, "--cells", p->cells);
    } else {
        int nodes[3];
        for (int a = 0; a < 3; a++)
            nodes[a] = (int)fmin(16384.0, ceil(finer * scene->nodes[a] - 1e-6));
        kf_argument_set(p->own, "--grid", kf_grid_text(nodes, p->grid));
    }
    KF_TRY(open_problem(p, error));
    p->look = look(p, 1.0);
    return KF_OK;
}

/* Chooses the grid. A grid has whole cells, and its mesh is placed again, so the accuracy may end slightly
 * below the wanted one. The grid then gets more cells. */
static kf_status choose_grid(plan *p, kf_error *error) {
    enum { TRIES = 5 };
    static const double NEAR = 1.05, MORE = 1.02;
    KF_TRY(set_grid(p, choose_finer(p), error));
    for (int i = 0; i < TRIES; i++) {
        const outlook finer = look(p, MORE);
        const double share = share_of(&p->look);
        if (share <= p->within || share > NEAR * p->within || !isfinite(p->look.grid) ||
            !isfinite(finer.grid))
            break;
        KF_TRY(set_grid(p, MORE, error));
    }
    return KF_OK;
}

/* ---- The cost ---- */

/* Takes the rate from the time that the cost model predicts for a step of the default config on this device.
 */
static void rate_by_model(plan *p, const kf_config *config) {
    kf_cost_model *model = NULL;
    kf_prediction prediction;
    kf_error ignored;
    const kf_scene *scene = scene_of(p);
    const double nodes = (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
    p->updates_per_second = (double)NAN;
    kf_copy_text(p->rate_from, sizeof p->rate_from, "not known: this system has no cost model");
    kf_cost_model_open(p->problem, kf_backend_device(p->backend), NULL, &model);
    if (model == NULL) return;
    if (kf_cost_model_predict(model, config, NULL, &prediction, &ignored) == KF_OK &&
        prediction.time_us > 0.0) {
        p->updates_per_second = 1e6 * nodes / prediction.time_us;
        kf_copy_text(p->rate_from, sizeof p->rate_from,
                     "by the cost model, since this machine's store has no rate of such a scene");
    }
    kf_cost_model_close(model);
}

/* Finds the number of node updates a second on this machine: from the nearest scene in the store, otherwise
 * from the cost model. */
static kf_status find_rate(plan *p, kf_error *error) {
    kf_best_config best;
    bool foreign = false;
    memset(&best, 0, sizeof best);
    KF_TRY(kf_known_config(p->own, p->problem, p->backend, &best, &foreign, error));
    if (best.updates_per_second > 0.0) {
        p->updates_per_second = best.updates_per_second;
        kf_copy_text(p->rate_from, sizeof p->rate_from,
                     foreign ? "as measured here on the nearest scene" : "as measured here");
    } else {
        rate_by_model(p, &best.config);
    }
    kf_best_config_free(&best);
    return KF_OK;
}

static void foretell(plan *p) {
    const kf_scene *scene = scene_of(p);
    const double nodes = (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
    p->foretold.within = p->within;
    p->foretold.share = share_of(&p->look);
    p->foretold.steps = ceil(FLOW_THROUGHS * kf_scene_flow_through(scene));
    p->foretold.seconds = p->foretold.steps * nodes / p->updates_per_second;
    p->fit = kf_fit_scene(scene, kf_backend_device(p->backend));
}

static bool can_be_had(const plan *p) {
    return isfinite(p->look.grid) && isfinite(p->look.tunnel) && p->foretold.share <= p->within + 1e-9 &&
           (p->fit.one_grid || p->fit.two_grids);
}

/* ---- Saying it ---- */

/* Appends the command that runs the plan, with the options that place the scene. */
static void append_command(const plan *p, kf_text *text) {
    static const kf_option placing[] = {KF_PLACEMENT_OPTIONS};
    static const char *const kept[] = {"--system",   "--grid",   "--samples-per-cell",
                                       "--accuracy", "--device", "--devices"};
    kf_text_append(text, "kftune run --scene %s", kf_argument(p->own, "--scene", ""));
    for (size_t i = 0; i < sizeof placing / sizeof *placing; i++)
        if (kf_argument_given(p->own, placing[i].name))
            kf_text_append(text, " %s %s", placing[i].name, kf_argument(p->own, placing[i].name, ""));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kf_argument_given(p->own, kept[i]))
            kf_text_append(text, " %s %s", kept[i], kf_argument(p->own, kept[i], ""));
    kf_text_append(text, " --until settled");
}

static void print_part(const char *name, double share, const char *why) {
    if (isfinite(share))
        printf("    %-10s %.10g %%: %s\n", name, kf_percent(share), why);
    else
        printf("    %-10s not known: %s\n", name, why);
}

/* Prints which part prevents the wanted accuracy, if all parts are known. */
static void print_reason(const plan *p) {
    if (p->foretold.share <= p->within + 1e-9) return;
    if (p->look.tunnel >= p->within)
        puts("  why not      the tunnel alone takes more: a wider domain, or a smaller --blockage, helps");
    else
        printf("  why not      no flow with an answer has more than %.3g cells across the front\n",
               p->prior.most_cells);
}

/* Prints the plan as text: parts of the interval, grid, steps, time, memory, and the command. */
static void print_plan(const plan *p, const char *command) {
    const kf_scene *scene = scene_of(p);
    const kf_scene_summary summary = kf_summarise_scene(scene);
    const char *const *lines = NULL;
    char time[32], memory[32], grid[KF_GRID_TEXT];
    printf("%s: the drag within %.10g %% (95 %%) %s\n", p->problem->name, kf_percent(p->within),
           can_be_had(p) ? "can be had" : "cannot be promised");
    printf("  foretold     +- %.10g %%%s of the drag, from\n", kf_percent(p->foretold.share),
           isfinite(p->look.grid) && isfinite(p->look.tunnel) ? "" : " or more");
    print_part("statistics", STATISTICS, "where the run ends once it has settled");
    print_part("grid", p->look.grid, p->look.grid_why);
    print_part("tunnel", p->look.tunnel, p->look.tunnel_why);
    print_reason(p);
    printf("  grid         %s nodes, %.3g cells a length, %.3g across the front\n",
           kf_grid_text(scene->nodes, grid), scene->reference_length, p->look.across);
    printf("  steps        about %.0f, %.2g flow-throughs\n", p->foretold.steps, FLOW_THROUGHS);
    printf("  time         %s on %s, %s\n",
           isfinite(p->foretold.seconds) ? kf_human_time_us(1e6 * p->foretold.seconds, time) : "not known",
           kf_backend_device(p->backend)->name, p->rate_from);
    printf("  memory       %s of two grids: %s\n", kf_human_bytes(summary.bytes, memory),
           p->fit.two_grids  ? "they fit"
           : p->fit.one_grid ? "one fits, and is shifted"
                             : "not even one fits");
    const int count = kf_scene_warnings(&summary, &lines);
    for (int i = 0; i < count; i++)
        printf("  not given    %s\n", lines[i]);
    printf("  run it       %s\n", command);
}

static void add_part(cJSON *parts, const char *name, double share, const char *why) {
    cJSON *part = cJSON_AddObjectToObject(parts, name);
    kf_json_add_number(part, "share_of_drag", share);
    cJSON_AddStringToObject(part, "because", why);
}

/* Makes the JSON of a plan; the caller owns it. */
static cJSON *to_json(const plan *p, const char *command) {
    const kf_scene *scene = scene_of(p);
    const kf_scene_summary summary = kf_summarise_scene(scene);
    const char *const *lines = NULL;
    cJSON *json = kf_json_answer("plan"), *parts = NULL;
    cJSON_AddStringToObject(json, "scene", p->problem->name);
    cJSON_AddStringToObject(json, "scene_hash", p->problem->hash);
    cJSON_AddBoolToObject(json, "can_be_had", can_be_had(p));
    cJSON_AddItemToObject(json, "foretold", kf_run_plan_json(&p->foretold));
    parts = cJSON_AddObjectToObject(json, "parts");
    add_part(parts, "statistics", STATISTICS, "where the run ends once it has settled");
    add_part(parts, "grid", p->look.grid, p->look.grid_why);
    add_part(parts, "tunnel", p->look.tunnel, p->look.tunnel_why);
    cJSON_AddItemToObject(json, "grid", cJSON_CreateIntArray(scene->nodes, 3));
    cJSON_AddNumberToObject(json, "cells_a_length", scene->reference_length);
    cJSON_AddStringToObject(json, "device", kf_backend_device(p->backend)->name);
    kf_json_add_number(json, "updates_per_second", p->updates_per_second);
    cJSON_AddStringToObject(json, "rate_from", p->rate_from);
    cJSON_AddNumberToObject(json, "memory_bytes", summary.bytes);
    cJSON_AddItemToObject(json, "fits", kf_scene_fit_json(&p->fit));
    const int count = kf_scene_warnings(&summary, &lines);
    cJSON_AddItemToObject(json, "not_given", cJSON_CreateStringArray(lines, count));
    cJSON_AddStringToObject(json, "run", command);
    return json;
}

/* ---- The command ---- */

static void leave_unsaid(const char *line) {
    (void)line;
}

static kf_status choose(plan *p, kf_error *error) {
    KF_TRY(open_problem(p, error));
    KF_TRY(choose_tunnel(p, error));
    return choose_grid(p, error);
}

/* Makes the plan. Notes are held back while grids are tried, because they are about grids that nobody will
 * run. */
static kf_status make(plan *p, kf_error *error) {
    p->within = 0.05;
    KF_TRY(kf_argument_share(p->arguments, "--drag-within", 0.001, 1.0, &p->within, error));
    if (kf_argument_given(p->arguments, "--cells"))
        kf_warn("the plan chooses how many cells there are along the solid; --cells has no effect");
    KF_TRY(kf_grid_prior_read(&p->prior, error));
    KF_TRY(kf_backend_open(kf_argument_device(p->arguments, NULL), &p->backend, error));
    kf_log_to(leave_unsaid);
    kf_status status = choose(p, error);
    if (status == KF_OK) status = find_rate(p, error);
    kf_log_to(NULL);
    KF_TRY(status);
    foretell(p);
    return kf_run_plan_keep(p->problem->hash, &p->foretold, error);
}

/* Makes a plan, keeps it for the run that follows, and prints it. KF_GATE_FAILED if the accuracy cannot be
 * promised. */
static kf_status plan_run(const kf_arguments *arguments, kf_error *error) {
    plan *p = kf_allocate_zeroed(1, sizeof *p);
    p->arguments = arguments;
    p->own = kf_allocate(sizeof *p->own);
    *p->own = *arguments;
    kf_status status = make(p, error);
    if (status == KF_OK) {
        kf_text command = {0};
        append_command(p, &command);
        if (kf_arguments_json(arguments))
            kf_json_print(to_json(p, command.text));
        else
            print_plan(p, command.text);
        kf_text_free(&command);
        if (!can_be_had(p)) status = KF_GATE_FAILED;
    }
    kf_problem_free(p->problem);
    kf_backend_close(p->backend);
    free(p->own);
    free(p);
    return status;
}

const kf_command kf_command_plan = {
    .name = "plan",
    .summary = "find the grid and the time that a drag of given accuracy needs",
    .synopsis = "kftune plan --scene FILE|NAME [options]",
    .description =
        "Chooses the coarsest grid, and for a mesh the tunnel, with which the drag of known flows had\n"
        "this accuracy. Prints steps, time on this machine, memory, and what the grid cannot resolve. The\n"
        "run that follows compares itself with the plan. Exit status 1: the accuracy cannot be promised.",
    .example = "kftune plan --scene ball --drag-within 10%",
    .options = options,
    .run = plan_run,
};
