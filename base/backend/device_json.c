#include "base/backend/device_json.h"

static void add_text(cJSON *json, const char *key, const char *text) {
    if (text[0] != '\0')
        (void)cJSON_AddStringToObject(json, key, text);
    else
        (void)cJSON_AddNullToObject(json, key);
}

cJSON *kf_device_remembered_to_json(const char *name, const char *backend) {
    cJSON *json = cJSON_CreateObject();
    add_text(json, "name", name);
    add_text(json, "backend", backend);
    return json;
}

cJSON *kf_device_to_json(const kf_device_info *device) {
    cJSON *json = kf_device_remembered_to_json(device->name, device->backend);
    add_text(json, "spec", device->spec);
    add_text(json, "architecture", device->architecture);
    add_text(json, "driver", device->driver);
    add_text(json, "compiler", device->compiler);
    return json;
}
