#include "harness/counters/papi_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

kf_papi_table kf_papi;

static const char *const names[] = {"libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7", "libpapi.so.6.0",
                                    "libpapi.so"};

#define ENTRY(name, arguments) {#name, offsetof(kf_papi_table, name)},
static const struct {
    const char *name;
    size_t offset;
} entries[] = {KF_PAPI_FUNCTIONS(ENTRY)};
#undef ENTRY

/* It wants to be told the version it is of: major and minor in the upper two bytes. */
static bool initialise(void) {
    static const int versions[] = {0x07020000, 0x07010000, 0x07000000, 0x06000000};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (kf_papi.PAPI_library_init(versions[i]) == versions[i]) return true;
    return false;
}

static void *open_library(void) {
    void *handle = NULL;
    for (size_t i = 0; handle == NULL && i < sizeof names / sizeof *names; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

kf_status kf_papi_load(kf_error *error) {
    static bool loaded;
    if (loaded) return KF_OK;
    void *handle = open_library();
    if (handle == NULL)
        return kf_fail(error, KF_MACHINE,
                       "counters: not available because PAPI is not installed; on Debian: apt-get install "
                       "libpapi-dev");
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *address = dlsym(handle, entries[i].name);
        if (address == NULL)
            return kf_fail(error, KF_MACHINE, "counters: not available because this PAPI lacks %s",
                           entries[i].name);
        memcpy((char *)&kf_papi + entries[i].offset, &address, sizeof address);
    }
    if (!initialise())
        return kf_fail(error, KF_MACHINE, "counters: not available because PAPI could not start");
    loaded = true;
    return KF_OK;
}
