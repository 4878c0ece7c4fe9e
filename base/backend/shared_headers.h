/* Headers that kernels and the program share: the layout of what a launch hands over. The program was
 * compiled with some; kernels are compiled with those of the data folder, which may be of another version. */
#ifndef KF_BASE_BACKEND_SHARED_HEADERS_H
#define KF_BASE_BACKEND_SHARED_HEADERS_H

#include <stddef.h>

#include "base/util/status.h"

/* Each with its text as it was when the program was compiled; the last has no file. */
typedef struct kf_shared_header {
    const char *file; /* below the data folder's kernels/ */
    const char *text;
} kf_shared_header;
extern const kf_shared_header kf_shared_headers[];

/* KF_HOST where the file below kernels/ is one of these and has another text: its kernels would take
 * their arguments for something else. path: for the message. */
kf_status kf_shared_header_check(const char *file, const char *text, size_t size, const char *path,
                                 kf_error *error);

#endif
