/* Facts about this machine, moment and process that rows contain. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "results/nightly.h"
#include "results/store_internal.h"

/* --- Moments ------------------------------------------------------------------------------------------ */

static void print_moment(time_t seconds, long microseconds, char moment[KF_MOMENT]) {
    struct tm parts;
    (void)gmtime_r(&seconds, &parts);
    char day[24];
    (void)strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(moment, KF_MOMENT, "%.19s.%06ldZ", day, microseconds % 1000000);
}

void kf_moment_now(char moment[KF_MOMENT]) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    print_moment(now.tv_sec, now.tv_nsec / 1000, moment);
}

/* Parses the offset from UTC in minutes: "", "Z", "+01:00", "-0330". */
static bool parse_offset(const char *text, int *minutes) {
    int hour = 0, minute = 0, end = 0;
    *minutes = 0;
    if (text[0] == '\0' || strcmp(text, "Z") == 0) return true;
    if (text[0] != '+' && text[0] != '-') return false;
    bool long_form = sscanf(text + 1, "%2d:%2d%n", &hour, &minute, &end) == 2;
    if (!long_form && sscanf(text + 1, "%2d%2d%n", &hour, &minute, &end) != 2) return false;
    if (text[1 + end] != '\0' || hour < 0 || hour > 14 || minute < 0 || minute > 59) return false;
    *minutes = (text[0] == '-' ? -1 : 1) * (60 * hour + minute);
    return true;
}

/* Parses a moment with or without fraction and zone, and writes it in UTC as in the store. Returns false if
 * it is not a moment. */
bool kf_moment_parse(const char *text, char moment[KF_MOMENT]) {
    struct tm parts = {0};
    int end = 0, offset = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
               &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &end) != 6 ||
        end == 0)
        return false;
    bool sensible = parts.tm_year >= 1970 && parts.tm_mon >= 1 && parts.tm_mon <= 12 && parts.tm_mday >= 1 &&
                    parts.tm_mday <= 31 && parts.tm_hour >= 0 && parts.tm_hour < 24 && parts.tm_min >= 0 &&
                    parts.tm_min < 60 && parts.tm_sec >= 0 && parts.tm_sec <= 60;
    if (!sensible) return false;
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    long microseconds = 0, unit = 100000;
    const char *rest = text + end;
    if (*rest == '.')
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            microseconds += unit * (*rest - '0');
    if (!parse_offset(rest, &offset)) return false;
    print_moment(timegm(&parts) - (time_t)offset * 60, microseconds, moment);
    return true;
}

/* --- Names that are given out once -------------------------------------------------------------------- */

kf_status kf_uuid_new(char uuid[37], kf_error *error) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return kf_fail(error, KF_MACHINE, "the system provides no random numbers: %s", strerror(errno));
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* a random UUID, version 4 of RFC 9562 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    int at = 0;
    for (int i = 0; i < 16; i++)
        at += snprintf(uuid + at, (size_t)(37 - at), "%s%02x",
                       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return KF_OK;
}

/* Returns the clock ticks between boot and the start of the process; 0: there is no such process, or it has
 * ended but was not collected by its parent. */
static unsigned long long start_time(long process) {
    char path[64], line[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", process);
    if (!kf_first_line(path, line, sizeof line)) return 0;
    /* The second field is the program's name in parentheses, which may contain spaces. The start is the 22nd
     * field. */
    const char *at = strrchr(line, ')');
    if (at != NULL && (strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)) return 0;
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

static void describe_process(long number, char process[KF_PROCESS]) {
    char boot[48];
    if (!kf_first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot)) (void)strcpy(boot, "unknown");
    (void)snprintf(process, KF_PROCESS, "%s %ld %llu", boot, number, start_time(number));
}

void kf_process_self(char process[KF_PROCESS]) {
    describe_process((long)getpid(), process);
}

bool kf_process_is_other_alive(const char *process) {
    long number = 0;
    if (sscanf(process, "%*s %ld", &number) != 1 || number == (long)getpid() || start_time(number) == 0)
        return false;
    char now[KF_PROCESS];
    describe_process(number, now);
    return strcmp(process, now) == 0;
}

/* --- The environment row ------------------------------------------------------------------------------ */

typedef struct kf_host {
    char processor[128], system[256];
    long processor_count;
    bool container;
} kf_host;

/* Describes the host: processor, kernel, and whether this is a container. */
static void describe_host(kf_host *host) {
    *host = (kf_host){.processor = "unknown", .processor_count = sysconf(_SC_NPROCESSORS_ONLN)};
    FILE *stream = fopen("/proc/cpuinfo", "re");
    char line[512];
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        if (strncmp(line, "model name", 10) != 0 || strchr(line, ':') == NULL) continue;
        line[strcspn(line, "\n")] = '\0';
        kf_copy_text(host->processor, sizeof host->processor, strchr(line, ':') + 2);
        break;
    }
    if (stream != NULL) (void)fclose(stream);
    struct utsname names;
    if (uname(&names) == 0)
        (void)snprintf(host->system, sizeof host->system, "%s %s %s", names.sysname, names.release,
                       names.machine);
    host->container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

/* Hashes the environment. memory_free_bytes and spec are left out, because they describe the present state
 * and place of a device, not the device. */
static void hash_environment(const kf_device_info *device, const kf_host *host, const char *kftune,
                             char hash[KF_HASH_HEX]) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    const char *const texts[] = {device->backend,      device->name,   device->identity,
                                 device->architecture, device->driver, device->compiler,
                                 host->processor,      host->system,   kftune};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        kf_hash_add_string(&hasher, texts[i]);
    char numbers[256];
    (void)snprintf(numbers, sizeof numbers, "%d %d %d %llu %llu %.17g %ld %d", device->multiprocessors,
                   device->warp_size, device->max_threads_per_block, (unsigned long long)device->memory_bytes,
                   (unsigned long long)device->l2_bytes, device->peak_bandwidth, host->processor_count,
                   (int)host->container);
    kf_hash_add_string(&hasher, numbers);
    kf_hash_end(&hasher, hash);
}

/* Binds the columns of an environment, in the order of the table. */
static void bind_environment(kf_binder *binder, const kf_device_info *device, const kf_host *host) {
    kf_bind_text(binder, device->backend);
    kf_bind_text(binder, device->name);
    kf_bind_text(binder, device->identity);
    kf_bind_text(binder, device->architecture);
    kf_bind_text(binder, device->driver);
    kf_bind_text(binder, device->compiler);
    kf_bind_integer(binder, device->multiprocessors);
    kf_bind_integer(binder, device->warp_size);
    kf_bind_integer(binder, device->max_threads_per_block);
    kf_bind_integer(binder, (int64_t)device->memory_bytes);
    kf_bind_integer(binder, (int64_t)device->l2_bytes);
    kf_bind_number(binder, device->peak_bandwidth);
    kf_bind_text(binder, host->processor);
    kf_bind_integer(binder, host->processor_count);
    kf_bind_text(binder, host->system);
    kf_bind_integer(binder, host->container);
}

/* An imported landscape was not measured here, so this host is not one of its facts. */
static void host_of(const kf_device_info *device, kf_host *host) {
    *host = (kf_host){.processor = "", .system = ""};
    if (strcmp(device->backend, "import") != 0) describe_host(host);
}

void kf_environment_hash(const kf_device_info *device, const char *kftune, char hash[KF_HASH_HEX]) {
    kf_host host;
    host_of(device, &host);
    hash_environment(device, &host, kftune, hash);
}

kf_status kf_store_environment(kf_store *store, const kf_device_info *device, const char *kftune, int64_t *id,
                               kf_error *error) {
    kf_host host;
    host_of(device, &host);
    char hash[KF_HASH_HEX];
    hash_environment(device, &host, kftune, hash);
    sqlite3_stmt *statement = NULL;
    KF_TRY(kf_store_prepare(
        store,
        "INSERT INTO environment (backend, device, identity, architecture, driver, compiler, "
        "multiprocessors, warp_size, max_threads_per_block, memory_bytes, l2_bytes, "
        "peak_bandwidth, processor, processor_count, operating_system, container, kftune, hash) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING id",
        &statement, error));
    kf_binder binder = {statement, 0};
    bind_environment(&binder, device, &host);
    kf_bind_text(&binder, kftune);
    kf_bind_text(&binder, hash);
    bool found = false;
    kf_status status = kf_store_step(store, statement, "storing the environment", &found, error);
    if (status == KF_OK) *id = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return status;
}

/* Compares a column of the row with the value on this machine. */
static void append_difference(sqlite3_stmt *statement, int column, const char *name, const char *now,
                              kf_text *text) {
    const char *then = (const char *)sqlite3_column_text(statement, column);
    if (then == NULL || strcmp(then, now) == 0) return;
    kf_text_append(text, "%s%s '%.60s', now '%.60s'", text->length > 0 ? ", " : "", name, then, now);
}

kf_status kf_store_environment_difference(kf_store *store, int64_t environment, const kf_device_info *device,
                                          kf_text *text, kf_error *error) {
    static const char *const names[] = {"backend",
                                        "device",
                                        "identity of the device",
                                        "architecture",
                                        "driver",
                                        "compiler",
                                        "multiprocessors or threads",
                                        "warp size",
                                        "threads of a block",
                                        "bytes of memory",
                                        "bytes of the cache",
                                        "peak bandwidth",
                                        "processor",
                                        "number of processors",
                                        "operating system",
                                        "container"};
    kf_host host;
    host_of(device, &host);
    sqlite3_stmt *row = NULL, *own = NULL;
    KF_TRY(
        kf_store_prepare(store,
                         "SELECT backend, device, identity, architecture, driver, compiler, multiprocessors, "
                         "warp_size, max_threads_per_block, memory_bytes, l2_bytes, peak_bandwidth, "
                         "processor, processor_count, operating_system, container FROM environment "
                         "WHERE id = ?",
                         &row, error));
    kf_binder binder = {row, 0};
    kf_bind_integer(&binder, environment);
    bool found = false, answered = false;
    kf_status status = kf_store_step(store, row, "reading an environment", &found, error);
    /* SQLite writes both sides, so equal numbers give equal texts. */
    if (status == KF_OK)
        status = kf_store_prepare(store, "SELECT ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?", &own, error);
    if (status == KF_OK) {
        binder = (kf_binder){own, 0};
        bind_environment(&binder, device, &host);
        status = kf_store_step(store, own, "reading an environment", &answered, error);
    }
    for (int i = 0; status == KF_OK && found && answered && i < (int)(sizeof names / sizeof *names); i++)
        append_difference(row, i, names[i], (const char *)sqlite3_column_text(own, i), text);
    (void)sqlite3_finalize(row);
    (void)sqlite3_finalize(own);
    return status;
}
