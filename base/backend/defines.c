/* The list of defines of a source. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/backend/backend.h"

bool kf_device_is_gpu(const kf_device_info *device) {
    return strcmp(device->backend, "cuda") == 0;
}

void kf_define_text(kf_defines *defines, const char *name, const char *format, ...) {
    va_list arguments;
    assert(defines->count < KF_DEFINES);
    kf_define *entry = &defines->list[defines->count++];
    entry->name = name;
    va_start(arguments, format);
    const int length = vsnprintf(entry->value, sizeof entry->value, format, arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < sizeof entry->value);
    (void)length;
}

void kf_define_to(kf_defines *defines, const char *name, long value) {
    kf_define_text(defines, name, "%ld", value);
}
