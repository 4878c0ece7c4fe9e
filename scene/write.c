/* Writes a placed mesh as a scene file. */
#include <stdlib.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "scene/internal.h"
#include "scene/placement.h"

static cJSON *three(const double values[3]) {
    return cJSON_CreateDoubleArray(values, 3);
}

/* Writes a solid in the form of a scene file. */
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
    if (s->linked) cJSON_AddStringToObject(solid, "boundary", "links");
    if (s->half_way) cJSON_AddStringToObject(solid, "links", "half-way");
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

/* Writes the complete description of a placed mesh in the form of a scene file. */
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
    if (d->wall_law) cJSON_AddStringToObject(section, "wall", "law");
    if (d->trip >= 0.0) cJSON_AddNumberToObject(section, "trip", d->trip);
    if (d->layers) cJSON_AddStringToObject(section, "layers", "modelled");
    if (d->refine.around_body) cJSON_AddItemToObject(root, "refine", kf_refine_json(d->refine.levels));
    section = cJSON_AddObjectToObject(root, "sampling");
    cJSON_AddNumberToObject(section, "samples_per_cell", d->samples_per_cell);
    cJSON_AddNumberToObject(section, "seed", (double)d->seed);
    return root;
}

kf_status kf_scene_of_mesh(const char *mesh_file, const kf_placement *placement, cJSON **scene, char **notes,
                           kf_error *error) {
    kf_description *d = kf_allocate(sizeof *d);
    kf_mesh mesh = {0};
    kf_text said = {0};
    *scene = NULL;
    kf_description_defaults(d, mesh_file);
    kf_status status = kf_mesh_read(mesh_file, &mesh, &said, error);
    kf_text_free(&said);
    if (status == KF_OK) status = kf_description_place(d, &mesh, placement, placement->nodes, &said, error);
    if (status == KF_OK) {
        char whole[KF_PATH];
        const bool there = kf_real_path(mesh_file, whole);
        if (placement->samples_per_cell > 0.0) d->samples_per_cell = placement->samples_per_cell;
        *scene = description_json(d, there ? whole : mesh_file, said.text);
        cJSON_AddItemToObject(*scene, "placed", kf_placement_to_json(placement));
    }
    if (notes != NULL) *notes = status == KF_OK && said.text != NULL ? kf_duplicate(said.text) : NULL;
    kf_text_free(&said);
    kf_mesh_free(&mesh);
    free(d);
    return status;
}
