/* Finds the config nearest to the default among those that --fix allows. */
#ifndef KF_BASE_SPACE_SPACE_NEAREST_H
#define KF_BASE_SPACE_SPACE_NEAREST_H

#include "base/space/space.h"

/* Finds the config of the space that differs from the preset default in the fewest values. Of several, it
 * takes the one whose changed values come first in their domains. KF_BAD_INPUT when the space is empty. */
kf_status kf_space_nearest(const kf_space *space, kf_config *config, kf_error *error);

#endif
