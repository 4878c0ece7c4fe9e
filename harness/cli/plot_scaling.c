#include "harness/cli/plot_scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "cost_model/scaling.h"
#include "plots/gnuplot.h"

enum { MOST_DEVICES = 16384, EDGE = 400 };
/* Figures whose notes contain the time of a single device. */
static const char base_figure[] = "weak 400^3, f32", particles_figure[] = "weak particles";
enum { PANELS = 3 };

typedef struct panel {
    const char *title;
    kf_scaling_case what;
    const char *measured; /* the beginning of the names of the figures that this panel shows; NULL: none */
} panel;

static const char *name_of(const panel *p, int exchange) {
    return (p->what.plane > 0 ? kf_exchange_names_of_particles : kf_exchange_names)[exchange];
}

static const cJSON *find_figure(const cJSON *figures, const char *name) {
    const cJSON *figure;
    cJSON_ArrayForEach(figure, figures) {
        const char *its = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(figure, "name"));
        if (its != NULL && strcmp(its, name) == 0) return figure;
    }
    return NULL;
}

/* Finds the worst roof whose name begins with "link_" and ends so; 0: there is none. */
static double worst_link(const cJSON *roofs, const char *end, bool largest) {
    const cJSON *roof;
    double worst = 0;
    cJSON_ArrayForEach(roof, roofs) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(roof, "name"));
        const double value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(roof, "value"));
        if (name == NULL || strncmp(name, "link_", 5) != 0 || !kf_ends_in(name, end) || !(value > 0))
            continue;
        if (!(worst > 0) || (value > worst) == largest) worst = value;
    }
    return worst;
}

/* Reads the links between devices from a file of `kftune roofs --devices`: the rate of a copy, and the time
 * in which two devices wait for each other in turn. */
static kf_status read_links(const char *file, kf_cluster *cluster, kf_error *error) {
    cJSON *root = NULL;
    if (file == NULL) return KF_OK;
    KF_TRY(kf_json_read_file(file, &root, error));
    const cJSON *roofs = cJSON_GetObjectItemCaseSensitive(root, "roofs");
    const double rate = worst_link(roofs, "_copy", false), order = worst_link(roofs, "_order", true);
    cJSON_Delete(root);
    if (!(rate > 0) || !(order > 0))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: has no links; measure them with kftune roofs --devices cuda:0-1 --json", file);
    cluster->near.rate = 1e9 * rate;
    cluster->order = 2e-6 * order;
    return KF_OK;
}

/* Reads the updates a second of a single device from a note such as "alone 3.4980 to 3.5021 ms". The slowest
 * device counts. */
static kf_status read_rate(const char *file, const cJSON *figure, double count, double *rate,
                           kf_error *error) {
    const char *note = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(figure, "note"));
    double fastest = 0, slowest = 0;
    if (note == NULL || sscanf(note, "alone %lf to %lf ms", &fastest, &slowest) != 2 || !(slowest > 0))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: has no figure \"%s\" with the time of a device alone; measure it with kftune bench "
            "--suite scaling --devices cuda:0-1 --json",
            file, base_figure);
    *rate = count / (1e-3 * slowest);
    return KF_OK;
}

static void append_predictions(const kf_cluster *cluster, const panel *p, kf_text *data) {
    for (int e = 0; e < KF_EXCHANGES; e++) {
        kf_text_append(data, "%s%s\n", data->length > 0 ? "\n\n" : "", name_of(p, e));
        for (int devices = 1; devices <= kf_scaling_most_devices(&p->what); devices *= 2)
            kf_text_append(data, "%d\t%.5g\n", devices,
                           100.0 * kf_scaling_efficiency(cluster, &p->what, (kf_exchange)e, devices));
    }
}

static void append_measured(const panel *p, const cJSON *figures, int devices, kf_text *data) {
    const cJSON *figure;
    kf_text_append(data, "\n\nmeasured\n");
    cJSON_ArrayForEach(figure, figures) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(figure, "name"));
        const cJSON *share = cJSON_GetObjectItemCaseSensitive(figure, "share");
        if (p->measured == NULL || name == NULL || !cJSON_IsNumber(share) ||
            strncmp(name, p->measured, strlen(p->measured)) != 0)
            continue;
        kf_text_append(data, "%d\t%.5g\t", devices, 100.0 * share->valuedouble);
        kf_gnuplot_field(data, name);
        kf_text_append(data, "\n");
    }
    kf_text_append(data, "NaN\tNaN\t\n"); /* Gnuplot does not accept an empty block. */
}

/* Prints the predicted efficiencies of each panel and transfer, and the assumptions. */
static void print_table(const kf_cluster *cluster, const panel *panels, int count, const char *assumptions) {
    for (int i = 0; i < count; i++) {
        printf("%s\n%10s", panels[i].title, "devices");
        for (int devices = 1; devices <= MOST_DEVICES; devices *= 4)
            printf("%8d", devices);
        puts("");
        for (int e = 0; e < KF_EXCHANGES; e++) {
            printf("%10s", "");
            for (int devices = 1; devices <= MOST_DEVICES; devices *= 4)
                if (devices <= kf_scaling_most_devices(&panels[i].what))
                    printf("%7.1f%%",
                           100.0 * kf_scaling_efficiency(cluster, &panels[i].what, (kf_exchange)e, devices));
                else
                    printf("%8s", "-");
            printf("  %s\n", name_of(&panels[i], e));
        }
    }
    printf("assumed:\n%s", assumptions);
}

static void print_json(const kf_cluster *cluster, const panel *panels, int count, const char *assumptions,
                       const char *path) {
    cJSON *root = kf_json_answer("plot");
    (void)cJSON_AddStringToObject(root, "kind", "scaling");
    (void)cJSON_AddStringToObject(root, "out", path);
    (void)cJSON_AddStringToObject(root, "assumptions", assumptions);
    cJSON *predicted = cJSON_AddArrayToObject(root, "predicted");
    for (int i = 0; i < count; i++)
        for (int e = 0; e < KF_EXCHANGES; e++)
            for (int devices = 1; devices <= kf_scaling_most_devices(&panels[i].what); devices *= 2) {
                cJSON *row = cJSON_CreateObject();
                (void)cJSON_AddItemToArray(predicted, row);
                (void)cJSON_AddStringToObject(row, "case", panels[i].title);
                (void)cJSON_AddStringToObject(row, "exchange", name_of(&panels[i], e));
                (void)cJSON_AddNumberToObject(row, "devices", devices);
                (void)cJSON_AddNumberToObject(
                    row, "efficiency",
                    kf_scaling_efficiency(cluster, &panels[i].what, (kf_exchange)e, devices));
            }
    kf_json_print(root);
}

static kf_status draw(const cJSON *root, const kf_cluster *cluster, const panel *panels, int count,
                      const char *path, kf_error *error) {
    const cJSON *figures = cJSON_GetObjectItemCaseSensitive(root, "figures"),
                *device = cJSON_GetObjectItemCaseSensitive(root, "device");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(device, "name"));
    const int devices = name != NULL ? kf_device_count_of(name) : 1;
    char subtitle[256], number[16];
    kf_text data = {0};
    for (int i = 0; i < count; i++) {
        append_predictions(cluster, &panels[i], &data);
        append_measured(&panels[i], figures, devices, &data);
    }
    (void)snprintf(subtitle, sizeof subtitle,
                   "points: measured, %s; lines: predicted (eight a node by NVLink, InfiniBand NDR between)",
                   name != NULL ? name : "unknown devices");
    (void)snprintf(number, sizeof number, "%d", count);
    const kf_gnuplot_job job = {.script = "scaling.gp",
                                .data = data.text,
                                .title = panels->what.plane > 0
                                             ? "Efficiency of a step of particles over devices"
                                             : "Efficiency of a step over devices, f32",
                                .subtitle = subtitle,
                                .values = {panels[0].title, panels[1].title, panels[2].title},
                                .path = path};
    const kf_status status = kf_gnuplot_run(&job, error);
    kf_text_free(&data);
    return status;
}

static kf_status flow_panels(const char *file, const cJSON *figures, panel panels[PANELS], kf_error *error) {
    static const double STRONG = 512, LARGEST = 2048;
    double rate = 0;
    KF_TRY(read_rate(file, find_figure(figures, base_figure), pow(EDGE, 3), &rate, error));
    const kf_scaling_case what = {.nodes = pow(EDGE, 3), .rate = rate, .value_bytes = 4};
    panels[0] = (panel){"weak, 400^3 nodes a device", what, "weak 400^3, f32"};
    panels[1] = (panel){"strong, 512^3 nodes in all", what, "strong 512^3"};
    panels[2] = (panel){"strong, 2048^3 nodes in all", what, NULL};
    panels[1].what.nodes = pow(STRONG, 3);
    panels[2].what.nodes = pow(LARGEST, 3);
    panels[1].what.strong = panels[2].what.strong = true;
    return KF_OK;
}

/* Makes the panels for particles. The panel of weak scaling has as many particles a device as its figure
 * says. */
static kf_status particle_panels(const char *file, const cJSON *figure, panel panels[PANELS],
                                 kf_error *error) {
    static const double SUPPORT = 2.03, STRONG = 32e6, LARGEST = 1e9;
    const double count = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(figure, "particles")),
                 period = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(figure, "list_period"));
    double rate = 0;
    if (!(count >= 1 && count <= 1e12) || !(period >= 1 && period <= 64))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: the figure \"%s\" lacks particles (of a device) and list_period; "
                       "scripts/gpu/particles-team.sh writes both",
                       file, particles_figure);
    KF_TRY(read_rate(file, figure, count, &rate, error));
    const char *const titles[PANELS] = {"weak, as many particles a device as measured",
                                        "strong, 32 million particles in all",
                                        "strong, 1000 million particles in all"},
                      *const measured[PANELS] = {particles_figure, "strong particles", NULL};
    const double counts[PANELS] = {count, STRONG, LARGEST};
    for (int i = 0; i < PANELS; i++)
        panels[i] = (panel){titles[i], kf_scaling_of_particles(counts[i], i > 0, rate, SUPPORT, (int)period),
                            measured[i]};
    return KF_OK;
}

/* Predicts weak and strong scaling from the measured rate of one device, and draws it into the file `path`.
 * The model is that of cost_model/scaling.h. */
kf_status kf_plot_scaling(const char *file, const char *links, const char *path, bool json, kf_error *error) {
    cJSON *root = NULL;
    kf_cluster cluster = kf_cluster_h200;
    panel panels[PANELS];
    KF_TRY(read_links(links, &cluster, error));
    KF_TRY(kf_json_read_file(file, &root, error));
    const cJSON *figures = cJSON_GetObjectItemCaseSensitive(root, "figures"),
                *particles = find_figure(figures, particles_figure);
    kf_status status = particles != NULL ? particle_panels(file, particles, panels, error)
                                         : flow_panels(file, figures, panels, error);
    if (status == KF_OK) status = draw(root, &cluster, panels, PANELS, path, error);
    kf_text assumptions = {0};
    (particles != NULL ? kf_scaling_assumptions_of_particles : kf_scaling_assumptions)(&cluster,
                                                                                       &assumptions);
    if (status == KF_OK && json) print_json(&cluster, panels, PANELS, assumptions.text, path);
    if (status == KF_OK && !json) print_table(&cluster, panels, PANELS, assumptions.text);
    kf_text_free(&assumptions);
    cJSON_Delete(root);
    return status;
}
