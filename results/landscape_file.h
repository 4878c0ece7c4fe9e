/* Files that hold a landscape, as other programs and kftune write them. */
#ifndef KF_RESULTS_LANDSCAPE_FILE_H
#define KF_RESULTS_LANDSCAPE_FILE_H

#include <cjson/cJSON.h>

#include "base/util/status.h"

/* Reads a JSON file, also a gzipped one, also the Kernel Tuner cache of a job that still runs or was killed
 * (it ends in a comma, perhaps after half an entry). At most 1 GiB of text. The caller deletes *root. */
kf_status kf_landscape_file_read(const char *file, cJSON **root, kf_error *error);

#endif
