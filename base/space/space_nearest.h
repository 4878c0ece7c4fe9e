/* The config that keeps what --fix says and is otherwise the default as far as the constraints let it. */
#ifndef KF_BASE_SPACE_SPACE_NEAREST_H
#define KF_BASE_SPACE_SPACE_NEAREST_H

#include "base/space/space.h"

/* The config of the space that differs from the preset default in the fewest values; of several the one whose
 * changed values come first in their domains. KF_BAD_INPUT when the space has none. */
kf_status kf_space_nearest(const kf_space *space, kf_config *config, kf_error *error);

#endif
