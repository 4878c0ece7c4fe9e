/* A benchmark while its night lasts. Internal to harness/nightly. */
#ifndef KF_HARNESS_NIGHTLY_ENTRY_H
#define KF_HARNESS_NIGHTLY_ENTRY_H

#include "base/statistics/detector.h"
#include "harness/nightly/job.h"
#include "harness/nightly/night.h"

typedef struct kf_arm_state {
    int done;  /* processes, whatever came of them */
    int count; /* of times */
    double time_us[KF_NIGHT_PROCESSES];
} kf_arm_state;

typedef struct kf_entry {
    const kf_suite_benchmark *benchmark;
    kf_problem *opened; /* owned; NULL when it cannot be opened */
    kf_device_info device;
    kf_config config;
    kf_run_row run;   /* id 0 until the first process is stored */
    char *space_json; /* owned */
    char series[KF_HASH_HEX];
    char *job;          /* owned; what its processes measure */
    char kept[KF_PATH]; /* of a command: the folder of its copies, "" where nothing is kept */
    char problem[512];  /* why nothing can be measured, or "" */
    kf_status problem_status;
    kf_arm_state arms[KF_ARMS];
    kf_state failed; /* of tonight's processes; KF_STATE_OK: none */
    char failure[512];
    char build[KF_HASH_HEX]; /* of tonight's first process */

    bool judged; /* *verdict is final and stored */
    kf_verdict verdict;

    /* The interleaved comparison. */
    bool candidate, drift; /* drift: against the pinned release */
    double threshold;      /* log */
    int64_t reference;     /* night */
    char *reference_job;   /* owned */
    kf_program reference_program;
    kf_comparison comparison;
} kf_entry;

typedef struct kf_nightly_session {
    const kf_nightly_request *request;
    kf_nightly_result *result;
    kf_program program;
    char archive[KF_PATH];
    kf_entry *entries; /* [count], in the order of the suite */
    int count;
} kf_nightly_session;

/* entry.c: opens the scene and the device, resolves the config; what goes wrong becomes the entry's problem.
 */
void kf_entry_open(kf_entry *entry, const kf_suite_benchmark *benchmark, kf_store *store);
void kf_entry_close(kf_entry *entry);

/* entry_command.c: the same of kind command: a problem, a job, and copies of what is kept. */
kf_status kf_entry_open_command(kf_entry *entry, kf_store *store, kf_error *error);
/* Forgets the copies that no night to come can want. */
kf_status kf_entry_prune(const kf_entry *entry, kf_store *store, int64_t night, kf_error *error);

/* arm.c: runs one process of an arm and stores it; notes one that was. */
kf_status kf_entry_measure(kf_nightly_session *session, kf_entry *entry, kf_arm arm, kf_error *error);
void kf_entry_note(kf_entry *entry, kf_arm arm, const kf_measurement *measurement, double time_us);

/* judge.c: what the history says of tonight's processes: a verdict, or a candidate for comparison; the
 * comparisons; their verdicts. */
kf_status kf_entry_screen(kf_nightly_session *session, kf_entry *entry, kf_error *error);
kf_status kf_compare_candidates(kf_nightly_session *session, kf_error *error);

/* count.c: counts what both arms run, into their last results. KF_OK also where counting is not possible. */
kf_status kf_entry_count(const kf_nightly_session *session, const kf_entry *entry, kf_error *error);

/* second.c: where times are too noisy to tell (beyond 5 %) and a night counts instructions, those of tonight
 * against those of the night reference: *state becomes SLOW or FAST, and the verdict says by what. */
kf_status kf_entry_second_measure(kf_store *store, int64_t night, kf_entry *entry, int64_t reference,
                                  kf_verdict_state *state, kf_error *error);

/* blame.c: the kernel that changed most between the arms, and its counter that moved most, into the verdict.
 */
kf_status kf_entry_blame(kf_store *store, int64_t night, kf_entry *entry, kf_error *error);

#endif
