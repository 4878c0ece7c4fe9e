/* Headers that kernels and the program share: they define the layout of a launch's arguments. The program has
 * the text of each from its own compilation. Kernels use the files of the data folder, which may belong to
 * another version. */
#ifndef KF_BASE_BACKEND_SHARED_HEADERS_H
#define KF_BASE_BACKEND_SHARED_HEADERS_H

#include <stddef.h>

#include "base/util/status.h"

/* A shared header with its text at the compilation of the program. The list ends with an entry without a
 * file. */
typedef struct kf_shared_header {
    const char *file; /* below the data folder's kernels/ */
    const char *text;
} kf_shared_header;
extern const kf_shared_header kf_shared_headers[];

/* KF_HOST if the file below kernels/ is a shared header and its text differs: kernels would misread their
 * arguments. path: for the message. */
kf_status kf_shared_header_check(const char *file, const char *text, size_t size, const char *path,
                                 kf_error *error);

#endif
