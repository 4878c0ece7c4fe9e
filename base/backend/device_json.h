/* A device as the JSON object that all commands print. */
#ifndef KF_BASE_BACKEND_DEVICE_JSON_H
#define KF_BASE_BACKEND_DEVICE_JSON_H

#include <cjson/cJSON.h>

#include "base/backend/backend.h"

/* {"name", "backend", "spec", "architecture", "driver", "compiler"}. */
cJSON *kf_device_to_json(const kf_device_info *device);

/* {"name", "backend"}: all that a store or a landscape knows of a device. An empty text becomes null. */
cJSON *kf_device_remembered_to_json(const char *name, const char *backend);

#endif
