#include "harness/cli/placement_argument.h"

#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "scene/placement.h"

/* A unit that may follow a number, and what it is worth. */
typedef struct unit {
    const char *name;
    double factor;
} unit;

static const unit lengths[] = {{"", 1.0}, {"m", 1.0}, {"cm", 0.01}, {"mm", 0.001}, {NULL, 0.0}},
                  speeds[] = {{"", 1.0}, {"m/s", 1.0}, {"km/h", 1.0 / 3.6}, {NULL, 0.0}},
                  shares[] = {{"", 1.0}, {"%", 0.01}, {NULL, 0.0}}, plain[] = {{"", 1.0}, {NULL, 0.0}};

static kf_status read_quantity(const kf_arguments *arguments, const char *option, const unit *units,
                               double low, double high, double *value, kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    if (text == NULL) return KF_OK;
    char *end = NULL;
    const double number = strtod(text, &end);
    for (const unit *u = units; end != text && u->name != NULL; u++) {
        if (strcmp(end, u->name) != 0) continue;
        const double quantity = number * u->factor;
        if (!(quantity >= low && quantity <= high)) break;
        *value = quantity;
        return KF_OK;
    }
    kf_text known = {0};
    for (const unit *u = units; u->name != NULL; u++)
        if (u->name[0] != '\0') kf_text_append(&known, "%s%s", known.length > 0 ? ", " : ", in ", u->name);
    const kf_status status = kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is not a number from %g to %g%s",
                                     option, text, low, high, known.text != NULL ? known.text : "");
    kf_text_free(&known);
    return status;
}

static kf_status read_heading(const kf_arguments *arguments, const char *option, kf_heading *heading,
                              kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    if (text == NULL || kf_heading_read(text, heading)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is no axis; use x, -x, y, -y, z or -z", option,
                   text);
}

kf_status kf_argument_accuracy(const kf_arguments *arguments, double *accuracy, kf_error *error) {
    return read_quantity(arguments, "--accuracy", shares, KF_DEFAULT_ACCURACY, KF_LOOSEST_ACCURACY, accuracy,
                         error);
}

kf_status kf_argument_placement(const kf_arguments *arguments, kf_placement *p, kf_error *error) {
    *p = (kf_placement){.road = KF_ROAD_GUESS};
    KF_TRY(read_heading(arguments, "--wind", &p->wind, error));
    KF_TRY(read_heading(arguments, "--up", &p->up, error));
    KF_TRY(read_quantity(arguments, "--length", lengths, 1e-6, 1e6, &p->length, error));
    KF_TRY(read_quantity(arguments, "--speed", speeds, 1e-6, 1e6, &p->speed, error));
    KF_TRY(read_quantity(arguments, "--reynolds", plain, 1e-3, 1e9, &p->reynolds, error));
    KF_TRY(read_quantity(arguments, "--viscosity", plain, 1e-12, 1e6, &p->viscosity, error));
    KF_TRY(read_quantity(arguments, "--yaw", plain, -180.0, 180.0, &p->yaw, error));
    KF_TRY(read_quantity(arguments, "--blockage", shares, 1e-4, 0.25, &p->blockage, error));
    KF_TRY(read_quantity(arguments, "--cells", plain, 4.0, 4096.0, &p->cells, error));
    if (p->reynolds > 0.0 && p->viscosity > 0.0)
        return kf_fail(error, KF_BAD_INPUT, "options '--reynolds' and '--viscosity': give one of them");
    const char *road = kf_argument(arguments, "--road", NULL);
    if (road != NULL && strcmp(road, "yes") != 0 && strcmp(road, "no") != 0)
        return kf_fail(error, KF_BAD_INPUT, "option '--road': '%s' is neither yes nor no", road);
    if (road != NULL) p->road = road[0] == 'y' ? KF_ROAD_YES : KF_ROAD_NO;
    return KF_OK;
}

/* "folder/car.obj" is written to "car.scene.json". */
static kf_status scene_file_of(const char *mesh, char file[KF_PATH], kf_error *error) {
    const char *slash = strrchr(mesh, '/'), *name = slash == NULL ? mesh : slash + 1,
               *dot = strrchr(name, '.');
    return kf_path(file, error, "%.*s.scene.json", dot == NULL ? (int)strlen(name) : (int)(dot - name), name);
}

kf_status kf_argument_placed(const kf_arguments *arguments, const int nodes[3], double samples_per_cell,
                             const char **name, kf_error *error) {
    static char file[KF_PATH];
    kf_placement placement;
    KF_TRY(kf_argument_placement(arguments, &placement, error));
    if (*name == NULL || !kf_placement_given(&placement)) return KF_OK;
    if (!kf_scene_is_mesh(*name))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is no mesh, but a scene that says how it is placed; leave out --wind, --up, "
                       "--length, --speed, --reynolds, --viscosity, --road, --yaw, --blockage and --cells, "
                       "or change the scene file",
                       *name);
    KF_TRY(scene_file_of(*name, file, error));
    char *guesses = NULL;
    KF_TRY(kf_scene_write_numbered(*name, &placement, nodes, samples_per_cell, file, &guesses, error));
    if (guesses != NULL) kf_info("%s", guesses);
    free(guesses);
    kf_info("%s placed as %s says; later commands take --scene %s", *name, file, file);
    *name = file;
    return KF_OK;
}
