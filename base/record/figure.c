#include "base/record/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"

void kf_figures_add(kf_figures *figures, const kf_figure *figure) {
    figures->list = kf_reallocate(figures->list, (size_t)(figures->count + 1) * sizeof *figures->list);
    figures->list[figures->count++] = *figure;
}

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

void kf_figure_set(kf_figure *figure, double value, double low, double high) {
    figure->value = value;
    figure->verdict->low = low;
    figure->verdict->high = high;
}
