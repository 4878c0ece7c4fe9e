/* The store: one SQLite file that keeps all measurements. No other room speaks SQL. Every result is committed
 * when it is made (WAL), so an interrupted run loses nothing. Several processes may write at once. A kf_store
 * belongs to one thread at a time and must not cross a fork. docs/store.md and results/schema.sql describe
 * the file. */
#ifndef KF_RESULTS_STORE_H
#define KF_RESULTS_STORE_H

#include <stdint.h>
#include <stdio.h>

#include "base/plan/problem.h"
#include "base/record/measurement.h"
#include "base/record/roofs.h"
#include "base/space/config.h"

typedef struct kf_store kf_store;

/* Call it before the first store is opened, but not in a program that only uses the library. SQLite then
 * allocates with kf_allocate: missing memory ends the program and is never taken for a damaged store. */
void kf_store_check_memory(void);

/* Opens a store; path NULL: kftune.db in $XDG_DATA_HOME/kftune. It creates the file unless read_only. A file
 * that is damaged, newer, read-only or of another program is refused with one line (KF_BAD_INPUT) and stays
 * as it is. An older store is migrated. */
kf_status kf_store_open(const char *path, bool read_only, kf_store **store, kf_error *error);
void kf_store_close(kf_store *store); /* NULL is fine */
/* Opens a store for writing as kf_store_open does, but a new store is written under another name beside its
 * place. kf_store_keep closes it and moves a new one to its place; KF_BAD_INPUT if another process has made
 * one there. If it is closed without that, a new store is removed. */
kf_status kf_store_open_draft(const char *path, kf_store **store, kf_error *error);
kf_status kf_store_keep(kf_store *store, kf_error *error);
const char *kf_store_path(const kf_store *store);
/* Returns the SQL that creates a store. */
const char *kf_store_schema(void);

/* A tuning run: the row to which all its results refer. */
typedef struct kf_run_row {
    int64_t id;
    char uuid[37];
    char system[KF_NAME];
    char strategy[KF_STRATEGY_TEXT];
    char budget[64];
    uint64_t seed;
    char objective[KF_OBJECTIVE_TEXT]; /* kf_objective_text; "" means "time" */
    char *metrics; /* the user's metrics as JSON (kf_user_metrics_to_json) without spaces; NULL: none */
    char space_hash[KF_HASH_HEX];
    const char *space_json; /* stored once for each hash */
} kf_run_row;
/* Stores a new run, and sets run->id and run->uuid. The caller sets all other fields. */
kf_status kf_store_begin_run(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                             kf_run_row *run, kf_error *error);
/* Stores the run's decision: the number of the result that gives the best config's time, and the noise floor
 * (NAN: not known). */
kf_status kf_store_set_winner(kf_store *store, const kf_run_row *run, int sequence, double noise_floor,
                              kf_error *error);
/* Ends a run. state: "finished", "interrupted", "failed". */
kf_status kf_store_end_run(kf_store *store, const kf_run_row *run, const char *state, kf_error *error);
/* Finds the last unfinished run of the same scene and device, and of the space (space_hash) and seed that the
 * caller set in *run. run->id is 0 when there is none. A run is unfinished if it was interrupted, or its
 * process is gone. It is marked as running again in this process, and its uuid, strategy and budget are
 * filled in. */
kf_status kf_store_find_unfinished(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                                   kf_run_row *run, kf_error *error);
/* Finds such a run, or else the last finished run of the strategy set in *run. That strategy measures a whole
 * sample, so a finished run leaves nothing to do. */
kf_status kf_store_find_sample(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                               kf_run_row *run, kf_error *error);

/* Commits one measurement with its kernels and samples. sequence: 0, 1, ... within the run; one that is
 * stored already is refused. role: "preset:NAME", "search" or "final". Samples are stored as 32-bit floats,
 * and the summary is computed from them again, so that a stored time always fits its samples. State ok needs
 * at least one sample and a verification within its bound; in the role "final" its error may be NAN. A full
 * disk loses only this result. */
kf_status kf_store_add(kf_store *store, const kf_run_row *run, int sequence, const char *role,
                       const kf_config *config, const kf_measurement *measurement, kf_error *error);

/* Adds measurement->user_values to a stored result. Values of the same name are replaced. */
kf_status kf_store_add_user_values(kf_store *store, const kf_run_row *run, int sequence,
                                   const kf_measurement *measurement, kf_error *error);

/* Deletes the results of a run in the role "final". A final that was interrupted is measured again as a
 * whole, because its configs are compared with each other. */
kf_status kf_store_forget_final(kf_store *store, const kf_run_row *run, kf_error *error);

/* Deletes one result of a run, if there is one. */
kf_status kf_store_forget(kf_store *store, const kf_run_row *run, int sequence, kf_error *error);

/* Adds measurement->counters to a stored result. Counters of the same name are replaced. */
kf_status kf_store_add_counters(kf_store *store, const kf_run_row *run, int sequence,
                                const kf_measurement *measurement, kf_error *error);

/* Calls visit for every result of a run, ordered by sequence. The measurement is freed after the visit. */
typedef kf_status (*kf_result_visit)(void *context, int sequence, const char *role, const kf_config *config,
                                     const kf_measurement *measurement, kf_error *error);
kf_status kf_store_results(kf_store *store, int64_t run_id, kf_result_visit visit, void *context,
                           kf_error *error);

/* One line for each run, newest first, without nights (results/nightly.h). */
typedef struct kf_run_summary {
    int64_t id;
    char uuid[37], started[32], state[16], scene[128], scene_hash[KF_HASH_HEX], device[128], system[KF_NAME],
        strategy[KF_STRATEGY_TEXT];
    int results, ok;
    /* The best result's: the winner's, else the best of the finals or of all; NAN when no result is ok. */
    double best_us, best_updates_per_us;
    char update[KF_NAME];  /* unit that a step updates: "node", "cell", "particle" */
    int winner;            /* number of the chosen result; -1: not known */
    const kf_facts *facts; /* of its scene; valid as long as the store */
    char origin[16];       /* "measured", "imported"; "nightly" if it was asked for by name */
    char ended[32];        /* "" while it runs */
    char backend[8];       /* "cpu", "cuda"; "import": another program measured it */
    uint64_t seed;
    char objective[KF_OBJECTIVE_TEXT];
} kf_run_summary;
kf_status kf_store_runs(kf_store *store, void (*visit)(void *context, const kf_run_summary *run),
                        void *context, kf_error *error);
/* Finds a run. name: its number, the beginning of its UUID, or NULL for the newest one that is not a
 * night's. */
kf_status kf_store_find_run(kf_store *store, const char *name, kf_run_summary *run, kf_error *error);

/* Exports of a run or of a night (nightly.h). kf_store_export_file writes one into a file, whole or not at
 * all. */
typedef kf_status (*kf_export)(kf_store *store, int64_t id, FILE *stream, kf_error *error);
kf_status kf_store_export_file(kf_store *store, int64_t id, kf_export export, const char *file,
                               kf_error *error);

/* Writes one row for each result: run, sequence, role, state, reason, time, spread, updates, and every
 * parameter of its config. */
kf_status kf_store_export_csv(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* Writes T4 results: all results except skipped ones. */
kf_status kf_store_export_t4(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* Writes a Kernel Tuner cache. Of several results of one config it has the last. */
kf_status kf_store_export_kernel_tuner(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* Writes the best config and every preset for github-action-benchmark (customSmallerIsBetter). */
kf_status kf_store_export_github(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* Writes a compact landscape for `kftune replay`: every config with its time, of this run and of all others
 * of the same scene, system and device. */
kf_status kf_store_export_compact(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* Imports a file of results (landscape_file.h) as a run of its own, whole or not at all. A time is the median
 * of the file's single samples. */
kf_status kf_store_import(kf_store *store, const char *path, int64_t *run_id, int *imported, kf_error *error);

/* Finds out whether the file is an SQLite database, as a store is. */
kf_status kf_is_store(const char *path, bool *is, kf_error *error);
/* Copies the runs of another store, without those of nights, with their results. A run that is here already
 * gets the results that it lacks. A run that still goes on there is stored as interrupted, until it is merged
 * again. The merge is done as a whole or not at all. KF_BAD_INPUT if a result differs from the one with the
 * same number here. *runs, *results: how many are new. */
kf_status kf_store_merge(kf_store *store, const char *path, int *runs, int *results, kf_error *error);

/* A run that measured one shard of a landscape. */
typedef struct kf_shard {
    char scene[128], scene_hash[KF_HASH_HEX], device[128], identity[64];
    uint64_t seed;
    int index, count; /* number of the shard, and number of shards */
    bool finished;
    int configs;      /* measured */
    double anchor_us; /* time of the preset default in us, which every shard measures; NAN: not known */
} kf_shard;
typedef void kf_shard_visit(void *context, const kf_shard *shard);
kf_status kf_store_shards(kf_store *store, kf_shard_visit *visit, void *context, kf_error *error);

/* Save and read the roofs of a device, which its identity names. A new measurement replaces the one before.
 * count is 0 for a device that was not measured. */
kf_status kf_store_save_roofs(kf_store *store, const kf_device_info *device, const kf_roofs *roofs,
                              kf_error *error);
kf_status kf_store_roofs(kf_store *store, const char *identity, kf_roofs *roofs, kf_error *error);
/* Reads the roofs of the device of a run. *peak_bandwidth: the theoretical rate of its memory, bytes/s; 0:
 * unknown. */
kf_status kf_store_run_roofs(kf_store *store, int64_t run_id, kf_roofs *roofs, double *peak_bandwidth,
                             kf_error *error);

/* Deletes runs older than so many days, or one run (run_id > 0; older_than_days is ignored), and everything
 * that only they refer to. Nights are kept, because later ones are compared with them. *removed: number of
 * results. */
kf_status kf_store_prune(kf_store *store, double older_than_days, int64_t run_id, int *removed,
                         kf_error *error);

#endif
