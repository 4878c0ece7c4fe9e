/* Computes vorticity, Q and the solid's mask from a snapshot of the flow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/output/flow_files.h"
#include "solver/picture/section.h"

static const struct {
    const char *name;
    kf_flow_quantity bit;
} words[] = {{"velocity", KF_VELOCITY}, {"pressure", KF_PRESSURE}, {"vorticity", KF_VORTICITY},
             {"q", KF_Q_CRITERION},     {"solid", KF_SOLID},       {"surface", KF_SURFACE},
             {"levels", KF_LEVELS}};
enum { WORDS = sizeof words / sizeof *words };

/* Reads a list such as "velocity,q" into bits of quantities. */
kf_status kf_flow_quantities_read(const char *list, int *quantities, kf_error *error) {
    char *copy = kf_duplicate(list), *rest = copy;
    kf_status status = KF_OK;
    *quantities = 0;
    for (char *word; status == KF_OK && (word = strsep(&rest, ",")) != NULL;) {
        int bit = 0;
        for (int w = 0; w < WORDS; w++)
            if (strcmp(word, words[w].name) == 0) bit = (int)words[w].bit;
        if (bit == 0)
            status = kf_fail(
                error, KF_BAD_INPUT,
                "option '--fields': '%s' is none of velocity, pressure, vorticity, q, solid, surface, levels",
                word);
        *quantities |= bit;
    }
    if (*quantities == KF_LEVELS) *quantities |= KF_VELOCITY | KF_PRESSURE;
    free(copy);
    return status;
}

/* Returns whether the last node of an axis is a neighbour of its first: the snapshot goes across the whole
 * domain. */
static bool wraps(const kf_scene *scene, const kf_snapshot *s, int a) {
    const double length = scene->nodes[a] * scene->cell_size;
    return scene->faces[2 * a] == KF_PERIODIC &&
           fabs(s->nodes[a] * s->spacing[a] - length) < 0.5 * s->spacing[a];
}

/* Derivatives d velocity_c / d x_a at a node, 1/s. They are one-sided at the ends of an axis that is not
 * periodic. */
static void gradient(const kf_snapshot *s, const bool periodic[3], const float *velocity, const int node[3],
                     double g[3][3]) {
    const size_t stride[3] = {1, (size_t)s->nodes[0], (size_t)s->nodes[0] * (size_t)s->nodes[1]};
    const size_t here =
        (size_t)node[0] * stride[0] + (size_t)node[1] * stride[1] + (size_t)node[2] * stride[2];
    for (int a = 0; a < 3; a++) {
        const size_t around = periodic[a] ? (size_t)(s->nodes[a] - 1) * stride[a] : 0;
        const size_t up = node[a] + 1 < s->nodes[a] ? here + stride[a] : here - around,
                     down = node[a] > 0 ? here - stride[a] : here + around;
        const double distance = s->spacing[a] * ((up != here) + (down != here));
        for (size_t c = 0; c < 3; c++)
            g[c][a] = distance > 0.0
                          ? ((double)velocity[3 * up + c] - (double)velocity[3 * down + c]) / distance
                          : 0.0;
    }
}

/* Adds vorticity (1/s) and the Q criterion (1/s^2) from the velocity's gradient, by central differences. */
static void add_derivatives(const kf_scene *scene, int quantities, kf_snapshot *s) {
    const bool periodic[3] = {wraps(scene, s, 0), wraps(scene, s, 1), wraps(scene, s, 2)};
    float *vorticity = quantities & KF_VORTICITY ? kf_snapshot_add(s, "vorticity", "1/s", 3) : NULL,
          *q = quantities & KF_Q_CRITERION ? kf_snapshot_add(s, "q_criterion", "1/s^2", 1) : NULL;
    const float *velocity = kf_snapshot_find(s, "velocity")->values;
    double g[3][3];
    int node[3];
    size_t i = 0;
    for (node[2] = 0; node[2] < s->nodes[2]; node[2]++)
        for (node[1] = 0; node[1] < s->nodes[1]; node[1]++)
            for (node[0] = 0; node[0] < s->nodes[0]; node[0]++, i++) {
                gradient(s, periodic, velocity, node, g);
                double product = 0.0;
                for (int a = 0; a < 3; a++) {
                    const int b = (a + 1) % 3, c = (a + 2) % 3;
                    if (vorticity != NULL) vorticity[3 * i + (size_t)a] = (float)(g[c][b] - g[b][c]);
                    for (int d = 0; d < 3; d++)
                        product += g[a][d] * g[d][a];
                }
                if (q != NULL) q[i] = (float)(-0.5 * product);
            }
}

/* Adds the quantity `solid`: 1 at nodes inside the mesh in its present pose. */
static void add_mask(const kf_scene *scene, const kf_solid_pose *pose, kf_snapshot *s) {
    float *solid = kf_snapshot_add(s, "solid", "1", 1);
    const size_t plane_size = (size_t)s->nodes[0] * (size_t)s->nodes[1];
    /* The position of the snapshot's first node in the scene's grid. */
    int first[3];
    for (int a = 0; a < 3; a++)
        first[a] = (int)lround(s->origin[a] / s->spacing[a] - 0.5);
    const double low[2] = {first[0] - 0.5, first[1] - 0.5};
    unsigned char *inside = kf_allocate(plane_size);
    const kf_scene *placed = kf_scene_placed(scene, (double)s->step);
    for (int k = 0; k < s->nodes[2]; k++) {
        const kf_plane plane = {.normal = 2, .right = 0, .up = 1, .position = k + first[2]};
        kf_section section = {0};
        kf_section_cut(placed, pose->rotation, pose->center, &plane, &section);
        memset(inside, 0, plane_size);
        if (section.count > 0) kf_section_fill(&section, low, 1.0, s->nodes[0], s->nodes[1], inside);
        for (size_t i = 0; i < plane_size; i++)
            solid[(size_t)k * plane_size + i] = inside[i];
        kf_section_free(&section);
    }
    free(inside);
    kf_scene_free_placed(scene, placed);
}

static void take_away(kf_snapshot *s, const char *name) {
    for (size_t q = 0; q < s->quantity_count; q++) {
        if (strcmp(s->quantities[q].name, name) != 0) continue;
        free(s->quantities[q].values);
        memmove(s->quantities + q, s->quantities + q + 1,
                (s->quantity_count - q - 1) * sizeof *s->quantities);
        s->quantity_count--;
        return;
    }
}

void kf_flow_quantities_derive(const kf_scene *scene, const kf_solid_pose *pose, int quantities,
                               kf_snapshot *snapshot) {
    if (quantities & (KF_VORTICITY | KF_Q_CRITERION)) add_derivatives(scene, quantities, snapshot);
    if (quantities & KF_SOLID) add_mask(scene, pose, snapshot);
    if (!(quantities & KF_VELOCITY)) take_away(snapshot, "velocity");
    if (quantities & KF_PRESSURE) return;
    take_away(snapshot, "pressure_coefficient");
    take_away(snapshot, "kinematic_pressure");
}
