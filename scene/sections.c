/* Sections of a scene file that belong to a single system. */
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "scene/internal.h"

/* Returns the index of the section in the scene, or a free one; -1 if there is none. */
static int place_of(const kf_scene *scene, const kf_scene_section *section) {
    for (int i = 0; i < KF_SCENE_SECTIONS; i++)
        if (scene->sections[i].section == section || scene->sections[i].section == NULL) return i;
    return -1;
}

void *kf_scene_section_values(const kf_scene *scene, const kf_scene_section *section) {
    const int place = place_of(scene, section);
    return place < 0 ? NULL : scene->sections[place].values;
}

void kf_scene_set_section(kf_scene *scene, const kf_scene_section *section, void *values) {
    const int place = place_of(scene, section);
    /* The systems have more sections than a scene can hold, which is a programming error. */
    if (place < 0) abort();
    scene->sections[place].section = section;
    scene->sections[place].values = values;
}

void *kf_scene_make_section(kf_scene *scene, const kf_scene_section *section) {
    if (kf_scene_section_values(scene, section) == NULL)
        kf_scene_set_section(scene, section, kf_allocate_zeroed(1, section->size));
    return kf_scene_section_values(scene, section);
}

void kf_scene_copy_sections(const kf_scene *scene, kf_scene *copy) {
    for (int i = 0; i < KF_SCENE_SECTIONS && scene->sections[i].section != NULL; i++) {
        const size_t size = scene->sections[i].section->size;
        copy->sections[i].values = memcpy(kf_allocate(size), scene->sections[i].values, size);
    }
}

void kf_scene_hash_sections(const kf_scene *scene, kf_hasher *hasher) {
    for (int i = 0; i < KF_SCENE_SECTIONS && scene->sections[i].section != NULL; i++)
        scene->sections[i].section->hash(scene->sections[i].values, hasher);
}

static kf_status read_section(const char *file, const cJSON *root, const kf_scene_section *section,
                              kf_scene *scene, kf_error *error) {
    const kf_json_place top = {file, ""};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, section->name, false, &object, error));
    return object == NULL ? KF_OK : section->read(file, object, kf_scene_make_section(scene, section), error);
}

kf_status kf_scene_read_sections(const char *file, const kf_scene_options *options, kf_scene *scene,
                                 kf_error *error) {
    cJSON *root = NULL;
    kf_status status = KF_OK;
    if (options->sections == NULL) return KF_OK;
    KF_TRY(kf_json_read_file(file, &root, error));
    for (int i = 0; i < KF_SCENE_SECTIONS && options->sections[i] != NULL && status == KF_OK; i++)
        status = read_section(file, root, options->sections[i], scene, error);
    cJSON_Delete(root);
    return status;
}
