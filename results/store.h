/* The store: one SQLite file that remembers everything. Nothing else speaks SQL. Every result is committed
 * when it is made (WAL), so an interrupted run loses nothing. Several processes may write at once; a kf_store
 * belongs to one thread at a time and is not taken across a fork. The file is described in docs/store.md and
 * results/schema.sql. */
#ifndef KF_RESULTS_STORE_H
#define KF_RESULTS_STORE_H

#include <stdint.h>
#include <stdio.h>

#include "base/plan/problem.h"
#include "base/record/measurement.h"
#include "base/record/roofs.h"
#include "base/space/config.h"

typedef struct kf_store kf_store;

/* Before the first store of the program (not for a program that a library is part of): SQLite's memory is
 * kf_allocate's, so that what it could not remember ends the program and is never taken for a damaged store.
 */
void kf_store_check_memory(void);

/* Opens a store; path NULL: kftune.db under $XDG_DATA_HOME/kftune. Creates the file unless read_only. A
 * damaged, foreign, newer or read-only file is refused (KF_BAD_INPUT) with one line and left untouched; an
 * older one is migrated. */
kf_status kf_store_open(const char *path, bool read_only, kf_store **store, kf_error *error);
void kf_store_close(kf_store *store); /* NULL is fine */
/* Opens a store for writing as kf_store_open does, but a store that is not there yet lies under another name
 * beside its place. kf_store_keep closes the store and puts such a one into its place; KF_BAD_INPUT if
 * another process has made one there. Closed without that, it leaves nothing. */
kf_status kf_store_open_draft(const char *path, kf_store **store, kf_error *error);
kf_status kf_store_keep(kf_store *store, kf_error *error);
const char *kf_store_path(const kf_store *store);
/* The SQL that makes a store. */
const char *kf_store_schema(void);

/* A tuning run: one row that all its results refer to. */
typedef struct kf_run_row {
    int64_t id;
    char uuid[37];
    char system[KF_NAME];
    char strategy[KF_STRATEGY_TEXT];
    char budget[64];
    uint64_t seed;
    char objective[KF_OBJECTIVE_TEXT]; /* kf_objective_text; "" means "time" */
    char *metrics; /* the user's, as kf_user_metrics_to_json has them, without spaces; NULL: none */
    char space_hash[KF_HASH_HEX];
    const char *space_json; /* stored once per hash */
} kf_run_row;
/* Fills run->id and run->uuid from what the caller set in the other fields. */
kf_status kf_store_begin_run(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                             kf_run_row *run, kf_error *error);
/* Stores what the run decided: the sequence of the result that its best config's time comes from, and the
 * noise floor (NAN: not known). */
kf_status kf_store_set_winner(kf_store *store, const kf_run_row *run, int sequence, double noise_floor,
                              kf_error *error);
/* Ends a run; state: "finished", "interrupted", "failed". */
kf_status kf_store_end_run(kf_store *store, const kf_run_row *run, const char *state, kf_error *error);
/* The last unfinished run of the same scene, device, and of the space (space_hash) and seed set in *run by
 * the caller; run->id is 0 when there is none. Unfinished: interrupted, or running in a process that is gone.
 * The run found is claimed: it is running again, in this process, and run->uuid, strategy and budget are
 * filled. */
kf_status kf_store_find_unfinished(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                                   kf_run_row *run, kf_error *error);
/* Finds the same, or else the last finished run of the strategy set in *run, which is that of a sample
 * that is measured as a whole, so that nothing is left to do once it was. */
kf_status kf_store_find_sample(kf_store *store, const kf_problem *problem, const kf_device_info *device,
                               kf_run_row *run, kf_error *error);

/* Commits one measurement with its kernels and samples. sequence: 0, 1, ... within the run; one that is there
 * already is refused. role: "preset:NAME", "search" or "final". Samples are kept as 32-bit floats and the
 * summary is taken anew from them, so that a stored time is always that of its samples. State ok needs at
 * least one sample and a verification within its bound (NAN is accepted for "final" alone). A full disk loses
 * this result only. */
kf_status kf_store_add(kf_store *store, const kf_run_row *run, int sequence, const char *role,
                       const kf_config *config, const kf_measurement *measurement, kf_error *error);

/* Stores measurement->user_values of a result that is stored already; those of the same names are replaced.
 */
kf_status kf_store_add_user_values(kf_store *store, const kf_run_row *run, int sequence,
                                   const kf_measurement *measurement, kf_error *error);

/* Deletes what a run has in role "final": a final that was cut short is played again as a whole, because its
 * configs are compared with each other. */
kf_status kf_store_forget_final(kf_store *store, const kf_run_row *run, kf_error *error);

/* Deletes one result of a run; nothing where it is not there. */
kf_status kf_store_forget(kf_store *store, const kf_run_row *run, int sequence, kf_error *error);

/* Adds measurement->counters to a result that is stored already; those of the same names are replaced. */
kf_status kf_store_add_counters(kf_store *store, const kf_run_row *run, int sequence,
                                const kf_measurement *measurement, kf_error *error);

/* Calls visit for every result of a run in order of sequence. The measurement is freed after the visit. */
typedef kf_status (*kf_result_visit)(void *context, int sequence, const char *role, const kf_config *config,
                                     const kf_measurement *measurement, kf_error *error);
kf_status kf_store_results(kf_store *store, int64_t run_id, kf_result_visit visit, void *context,
                           kf_error *error);

/* One line a run, newest first; nights (results/nightly.h) are not among them. */
typedef struct kf_run_summary {
    int64_t id;
    char uuid[37], started[32], state[16], scene[128], scene_hash[KF_HASH_HEX], device[128], system[KF_NAME],
        strategy[KF_STRATEGY_TEXT];
    int results, ok;
    double best_us,
        best_updates_per_us; /* of the winner, else the finals if there are any; NAN when no result is ok */
    char update[KF_NAME];    /* what a step updates: "node", "cell", "particle" */
    int winner;              /* sequence of the result that was chosen; -1: not known */
    const kf_facts *facts;   /* of its scene; as long as the store */
    char origin[16];         /* "measured", "imported"; "nightly" when it was asked for by name */
    char ended[32];          /* "" while it runs */
    char backend[8];         /* "cpu", "cuda"; "import" when another program measured it */
    uint64_t seed;
    char objective[KF_OBJECTIVE_TEXT];
} kf_run_summary;
kf_status kf_store_runs(kf_store *store, void (*visit)(void *context, const kf_run_summary *run),
                        void *context, kf_error *error);
/* Finds a run; name: its number, the beginning of its UUID, or NULL for the newest that is no night's. */
kf_status kf_store_find_run(kf_store *store, const char *name, kf_run_summary *run, kf_error *error);

/* Exports of a run, or of a night (nightly.h), and one of them into a file, whole or not at all. */
typedef kf_status (*kf_export)(kf_store *store, int64_t id, FILE *stream, kf_error *error);
kf_status kf_store_export_file(kf_store *store, int64_t id, kf_export export, const char *file,
                               kf_error *error);

/* One row a result: run, sequence, role, state, reason, time, spread, updates, every parameter of its config.
 */
kf_status kf_store_export_csv(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* T4 results; every result but the skipped ones. */
kf_status kf_store_export_t4(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* A Kernel Tuner cache; of several results of a config the last. */
kf_status kf_store_export_kernel_tuner(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* Exports the best and every preset for github-action-benchmark (customSmallerIsBetter). */
kf_status kf_store_export_github(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* A compact landscape for `kftune replay`: every config with its time, of this run and all others of the same
 * scene, system and device. */
kf_status kf_store_export_compact(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);
/* A file of results (landscape_file.h) as a run of its own. All or nothing. A time is the median of the
 * file's single samples. */
kf_status kf_store_import(kf_store *store, const char *path, int64_t *run_id, int *imported, kf_error *error);

/* Finds whether the file is a database, as a store is. */
kf_status kf_is_store(const char *path, bool *is, kf_error *error);
/* Takes over the runs of another store, but for those of nights, with their results; one that is here already
 * gets what it lacks. A run that is still going on there is interrupted here, until it is merged again. All
 * or nothing; KF_BAD_INPUT where a result is another than the one with its number here. *runs, *results: how
 * many are new. */
kf_status kf_store_merge(kf_store *store, const char *path, int *runs, int *results, kf_error *error);

/* A run that measured one shard of a landscape. */
typedef struct kf_shard {
    char scene[128], scene_hash[KF_HASH_HEX], device[128], identity[64];
    uint64_t seed;
    int index, count; /* the shard, and of how many */
    bool finished;
    int configs;      /* measured */
    double anchor_us; /* time of the preset default, which every shard measures; NAN: not known */
} kf_shard;
typedef void kf_shard_visit(void *context, const kf_shard *shard);
kf_status kf_store_shards(kf_store *store, kf_shard_visit *visit, void *context, kf_error *error);

/* The ceilings of a device, named by its identity; the newest measurement replaces the one before. count is 0
 * for a device that was not measured. */
kf_status kf_store_save_roofs(kf_store *store, const kf_device_info *device, const kf_roofs *roofs,
                              kf_error *error);
kf_status kf_store_roofs(kf_store *store, const char *identity, kf_roofs *roofs, kf_error *error);
/* Reads the roofs of the device of a run; *peak_bandwidth: of its memory, in theory, bytes/s; 0: unknown. */
kf_status kf_store_run_roofs(kf_store *store, int64_t run_id, kf_roofs *roofs, double *peak_bandwidth,
                             kf_error *error);

/* Deletes runs older than days (nights are kept: later ones are held against them), or one run (run_id > 0;
 * older_than_days is then not looked at), and what only they referred to; *removed counts results. */
kf_status kf_store_prune(kf_store *store, double older_than_days, int64_t run_id, int *removed,
                         kf_error *error);

#endif
