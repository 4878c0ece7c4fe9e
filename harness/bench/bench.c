#include "harness/bench/bench.h"

#include "harness/util/text.h"

const kf_suite *const kf_suites[] = {&kf_suite_backend, &kf_suite_toelke, &kf_suite_search, NULL};

void kf_figures_add(kf_figures *figures, const kf_figure *figure) {
    figures->list = kf_reallocate(figures->list, (size_t)(figures->count + 1) * sizeof *figures->list);
    figures->list[figures->count++] = *figure;
}
