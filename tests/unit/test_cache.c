/* Tests the compile cache. Faults: a key that misses a change, a damaged entry that is used, a folder that
 * grows without bound. */
#include "tests/unit/kernel_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/backend/cache.h"
#include "base/backend/known_keys.h"
#include "base/backend/shared_headers.h"

static const char key_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char key_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static const char key_c[] = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

static bool present(const char *key) {
    void *data;
    size_t size;
    if (!kf_cache_get(key, "bin", &data, &size)) return false;
    free(data);
    return true;
}

static void entry_file(const char *key, char path[KF_PATH]) {
    char folder[KF_PATH];
    assert_int_equal(kf_cache_kernel_folder(folder, NULL), KF_OK);
    assert_int_equal(kf_path(path, NULL, "%s/%s.bin", folder, key), KF_OK);
}

static int empty_cache(void **state) {
    (void)state;
    char command[KF_PATH + 32];
    snprintf(command, sizeof command, "rm -rf '%s/cache'", fixture_folder);
    unsetenv("KFTUNE_CACHE_LIMIT");
    return system(command);
}

static void set_age(const char *key, time_t seconds) {
    char path[KF_PATH];
    entry_file(key, path);
    const struct timespec then = {.tv_sec = time(NULL) - seconds};
    assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[2]){then, then}, 0), 0);
}

static void test_get_gives_what_put_stored(void **state) {
    (void)state;
    static const char content[] = "machine\0code";
    void *data;
    size_t size;
    kf_error error;
    assert_false(present(key_a));
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, &error), KF_OK);
    assert_true(kf_cache_get(key_a, "bin", &data, &size));
    assert_int_equal(size, sizeof content);
    assert_memory_equal(data, content, size);
    free(data);
    assert_false(kf_cache_get(key_a, "log", &data, &size));
    assert_int_equal(kf_cache_put(key_a, "log", "", 0, &error), KF_OK);
    assert_true(kf_cache_get(key_a, "log", &data, &size));
    assert_int_equal(size, 0);
    assert_string_equal(data, "");
    free(data);
}

/* Every byte changed, and every length cut, must be noticed, and the entry must be gone afterwards. */
static void test_damaged_entries_are_dropped(void **state) {
    (void)state;
    static const char content[] = "kernel";
    char path[KF_PATH], *bytes;
    size_t size;
    entry_file(key_a, path);
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    assert_int_equal(kf_file_read(path, 0, &bytes, &size, NULL), KF_OK);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 1;
        assert_int_equal(kf_file_write_atomic(path, bytes, size, NULL), KF_OK);
        bytes[i] ^= 1;
        assert_false(present(key_a));
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(kf_file_write_atomic(path, bytes, i, NULL), KF_OK);
        assert_false(present(key_a));
    }
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    assert_true(present(key_a));
    free(bytes);
}

/* An entry counts only if it was stored under this key, by this user, where nobody else can write. */
static void test_what_others_made_is_not_trusted(void **state) {
    (void)state;
    static const char content[] = "kernel";
    char path[KF_PATH], other[KF_PATH], folder[KF_PATH];
    kf_error error = {0};
    struct stat about;
    entry_file(key_a, path);
    entry_file(key_b, other);
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    assert_int_equal(rename(path, other), 0); /* whole, but of another key */
    assert_false(present(key_b));
    assert_int_not_equal(access(other, F_OK), 0);
    const mode_t before = umask(0);
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    (void)umask(before);
    assert_true(present(key_a)); /* whatever the mask */
    assert_int_equal(symlink(path, other), 0);
    assert_false(present(key_b));
    static const mode_t loose[] = {0664, 0646};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
        assert_int_equal(chmod(path, loose[i]), 0);
        assert_false(present(key_a));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    assert_int_equal(kf_cache_kernel_folder(folder, NULL), KF_OK);
    assert_int_equal(chmod(folder, 0777), 0); /* of an earlier kftune: put right */
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 022, 0);
    if (getuid() != 0) return; /* only root can give files away */
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_false(present(key_a));
    assert_int_equal(chown(folder, 12345, 12345), 0);
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, &error), KF_HOST);
    assert_non_null(strstr(error.message, folder));
    assert_non_null(strstr(error.message, "another user"));
    assert_int_equal(chown(folder, 0, 0), 0);
}

static void test_least_recently_used_goes_first(void **state) {
    (void)state;
    char content[1000] = {0};
    setenv("KFTUNE_CACHE_LIMIT", "2500", 1); /* two entries with their trailers, not three */
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    assert_int_equal(kf_cache_put(key_b, "bin", content, sizeof content, NULL), KF_OK);
    set_age(key_a, 200);
    set_age(key_b, 100);
    assert_true(present(key_a)); /* the hit makes it the younger one */
    assert_int_equal(kf_cache_put(key_c, "bin", content, sizeof content, NULL), KF_OK);
    assert_true(present(key_a));
    assert_false(present(key_b));
    assert_true(present(key_c));
}

/* Builds follow each other fast, so times must be compared within a second, too. */
static void test_nanoseconds_decide_within_a_second(void **state) {
    (void)state;
    char content[1000] = {0}, path[KF_PATH];
    setenv("KFTUNE_CACHE_LIMIT", "2500", 1);
    const char *const keys[2][2] = {{key_a, key_b}, {key_b, key_a}}; /* the older first */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
        assert_int_equal(kf_cache_put(key_b, "bin", content, sizeof content, NULL), KF_OK);
        for (int k = 0; k < 2; k++) {
            const struct timespec then = {.tv_sec = time(NULL) - 100, .tv_nsec = 100 + 100 * k};
            entry_file(keys[i][k], path);
            assert_int_equal(utimensat(AT_FDCWD, path, (const struct timespec[2]){then, then}, 0), 0);
        }
        assert_int_equal(kf_cache_put(key_c, "bin", content, sizeof content, NULL), KF_OK);
        assert_false(present(keys[i][0]));
        assert_true(present(keys[i][1]));
        assert_int_equal(empty_cache(NULL), 0);
        setenv("KFTUNE_CACHE_LIMIT", "2500", 1);
    }
}

static void test_entry_just_written_stays(void **state) {
    (void)state;
    char content[1000] = {0};
    setenv("KFTUNE_CACHE_LIMIT", "10", 1);
    assert_int_equal(kf_cache_put(key_a, "bin", content, sizeof content, NULL), KF_OK);
    assert_true(present(key_a));
    assert_int_equal(kf_cache_put(key_b, "bin", content, sizeof content, NULL), KF_OK);
    assert_false(present(key_a));
    assert_true(present(key_b));
}

static void test_leftovers_are_removed(void **state) {
    (void)state;
    char old[KF_PATH], young[KF_PATH];
    assert_int_equal(kf_cache_temporary(old, "so", NULL), KF_OK);
    assert_int_equal(kf_cache_temporary(young, "so", NULL), KF_OK);
    assert_string_not_equal(old, young);
    const struct timespec then = {.tv_sec = time(NULL) - 7200};
    assert_int_equal(utimensat(AT_FDCWD, old, (const struct timespec[2]){then, then}, 0), 0);
    assert_int_equal(kf_cache_put(key_a, "bin", "x", 1, NULL), KF_OK);
    assert_int_not_equal(access(old, F_OK), 0);
    assert_int_equal(access(young, F_OK), 0);
}

static void test_folder_that_cannot_be_written(void **state) {
    (void)state;
    kf_error error = {0};
    char path[KF_PATH];
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    assert_int_not_equal(kf_cache_put(key_a, "bin", "x", 1, &error), KF_OK);
    assert_non_null(strstr(error.message, "/proc/nowhere"));
    assert_int_not_equal(kf_cache_temporary(path, "so", &error), KF_OK);
    assert_false(present(key_a));
    snprintf(path, sizeof path, "%s/cache", fixture_folder);
    setenv("XDG_CACHE_HOME", path, 1);
}

/* Several writers and readers of the same keys under a limit that evicts all the time: readers see whole
 * entries. */
static void test_many_processes_share_the_folder(void **state) {
    (void)state;
    enum { PROCESSES = 4, ROUNDS = 40 };
    const char *const keys[] = {key_a, key_b, key_c};
    setenv("KFTUNE_CACHE_LIMIT", "9000", 1);
    for (int p = 0; p < PROCESSES; p++) {
        if (fork() != 0) continue;
        char content[4000];
        int wrong = 0;
        for (int i = 0; i < ROUNDS; i++) {
            const int which = (i + p) % 3;
            memset(content, 'a' + which, sizeof content);
            wrong += kf_cache_put(keys[which], "bin", content, sizeof content, NULL) != KF_OK;
            void *data;
            size_t size;
            if (!kf_cache_get(keys[i % 3], "bin", &data, &size)) continue;
            memset(content, 'a' + i % 3, sizeof content);
            wrong += size != sizeof content || memcmp(data, content, size) != 0;
            free(data);
        }
        _exit(wrong != 0 ? 1 : 0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int ending;
        assert_true(wait(&ending) > 0);
        assert_int_equal(ending, 0);
    }
}

/* --- Keys --------------------------------------------------------------------------------------------- */

static void key_of(const kf_define *defines, int count, const char *compiler, char key[KF_HASH_HEX]) {
    const kf_source source = {.file = "kernels/test/key.cu", .defines = defines, .define_count = count};
    kf_error error = {0};
    const kf_status status = kf_cache_key(&source, compiler, "-O3", "znver3", key, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
}

static void test_key_sees_every_change(void **state) {
    (void)state;
    char keys[8][KF_HASH_HEX];
    const kf_define defines[] = {{"Q", "19"}, {"D", "3"}}, changed[] = {{"Q", "27"}, {"D", "3"}};
    fixture_write("data/kernels/test/key.cu", "#include \"portable.h\"\n #  include \"test/deep.h\"\n");
    fixture_write("data/kernels/test/deep.h", "#include \"deeper.h\"\n#include <math.h>\n");
    fixture_write("data/kernels/test/deeper.h", "#include \"deep.h\"\nint a;\n");
    fixture_write("data/kernels/test/unrelated.h", "int a;\n");
    key_of(defines, 2, "gcc 12", keys[0]);
    key_of(changed, 2, "gcc 12", keys[1]);
    key_of(defines, 1, "gcc 12", keys[2]);
    key_of(defines, 2, "gcc 13", keys[3]);
    fixture_write("data/kernels/test/deeper.h", "#include \"deep.h\"\nint b;\n");
    key_of(defines, 2, "gcc 12", keys[4]);
    fixture_write("data/kernels/test/key.cu", "#include \"portable.h\"\n #  include \"test/deep.h\"\n\n");
    key_of(defines, 2, "gcc 12", keys[5]);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
    key_of(defines, 2, "gcc 12", keys[6]);
    fixture_write("data/kernels/test/unrelated.h", "int b;\n");
    key_of(defines, 2, "gcc 12", keys[7]);
    assert_string_equal(keys[5], keys[6]);
    assert_string_equal(keys[6], keys[7]);
    /* These decide the machine code besides the source. */
    const kf_source source = {.file = "kernels/test/key.cu", .defines = defines, .define_count = 2};
    static const char *const words[][3] = {{"gcc 12", "-O3", "znver3"},
                                           {"gcc 13", "-O3", "znver3"},
                                           {"gcc 12", "-O2", "znver3"},
                                           {"gcc 12", "-O3", "znver4"}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(kf_cache_key(&source, words[i][0], words[i][1], words[i][2], keys[i], NULL), KF_OK);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
    }
    const kf_define renamed[] = {{"P", "19"}, {"D", "3"}}, turned[] = {{"D", "3"}, {"Q", "19"}};
    key_of(defines, 2, "gcc 12", keys[0]);
    key_of(renamed, 2, "gcc 12", keys[1]);
    key_of(turned, 2, "gcc 12", keys[2]);
    assert_string_not_equal(keys[0], keys[1]);
    assert_string_not_equal(keys[0], keys[2]);
}

static void expect_bad_source(const char *file, const char *expected) {
    const kf_source source = {.file = file};
    char key[KF_HASH_HEX];
    kf_error error = {0};
    assert_int_equal(kf_cache_key(&source, "", "", "", key, &error), KF_BAD_INPUT);
    if (strstr(error.message, expected) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.message, expected);
}

/* The other process finds the key claimed, and free once the claim is released, whoever else has its file. */
static void test_one_process_builds_a_key(void **state) {
    (void)state;
    const char key[] = "0123456789abcdef", another[] = "fedcba9876543210";
    int claim = kf_cache_claim(key), apart = kf_cache_claim(another), ends[2];
    char byte = 0;
    assert_true(claim >= 0 && apart >= 0);
    assert_int_equal(pipe(ends), 0);
    const pid_t other = fork();
    if (other == 0) {
        const int own = kf_cache_claim(key);
        _exit(own >= 0 && write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 100), 0);
    kf_cache_release(claim);
    assert_int_equal(poll(&wait, 1, 10000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    int status = -1;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    kf_cache_release(apart);
    kf_cache_release(-1);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static const char known_a[] = "data/kernels/test/known-a.h", known_b[] = "data/kernels/test/known-b.h";

/* Keeps a key that was found from two files, at a time so many seconds from now. */
static void keep_known_key(const char *inputs, const char *key, int later) {
    kf_places_looked places = {0};
    char path[KF_PATH];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kf_path(path, NULL, "%s/%s", fixture_folder, i == 1 ? known_b : known_a), KF_OK);
        kf_places_add(&places, path);
    }
    assert_int_equal(places.count, 2);
    kf_known_key_keep(inputs, key, &places, time(NULL) + later);
    assert_int_equal(places.count, 0);
}

/* A kept key counts only while each file is as it was: one that is new, changed, gone or renewed with the
 * same size and time ends it. */
static void test_known_key_ends_with_any_change(void **state) {
    (void)state;
    char a[KF_PATH], b[KF_PATH];
    char inputs[KF_HASH_HEX], other[KF_HASH_HEX], key[KF_HASH_HEX], found[KF_HASH_HEX];
    memset(inputs, 'i', sizeof inputs - 1);
    memset(other, 'o', sizeof other - 1);
    memset(key, 'k', sizeof key - 1);
    inputs[sizeof inputs - 1] = other[sizeof other - 1] = key[sizeof key - 1] = '\0';
    assert_int_equal(kf_path(a, NULL, "%s/%s", fixture_folder, known_a), KF_OK);
    assert_int_equal(kf_path(b, NULL, "%s/%s", fixture_folder, known_b), KF_OK);
    fixture_write(known_a, "int a;\n");
    (void)unlink(b);
    /* A file that has just been written could change once more within the same tick of the clock. */
    keep_known_key(inputs, key, 0);
    assert_false(kf_known_key_find(inputs, found));
    for (int change = 0; change < 5; change++) {
        struct stat about;
        keep_known_key(inputs, key, 3600);
        assert_false(kf_known_key_find(other, found));
        for (int times = 0; times < 2; times++) {
            memset(found, 0, sizeof found);
            assert_true(kf_known_key_find(inputs, found));
            assert_string_equal(found, key);
        }
        assert_int_equal(stat(a, &about), 0);
        if (change == 0) fixture_write(known_b, "int b;\n");
        if (change == 1) fixture_write(known_b, "int b;\nint c;\n");
        if (change == 2) assert_int_equal(unlink(b), 0);
        if (change == 3) {
            const struct timespec times[2] = {about.st_atim, about.st_mtim};
            FILE *file = fopen(a, "r+");
            assert_non_null(file);
            assert_true(fputs("int b;\n", file) >= 0);
            assert_int_equal(fclose(file), 0);
            assert_int_equal(utimensat(AT_FDCWD, a, times, 0), 0);
        }
        if (change == 4) assert_int_equal(chmod(a, 0600), 0);
        assert_false(kf_known_key_find(inputs, found));
    }
    /* The key kept longest ends when many others are kept. */
    keep_known_key(other, key, 3600);
    assert_true(kf_known_key_find(other, found));
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(inputs, sizeof inputs, "%d", i);
        keep_known_key(inputs, key, 3600);
    }
    assert_true(kf_known_key_find(inputs, found));
    (void)snprintf(inputs, sizeof inputs, "0");
    assert_false(kf_known_key_find(inputs, found));
    assert_false(kf_known_key_find(other, found));
}

static void test_bad_sources_are_refused(void **state) {
    (void)state;
    expect_bad_source("/nowhere/kernel.cu", "missing or unreadable");
    expect_bad_source("kernels/../../secret.cu", "below the data folder");
    expect_bad_source("..", "below the data folder");
    expect_bad_source("", "below the data folder");
    expect_bad_source("kernels/test/missing.cu", "missing.cu");
    fixture_write("data/kernels/test/computed.cu", "#define FILE \"a.h\"\n#include FILE\n");
    expect_bad_source("kernels/test/computed.cu", "quoted name");
}

/* A program of another version than its kernels refuses to run, instead of handing them arguments of
 * another layout. */
static void test_headers_of_another_version_are_refused(void **state) {
    (void)state;
    char key[KF_HASH_HEX], file[KF_PATH], folder[KF_PATH];
    kf_error error = {0};
    const kf_source source = {.file = "kernels/test/of.cu"};
    for (const kf_shared_header *header = kf_shared_headers; header->file != NULL; header++) {
        char include[KF_PATH];
        (void)snprintf(include, sizeof include, "#include \"%s\"\n", header->file);
        fixture_write("data/kernels/test/of.cu", include);
        assert_int_equal(kf_path(file, &error, "data/kernels/%s", header->file), KF_OK);
        assert_int_equal(kf_path(folder, &error, "%s/%s", fixture_folder, file), KF_OK);
        if (strchr(header->file, '/') != NULL) *strrchr(folder, '/') = '\0';
        if (strchr(header->file, '/') != NULL) assert_int_equal(kf_make_folders(folder, &error), KF_OK);
        fixture_write(file, header->text);
        if (kf_cache_key(&source, "cc", "-O2", "x86", key, &error) != KF_OK) fail_msg("%s", error.message);
        char *longer = malloc(strlen(header->text) + 32);
        (void)sprintf(longer, "%sstruct one_more;\n", header->text);
        fixture_write(file, longer);
        free(longer);
        assert_int_equal(kf_cache_key(&source, "cc", "-O2", "x86", key, &error), KF_HOST);
        assert_non_null(strstr(error.message, header->file));
        assert_non_null(strstr(error.message, "differs from the file with which this program was compiled"));
        fixture_write(file, header->text); /* others include it */
    }
}

/* Every header of kernels/ that the program includes is among them, with the text that it has. */
static void test_all_shared_headers_are_known(void **state) {
    (void)state;
    char line[KF_PATH];
    int found = 0;
    FILE *list = popen("grep -rhoE '#include \"kernels/[^\"]+' --include='*.[ch]' base solver harness scene "
                       "cost_model | sort -u",
                       "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(list);
    while (fgets(line, sizeof line, list) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *file = strchr(line, '"') + 1;
        char *text = NULL;
        size_t size = 0;
        kf_error error = {0};
        const kf_shared_header *header = kf_shared_headers;
        while (header->file != NULL && strcmp(header->file, file + strlen("kernels/")) != 0)
            header++;
        if (header->file == NULL) fail_msg("%s is not among kf_shared_headers", file);
        assert_int_equal(kf_file_read(file, 0, &text, &size, &error), KF_OK);
        assert_string_equal(header->text, text);
        free(text);
        found++;
    }
    assert_int_equal(pclose(list), 0);
    assert_true(found > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_get_gives_what_put_stored, empty_cache),
        cmocka_unit_test_setup(test_damaged_entries_are_dropped, empty_cache),
        cmocka_unit_test_setup(test_one_process_builds_a_key, empty_cache),
        cmocka_unit_test_setup(test_what_others_made_is_not_trusted, empty_cache),
        cmocka_unit_test_setup(test_least_recently_used_goes_first, empty_cache),
        cmocka_unit_test_setup(test_nanoseconds_decide_within_a_second, empty_cache),
        cmocka_unit_test_setup(test_entry_just_written_stays, empty_cache),
        cmocka_unit_test_setup(test_leftovers_are_removed, empty_cache),
        cmocka_unit_test_setup(test_folder_that_cannot_be_written, empty_cache),
        cmocka_unit_test_setup(test_many_processes_share_the_folder, empty_cache),
        cmocka_unit_test(test_key_sees_every_change),
        cmocka_unit_test(test_bad_sources_are_refused),
        cmocka_unit_test(test_known_key_ends_with_any_change),
        cmocka_unit_test(test_headers_of_another_version_are_refused),
        cmocka_unit_test(test_all_shared_headers_are_known),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
