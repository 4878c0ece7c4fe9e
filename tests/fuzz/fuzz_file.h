/* Has what the fuzz targets for files share: the input as a file, and what every refusal must be. */
#ifndef KF_TESTS_FUZZ_FUZZ_FILE_H
#define KF_TESTS_FUZZ_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Writes the input to a file with this ending. The path is the same at every call. */
static inline const char *fuzz_file(const uint8_t *data, size_t size, const char *ending) {
    static char path[KF_PATH];
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/fuzz-%ld%s", folder != NULL ? folder : "/tmp", (long)getpid(),
                   ending);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    return path;
}

/* A refusal is one line with the right status. */
static inline void fuzz_check(kf_status status, const kf_error *error) {
    if (status == KF_OK) return;
    if ((status != KF_BAD_INPUT && status != KF_MACHINE && status != KF_HOST) || error->message[0] == '\0')
        abort();
    if (strchr(error->message, '\n') != NULL) abort();
}

#endif
