/* Table 1 of Chen et al. 2021: the rounds of a thread's loop in the kernels of the immersed boundary. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_problem.h"
#include "solver/flow/flow_suite.h"

static const char *const loop_keys[] = {"end", NULL};
enum { CORNERS = 8 };

/* The samples in each cell of the box around the solid. Samples beyond a periodic face stay where they are.
 */
typedef struct cells {
    size_t size[3];
    int *count;
} cells;

/* Counts the samples in each cell of a box around the solid; the caller frees the counts. */
static cells count_samples(const kf_scene *scene) {
    cells found;
    double low[3];
    for (int a = 0; a < 3; a++) {
        low[a] = floor(scene->solid_low[a]) - 1.0;
        found.size[a] = (size_t)(scene->solid_high[a] - low[a]) + 3;
    }
    found.count = kf_allocate_zeroed(found.size[0] * found.size[1] * found.size[2], sizeof *found.count);
    for (size_t s = 0; s < scene->samples.count; s++) {
        const double place[3] = {scene->samples.x[s], scene->samples.y[s], scene->samples.z[s]};
        size_t cell[3];
        for (int a = 0; a < 3; a++)
            cell[a] = (size_t)fmin(fmax(floor(place[a]) - low[a], 0.0), (double)found.size[a] - 1);
        found.count[cell[0] + found.size[0] * (cell[1] + found.size[1] * cell[2])]++;
    }
    return found;
}

/* Counts the samples in the eight cells around a node. */
static long samples_around(const cells *found, const size_t node[3]) {
    long sum = 0;
    for (int corner = 0; corner < CORNERS; corner++) {
        const size_t c = (size_t)corner, x = node[0] - (c & 1), y = node[1] - (c >> 1 & 1),
                     z = node[2] - (c >> 2);
        sum += found->count[x + found->size[0] * (y + found->size[1] * z)];
    }
    return sum;
}

static void take(long rounds, long *least, long *most) {
    if (rounds == 0) return;
    if (*least == 0 || rounds < *least) *least = rounds;
    if (rounds > *most) *most = rounds;
}

/* Finds the smallest and largest number of rounds of a thread's loop. gather: a node processes the samples of
 * the cells around it. scatter: a sample processes its eight nodes. aggregated: a segment processes its
 * samples, or those of its cell when the cell has fewer. */
static void count_rounds(const kf_scene *scene, const char *method, long segment, long *least, long *most) {
    const cells found = count_samples(scene);
    for (size_t z = 1; z < found.size[2]; z++)
        for (size_t y = 1; y < found.size[1]; y++)
            for (size_t x = 1; x < found.size[0]; x++) {
                if (strcmp(method, "gather") == 0) {
                    take(samples_around(&found, (size_t[3]){x, y, z}), least, most);
                } else {
                    const long here = found.count[x + found.size[0] * (y + found.size[1] * z)];
                    take(here % segment, least, most);
                    if (here >= segment) take(segment, least, most);
                }
            }
    free(found.count);
}

/* Works out the figure `loop_rounds` of a suite: how often the loop of the solid's kernel runs at least or
 * at most. */
static void loop_rounds(const kf_figure_input *input, kf_figure *figure) {
    const char *end = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(input->row, "end"));
    const char *method = NULL;
    const kf_scene *scene = kf_problem_scene(input->of.problem);
    long segment = 1, least = 0, most = 0;
    kf_error error;
    if (scene->samples.count == 0 ||
        kf_config_name(input->of.config, "immersed_boundary", &method, &error) != KF_OK ||
        kf_config_integer(input->of.config, "segment_length", &segment, &error) != KF_OK) {
        kf_copy_text(figure->verdict->note, sizeof figure->verdict->note, "not available: no solid");
        return;
    }
    if (strcmp(method, "scatter") == 0)
        least = most = CORNERS;
    else
        count_rounds(scene, method, segment, &least, &most);
    figure->value = (double)(end != NULL && strcmp(end, "most") == 0 ? most : least);
}

static const kf_figure_kind kinds[] = {
    {.name = "loop_rounds", .timings = 1, .keys = loop_keys, .unit = "", .make = loop_rounds},
    {.name = NULL},
};

const kf_suite_system kf_kinetic_suite = {
    .change = kf_flow_change, .adjust_trial = kf_flow_adjust_trial, .kinds = kinds};
