/* Makes a data folder for tests that compile kernels, with the shipped ones and some written by the test,
 * and an empty compile cache beside it. Include after cmocka.h. */
#ifndef KF_TESTS_UNIT_KERNEL_FOLDER_H
#define KF_TESTS_UNIT_KERNEL_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/file.h"

static char kernel_scratch[KF_PATH];

/* Asks in a child, because kf_data_folder remembers its answer. */
static int find_shipped_data(char folder[KF_PATH]) {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
        const char *found = NULL;
        kf_error error = {0};
        if (kf_data_folder(&found, &error) != KF_OK) (void)fprintf(stderr, "%s\n", error.message);
        const ssize_t sent = found ? write(ends[1], found, strlen(found)) : -1;
        _exit(sent > 0 ? 0 : 1);
    }
    (void)close(ends[1]);
    const ssize_t length = read(ends[0], folder, KF_PATH - 1);
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
    folder[length > 0 ? length : 0] = '\0';
    return length <= 0;
}

static inline int write_kernel(const char *name, const char *text) {
    char path[KF_PATH];
    return kf_path(path, NULL, "%s/data/kernels/test/%s", kernel_scratch, name) != KF_OK ||
           kf_file_write_atomic(path, text, strlen(text), NULL) != KF_OK;
}

/* Makes the folders, links the shipped kernels into them, and sets KFTUNE_DATA and XDG_CACHE_HOME to them.
 * Returns 0 on success. */
static inline int make_kernel_folder(void) {
    char shipped[KF_PATH], from[KF_PATH], to[KF_PATH];
    const char *base = getenv("KFTUNE_SCRATCH") ? getenv("KFTUNE_SCRATCH") : "/tmp";
    if (find_shipped_data(shipped)) return 1;
    if (kf_path(kernel_scratch, NULL, "%s/kftune-kernels-XXXXXX", base) != KF_OK || !mkdtemp(kernel_scratch))
        return 1;
    if (kf_path(to, NULL, "%s/data/kernels/test", kernel_scratch) != KF_OK ||
        kf_make_folders(to, NULL) != KF_OK || kf_path(from, NULL, "%s/kernels", shipped) != KF_OK)
        return 1;
    DIR *kernels = opendir(from);
    if (!kernels) return 1;
    int failed = 0;
    for (const struct dirent *entry = readdir(kernels); entry && !failed; entry = readdir(kernels)) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "test") == 0) continue;
        failed = kf_path(from, NULL, "%s/kernels/%s", shipped, entry->d_name) != KF_OK ||
                 kf_path(to, NULL, "%s/data/kernels/%s", kernel_scratch, entry->d_name) != KF_OK ||
                 symlink(from, to) != 0;
    }
    (void)closedir(kernels);
    if (failed || kf_path(to, NULL, "%s/data", kernel_scratch) != KF_OK || setenv("KFTUNE_DATA", to, 1) != 0)
        return 1;
    return kf_path(to, NULL, "%s/cache", kernel_scratch) != KF_OK || setenv("XDG_CACHE_HOME", to, 1) != 0;
}

static int remove_kernel_folder(void) {
    char command[KF_PATH + 16];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", kernel_scratch);
    return system(command); /* NOLINT(cert-env33-c): the path is mkdtemp's */
}

#endif
