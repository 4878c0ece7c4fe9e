#include "harness/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"

const kf_bench_suite *const kf_bench_suites[] = {&kf_suite_toelke, &kf_suite_search, &kf_suite_step, NULL};

void kf_figures_free(kf_figures *figures) {
    for (int i = 0; i < figures->count; i++) {
        kf_judgement *verdict = figures->list[i].verdict;
        if (verdict == NULL) continue;
        free(verdict->config);
        cJSON_Delete(verdict->details);
        free(verdict);
    }
    free(figures->list);
    cJSON_Delete(figures->about);
    memset(figures, 0, sizeof *figures);
}

int kf_figure_met(const kf_figure *figure) {
    const kf_judgement *verdict = figure->verdict;
    if (verdict == NULL) return -1;
    const double reached = verdict->of_share ? figure->share : figure->value;
    if (!isfinite(reached) || !isfinite(verdict->must)) return -1;
    return verdict->at_most ? reached <= verdict->must : reached >= verdict->must;
}
