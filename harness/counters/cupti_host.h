/* Declares the part of CUPTI that needs no GPU: the metrics of a chip, the number of passes for them, and
 * their values from a counter image. */
#ifndef KF_HARNESS_COUNTERS_CUPTI_HOST_H
#define KF_HARNESS_COUNTERS_CUPTI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/status.h"

typedef struct kf_cupti_host kf_cupti_host;

/* Calls visit for every chip that this CUPTI knows ("GH100", ...). */
kf_status kf_cupti_chips(kf_status (*visit)(void *context, const char *chip, kf_error *error), void *context,
                         kf_error *error);

/* Returns true if the chip can collect this metric. */
bool kf_cupti_knows(const char *chip, const uint8_t *availability, const char *metric);

/* Plans how metrics are collected on a chip. availability: what the GPU reports that it can count; NULL:
 * there is no GPU. The names must outlive the host. */
kf_status kf_cupti_host_open(const char *chip, const uint8_t *availability, const char **metrics,
                             size_t count, kf_cupti_host **host, kf_error *error);
size_t kf_cupti_host_passes(const kf_cupti_host *host);
const uint8_t *kf_cupti_host_config(const kf_cupti_host *host, size_t *size);

/* Computes all metrics in one range of a counter image. */
kf_status kf_cupti_host_evaluate(const kf_cupti_host *host, const uint8_t *image, size_t image_size,
                                 size_t range, double *values, kf_error *error);
void kf_cupti_host_close(kf_cupti_host *host);

#endif
