/* Does the final: measures the best configs and the presets again in turns, so that a drift of clocks or
 * temperature affects all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/measure/quality.h"
#include "harness/tune/session.h"

enum {
    FEW_CONTENDERS = 3,
    FEW_ROUNDS = 3,
    CONTENDERS = 8, /* if the budget has room for them */
    ROUNDS = 5,
    MOST_IN_FINAL = CONTENDERS + KF_PRESETS,
};

/* Returns whether the final is careful, as it is after a long search. */
static bool is_careful(const kf_tune_request *request) {
    return request->budget.seconds + request->budget.device_seconds >= 180.0 ||
           request->budget.evaluations >= 200;
}

/* Returns whether a preset takes part. In a short search the baseline and the paper's plan are left out,
 * because they are many times slower than the best and would take most of the final. Their times in the
 * search are used instead. */
static bool takes_part(const kf_tune_request *request, int preset) {
    static const double SHORT_SECONDS = 60.0;
    return preset == KF_PRESET_DEFAULT || request->budget.seconds <= 0.0 ||
           request->budget.seconds >= SHORT_SECONDS;
}

static int contenders(const kf_session *session) {
    return is_careful(session->request) ? CONTENDERS : FEW_CONTENDERS;
}

static int rounds(const kf_session *session) {
    const int asked = session->request->rounds;
    if (asked != 0) return asked < 0 ? 0 : asked < ROUNDS ? asked : ROUNDS;
    return is_careful(session->request) ? ROUNDS : FEW_ROUNDS;
}

typedef struct participant {
    int tried;  /* index */
    int rounds; /* number of rounds in which it took part */
    double round_us[ROUNDS];
    kf_evaluation *final; /* its measurement in these rounds */
} participant;

static int best_few(const kf_evaluations *tried, const kf_objective *objective, int most,
                    int chosen[CONTENDERS]) {
    int count = 0;
    for (int i = 0; i < tried->count; i++) {
        const kf_measurement *m = &tried->items[i].measurement;
        if (m->state != KF_STATE_OK || !tried->items[i].eligible) continue;
        int at = count < most ? count++ : most;
        /* The entry is inserted from the slow end, and the slowest is dropped. */
        const double cost = kf_measurement_cost(m, objective);
        for (; at > 0 && kf_measurement_cost(&tried->items[chosen[at - 1]].measurement, objective) > cost;
             at--)
            if (at < most) chosen[at] = chosen[at - 1];
        if (at < most) chosen[at] = i;
    }
    return count;
}

/* Chooses the fastest configs and the presets for comparison. Returns their number. */
static int choose_participants(const kf_session *session, participant chosen[MOST_IN_FINAL]) {
    const kf_tune_result *result = session->result;
    int fastest[CONTENDERS];
    int count = best_few(&result->tried, &result->objective, contenders(session), fastest);
    for (int i = 0; i < count; i++)
        chosen[i] = (participant){.tried = fastest[i]};
    for (int i = 0; i < KF_PRESETS; i++) {
        int preset = result->presets[i];
        bool there = preset < 0 || !takes_part(session->request, i) ||
                     result->tried.items[preset].measurement.state != KF_STATE_OK;
        for (int k = 0; k < count; k++)
            there = there || chosen[k].tried == preset;
        if (!there) chosen[count++] = (participant){.tried = preset};
    }
    return count;
}

/* Returns the time limit of a config in a round. */
static double round_limit_us(const kf_session *session) {
    double asked = 1e6 * session->request->timing_seconds;
    return asked > 0.0 ? fmin(asked, 5e5) : 5e5;
}

/* Returns the seconds that another measurement takes: as long as the first without what only the first one
 * needs, up to the limit of a round. */
static double again_seconds(const kf_session *session, const kf_measurement *m) {
    double limit = 1e-6 * (round_limit_us(session) + 4.0 * m->step_us.median * m->batch) + 0.5;
    double full = m->effort > 0.0 ? m->measure_seconds / m->effort : m->measure_seconds;
    return fmin(full, limit) + session->overhead;
}

/* Estimates the seconds of a final. Configs that the search still finds will be faster than the slowest
 * preset. */
double kf_tune_final_seconds(const kf_session *session) {
    participant chosen[MOST_IN_FINAL];
    int count = choose_participants(session, chosen);
    double seconds = 0.0, longest = 0.0;
    for (int i = 0; i < count; i++) {
        double again = again_seconds(session, &session->result->tried.items[chosen[i].tried].measurement);
        seconds += again;
        longest = fmax(longest, again);
    }
    /* Configs that the search still finds will be faster than the slowest preset. */
    const int most = contenders(session);
    int expected = most;
    for (int i = 0; i < KF_PRESETS; i++)
        expected += takes_part(session->request, i);
    if (session->result->space_size <= (uint64_t)most) expected = count;
    return rounds(session) * (session->opening + seconds + longest * fmax(0.0, expected - count));
}

/* Adds the clocks of a round. They are kept only if all samples' clocks are known. */
static void pool_clocks(kf_measurement *all, const kf_measurement *round) {
    if (all->clocks_mhz == NULL || round->clocks_mhz == NULL) {
        free(all->clocks_mhz);
        all->clocks_mhz = NULL;
        return;
    }
    const size_t count = all->sample_count + round->sample_count;
    all->clocks_mhz = kf_reallocate(all->clocks_mhz, count * sizeof *all->clocks_mhz);
    memcpy(all->clocks_mhz + all->sample_count, round->clocks_mhz,
           round->sample_count * sizeof *all->clocks_mhz);
}

/* Adds a round's samples to those of earlier rounds. */
static void pool(kf_measurement *all, kf_measurement *round) {
    if (all->state != KF_STATE_OK || round->state != KF_STATE_OK) {
        if (all->state == KF_STATE_OK) {
            all->state = round->state;
            kf_copy_text(all->reason, sizeof all->reason, round->reason);
        }
        kf_measurement_free(round);
        return;
    }
    double nodes = round->updates_per_us * round->step_us.median;
    double bytes = round->effective_bandwidth * round->step_us.median;
    pool_clocks(all, round);
    if (all->energy_j > 0.0 && round->energy_j > 0.0) all->energy_j = 0.5 * (all->energy_j + round->energy_j);
    size_t count = all->sample_count + round->sample_count;
    all->samples_us = kf_reallocate(all->samples_us, count * sizeof *all->samples_us);
    memcpy(all->samples_us + all->sample_count, round->samples_us,
           round->sample_count * sizeof *all->samples_us);
    all->sample_count = count;
    all->step_us = kf_summarise(all->samples_us, count);
    kf_classify_clocks(all);
    kf_describe_outliers(all);
    all->updates_per_us = nodes / all->step_us.median;
    all->effective_bandwidth = bytes / all->step_us.median;
    all->measure_seconds += round->measure_seconds;
    all->device_after = round->device_after;
    kf_measurement_free(round);
}

/* Measures one config in one round; *stop: there is no time left. */
static kf_status measure_again(kf_session *session, participant *p, bool *stop, kf_error *error) {
    const kf_evaluation *evaluation = &session->result->tried.items[p->tried];
    double end = session->deadline > 0.0 ? session->deadline + 0.05 * session->request->budget.seconds : 0.0;
    bool late = session->deadline > 0.0 &&
                kf_clock_seconds() + again_seconds(session, &evaluation->measurement) > session->deadline;
    *stop = kf_interrupted || late;
    if (*stop || (p->rounds > 0 && p->final->measurement.state != KF_STATE_OK)) return KF_OK;
    kf_job job = {.config = evaluation->config, .verify = false, .time_limit_us = round_limit_us(session)};
    kf_measurement m;
    kf_outcome outcome = KF_ABANDONED;
    KF_TRY(kf_session_measure(session, &job, end, &outcome, &m, error));
    *stop = outcome == KF_ABANDONED;
    if (*stop) return KF_OK;
    p->round_us[p->rounds] = m.state == KF_STATE_OK ? m.step_us.median : (double)NAN;
    if (p->rounds++ > 0) {
        pool(&p->final->measurement, &m);
        return KF_OK;
    }
    p->final->measurement = m;
    p->final->measurement.verification = evaluation->measurement.verification; /* it is the same config */
    return KF_OK;
}

static kf_status play(kf_session *session, participant *chosen, int count, kf_error *error) {
    bool stop = false;
    for (int round = 0; round < rounds(session) && !stop; round++) {
        /* Each round has a new process, because the placement of a process's memory affects its times. */
        KF_TRY(kf_session_fresh_worker(session, error));
        for (int turn = 0; turn < count && !stop; turn++)
            KF_TRY(measure_again(session, &chosen[(turn + round) % count], &stop,
                                 error)); /* no config is always the first */
    }
    return KF_OK;
}

/* Returns how much the time of the same config differs between rounds, that is between processes: a robust
 * standard deviation of the logarithm. */
static double noise_floor(const participant *chosen, int count) {
    double differences[MOST_IN_FINAL * ROUNDS * (ROUNDS - 1) / 2];
    size_t known = 0;
    for (int i = 0; i < count; i++)
        for (int a = 0; a < chosen[i].rounds; a++)
            for (int b = a + 1; b < chosen[i].rounds; b++) {
                const double ratio = chosen[i].round_us[a] / chosen[i].round_us[b];
                if (isfinite(ratio) && ratio > 0.0) differences[known++] = fabs(log(ratio));
            }
    return known > 0 ? 1.4826 * kf_median(differences, known) / sqrt(2.0) : (double)NAN;
}

/* Warns of other work on the device if the same configs take a different time than in the search. */
static void warn_of_drift(const kf_session *session, const participant *chosen, int count) {
    double ratios[MOST_IN_FINAL];
    size_t known = 0;
    for (int i = 0; i < count; i++) {
        const kf_measurement *before = &session->result->tried.items[chosen[i].tried].measurement;
        const kf_measurement *now = &chosen[i].final->measurement;
        if (chosen[i].rounds > 0 && now->state == KF_STATE_OK)
            ratios[known++] = now->step_us.median / before->step_us.median;
    }
    double drift = kf_median(ratios, known);
    if (known > 0 && (drift > 1.2 || drift < 1.0 / 1.2))
        kf_warn("the same configs took %.2f times as long in the final as in the search: is the device busy "
                "with other "
                "work? The choice may be chance; tune again when it is idle",
                drift);
}

/* Does the final: measures the best configs and the presets in rounds, in turns, and stores their times. If
 * fewer than two configs were measured, nothing was compared, and the times are dropped. */
kf_status kf_tune_final(kf_session *session, kf_error *error) {
    participant chosen[MOST_IN_FINAL];
    int count = choose_participants(session, chosen);
    if (count < 2 || rounds(session) == 0) return KF_OK; /* there is nothing to compare */
    for (int i = 0; i < count; i++)
        chosen[i].final = kf_allocate_zeroed(1, sizeof *chosen[i].final);
    kf_status status = play(session, chosen, count, error);
    /* The fastest come first in the first round. With fewer than two measured configs nothing was compared.
     */
    bool useful = chosen[0].rounds > 0 && chosen[1].rounds > 0;
    if (status == KF_OK && useful) warn_of_drift(session, chosen, count);
    session->result->noise_floor = noise_floor(chosen, count);
    for (int i = 0; i < count; i++) {
        const kf_config *config = &session->result->tried.items[chosen[i].tried].config;
        kf_measurement *m = &chosen[i].final->measurement;
        if (useful && chosen[i].rounds > 0) {
            if (status == KF_OK) status = kf_session_store(session, "final", config, m, error);
            kf_evaluation *final = kf_evaluations_add(&session->result->finals, "final", config, m);
            if (status == KF_OK) final->sequence = session->sequence - 1;
        } else {
            kf_measurement_free(m);
        }
        free(chosen[i].final);
    }
    return status;
}
