#include "solver/output/table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"

/* Returns the length of the part of text to keep: the header, and the complete rows of steps up to last. */
static size_t kept_length(const char *text, const char *header, uint64_t last) {
    if (strncmp(text, header, strlen(header)) != 0) return 0;
    const char *row = text + strlen(header);
    for (const char *end; (end = strchr(row, '\n')); row = end + 1) {
        char *after;
        uint64_t step = strtoull(row, &after, 10);
        if (after == row || *after != ',' || step > last) break;
    }
    return (size_t)(row - text);
}

kf_status kf_table_open(const char *path, const char *header, uint64_t from_step, FILE **stream,
                        kf_error *error) {
    size_t kept = 0;
    if (from_step > 0 && access(path, R_OK) == 0) {
        char *text = NULL;
        size_t size;
        KF_TRY(kf_file_read(path, 0, &text, &size, error));
        kept = kept_length(text, header, from_step);
        const bool others = kept == 0 && strchr(text, '\n') != NULL;
        free(text);
        if (others)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: has other columns than this run's table; give another folder with --output",
                           path);
    }
    *stream = fopen(path, kept > 0 ? "r+" : "w");
    bool good = *stream != NULL;
    if (good && kept > 0)
        good = ftruncate(fileno(*stream), (off_t)kept) == 0 && fseek(*stream, 0, SEEK_END) == 0;
    if (good && kept == 0) good = fputs(header, *stream) >= 0 && fflush(*stream) == 0;
    if (good) return KF_OK;
    int reason = errno;
    if (*stream) fclose(*stream);
    *stream = NULL;
    return kf_fail(error, KF_MACHINE, "%s: cannot write: %s", path, strerror(reason));
}

void kf_table_add(FILE *stream, int count, const double *values) {
    for (int a = 0; a < count; a++)
        (void)fprintf(stream, ",%.8g", isnan(values[a]) ? fabs((double)NAN) : values[a]);
}

kf_status kf_table_end_row(FILE *stream, const char *path, kf_error *error) {
    (void)fputc('\n', stream);
    if (fflush(stream) == 0 && !ferror(stream)) return KF_OK;
    return kf_fail(error, KF_MACHINE, "%s: cannot write: %s", path, strerror(errno));
}
