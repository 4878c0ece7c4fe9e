/* Recognises, by its first bytes, a file that is not what its name says. */
#ifndef KF_BASE_UTIL_FOREIGN_H
#define KF_BASE_UTIL_FOREIGN_H

#include <stddef.h>

/* Says what a file that begins with these bytes is, and what to do about it, as the end of a sentence: "is a
 * zip archive; unpack it". It knows the files that a failed download, an export or a version control system
 * leaves in the place of a mesh, a grid or a text. NULL: none of these. */
const char *kf_foreign_kind(const char *bytes, size_t size);

#endif
