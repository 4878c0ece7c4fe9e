/* A placed mesh as a scene file. */
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "scene/internal.h"
#include "scene/placement.h"

static cJSON *three(const double values[3]) {
    return cJSON_CreateDoubleArray(values, 3);
}

static cJSON *solid_json(const kf_solid_description *s, const char *mesh) {
    cJSON *solid = cJSON_CreateObject();
    cJSON_AddStringToObject(solid, "mesh", mesh);
    cJSON_AddNumberToObject(solid, "scale", s->scale);
    if (s->turns > 0) {
        cJSON *turns = cJSON_AddArrayToObject(solid, "rotation");
        for (int t = 0; t < s->turns; t++) {
            cJSON *turn = cJSON_CreateObject();
            cJSON_AddItemToObject(turn, "axis", three(s->turn[t].axis));
            cJSON_AddNumberToObject(turn, "degrees", s->turn[t].degrees);
            cJSON_AddItemToArray(turns, turn);
        }
    }
    if (s->yaw != 0.0) cJSON_AddNumberToObject(solid, "yaw", s->yaw);
    cJSON_AddStringToObject(solid, "anchor", kf_anchor_names[s->anchor]);
    cJSON_AddItemToObject(solid, "position", three(s->position));
    return solid;
}

static cJSON *faces_json(const kf_description *d) {
    cJSON *faces = cJSON_CreateObject();
    for (int f = 0; f < KF_FACES; f++) {
        const char *type = kf_boundary_names[d->faces[f]];
        if (!d->face_velocity_given[f]) {
            cJSON_AddStringToObject(faces, kf_face_names[f], type);
            continue;
        }
        cJSON *face = cJSON_AddObjectToObject(faces, kf_face_names[f]);
        cJSON_AddStringToObject(face, "type", type);
        cJSON_AddItemToObject(face, "velocity", three(d->face_velocity[f]));
        if (d->specular_share[f] > 0.0) cJSON_AddNumberToObject(face, "specular_share", d->specular_share[f]);
    }
    return faces;
}

static cJSON *description_json(const kf_description *d, const char *mesh, const char *notes) {
    cJSON *root = cJSON_CreateObject(), *section;
    cJSON_AddStringToObject(root, "description", notes);
    cJSON_AddItemToObject(root, "solid", solid_json(&d->solid, mesh));
    section = cJSON_AddObjectToObject(root, "domain");
    cJSON_AddItemToObject(section, "cells", cJSON_CreateIntArray(d->cells, 3));
    cJSON_AddNumberToObject(section, "cell_size", d->cell_size);
    cJSON_AddItemToObject(root, "boundaries", faces_json(d));
    section = cJSON_AddObjectToObject(root, "flow");
    cJSON_AddNumberToObject(section, "speed", d->speed);
    cJSON_AddNumberToObject(section, d->reynolds > 0.0 ? "reynolds" : "viscosity",
                            d->reynolds > 0.0 ? d->reynolds : d->viscosity);
    cJSON_AddNumberToObject(section, "reference_length", d->reference_length);
    if (d->reference_area > 0.0) cJSON_AddNumberToObject(section, "reference_area", d->reference_area);
    cJSON_AddNumberToObject(section, "lattice_speed", d->lattice_speed);
    section = cJSON_AddObjectToObject(root, "model");
    cJSON_AddStringToObject(section, "collision", kf_collision_names[d->collision]);
    cJSON_AddStringToObject(section, "rates", kf_rate_rule_names[d->rate_rule]);
    section = cJSON_AddObjectToObject(root, "sampling");
    cJSON_AddNumberToObject(section, "samples_per_cell", d->samples_per_cell);
    cJSON_AddNumberToObject(section, "seed", (double)d->seed);
    return root;
}

/* The folder that a file lies in, without links; false when there is none. */
static bool folder_of(const char *file, char folder[KF_PATH]) {
    char name[KF_PATH];
    const char *slash = strrchr(file, '/');
    kf_copy_text(name, sizeof name, slash == NULL ? "." : slash == file ? "/" : file);
    if (slash != NULL && slash != file) name[slash - file] = '\0';
    char *real = realpath(name, NULL);
    if (real == NULL) return false;
    kf_copy_text(folder, KF_PATH, real);
    free(real);
    return true;
}

/* The mesh as the scene file should name it: by its name alone beside it, else by its whole path. */
static kf_status name_mesh(const char *mesh, const char *scene_file, char name[KF_PATH], kf_error *error) {
    char mesh_folder[KF_PATH], scene_folder[KF_PATH];
    const char *slash = strrchr(mesh, '/'), *last = slash == NULL ? mesh : slash + 1;
    if (!folder_of(scene_file, scene_folder) || !folder_of(mesh, mesh_folder))
        return kf_fail(error, KF_BAD_INPUT, "%s: its folder does not exist", scene_file);
    if (strcmp(mesh_folder, scene_folder) == 0) return kf_path(name, error, "%s", last);
    return kf_path(name, error, "%s/%s", mesh_folder, last);
}

/* Nothing is overwritten that says something else. */
static kf_status write_new(const char *file, const char *text, bool *taken, kf_error *error) {
    enum { LONGEST = 1 << 20 };
    char *before = NULL;
    size_t size = 0;
    kf_error none;
    *taken = false;
    if (kf_file_read(file, LONGEST, &before, &size, &none) == KF_OK) {
        const bool same = size == strlen(text) && memcmp(before, text, size) == 0;
        free(before);
        if (same) return KF_OK;
        *taken = true;
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is there already and says something else; give it as --scene, or remove it",
                       file);
    }
    return kf_file_write_atomic(file, text, strlen(text), error);
}

/* Into file; numbered and taken: into "car-2.scene.json", "car-3.scene.json", ... instead, the first that is
 * free or says the same. */
static kf_status write_somewhere(char file[KF_PATH], const char *text, bool numbered, kf_error *error) {
    enum { MOST = 999 };
    static const char ending[] = ".scene.json";
    bool taken = false;
    kf_status status = write_new(file, text, &taken, error);
    const size_t length = strlen(file), tail = sizeof ending - 1;
    if (!taken || !numbered || length <= tail || strcmp(file + length - tail, ending) != 0) return status;
    char *stem = kf_duplicate(file);
    stem[length - tail] = '\0';
    for (int number = 2; number <= MOST && taken; number++) {
        status = kf_path(file, error, "%s-%d%s", stem, number, ending);
        if (status == KF_OK) status = write_new(file, text, &taken, error);
    }
    free(stem);
    return status;
}

/* kf_scene_write_placed, or numbered. */
static kf_status write_placed(const char *mesh_file, const kf_placement *placement, const int nodes[3],
                              double samples_per_cell, char scene_file[KF_PATH], bool numbered, char **notes,
                              kf_error *error) {
    kf_description *d = kf_allocate(sizeof *d);
    kf_mesh mesh = {0};
    kf_text said = {0};
    char name[KF_PATH];
    kf_description_defaults(d, mesh_file);
    kf_status status = kf_mesh_read(mesh_file, &mesh, &said, error);
    kf_text_free(&said);
    if (status == KF_OK) status = kf_description_place(d, &mesh, placement, nodes, &said, error);
    if (status == KF_OK) status = name_mesh(mesh_file, scene_file, name, error);
    if (status == KF_OK) {
        if (samples_per_cell > 0.0) d->samples_per_cell = samples_per_cell;
        cJSON *root = description_json(d, name, said.text);
        char *json = cJSON_Print(root);
        kf_text text = {0};
        kf_text_append(&text, "%s\n", json);
        status = write_somewhere(scene_file, text.text, numbered, error);
        kf_text_free(&text);
        free(json);
        cJSON_Delete(root);
    }
    if (notes != NULL) *notes = status == KF_OK && said.text != NULL ? kf_duplicate(said.text) : NULL;
    kf_text_free(&said);
    kf_mesh_free(&mesh);
    free(d);
    return status;
}

kf_status kf_scene_write_placed(const char *mesh_file, const kf_placement *placement, const int nodes[3],
                                double samples_per_cell, const char *scene_file, char **notes,
                                kf_error *error) {
    char file[KF_PATH];
    KF_TRY(kf_path(file, error, "%s", scene_file));
    return write_placed(mesh_file, placement, nodes, samples_per_cell, file, false, notes, error);
}

kf_status kf_scene_write_numbered(const char *mesh_file, const kf_placement *placement, const int nodes[3],
                                  double samples_per_cell, char scene_file[KF_PATH], char **notes,
                                  kf_error *error) {
    return write_placed(mesh_file, placement, nodes, samples_per_cell, scene_file, true, notes, error);
}
