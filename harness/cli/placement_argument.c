#include "harness/cli/placement_argument.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/backend/team/world.h"
#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/number.h"
#include "base/util/text.h"
#include "scene/document.h"

/* A unit that may follow a number, and its value in SI units. */
typedef struct unit {
    const char *name;
    double factor;
} unit;

static const unit lengths[] = {{"", 1.0},      {"m", 1.0},     {"cm", 0.01}, {"mm", 0.001},
                               {"ft", 0.3048}, {"in", 0.0254}, {NULL, 0.0}},
                  speeds[] = {{"", 1.0},
                              {"m/s", 1.0},
                              {"km/h", 1.0 / 3.6},
                              {"mph", 0.44704},
                              {"kn", 1852.0 / 3600.0},
                              {NULL, 0.0}},
                  shares[] = {{"", 1.0}, {"%", 0.01}, {NULL, 0.0}},
                  angles[] = {{"", 1.0}, {"deg", 1.0}, {"°", 1.0}, {NULL, 0.0}},
                  viscosities[] = {{"", 1.0}, {"m2/s", 1.0}, {"m^2/s", 1.0}, {"m²/s", 1.0}, {NULL, 0.0}},
                  plain[] = {{"", 1.0}, {NULL, 0.0}};

/* Refuses a number whose unit is unknown or missing. */
static kf_status refuse_unit(const char *option, const char *text, const char *end, const unit *units,
                             kf_error *error) {
    kf_text known = {0};
    for (const unit *u = units; u->name != NULL; u++)
        if (u->name[0] != '\0') kf_text_append(&known, "%s%s", known.length > 0 ? ", " : "", u->name);
    const kf_status status =
        end == text || *end == ',' || known.length == 0
            ? kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is not a number%s%s%s", option, text,
                      known.length > 0 ? ", alone or in " : "", known.length > 0 ? known.text : "",
                      end != text && *end == ',' ? KF_DECIMALS_HINT : "")
            : kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' has the unit '%s'; known are %s", option, text,
                      end, known.text);
    kf_text_free(&known);
    return status;
}

/* Refuses a value outside its range, which the message states in the value's unit. */
static kf_status refuse_range(const char *option, const char *text, double number, const unit *u,
                              const unit *units, double low, double high, kf_error *error) {
    const bool percent = units == shares && u->factor == 1.0 && number * 0.01 >= low && number * 0.01 <= high;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is outside %.6g%s to %.6g%s%s%s%s", option, text,
                   low / u->factor, u->name, high / u->factor, u->name, percent ? "; is it " : "",
                   percent ? text : "", percent ? "%?" : "");
}

/* Reads a number with an optional unit, which may follow a blank. *value is in SI units. */
static kf_status read_quantity(const kf_arguments *arguments, const char *option, const unit *units,
                               double low, double high, double *value, kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    if (text == NULL) return KF_OK;
    char *end = NULL;
    const double number = kf_read_decimal(text, &end);
    const char *name = end + strspn(end, " ");
    for (const unit *u = units; end != text && u->name != NULL; u++) {
        if (strcmp(name, u->name) != 0) continue;
        const double quantity = number * u->factor;
        if (!(quantity >= low && quantity <= high))
            return refuse_range(option, text, number, u, units, low, high, error);
        *value = quantity;
        return KF_OK;
    }
    return refuse_unit(option, text, end == text ? text : name, units, error);
}

static kf_status read_heading(const kf_arguments *arguments, const char *option, kf_heading *heading,
                              kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    if (text == NULL || kf_heading_read(text, heading)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is not an axis; use x, -x, y, -y, z or -z", option,
                   text);
}

kf_status kf_argument_share(const kf_arguments *arguments, const char *option, double low, double high,
                            double *value, kf_error *error) {
    return read_quantity(arguments, option, shares, low, high, value, error);
}

kf_status kf_argument_accuracy(const kf_arguments *arguments, double *accuracy, kf_error *error) {
    return read_quantity(arguments, "--accuracy", shares, KF_DEFAULT_ACCURACY, KF_LOOSEST_ACCURACY, accuracy,
                         error);
}

/* Reads the options that place a mesh: headings, length, speed, viscosity or Reynolds number, yaw in degrees,
 * blockage, cells and road. Values with units are converted to SI. */
kf_status kf_argument_placement(const kf_arguments *arguments, kf_placement *p, kf_error *error) {
    *p = (kf_placement){.road = KF_ROAD_GUESS};
    KF_TRY(read_heading(arguments, "--wind", &p->wind, error));
    KF_TRY(read_heading(arguments, "--up", &p->up, error));
    KF_TRY(read_quantity(arguments, "--length", lengths, 1e-6, 1e6, &p->length, error));
    KF_TRY(read_quantity(arguments, "--speed", speeds, 1e-6, 1e6, &p->speed, error));
    KF_TRY(read_quantity(arguments, "--reynolds", plain, 1e-3, 1e9, &p->reynolds, error));
    KF_TRY(read_quantity(arguments, "--viscosity", viscosities, 1e-12, 1e6, &p->viscosity, error));
    KF_TRY(read_quantity(arguments, "--yaw", angles, -180.0, 180.0, &p->yaw, error));
    p->yaw_given = kf_argument_given(arguments, "--yaw");
    KF_TRY(read_quantity(arguments, "--blockage", shares, 1e-4, 0.25, &p->blockage, error));
    KF_TRY(read_quantity(arguments, "--cells", plain, 4.0, 4096.0, &p->cells, error));
    const char *refine = kf_argument(arguments, "--refine", NULL);
    if (refine != NULL && !kf_refine_read(refine, &p->refine))
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--refine': '%s' is neither body, none nor 1 to %d levels", refine,
                       KF_FINER_LEVELS);
    if (p->reynolds > 0.0 && p->viscosity > 0.0)
        return kf_fail(error, KF_BAD_INPUT, "options '--reynolds' and '--viscosity': give one of them");
    const char *road = kf_argument(arguments, "--road", NULL);
    if (road != NULL && strcmp(road, "yes") != 0 && strcmp(road, "no") != 0)
        return kf_fail(error, KF_BAD_INPUT, "option '--road': '%s' is neither yes nor no", road);
    if (road != NULL) p->road = road[0] == 'y' ? KF_ROAD_YES : KF_ROAD_NO;
    return KF_OK;
}

/* ---- The scene that they make ---- */

/* Appends the given options, as in "-speed30-yaw5", so that variants of a scene have different files and
 * folders. */
static void append_said(const kf_arguments *arguments, kf_text *name) {
    static const struct {
        const char *option, *word;
    } words[] = {{"--wind", "wind"},   {"--up", "up"},        {"--length", "length"},
                 {"--speed", "speed"}, {"--reynolds", "re"},  {"--viscosity", "nu"},
                 {"--road", "road"},   {"--yaw", "yaw"},      {"--blockage", "blockage"},
                 {"--cells", "cells"}, {"--refine", "refine"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *value = kf_argument(arguments, words[i].option, NULL);
        if (value == NULL) continue;
        kf_text_append(name, "-%s", words[i].word);
        for (; *value != '\0'; value++)
            if (isalnum((unsigned char)*value) || strchr(".-+", *value) != NULL)
                kf_text_append(name, "%c", *value);
    }
}

/* Names of files have a limited length. A longer name is cut as kf_scene_name cuts it. */
static void name_variant(const kf_arguments *arguments, const char *source, char name[128]) {
    kf_text whole = {0};
    kf_scene_name(source, name);
    kf_text_append(&whole, "%s", name);
    append_said(arguments, &whole);
    kf_text_append(&whole, ".scene.json");
    kf_scene_name(whole.text, name);
    kf_text_free(&whole);
}

/* Places the mesh, or lets it replace the mesh of another scene. */
static kf_status place_mesh(const char *mesh, const cJSON *like, const kf_placement *said, cJSON **document,
                            kf_text *notes, kf_error *error) {
    char file[KF_PATH], *guesses = NULL;
    KF_TRY(kf_scene_find(mesh, file, error));
    *document = like != NULL ? cJSON_Duplicate(like, true) : NULL;
    if (*document != NULL && kf_scene_document_swap_mesh(*document, file)) {
        kf_text_append(notes, "%s: in the place of the mesh that was tuned, with its scale, axes and tunnel",
                       mesh);
        return kf_placement_given(said) ? kf_scene_document_change(mesh, *document, said, notes, error)
                                        : KF_OK;
    }
    cJSON_Delete(*document);
    KF_TRY(kf_scene_of_mesh(file, said, document, &guesses, error));
    if (guesses != NULL) kf_text_append(notes, "%s", guesses);
    free(guesses);
    return KF_OK;
}

kf_status kf_argument_document(const kf_arguments *arguments, const int nodes[3], double samples_per_cell,
                               const char *source, const cJSON *like, cJSON **document, char name[128],
                               kf_error *error) {
    kf_placement placement;
    kf_text notes = {0};
    *document = NULL;
    KF_TRY(kf_argument_placement(arguments, &placement, error));
    const bool mesh = kf_scene_is_mesh(source), said = kf_placement_given(&placement);
    if (!mesh && !said) return KF_OK;
    memcpy(placement.nodes, nodes, sizeof placement.nodes);
    placement.samples_per_cell = samples_per_cell;
    kf_status status = mesh ? place_mesh(source, like, &placement, document, &notes, error)
                            : kf_scene_document_read(source, document, error);
    if (status == KF_OK && !mesh)
        status = kf_scene_document_change(source, *document, &placement, &notes, error);
    if (status == KF_OK && notes.length > 0 && !kf_arguments_json(arguments)) kf_info("%s", notes.text);
    if (status == KF_OK) name_variant(arguments, source, name);
    if (status != KF_OK) {
        cJSON_Delete(*document);
        *document = NULL;
    }
    kf_text_free(&notes);
    return status;
}

/* The scene that was kept last, and the file or name that the user gave for it. */
static char kept[KF_PATH], given[KF_PATH];
/* The kept file as this process wrote it. The inode is 0 if the file existed before, or if it is shared with
 * other processes of a job. */
static struct stat made;

/* Removes the kept scene, because it was refused. It stays if another process wrote the same scene meanwhile.
 */
static void forget_refused(void) {
    struct stat now;
    if (made.st_ino != 0 && stat(kept, &now) == 0 && now.st_ino == made.st_ino && now.st_dev == made.st_dev)
        kf_scene_document_forget(kept);
}

const char *kf_argument_source(const char *source) {
    return kept[0] != '\0' && strcmp(source, kept) == 0 ? given : source;
}

void kf_argument_name_source(kf_error *error) {
    const char *found =
        kept[0] != '\0' && error->status == KF_BAD_INPUT ? strstr(error->message, kept) : NULL;
    kf_text message = {0};
    if (found == NULL) return;
    kf_text_append(&message, "%.*s%s%s", (int)(found - error->message), error->message, given,
                   found + strlen(kept));
    kf_copy_text(error->message, sizeof error->message, message.text);
    kf_text_free(&message);
    forget_refused();
}

kf_status kf_argument_placed(const kf_arguments *arguments, const int nodes[3], double samples_per_cell,
                             const cJSON *like, const char **name, kf_error *error) {
    char variant[128];
    cJSON *document = NULL;
    if (*name == NULL) return KF_OK;
    KF_TRY(kf_argument_document(arguments, nodes, samples_per_cell, *name, like, &document, variant, error));
    if (document == NULL) return KF_OK;
    kf_status status = kf_scene_document_pin(document, error);
    bool fresh = false;
    if (status == KF_OK) status = kf_scene_document_keep(document, variant, kept, &fresh, error);
    if (status != KF_OK || !fresh || kf_world_is_wanted() || stat(kept, &made) != 0) made.st_ino = 0;
    cJSON_Delete(document);
    KF_TRY(status);
    kf_copy_text(given, sizeof given, *name);
    kf_detail("%s as it is placed is kept in %s", *name, kept);
    *name = kept;
    return KF_OK;
}
