/* Meshes of the kinds that users of other programs report as read wrongly, and what must be found in them. */
#ifndef KF_TESTS_UNIT_MESH_CASES_H
#define KF_TESTS_UNIT_MESH_CASES_H

#include "scene/placement.h"
#include "tests/unit/mesh_heap.h"

static const double UNIT[3] = {1, 1, 1}, ORIGIN[3] = {0, 0, 0};

/* Opens a scene around a mesh with --up z --wind +x --road no, or with the given options. */
static inline kf_scene *open_tunnel(const char *path, const kf_placement *said) {
    static const kf_placement usual = {
        .up = {2, 1}, .wind = {0, 1}, .road = KF_ROAD_NO, .reynolds = 100, .cells = 10};
    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_scene_open_placed(path, said != NULL ? said : &usual, NULL, &scene, &error) != KF_OK)
        fail_msg("%s", error.message);
    return scene;
}

static inline double front_of(const char *path, const kf_placement *said) {
    kf_scene *scene = open_tunnel(path, said);
    const double area = scene->frontal_area * scene->cell_size * scene->cell_size;
    kf_scene_free(scene);
    return area;
}

static inline void assert_same_scene(const char *path, const char *other) {
    kf_scene *scene = open_tunnel(path, NULL), *same = open_tunnel(other, NULL);
    assert_string_equal(scene->hash, same->hash); /* sample for sample, so force for force */
    assert_int_equal(scene->open_edges, same->open_edges);
    kf_scene_free(scene);
    kf_scene_free(same);
}

static inline void check_box(const char *path, double x, double y, double z) {
    kf_text notes = {0};
    kf_mesh mesh = read_mesh(path, &notes);
    const kf_box box = {{0, 0, 0}, {x, y, z}};
    assert_solid(path, &mesh, x * y * z, 2 * (x * y + y * z + z * x), &box);
    kf_text_free(&notes);
    kf_mesh_free(&mesh);
}

#endif
