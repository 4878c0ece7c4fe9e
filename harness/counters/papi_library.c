#include "harness/counters/papi_library.h"

#include <stddef.h>

#include "base/backend/library.h"

kf_papi_table kf_papi;

static const char *const names[] = {"libpapi.so.7.1", "libpapi.so.7.0", "libpapi.so.7",
                                    "libpapi.so.6.0", "libpapi.so",     NULL};
static const char *const folders[] = {NULL};

#define ENTRY(name, arguments) {#name, offsetof(kf_papi_table, name), false},
static const kf_symbol symbols[] = {KF_PAPI_FUNCTIONS(ENTRY)};
#undef ENTRY

static const kf_library library = {
    .names = names,
    .folders = folders,
    .cure = "install PAPI (Debian: apt-get install libpapi-dev)",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

/* Initialises PAPI. The caller states the version for which it was compiled: major and minor in the upper two
 * bytes. */
static bool initialise(void) {
    static const int versions[] = {0x07020000, 0x07010000, 0x07000000, 0x06000000};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (kf_papi.PAPI_library_init(versions[i]) == versions[i]) return true;
    return false;
}

kf_status kf_papi_load(kf_error *error) {
    static bool loaded;
    char file[KF_PATH];
    kf_error why;
    if (loaded) return KF_OK;
    if (kf_library_load(&library, &kf_papi, file, &why) != KF_OK)
        return kf_fail(error, KF_MACHINE, "counters: not available because %s", why.message);
    if (!initialise())
        return kf_fail(error, KF_MACHINE, "counters: not available because PAPI could not start");
    loaded = true;
    return KF_OK;
}
