/* A benchmark during its night. Internal to harness/nightly. */
#ifndef KF_HARNESS_NIGHTLY_ENTRY_H
#define KF_HARNESS_NIGHTLY_ENTRY_H

#include "base/statistics/detector.h"
#include "harness/nightly/job.h"
#include "harness/nightly/night.h"

typedef struct kf_arm_state {
    int done;      /* number of processes that ran, whatever their result */
    int throttled; /* those on a throttled device, whose times do not count */
    int count;     /* of times */
    double time_us[KF_NIGHT_PROCESSES];
    double clock_mhz[KF_NIGHT_PROCESSES]; /* NAN: not known */
} kf_arm_state;

typedef struct kf_entry {
    const kf_suite_benchmark *benchmark;
    kf_problem *opened; /* owned; NULL: it cannot be opened */
    kf_device_info device;
    kf_config config;
    kf_run_row run;   /* its id is 0 until the first process is stored */
    char *space_json; /* owned */
    char series[KF_HASH_HEX];
    char *job;                 /* what its processes measure; owned */
    char kept[KF_PATH];        /* for a command the folder with its copies; "": nothing is kept */
    char program[KF_HASH_HEX]; /* hash of the measured program (kf_process_row) */
    char problem[512];         /* reason why nothing can be measured, or "" */
    kf_status problem_status;
    kf_arm_state arms[KF_ARMS];
    kf_state failed; /* state of a failed process tonight; KF_STATE_OK: none failed */
    char failure[512];
    char build[KF_HASH_HEX]; /* build hash of tonight's first process */

    bool judged; /* *verdict is final and stored */
    kf_verdict verdict;

    /* For the interleaved comparison. */
    bool candidate, drift; /* drift: it is compared with the pinned release */
    double threshold;      /* log */
    double hidden;         /* largest relative change that the noise of nights can hide; 0: not known */
    int64_t reference;     /* night */
    bool unchanged;        /* the code is that of last night */
    int64_t pinned;        /* the night of the pinned release if its code differs from tonight's; 0: none */
    char *reference_job;   /* owned */
    kf_program reference_program;
    kf_comparison comparison;
    size_t samples_out; /* samples of all arms that were taken while the device throttled */
} kf_entry;

typedef struct kf_nightly_session {
    const kf_nightly_request *request;
    kf_nightly_result *result;
    kf_program program;
    char archive[KF_PATH];
    kf_entry *entries; /* [count], in the order of the suite */
    int count;
} kf_nightly_session;

/* Opens scene and device, and finds the config (entry.c). An error becomes the entry's problem. */
void kf_entry_open(kf_entry *entry, const kf_suite_benchmark *benchmark, kf_store *store);
void kf_entry_close(kf_entry *entry);

/* Opens an entry of kind command in the same way (entry_command.c): a problem, a job, and copies of kept
 * files. */
kf_status kf_entry_open_command(kf_entry *entry, kf_store *store, kf_error *error);
/* Deletes the copies that no later night can need. */
kf_status kf_entry_prune(const kf_entry *entry, kf_store *store, int64_t night, kf_error *error);

/* The first runs one process of an arm and stores its result, with up to two more if the device throttles.
 * The second records a stored result (arm.c). */
kf_status kf_entry_measure(kf_nightly_session *session, kf_entry *entry, kf_arm arm, kf_error *error);
void kf_entry_note(kf_entry *entry, kf_arm arm, const kf_measurement *measurement, double time_us);

/* These judge tonight's processes by their history (judge.c). Screening gives a verdict, or makes the entry a
 * candidate for comparison. Comparing gives the candidates their verdicts. */
kf_status kf_entry_screen(kf_nightly_session *session, kf_entry *entry, kf_error *error);
kf_status kf_compare_candidates(kf_nightly_session *session, kf_error *error);

/* Counts for both arms and adds the counters to their last results (count.c). KF_OK even if counting is not
 * possible. */
kf_status kf_entry_count(const kf_nightly_session *session, const kf_entry *entry, kf_error *error);

/* Compares tonight with the pinned night before all other comparisons, and sets entry->pinned (pin.c). A
 * benchmark that was slower than the release stays slower until its code changes or the pin moves. One that
 * looks slower becomes a candidate. *held: *verdict is DRIFT. step: tonight differs from last night by a
 * step, so it is compared with last night instead. */
kf_status kf_entry_hold_against_pin(kf_nightly_session *session, kf_entry *entry,
                                    const kf_history_night *nights, int count, bool step, bool *held,
                                    kf_error *error);
/* Returns whether two nights had the same code, as far as it is known. */
bool kf_same_code(const kf_history_night *a, const kf_history_night *b);

/* Compares instructions if times are too noisy to decide and nights count them (second.c): tonight's with
 * those of the night `reference`, which messages call `named`. *state becomes SLOW or FAST, or DRIFT if that
 * night is pinned, and the verdict gives the change. *known: both nights counted. */
kf_status kf_entry_second_measure(kf_store *store, int64_t night, kf_entry *entry, int64_t reference,
                                  const char *named, kf_verdict_state *state, bool *known, kf_error *error);

/* Returns whether times vary so much that a change of a twentieth could be hidden (judge.c). */
bool kf_entry_is_noisy(const kf_entry *entry);
/* Writes "night 12 (v1.3-4-gabc)", with the user's name for its program, and returns the buffer. */
enum { KF_NIGHT_TEXT = 48 + KF_LABEL };
const char *kf_night_text(kf_nightly_session *session, int64_t id, char buffer[KF_NIGHT_TEXT]);
/* Chooses the night whose program runs in turns with tonight's. */
kf_status kf_entry_choose_reference(kf_nightly_session *session, kf_entry *entry, int64_t night,
                                    kf_error *error);

/* Finds the kernel that changed most between the arms, and its counter that changed most, for the verdict
 * (blame.c). */
kf_status kf_entry_blame(kf_store *store, int64_t night, kf_entry *entry, kf_error *error);

#endif
