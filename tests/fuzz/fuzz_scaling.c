/* Reads any bytes as figures of `bench --json` and links of `roofs --json`, with a zero byte between them,
 * for a plot of scaling. There is no gnuplot on the path, so that nothing is drawn. */
#include "tests/fuzz/fuzz_file.h"

#include "harness/cli/plot_scaling.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char figures[KF_PATH];
    kf_error error = {KF_OK, ""};
    (void)setenv("PATH", "", 1);
    const uint8_t *zero = memchr(data, 0, size);
    const size_t length = zero != NULL ? (size_t)(zero - data) : size;
    (void)snprintf(figures, sizeof figures, "%s", fuzz_file(data, length, ".figures.json"));
    const char *links = zero != NULL ? fuzz_file(zero + 1, size - length - 1, ".links.json") : NULL;
    fuzz_check(kf_plot_scaling(figures, links, "/dev/null/scaling.svg", false, &error), &error);
    return 0;
}
