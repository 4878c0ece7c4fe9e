/* Writes files for the tests of scene/ to a temporary folder, which is removed at the end. */
#ifndef KF_TESTS_UNIT_SCENE_FILES_H
#define KF_TESTS_UNIT_SCENE_FILES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "scene/internal.h"

static char test_folder[256];

static inline int make_test_folder(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(test_folder, sizeof test_folder, "%s/kftune-scene-XXXXXX",
                   parent != NULL ? parent : "/tmp");
    setenv("KFTUNE_DATA", ".", 0);
    return mkdtemp(test_folder) == NULL;
}

static inline int remove_test_folder(void **state) {
    (void)state;
    char command[300];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", test_folder);
    return system(command);
}

/* Returns the path of a file in the test folder. The last eight paths stay valid. */
static inline const char *test_path(const char *name) {
    static char paths[8][512];
    static int turn;
    char *path = paths[turn++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", test_folder, name);
    return path;
}

static inline const char *write_bytes(const char *name, const void *data, size_t size) {
    const char *path = test_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text) {
    return write_bytes(name, text, strlen(text));
}

/* Opens a scene from its file's text, which must be right. The caller frees it. */
static inline kf_scene *open_scene_text(const char *text, const kf_scene_options *options) {
    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_scene_open(write_text("scene.json", text), options, &scene, &error) != KF_OK)
        fail_msg("%s", error.message);
    return scene;
}

/* Returns the path of a mesh outside of the repository, or NULL. */
static inline const char *shared_mesh(const char *name) {
    static char path[1024];
    const char *shared = getenv("KFTUNE_SHARED");
    (void)snprintf(path, sizeof path, "%s/meshes/%s", shared != NULL ? shared : "../shared", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

/* Fails unless text contains part, and prints both. */
static inline void assert_holds(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", text, part);
}

/* Fails unless a scene file with this text is refused with a message that contains part. */
static inline void assert_scene_refused(const char *text, const char *part) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene = NULL;
    assert_int_equal(kf_scene_open(write_text("refused.json", text), NULL, &scene, &error), KF_BAD_INPUT);
    assert_holds(error.message, part);
}

#endif
