/* Measures how well cost models order surveys of an H200 (results/measured) without calibration. It prints
 * Spearman's rank correlation between predicted and measured times, of all configs and of the random ones
 * alone (95 % by bootstrap). Usage: cost_surveys [--left-out] [SYSTEM]. With --left-out it also fits the
 * model's rates to the other surveys of its system, and to all of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "tests/tools/surveys.h"

static int ascending(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Finds the interval that contains 95 % of the correlations of as many configs, drawn from these with
 * replacement. */
static void bootstrap(const double *measured, const double *said, size_t count, double ends[2]) {
    enum { DRAWS = 2000 };
    double *a = kf_allocate(count * sizeof *a), *b = kf_allocate(count * sizeof *b),
           *all = kf_allocate(DRAWS * sizeof *all);
    uint64_t state = 1;
    for (int draw = 0; draw < DRAWS; draw++) {
        for (size_t i = 0; i < count; i++) {
            const size_t k = (size_t)kf_random_below(&state, count);
            a[i] = measured[k];
            b[i] = said[k];
        }
        all[draw] = kf_rank_correlation(a, b, count);
    }
    qsort(all, DRAWS, sizeof *all, ascending);
    ends[0] = all[DRAWS / 40];
    ends[1] = all[DRAWS - DRAWS / 40];
    free(a);
    free(b);
    free(all);
}

static void tell_rates(const kf_chosen_rates *chosen) {
    for (int r = 0; r < chosen->count; r++)
        printf(" %s %.3g", chosen->rates[r].name, *chosen->rates[r].value);
}

static void tell_left_out(int which) {
    kf_chosen_rates chosen;
    if (!kf_surveys_choose(kf_surveys[which].system, which, &chosen)) return;
    printf("  left out %.3f with", kf_survey_predict(&kf_surveys[which]));
    tell_rates(&chosen);
    kf_surveys_restore(&chosen);
}

static void tell_chosen_on_all(const char *system) {
    kf_chosen_rates chosen;
    if (!kf_surveys_choose(system, -1, &chosen)) return;
    printf("chosen on all of %s:", system);
    tell_rates(&chosen);
    printf("\n");
    for (int i = 0; i < KF_SURVEYS; i++)
        if (strcmp(kf_surveys[i].system, system) == 0)
            printf("    %-36s %.3f\n", kf_surveys[i].name, kf_survey_predict(&kf_surveys[i]));
    kf_surveys_restore(&chosen);
}

static void tell(kf_survey *s) {
    double ends[2];
    const double correlation = kf_survey_predict(s), *measured = s->measured + s->presets,
                 *said = s->said + s->presets;
    const size_t random = s->count - s->presets;
    bootstrap(measured, said, random, ends);
    printf("%-14s %-36s %3zu configs %.3f, %3zu random %.3f (%.2f to %.2f), off %2.0f %%", s->system, s->name,
           s->count, correlation, random, kf_rank_correlation(measured, said, random), ends[0], ends[1],
           100 * sqrt(kf_survey_misfit(s)));
}

int main(int count, char **arguments) {
    const bool left_out = count > 1 && strcmp(arguments[1], "--left-out") == 0;
    kf_surveys_open(count > 1 + left_out ? arguments[1 + left_out] : NULL);
    for (int i = 0; i < KF_SURVEYS; i++) {
        if (kf_surveys[i].model == NULL) continue;
        tell(&kf_surveys[i]);
        if (left_out) tell_left_out(i);
        printf("\n");
    }
    for (int i = 0; left_out && i < KF_SURVEYS; i++)
        if (kf_surveys[i].model != NULL &&
            (i == 0 || strcmp(kf_surveys[i].system, kf_surveys[i - 1].system) != 0))
            tell_chosen_on_all(kf_surveys[i].system);
    kf_surveys_close();
    return 0;
}
