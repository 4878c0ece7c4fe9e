#include "solver/systems.h"

#include <string.h>

#include "base/util/text.h"
#include "solver/d2q9/d2q9.h"
#include "solver/kinetic/kinetic.h"
#include "solver/t1/t1.h"

const kf_system *const kf_systems[] = {&kf_system_kinetic, &kf_system_d2q9, &kf_system_t1, NULL};

kf_status kf_system_find(const char *name, const kf_system **system, kf_error *error) {
    const char *names[8];
    int count = 0;
    for (; kf_systems[count] != NULL; count++) {
        names[count] = kf_systems[count]->name;
        if (strcmp(name, names[count]) == 0) {
            *system = kf_systems[count];
            return KF_OK;
        }
    }
    const char *nearest = kf_nearest(name, names, count);
    return kf_fail(error, KF_BAD_INPUT, "unknown system '%s'%s%s%s; `kftune list systems` names them", name,
                   nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
}
