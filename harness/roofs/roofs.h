/* Measures the roofs of a device: the best rates of memory, arithmetic, atomics and launches. Small kernels
 * (kernels/roofs) measure them, and theoretical rates stand beside them. */
#ifndef KF_HARNESS_ROOFS_ROOFS_H
#define KF_HARNESS_ROOFS_ROOFS_H

#include "base/backend/backend.h"
#include "base/record/roofs.h"

/* Groups of roofs. */
enum {
    KF_ROOFS_ARITHMETIC = 1,
    KF_ROOFS_MEMORY = 2,
    KF_ROOFS_ATOMICS = 4,
    KF_ROOFS_LAUNCHES = 8,
    KF_ROOFS_ALL = 15
};

/* Measures these groups (KF_ROOFS_...), which takes up to a second for each roof. kf_roof_about describes a
 * roof. */
kf_status kf_roofs_measure(kf_backend *backend, unsigned groups, kf_roofs *roofs, kf_error *error);

/* Measures the links between neighbouring devices of a team; link_0_1_... is between the first two. It takes
 * about two seconds for each link. KF_BAD_INPUT for more than 17 devices. */
kf_status kf_links_measure(kf_backend *backend, kf_roofs *roofs, kf_error *error);

/* Returns the theoretical rate of multiply-adds of floating-point numbers with this many bits (16, 32, 64),
 * in operations a second, two for each; 0: not known. */
double kf_roof_peak_flops(const kf_device_info *device, int bits);

/* Returns a description of the roof with this name; "": the name is unknown. */
const char *kf_roof_about(const char *name);

#endif
