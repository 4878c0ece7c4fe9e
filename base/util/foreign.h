/* Files that are something else than their names say, by their first bytes. */
#ifndef KF_BASE_UTIL_FOREIGN_H
#define KF_BASE_UTIL_FOREIGN_H

#include <stddef.h>

/* Says what a file is that begins with these bytes, and what to do about it, as the end of a sentence: "is a
 * zip archive; unpack it". Known are files that take the place of a mesh, a grid or a text when a download,
 * an export or a version control system goes wrong. NULL: it is none of them. */
const char *kf_foreign_kind(const char *bytes, size_t size);

#endif
