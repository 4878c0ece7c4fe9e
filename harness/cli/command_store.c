/* The command kftune store lists, shows, exports, imports and deletes measurements. */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/store_shards.h"
#include "harness/cli/store_show.h"
#include "results/nightly.h"

extern const kf_command kf_command_store;

/* --- Export, import ----------------------------------------------------------------------------------- */

typedef struct kf_format {
    const char *name;
    kf_export write;
} kf_format;
static const kf_format formats[] = {{"csv", kf_store_export_csv},
                                    {"t4", kf_store_export_t4},
                                    {"kernel-tuner", kf_store_export_kernel_tuner},
                                    {"github-benchmark", kf_store_export_github},
                                    {"junit", kf_store_export_junit},
                                    {"landscape", kf_store_export_compact}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static kf_status find_format(const kf_arguments *arguments, const kf_format **format, kf_error *error) {
    const char *name = kf_argument(arguments, "--format", NULL);
    static const char *const usage = "csv, t4, kernel-tuner, github-benchmark, junit, landscape";
    if (name == NULL)
        return kf_fail(error, KF_BAD_INPUT, "store export: --format is missing; there are: %s", usage);
    const char *names[FORMATS];
    for (int i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        *format = &formats[i];
        if (strcmp(name, names[i]) == 0) return KF_OK;
    }
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "--format '%.40s': unknown; there are: %s%s", name, usage,
                   kf_hint(name, names, FORMATS, hint));
}

/* Finds what --run names: a run, or a night if the format is JUnit, which holds verdicts. */
static kf_status find_exported(const kf_arguments *arguments, const kf_format *format, kf_store *store,
                               kf_run_summary *run, kf_error *error) {
    const char *name = kf_argument(arguments, "--run", NULL);
    if (format->write != kf_store_export_junit) return kf_store_find_run(store, name, run, error);
    kf_night night;
    KF_TRY(kf_store_find_night(store, name, &night, error));
    *run = (kf_run_summary){.id = night.id};
    return KF_OK;
}

/* Exports a run or a night in the chosen format, to a file or to stdout. */
static kf_status export(const kf_arguments *arguments, kf_error *error) {
    const kf_format *format = NULL;
    KF_TRY(find_format(arguments, &format, error));
    kf_store *store = NULL;
    const char *path = kf_argument(arguments, "--out", NULL);
    if (path == NULL)
        KF_TRY(kf_argument_no_json(arguments, "an export to stdout has its own format; give --out FILE, too",
                                   error));
    KF_TRY(kf_store_of_arguments(arguments, true, &store, error));
    kf_run_summary run;
    kf_status status = find_exported(arguments, format, store, &run, error);
    if (status == KF_OK && strcmp(run.origin, "nightly") == 0)
        kf_warn(
            "run %lld is the benchmark %.40s in all of its nights, not a night; a night is --format junit",
            (long long)run.id, run.scene);
    if (status == KF_OK)
        status = path != NULL ? kf_store_export_file(store, run.id, format->write, path, error)
                              : format->write(store, run.id, stdout, error);
    if (status == KF_OK && path != NULL && kf_arguments_json(arguments)) {
        cJSON *root = kf_store_answer("export", store);
        (void)cJSON_AddStringToObject(root, "format", format->name);
        (void)cJSON_AddNumberToObject(root, "run", (double)run.id);
        (void)cJSON_AddStringToObject(root, "out", path);
        kf_json_print(root);
    } else if (status == KF_OK && path != NULL) {
        kf_info("run %lld is in %s", (long long)run.id, path);
    }
    kf_store_close(store);
    return status;
}

/* Imports a file of another program as one run. */
static kf_status import_file(kf_store *store, const char *file, cJSON *list, kf_error *error) {
    int64_t run = 0;
    int count = 0;
    KF_TRY(kf_store_import(store, file, &run, &count, error));
    if (list == NULL) {
        printf("%s: %d results are run %lld of %s\n", file, count, (long long)run, kf_store_path(store));
        return KF_OK;
    }
    (void)cJSON_AddStringToObject(list, "file", file);
    (void)cJSON_AddNumberToObject(list, "run", (double)run);
    (void)cJSON_AddNumberToObject(list, "results", count);
    return KF_OK;
}

/* Merges stores, such as those of a landscape's shards. */
static kf_status merge_file(kf_store *store, const char *file, int *merged, int all[2], kf_error *error) {
    int runs = 0, results = 0;
    KF_TRY(kf_store_merge(store, file, &runs, &results, error));
    all[0] += runs;
    all[1] += results;
    ++*merged;
    return KF_OK;
}

static bool is_folder(const char *path) {
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

/* Merges all stores in the folder that was given to --journal. */
static kf_status merge_folder(kf_store *store, const char *folder, int *merged, int all[2], kf_error *error) {
    char pattern[KF_PATH];
    glob_t found;
    KF_TRY(kf_path(pattern, error, "%s/*.db", folder));
    if (glob(pattern, 0, NULL, &found) != 0)
        return kf_fail(error, KF_BAD_INPUT, "store import: there is no store in %s (*.db)", folder);
    kf_status status = KF_OK;
    for (size_t i = 0; i < found.gl_pathc && status == KF_OK; i++)
        status = merge_file(store, found.gl_pathv[i], merged, all, error);
    globfree(&found);
    return status;
}

/* Imports what was named: stores and folders of stores are merged, files of other programs become runs. */
static kf_status import(const kf_arguments *arguments, kf_error *error) {
    if (arguments->positional_count < 2)
        return kf_fail(error, KF_BAD_INPUT, "store import: the file is missing: kftune store import FILE...");
    kf_store *store = NULL;
    KF_TRY(kf_store_open_draft(kf_argument(arguments, "--store", NULL), &store, error));
    cJSON *root = kf_arguments_json(arguments) ? kf_store_answer("import", store) : NULL;
    int all[2] = {0, 0}, merged = 0;
    kf_status status = KF_OK;
    for (int i = 1; i < arguments->positional_count && status == KF_OK; i++) {
        const char *file = arguments->positional[i];
        bool is_store = false;
        if (is_folder(file))
            status = merge_folder(store, file, &merged, all, error);
        else if ((status = kf_is_store(file, &is_store, error)) != KF_OK)
            break;
        else if (is_store)
            status = merge_file(store, file, &merged, all, error);
        else
            status = import_file(store, file, root, error);
    }
    if (merged > 0 && root == NULL && status == KF_OK)
        printf("%d stores: %d runs with %d results are new in %s\n", merged, all[0], all[1],
               kf_store_path(store));
    if (merged > 0 && root != NULL) {
        (void)cJSON_AddNumberToObject(root, "stores", merged);
        (void)cJSON_AddNumberToObject(root, "runs", all[0]);
        (void)cJSON_AddNumberToObject(root, "results", all[1]);
    }
    if (status == KF_OK)
        status = kf_store_keep(store, error);
    else
        kf_store_close(store); /* A refused file leaves nothing behind, not even a new store. */
    if (root != NULL && status == KF_OK)
        kf_json_print(root);
    else
        cJSON_Delete(root);
    return status;
}

/* --- Check ---------------------------------------------------------------------------------------------- */

static kf_status check(const kf_arguments *arguments, kf_error *error) {
    kf_store *store = NULL;
    int missing = 0;
    KF_TRY(kf_store_of_arguments(arguments, true, &store, error));
    cJSON *root = kf_arguments_json(arguments) ? kf_store_answer("check", store) : NULL;
    const kf_status status = kf_check_shards(store, root, &missing, error);
    if (root != NULL && status == KF_OK)
        kf_json_print(root);
    else
        cJSON_Delete(root);
    kf_store_close(store);
    KF_TRY(status);
    return missing == 0 ? KF_OK : kf_fail(error, KF_GATE_FAILED, "%d shards are missing", missing);
}

/* --- Prune, schema ------------------------------------------------------------------------------------ */

/* Deletes one run, or all runs older than some days, and prints how many results were deleted. */
static kf_status prune(const kf_arguments *arguments, kf_error *error) {
    double days = NAN;
    KF_TRY(kf_argument_number(arguments, "--older-than", &days, error));
    const char *name = kf_argument(arguments, "--run", NULL);
    if ((name != NULL) == isfinite(days))
        return kf_fail(error, KF_BAD_INPUT,
                       "store prune: say what to delete: either --run ID or --older-than DAYS");
    kf_store *store = NULL;
    KF_TRY(kf_store_of_arguments(arguments, false, &store, error));
    kf_run_summary run = {0};
    int removed = 0;
    kf_status status = name != NULL ? kf_store_find_run(store, name, &run, error) : KF_OK;
    if (status == KF_OK) status = kf_store_prune(store, days, run.id, &removed, error);
    if (status == KF_OK && kf_arguments_json(arguments)) {
        cJSON *root = kf_store_answer("prune", store);
        (void)cJSON_AddNumberToObject(root, "removed", removed);
        kf_json_print(root);
    } else if (status == KF_OK) {
        printf("%d results were deleted from %s\n", removed, kf_store_path(store));
    }
    kf_store_close(store);
    return status;
}

static kf_status schema(const kf_arguments *arguments, kf_error *error) {
    KF_TRY(kf_argument_no_json(arguments, "a schema is SQL; leave the option out", error));
    return fputs(kf_store_schema(), stdout) >= 0 ? KF_OK
                                                 : kf_fail(error, KF_MACHINE, "stdout cannot be written");
}

/* --- The command -------------------------------------------------------------------------------------- */

static const kf_action actions[] = {{"list", "--store", kf_store_list},
                                    {"show", "--store --run --limit", kf_store_show},
                                    {"export", "--store --run --format --out", export},
                                    {"import", "--store", import},
                                    {"check", "--store", check},
                                    {"prune", "--store --run --older-than", prune},
                                    {"schema", "", schema}};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static kf_status run_store(const kf_arguments *arguments, kf_error *error) {
    const kf_action *action = NULL;
    if (arguments->positional_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "store: say what to do: list, show, export, import, check, prune, schema");
    KF_TRY(kf_action_find("store", actions, ACTIONS, arguments->positional[0], arguments, &action, error));
    if (arguments->positional_count > 1 && action->run != import)
        return kf_fail(error, KF_BAD_INPUT,
                       "store %s: unexpected argument '%.80s'; a store is named with --store", action->name,
                       arguments->positional[1]);
    return action->run(arguments, error);
}

static const kf_option options[] = {
    {"--store", "FILE", "the store (default: kftune.db in $XDG_DATA_HOME/kftune)", KF_TEXT},
    {"--run", "ID", "a run's number or the beginning of its UUID; default: the newest", KF_TEXT},
    {"--limit", "N", "show: at most N results, 0 for all (default 20)", KF_WHOLE(0, 1L << 30)},
    {"--format", "csv|t4|kernel-tuner|github-benchmark|junit|landscape",
     "export: the format; junit is for nights", KF_TEXT},
    {"--out", "FILE", "export: write here instead of to stdout", KF_TEXT},
    {"--older-than", "DAYS", "prune: delete the runs that began longer ago", KF_DECIMAL(0, 1e6)},
    {NULL, NULL, NULL, KF_FLAG},
};
static const char *const positional[] = {"list|show|export|import|check|prune|schema", "FILE...", NULL};

const kf_command kf_command_store = {
    .name = "store",
    .summary = "list, show, export, import and prune what was measured",
    .synopsis = "kftune store list|show|export|import FILE...|check|prune|schema [options]",
    .description =
        "list: prints one line for each run.\n"
        "show: prints the results of a run (--run) sorted by time, and the kernels of the fastest.\n"
        "export: writes one run in a format for other programs.\n"
        "import: adds a landscape, T4 or Kernel Tuner file, also gzipped, as a run; or all runs of other\n"
        "stores, or of a folder of stores.\n"
        "check: prints which shards of landscapes are missing.\n"
        "prune: deletes one run, or old ones.\n"
        "schema: prints the SQL that creates a store.",
    .example = "kftune store export --format csv --out results.csv",
    .options = options,
    .positional = positional,
    .run = run_store,
};
