/* Merges any bytes, as the store of a shard with a journal that SQLite has not finished, into another
 * store. That one keeps its content. The first byte is the length of the store in pages of 512 bytes. The
 * rest is its -wal, or its -journal. */
#include "tests/fuzz/fuzz_file.h"

#include "results/store.h"

static void write_beside(const char *path, const char *ending, const uint8_t *data, size_t size) {
    char name[KF_PATH + 16];
    (void)snprintf(name, sizeof name, "%s%s", path, ending);
    (void)unlink(name);
    if (size == 0) return;
    FILE *file = fopen(name, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

static void count(void *runs, const kf_run_summary *run) {
    (void)run;
    ++*(int *)runs;
}

static int runs_of(kf_store *store) {
    kf_error error = {KF_OK, ""};
    int runs = 0;
    if (kf_store_runs(store, count, &runs, &error) != KF_OK) abort();
    return runs;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static kf_store *store;
    static char shard[KF_PATH];
    kf_error error = {KF_OK, ""};
    int runs = 0, results = 0;
    if (store == NULL) {
        (void)snprintf(shard, sizeof shard, "%s", fuzz_file(data, 0, ".shard.db"));
        const char *path = fuzz_file(data, 0, ".db");
        (void)unlink(path);
        if (kf_store_open(path, false, &store, &error) != KF_OK) abort();
    }
    if (size < 2) return 0;
    const bool journal = (data[0] & 128) != 0;
    size_t length = (size_t)(data[0] & 127) * 512;
    if (length > size - 1 || (data[0] & 127) == 127) length = size - 1;
    write_beside(shard, "", data + 1, length);
    write_beside(shard, "-shm", data, 0);
    write_beside(shard, "-wal", data + 1 + length, journal ? 0 : size - 1 - length);
    write_beside(shard, "-journal", data + 1 + length, journal ? size - 1 - length : 0);
    const int before = runs_of(store);
    const kf_status status = length > 0 ? kf_store_merge(store, shard, &runs, &results, &error) : KF_OK;
    fuzz_check(status, &error);
    if (runs_of(store) != before + (status == KF_OK ? runs : 0)) abort();
    return 0;
}
