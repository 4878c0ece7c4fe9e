/* The ceilings of a device: what memory, arithmetic, atomics and launches reach at best, measured by small
 * kernels (kernels/roofs) and held against what the hardware promises. */
#ifndef KF_HARNESS_ROOFS_ROOFS_H
#define KF_HARNESS_ROOFS_ROOFS_H

#include "base/backend/backend.h"
#include "base/record/roofs.h"

/* By what limits them. */
enum {
    KF_ROOFS_ARITHMETIC = 1,
    KF_ROOFS_MEMORY = 2,
    KF_ROOFS_ATOMICS = 4,
    KF_ROOFS_LAUNCHES = 8,
    KF_ROOFS_ALL = 15
};

/* Measures those of the groups (KF_ROOFS_...): up to a second each. A line of text about each: kf_roof_about.
 */
kf_status kf_roofs_measure(kf_backend *backend, unsigned groups, kf_roofs *roofs, kf_error *error);

/* Instead, of a team: what the links between devices that lie side by side in it carry, link_0_1_... that
 * between its first two. About two seconds a link. KF_BAD_INPUT with more than 17 devices. */
kf_status kf_links_measure(kf_backend *backend, kf_roofs *roofs, kf_error *error);

/* Gives what the hardware promises at best in multiply-adds of floating-point numbers of so many bits (16,
 * 32, 64), in operations a second, two for each; 0: not known. */
double kf_roof_peak_flops(const kf_device_info *device, int bits);

/* Says for people what a roof of this name is; "" for an unknown one. */
const char *kf_roof_about(const char *name);

#endif
