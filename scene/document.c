#include "scene/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "scene/internal.h"

enum { LONGEST_VALUE = 60, ENOUGH_SAID = 120 };

/* ---- Reading ---- */

static bool names_a_file(const char *key) {
    static const char *const keys[] = {"mesh", "file", "mask", "picture"};
    for (size_t k = 0; key != NULL && k < sizeof keys / sizeof *keys; k++)
        if (strcmp(key, keys[k]) == 0) return true;
    return false;
}

/* Makes whole paths of relative names, when such files exist in the scene file's folder. */
static void make_whole(cJSON *item, const char *folder) {
    char path[KF_PATH], whole[KF_PATH];
    if (cJSON_IsString(item) && names_a_file(item->string) && item->valuestring[0] != '/' &&
        kf_path(path, NULL, "%s/%s", folder, item->valuestring) == KF_OK && kf_real_path(path, whole))
        (void)cJSON_SetValuestring(item, whole);
    for (cJSON *member = cJSON_IsObject(item) || cJSON_IsArray(item) ? item->child : NULL; member != NULL;
         member = member->next)
        make_whole(member, folder);
}

/* Finds the folder of a file; "." for a name without a folder. */
static void folder_of(const char *file, char folder[KF_PATH]) {
    const char *slash = strrchr(file, '/');
    kf_copy_text(folder, KF_PATH, slash == NULL ? "." : slash == file ? "/" : file);
    if (slash != NULL && slash != file) folder[slash - file] = '\0';
}

/* Reads the JSON of a scene file, and makes its paths independent of the working folder. Refuses other files
 * and says what to do. */
kf_status kf_scene_document_read(const char *file_or_name, cJSON **document, kf_error *error) {
    char path[KF_PATH], folder[KF_PATH];
    *document = NULL;
    KF_TRY(kf_scene_find(file_or_name, path, error));
    if (kf_mask_is_file_name(path)) return kf_scene_of_picture(path, document, error);
    if (!kf_ends_in(path, ".json"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is neither a mesh (.obj, .stl, .ply, .gltf, .glb), a mask (.png) nor a scene "
                       "file (.json), which options "
                       "could change; convert a mesh of another kind to one of these",
                       path);
    KF_TRY(kf_json_read_file(path, document, error));
    folder_of(path, folder);
    make_whole(*document, folder);
    return KF_OK;
}

/* ---- Comparing ---- */

static bool is_aside(const char *key) {
    static const char *const aside[] = {"description", "placed", "mesh_hash", "asked"};
    for (size_t k = 0; k < sizeof aside / sizeof *aside; k++)
        if (strcmp(key, aside[k]) == 0) return true;
    return false;
}

static const cJSON *member_of(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static void append_value(kf_text *text, const cJSON *value) {
    char *words = value != NULL ? kf_json_text(value, false) : NULL;
    kf_text_append(text, "%.*s", LONGEST_VALUE, words != NULL ? words : "not given");
    free(words);
}

/* Appends the differences of two documents, each with the path of its member. After ENOUGH_SAID differences
 * it stops. */
static void append_difference(const char *path, const cJSON *one, const cJSON *other, kf_text *text) {
    if (text->length > ENOUGH_SAID || cJSON_Compare(one, other, true)) return;
    if (!cJSON_IsObject(one) || !cJSON_IsObject(other)) {
        kf_text_append(text, "%s%s is ", text->length > 0 ? ", " : "", path);
        append_value(text, one);
        kf_text_append(text, " and ");
        append_value(text, other);
        return;
    }
    for (int side = 0; side < 2; side++)
        for (const cJSON *item = (side == 0 ? one : other)->child; item != NULL; item = item->next) {
            kf_text inner = {0};
            if (is_aside(item->string) || (side == 1 && member_of(one, item->string) != NULL)) continue;
            kf_text_append(&inner, "%s%s%s", path, path[0] != '\0' ? "." : "", item->string);
            append_difference(inner.text, member_of(one, item->string), member_of(other, item->string), text);
            kf_text_free(&inner);
        }
}

void kf_scene_document_difference(const cJSON *one, const cJSON *other, kf_text *text) {
    append_difference("", one, other, text);
}

/* ---- Changing a scene that was made of a mesh ---- */

static void put(cJSON *object, const char *key, const cJSON *value) {
    if (value == NULL)
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    else if (cJSON_GetObjectItemCaseSensitive(object, key) != NULL)
        (void)cJSON_ReplaceItemInObjectCaseSensitive(object, key, cJSON_Duplicate(value, true));
    else
        cJSON_AddItemToObject(object, key, cJSON_Duplicate(value, true));
}

/* Merges the change from before to after into the scene. Where the scene differs from before, the user
 * changed it by hand. A note then says the old value. */
static void merge(const char *path, const cJSON *before, const cJSON *after, cJSON *scene, kf_text *notes) {
    for (int side = 0; side < 2; side++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): both are objects, so neither is NULL */
        for (const cJSON *item = (side == 0 ? before : after)->child; item != NULL; item = item->next) {
            const char *key = item->string;
            const cJSON *was = member_of(before, key), *is = member_of(after, key);
            cJSON *own = cJSON_GetObjectItemCaseSensitive(scene, key);
            kf_text inner = {0};
            if ((side == 1 && was != NULL) || (was != NULL && is != NULL && cJSON_Compare(was, is, true)))
                continue;
            kf_text_append(&inner, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
            if (cJSON_IsObject(was) && cJSON_IsObject(is) && cJSON_IsObject(own)) {
                merge(inner.text, was, is, own, notes);
            } else {
                if (!is_aside(key) && !cJSON_Compare(own, was, true) && !cJSON_Compare(own, is, true) &&
                    (own != NULL || was != NULL)) {
                    kf_text values = {0};
                    append_value(&values, own);
                    kf_text_append(&values, "; is now ");
                    append_value(&values, is);
                    kf_note(notes, "%s: was changed by hand, to %s", inner.text, values.text);
                    kf_text_free(&values);
                }
                put(scene, key, is);
            }
            kf_text_free(&inner);
        }
}

/* Reads how the scene was placed, and its mesh. */
static kf_status read_placed(const char *file, const cJSON *document, kf_placement *placed, const char **mesh,
                             kf_error *error) {
    const cJSON *section = NULL, *solid = NULL;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, document, "placed", true, &section, error));
    KF_TRY(kf_json_object((kf_json_place){file, ""}, document, "solid", true, &solid, error));
    KF_TRY(kf_json_string((kf_json_place){file, "solid"}, solid, "mesh", true, mesh, error));
    return kf_placement_from_json((kf_json_place){file, "placed"}, section, placed, error);
}

/* Notes the lines of the new placement that the old one does not have. It skips lines on sections that the
 * user changed by hand. */
static void note_news(const char *before, const char *after, const cJSON *placement, const cJSON *scene,
                      kf_text *notes) {
    for (const char *line = after; line != NULL && *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        kf_text own = {0}, section = {0};
        kf_text_append(&own, "%.*s", (int)length, line);
        kf_text_append(&section, "%.*s", (int)strcspn(own.text, ":"), own.text);
        const cJSON *own_section = member_of(scene, section.text), *item;
        bool by_hand = false;
        cJSON_ArrayForEach(item, member_of(placement, section.text)) by_hand =
            by_hand || !cJSON_Compare(item, member_of(own_section, item->string), true);
        if (!by_hand && (before == NULL || strstr(before, own.text) == NULL)) kf_note(notes, "%s", own.text);
        kf_text_free(&own);
        kf_text_free(&section);
        line += length + (line[length] == '\n');
    }
}

static void scale_vector(cJSON *vector, double factor) {
    for (cJSON *number = cJSON_IsArray(vector) ? vector->child : NULL; number != NULL; number = number->next)
        (void)cJSON_SetNumberValue(number, number->valuedouble * factor);
}

/* Keeps the ratio of a face's velocity to the reference speed where the user changed that velocity. Ground at
 * rest stays at rest. The placements then do not mention the face. */
static void keep_faces(cJSON *document, cJSON *before, cJSON *after, double factor) {
    static const char key[] = "velocity";
    const cJSON *faces = member_of(document, "boundaries");
    for (cJSON *face = faces != NULL ? faces->child : NULL; face != NULL; face = face->next) {
        cJSON *own = cJSON_GetObjectItemCaseSensitive(face, key),
              *was = cJSON_GetObjectItemCaseSensitive(member_of(before, "boundaries"), face->string),
              *is = cJSON_GetObjectItemCaseSensitive(member_of(after, "boundaries"), face->string);
        if (own == NULL || member_of(was, key) == NULL || member_of(is, key) == NULL ||
            cJSON_Compare(own, member_of(was, key), true))
            continue;
        cJSON_DeleteItemFromObjectCaseSensitive(was, key);
        cJSON_DeleteItemFromObjectCaseSensitive(is, key);
        scale_vector(own, factor);
    }
}

/* Writes the value of an option into the scene. The option also counts when the placement had the same value
 * and the user changed the scene since. The placements do not differ then. When section is NULL, the key is
 * at the top of the scene. */
static void obey(cJSON *document, const cJSON *after, const char *section, const char *key, kf_text *notes) {
    cJSON *scene = section != NULL ? cJSON_GetObjectItemCaseSensitive(document, section) : document;
    const cJSON *is = member_of(section != NULL ? member_of(after, section) : after, key),
                *own = member_of(scene, key);
    if (scene == NULL || cJSON_Compare(own, is, true) || (own == NULL && is == NULL)) return;
    kf_text values = {0};
    append_value(&values, own);
    kf_text_append(&values, "; is now ");
    append_value(&values, is);
    kf_note(notes, "%s%s%s: was changed by hand, to %s", section != NULL ? section : "",
            section != NULL ? "." : "", key, values.text);
    kf_text_free(&values);
    put(scene, key, is);
}

/* Applies each given option, with all keys that it decides. */
static void obey_all(cJSON *document, const cJSON *after, const kf_placement *said, kf_text *notes) {
    const bool turned = said->up.sign != 0 || said->wind.sign != 0,
               moved = turned || said->length > 0.0 || said->road != KF_ROAD_GUESS || said->blockage > 0.0 ||
                       said->cells > 0.0 || said->nodes[0] > 0;
    if (said->speed > 0.0) obey(document, after, "flow", "speed", notes);
    if (said->reynolds > 0.0 || said->viscosity > 0.0) {
        obey(document, after, "flow", "reynolds", notes);
        obey(document, after, "flow", "viscosity", notes);
    }
    if (said->yaw_given) obey(document, after, "solid", "yaw", notes);
    if (said->refine != 0) obey(document, after, NULL, "refine", notes);
    if (said->samples_per_cell > 0.0) obey(document, after, "sampling", "samples_per_cell", notes);
    if (said->road != KF_ROAD_GUESS) obey(document, after, "boundaries", "zmin", notes);
    if (turned) obey(document, after, "solid", "rotation", notes);
    if (turned || said->length > 0.0) {
        obey(document, after, "solid", "scale", notes);
        obey(document, after, "flow", "reference_length", notes);
    }
    if (!moved) return;
    obey(document, after, "solid", "anchor", notes);
    obey(document, after, "solid", "position", notes);
    obey(document, after, "domain", "cells", notes);
    obey(document, after, "domain", "size", notes);
    obey(document, after, "domain", "cell_size", notes);
}

static double speed_of(const cJSON *document) {
    return cJSON_GetNumberValue(member_of(member_of(document, "flow"), "speed"));
}

/* Notes what a new speed does not change: the force on the fluid, and the motion of a single solid. */
static void note_what_stays(const cJSON *document, double factor, kf_text *notes) {
    const bool driven = cJSON_HasObjectItem(member_of(document, "flow"), "acceleration"),
               moves = cJSON_HasObjectItem(member_of(document, "solid"), "motion");
    if (factor == 1.0 || (!driven && !moves)) return;
    kf_note(notes, "speed: %s%s%s as in the file, whatever the speed", driven ? "flow.acceleration" : "",
            driven && moves ? " and " : "",
            !moves   ? " stays"
            : driven ? "solid.motion stay"
                     : "solid.motion stays");
}

static kf_status place_anew(const char *file, cJSON *document, const kf_placement *said, kf_text *notes,
                            kf_error *error) {
    kf_placement placed;
    const char *mesh = NULL;
    cJSON *before = NULL, *after = NULL;
    char *told_before = NULL, *told = NULL;
    KF_TRY(read_placed(file, document, &placed, &mesh, error));
    kf_status status = kf_scene_of_mesh(mesh, &placed, &before, &told_before, error);
    kf_placement_change(&placed, said);
    if (status == KF_OK) status = kf_scene_of_mesh(mesh, &placed, &after, &told, error);
    if (status == KF_OK) {
        const double factor = speed_of(after) / speed_of(before);
        kf_text changes = {0};
        keep_faces(document, before, after, factor);
        merge("", before, after, document, &changes);
        obey_all(document, after, said, &changes);
        put(document, "placed", member_of(after, "placed"));
        note_news(told_before, told, after, document, notes);
        if (changes.text != NULL) kf_text_append(notes, "%s%s", notes->length > 0 ? "\n" : "", changes.text);
        note_what_stays(document, factor, notes);
        kf_text_free(&changes);
    }
    free(told_before);
    free(told);
    cJSON_Delete(before);
    cJSON_Delete(after);
    return status;
}

bool kf_scene_document_swap_mesh(cJSON *document, const char *mesh_file) {
    cJSON *solid = cJSON_GetObjectItemCaseSensitive(document, "solid"),
          *mesh = cJSON_GetObjectItemCaseSensitive(solid, "mesh");
    if (!cJSON_IsString(mesh)) return false;
    char whole[KF_PATH];
    (void)cJSON_SetValuestring(mesh, kf_real_path(mesh_file, whole) ? whole : mesh_file);
    cJSON_DeleteItemFromObjectCaseSensitive(solid, "mesh_hash");
    return true;
}

/* ---- Changing any other scene of a flow ---- */

static kf_status refuse_placing(const char *file, const kf_placement *p, kf_error *error) {
    const char *option = p->wind.sign != 0          ? "--wind"
                         : p->up.sign != 0          ? "--up"
                         : p->length > 0.0          ? "--length"
                         : p->road != KF_ROAD_GUESS ? "--road"
                         : p->blockage > 0.0        ? "--blockage"
                         : p->cells > 0.0           ? "--cells"
                                                    : NULL;
    if (option == NULL) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: option '%s' places a mesh, and this scene was not made of one by kftune; change the "
                   "file%s. --speed, --reynolds, --viscosity, --yaw and --refine change any scene of a flow",
                   file, option, p->cells > 0.0 ? ", or give --grid" : "");
}

static void put_number(cJSON *object, const char *key, double value) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddNumberToObject(object, key, value);
}

/* Keeps the ratio of rotation to reference speed for each of several turning solids, as for a rolling wheel.
 */
static void change_turning(cJSON *document, double factor, kf_text *notes) {
    bool turns = false;
    const cJSON *solids = member_of(document, "solids");
    for (const cJSON *solid = cJSON_IsArray(solids) ? solids->child : NULL; solid != NULL;
         solid = solid->next) {
        cJSON *speed = cJSON_GetObjectItemCaseSensitive(member_of(solid, "motion"), "angular_velocity");
        if (speed == NULL || !cJSON_IsNumber(speed)) continue;
        (void)cJSON_SetNumberValue(speed, speed->valuedouble * factor);
        turns = true;
    }
    if (turns && factor != 1.0)
        kf_note(notes, "speed: the solids that turn do so %.6g times as fast, as the wind is", factor);
}

/* Scales the velocities of walls and of inflows with the reference speed. */
static void change_speed(cJSON *document, cJSON *flow, double before, double speed, kf_text *notes) {
    const double factor = speed / before;
    note_what_stays(document, factor, notes);
    put_number(flow, "speed", speed);
    scale_vector(cJSON_GetObjectItemCaseSensitive(member_of(document, "mask"), "velocity"), factor);
    scale_vector(cJSON_GetObjectItemCaseSensitive(flow, "initial_velocity"), factor);
    const cJSON *faces = member_of(document, "boundaries");
    for (const cJSON *face = faces != NULL ? faces->child : NULL; face != NULL; face = face->next)
        scale_vector(cJSON_GetObjectItemCaseSensitive(face, "velocity"), factor);
    change_turning(document, factor, notes);
}

/* Sets nested grids around the solid, or none. Rates that nested grids do not allow are removed. Without
 * nested grids the rates of outer levels are removed. */
static void change_refine(cJSON *document, int refine, kf_text *notes) {
    static const char without[] = "adaptive_2020";
    cJSON *json = kf_refine_json(refine), *model = cJSON_GetObjectItemCaseSensitive(document, "model"),
          *rates = cJSON_GetObjectItemCaseSensitive(model, "rates");
    put(document, "refine", json);
    cJSON_Delete(json);
    if (refine == KF_REFINE_NONE) cJSON_DeleteItemFromObjectCaseSensitive(model, "outer_rates");
    if (refine == KF_REFINE_NONE || !cJSON_IsString(rates) || strcmp(rates->valuestring, without) != 0)
        return;
    (void)cJSON_SetValuestring(rates, kf_rate_rule_names[KF_RATE_K17]);
    kf_note(notes, "model.rates: k17 instead of %s, which needs averages of the domain", without);
}

/* Changes the flow of a scene file that was not made of a mesh: nested grids, speed, Reynolds number or
 * viscosity, and the solid's yaw. The mesh of such a scene is placed already, so other options of placing are
 * refused. */
static kf_status change_flow(const char *file, cJSON *document, const kf_placement *said, kf_text *notes,
                             kf_error *error) {
    const kf_json_place top = {file, ""};
    const cJSON *flow = NULL, *solid = NULL;
    double speed = 0.0;
    KF_TRY(refuse_placing(file, said, error));
    if (cJSON_GetObjectItemCaseSensitive(member_of(document, "flow"), "speed") == NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: options --speed, --reynolds, --viscosity, --yaw and --refine change scenes with a "
            "\"speed\" in \"flow\", and this one has none; change the file",
            file);
    KF_TRY(kf_json_object(top, document, "flow", true, &flow, error));
    KF_TRY(kf_json_number((kf_json_place){file, "flow"}, flow, "speed", true, 1e-9, 1e6, &speed, error));
    cJSON *own = cJSON_GetObjectItemCaseSensitive(document, "flow");
    if (said->speed > 0.0) change_speed(document, own, speed, said->speed, notes);
    if (said->reynolds > 0.0 || said->viscosity > 0.0) {
        cJSON_DeleteItemFromObjectCaseSensitive(own, "reynolds");
        cJSON_DeleteItemFromObjectCaseSensitive(own, "viscosity");
        put_number(own, said->reynolds > 0.0 ? "reynolds" : "viscosity",
                   said->reynolds > 0.0 ? said->reynolds : said->viscosity);
    }
    if (said->refine != 0) change_refine(document, said->refine, notes);
    if (!said->yaw_given) return KF_OK;
    if (cJSON_HasObjectItem(document, "solids"))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: option '--yaw' turns one solid, and this scene has \"solids\"; turn the stream, or "
            "give each \"rotation\" and \"position\"",
            file);
    if (!cJSON_HasObjectItem(document, "solid"))
        return kf_fail(error, KF_BAD_INPUT, "%s: option '--yaw' turns a solid, and this scene has none",
                       file);
    KF_TRY(kf_json_object(top, document, "solid", true, &solid, error));
    put_number(cJSON_GetObjectItemCaseSensitive(document, "solid"), "yaw", said->yaw);
    return KF_OK;
}

kf_status kf_scene_document_change(const char *file, cJSON *document, const kf_placement *said,
                                   kf_text *notes, kf_error *error) {
    /* The placement no longer applies when the user split the mesh's solid into several. */
    if (cJSON_HasObjectItem(document, "placed") && !cJSON_HasObjectItem(document, "solids"))
        return place_anew(file, document, said, notes, error);
    return change_flow(file, document, said, notes, error);
}

/* ---- Writing ---- */

void kf_scene_document_ask(cJSON *document, const kf_scene_options *options) {
    cJSON *asked = cJSON_GetObjectItemCaseSensitive(document, "asked");
    const bool any = options->nodes[0] > 0 || options->samples_per_cell > 0.0 || options->accuracy > 0.0 ||
                     options->seed > 0;
    if (!any) return;
    if (asked == NULL) asked = cJSON_AddObjectToObject(document, "asked");
    if (options->nodes[0] > 0) {
        cJSON_DeleteItemFromObjectCaseSensitive(asked, "grid");
        cJSON_AddItemToObject(asked, "grid", cJSON_CreateIntArray(options->nodes, 3));
    }
    if (options->samples_per_cell > 0.0) put_number(asked, "samples_per_cell", options->samples_per_cell);
    if (options->accuracy > 0.0) put_number(asked, "accuracy", options->accuracy);
    if (options->seed > 0) put_number(asked, "seed", (double)options->seed);
}

/* Stores the hash of a solid's mesh. A hash that exists belongs to the mesh of which the scene was made, and
 * stays. */
static kf_status pin_solid(cJSON *solid, kf_error *error) {
    const char *mesh = cJSON_GetStringValue(member_of(solid, "mesh")),
               *before = cJSON_GetStringValue(member_of(solid, "mesh_hash"));
    char hash[KF_HASH_HEX];
    if (mesh == NULL) return KF_OK;
    KF_TRY(kf_mesh_file_hash(mesh, hash, error));
    if (before != NULL && strcmp(before, hash) != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s is not the mesh from which this scene was made, because its file has changed; "
                       "give the new one with --scene, or remove mesh_hash",
                       mesh);
    cJSON_DeleteItemFromObjectCaseSensitive(solid, "mesh_hash");
    cJSON_AddStringToObject(solid, "mesh_hash", hash);
    return KF_OK;
}

kf_status kf_scene_document_pin(cJSON *document, kf_error *error) {
    cJSON *solids = cJSON_GetObjectItemCaseSensitive(document, "solids");
    KF_TRY(pin_solid(cJSON_GetObjectItemCaseSensitive(document, "solid"), error));
    for (cJSON *solid = cJSON_IsArray(solids) ? solids->child : NULL; solid != NULL; solid = solid->next)
        KF_TRY(pin_solid(solid, error));
    return KF_OK;
}

static kf_status keeping_folder(char folder[KF_PATH], kf_error *error) {
    char base[KF_PATH];
    kf_error ignored;
    if (kf_store_folder(base, &ignored) != KF_OK) KF_TRY(kf_cache_folder(base, error));
    return kf_path(folder, error, "%s/scenes", base);
}

kf_status kf_scene_document_keep(const cJSON *document, const char *name, char file[KF_PATH], bool *made,
                                 kf_error *error) {
    enum { SHORT_HASH = 16 };
    char folder[KF_PATH], inner[KF_PATH], hash[KF_HASH_HEX];
    char *canonical = kf_json_canonical(document);
    kf_hash_text(canonical, hash);
    free(canonical);
    KF_TRY(keeping_folder(folder, error));
    KF_TRY(kf_path(inner, error, "%s/%.*s", folder, SHORT_HASH, hash));
    KF_TRY(kf_make_folders(inner, error));
    KF_TRY(kf_path(file, error, "%s/%s.scene.json", inner, name));
    if (made != NULL) *made = access(file, F_OK) != 0;
    return kf_json_write_file(file, document, error);
}

void kf_scene_document_forget(const char *file) {
    char folder[KF_PATH];
    kf_copy_text(folder, sizeof folder, file);
    char *slash = strrchr(folder, '/');
    (void)unlink(file);
    if (slash == NULL) return;
    *slash = '\0';
    (void)rmdir(folder);
}

/* Returns whether the file is a scene that kftune made of a mesh, without changes by hand. */
static bool is_as_made(const char *file, const cJSON *there) {
    kf_placement placed;
    const char *mesh = NULL;
    cJSON *made = NULL;
    kf_error ignored;
    kf_text text = {0};
    bool same = false;
    if (read_placed(file, there, &placed, &mesh, &ignored) == KF_OK &&
        kf_scene_of_mesh(mesh, &placed, &made, NULL, &ignored) == KF_OK) {
        kf_scene_document_difference(there, made, &text);
        same = text.length == 0;
    }
    kf_text_free(&text);
    cJSON_Delete(made);
    return same;
}

/* Refuses to overwrite a file with other content, unless kftune can make it again. */
static kf_status check_free(const cJSON *document, const char *file, bool *replaced, kf_error *error) {
    struct stat about;
    cJSON *there = NULL;
    kf_error ignored;
    kf_text text = {0};
    *replaced = false;
    if (stat(file, &about) != 0) return KF_OK;
    if (kf_scene_document_read(file, &there, &ignored) != KF_OK)
        return kf_fail(error, KF_BAD_INPUT, "%s: exists and is not a scene; give another name", file);
    kf_scene_document_difference(there, document, &text);
    *replaced = text.length > 0;
    kf_status status = KF_OK;
    if (*replaced && !is_as_made(file, there))
        status = kf_fail(
            error, KF_BAD_INPUT,
            "%s: exists with other content, written or changed by hand (%s); give another name, or remove it",
            file, text.text);
    kf_text_free(&text);
    cJSON_Delete(there);
    return status;
}

/* Shortens the path of a mesh in the file's own folder to its name. */
static void shorten_mesh(cJSON *document, const char *file) {
    cJSON *mesh = cJSON_GetObjectItemCaseSensitive(member_of(document, "solid"), "mesh");
    char folder[KF_PATH], whole[KF_PATH];
    folder_of(file, folder);
    const bool there = kf_real_path(folder, whole);
    const size_t length = there ? strlen(whole) : 0;
    if (there && cJSON_IsString(mesh) && strncmp(mesh->valuestring, whole, length) == 0 &&
        mesh->valuestring[length] == '/' && strchr(mesh->valuestring + length + 1, '/') == NULL) {
        char *name = kf_duplicate(mesh->valuestring + length + 1);
        (void)cJSON_SetValuestring(mesh, name);
        free(name);
    }
}

kf_status kf_scene_document_write(const cJSON *document, const char *file, bool *replaced, kf_error *error) {
    KF_TRY(check_free(document, file, replaced, error));
    cJSON *copy = cJSON_Duplicate(document, true);
    shorten_mesh(copy, file);
    const kf_status status = kf_json_write_file(file, copy, error);
    cJSON_Delete(copy);
    return status;
}
