/* Measures the ceilings of a device: what memory, arithmetic, atomics and launches reach at best. Small
 * kernels (kernels/roofs) measure them, and they are held against what the hardware promises. */
#ifndef KF_HARNESS_ROOFS_ROOFS_H
#define KF_HARNESS_ROOFS_ROOFS_H

#include "base/backend/backend.h"
#include "base/record/roofs.h"

/* These groups of roofs go by what limits them. */
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

/* Measures, of a team, what the links between devices that lie side by side in it carry; link_0_1_... is
 * between its first two. It takes about two seconds a link. More than 17 devices are KF_BAD_INPUT. */
kf_status kf_links_measure(kf_backend *backend, kf_roofs *roofs, kf_error *error);

/* Gives what the hardware promises at best in multiply-adds of floating-point numbers of so many bits (16,
 * 32, 64), in operations a second, two for each; 0: not known. */
double kf_roof_peak_flops(const kf_device_info *device, int bits);

/* Says for people what a roof of this name is; "" for an unknown one. */
const char *kf_roof_about(const char *name);

#endif
