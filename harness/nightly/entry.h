/* Holds a benchmark while its night lasts. Internal to harness/nightly. */
#ifndef KF_HARNESS_NIGHTLY_ENTRY_H
#define KF_HARNESS_NIGHTLY_ENTRY_H

#include "base/statistics/detector.h"
#include "harness/nightly/job.h"
#include "harness/nightly/night.h"

typedef struct kf_arm_state {
    int done;      /* processes, whatever came of them */
    int throttled; /* of them; their times do not count */
    int count;     /* of times */
    double time_us[KF_NIGHT_PROCESSES];
    double clock_mhz[KF_NIGHT_PROCESSES]; /* NAN: not known */
} kf_arm_state;

typedef struct kf_entry {
    const kf_suite_benchmark *benchmark;
    kf_problem *opened; /* owned; NULL when it cannot be opened */
    kf_device_info device;
    kf_config config;
    kf_run_row run;   /* id 0 until the first process is stored */
    char *space_json; /* owned */
    char series[KF_HASH_HEX];
    char *job;                 /* owned; what its processes measure */
    char kept[KF_PATH];        /* of a command: the folder of its copies, "" where nothing is kept */
    char program[KF_HASH_HEX]; /* that is measured, as of kf_process_row */
    char problem[512];         /* why nothing can be measured, or "" */
    kf_status problem_status;
    kf_arm_state arms[KF_ARMS];
    kf_state failed; /* of tonight's processes; KF_STATE_OK: none */
    char failure[512];
    char build[KF_HASH_HEX]; /* of tonight's first process */

    bool judged; /* *verdict is final and stored */
    kf_verdict verdict;

    /* These belong to the interleaved comparison. */
    bool candidate, drift; /* drift: against the pinned release */
    double threshold;      /* log */
    double hidden;         /* relative; a change that the noise of nights can hide; 0: not known */
    int64_t reference;     /* night */
    bool unchanged;        /* the code of last night */
    int64_t pinned;        /* night that is the release, when its code is not tonight's; 0: there is none */
    char *reference_job;   /* owned */
    kf_program reference_program;
    kf_comparison comparison;
    size_t samples_out; /* of all arms: taken while the device throttled */
} kf_entry;

typedef struct kf_nightly_session {
    const kf_nightly_request *request;
    kf_nightly_result *result;
    kf_program program;
    char archive[KF_PATH];
    kf_entry *entries; /* [count], in the order of the suite */
    int count;
} kf_nightly_session;

/* Opens the scene and the device and resolves the config (entry.c); what goes wrong becomes the entry's
 * problem. */
void kf_entry_open(kf_entry *entry, const kf_suite_benchmark *benchmark, kf_store *store);
void kf_entry_close(kf_entry *entry);

/* Opens an entry of kind command in the same way (entry_command.c): a problem, a job, and copies of what
 * is kept. */
kf_status kf_entry_open_command(kf_entry *entry, kf_store *store, kf_error *error);
/* Forgets the copies that no night to come can want. */
kf_status kf_entry_prune(const kf_entry *entry, kf_store *store, int64_t night, kf_error *error);

/* These run one process of an arm and store it, up to two more where the device throttles; or note one that
 * was stored (arm.c). */
kf_status kf_entry_measure(kf_nightly_session *session, kf_entry *entry, kf_arm arm, kf_error *error);
void kf_entry_note(kf_entry *entry, kf_arm arm, const kf_measurement *measurement, double time_us);

/* These judge tonight's processes by the history (judge.c). Screening gives a verdict, or a candidate for
 * comparison; the comparisons give the candidates' verdicts. */
kf_status kf_entry_screen(kf_nightly_session *session, kf_entry *entry, kf_error *error);
kf_status kf_compare_candidates(kf_nightly_session *session, kf_error *error);

/* Counts what both arms run, into their last results (count.c). KF_OK also where counting is not possible. */
kf_status kf_entry_count(const kf_nightly_session *session, const kf_entry *entry, kf_error *error);

/* Holds tonight against the pinned night before anything else is asked, and sets entry->pinned (pin.c).
 * What was found slower than the release is so until the code changes or the pin moves; what looks slower
 * becomes a candidate. *held says that *verdict is DRIFT. With `step`, tonight differs from last night by
 * a step, which is held against last night instead. */
kf_status kf_entry_hold_against_pin(kf_nightly_session *session, kf_entry *entry,
                                    const kf_history_night *nights, int count, bool step, bool *held,
                                    kf_error *error);
/* Says whether two nights had the same code, as far as it is known. */
bool kf_same_code(const kf_history_night *a, const kf_history_night *b);

/* Compares instructions where times are too noisy to tell and a night counts them (second.c): tonight's
 * with those of the night `reference`, which messages call `named`. *state becomes SLOW, FAST, or DRIFT
 * when that is the pinned one, and the verdict says by what. *known says that both nights counted. */
kf_status kf_entry_second_measure(kf_store *store, int64_t night, kf_entry *entry, int64_t reference,
                                  const char *named, kf_verdict_state *state, bool *known, kf_error *error);

/* Says whether times vary by so much that a change of a twentieth could hide (judge.c). */
bool kf_entry_is_noisy(const kf_entry *entry);
/* Writes "night 12 (v1.3-4-gabc)", with what the user called its program, and returns the buffer. */
enum { KF_NIGHT_TEXT = 48 + KF_LABEL };
const char *kf_night_text(kf_nightly_session *session, int64_t id, char buffer[KF_NIGHT_TEXT]);
/* Makes the night the one that tonight is to be run next to. */
kf_status kf_entry_choose_reference(kf_nightly_session *session, kf_entry *entry, int64_t night,
                                    kf_error *error);

/* Finds the kernel that changed most between the arms, and its counter that moved most, for the verdict
 * (blame.c). */
kf_status kf_entry_blame(kf_store *store, int64_t night, kf_entry *entry, kf_error *error);

#endif
