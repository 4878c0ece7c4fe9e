/* Tests reading and writing of files. Faults: bytes that differ, a file left half written, a link or
 * device that is overwritten. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/file.h"
#include "tests/unit/caught_child.h"

static char folder[KF_PATH];

static int make_scratch(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/kftune-file-XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int remove_scratch(void **state) {
    (void)state;
    char command[KF_PATH + 16];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *in_scratch(const char *name) {
    static char path[KF_PATH + 64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void expect_content(const char *path, const char *expected) {
    char *text = NULL;
    size_t size = 0;
    kf_error error = {0};
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void expect_refused(const char *path, const char *reason) {
    char *text = NULL;
    size_t size = 0;
    kf_error error = {0};
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, reason));
    assert_non_null(strstr(error.message, path));
    assert_null(strchr(error.message, '\n'));
    assert_null(text);
}

static void reads_what_was_written(void **state) {
    (void)state;
    const char *path = in_scratch("a");
    kf_error error = {0};
    assert_int_equal(kf_file_write_atomic(path, "one\n", 4, &error), KF_OK);
    expect_content(path, "one\n");
    assert_int_equal(kf_file_write_atomic(path, "", 0, &error), KF_OK);
    expect_content(path, "");
    size_t size = 3000001;
    char *large = malloc(size), *back = NULL;
    memset(large, 'x', size);
    large[1000] = '\0'; /* binary content survives */
    assert_int_equal(kf_file_write_atomic(path, large, size, &error), KF_OK);
    size_t got = 0;
    assert_int_equal(kf_file_read(path, 0, &back, &got, &error), KF_OK);
    assert_int_equal(got, size);
    assert_memory_equal(back, large, size);
    free(back);
    free(large);
}

static void reads_files_without_a_size(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_file_read("/proc/self/status", 0, &text, &size, NULL), KF_OK);
    assert_true(size > 100 && strstr(text, "Pid:") != NULL);
    free(text);
    text = NULL;
    assert_int_equal(kf_file_read("/proc/self/status", 10, &text, &size, NULL), KF_BAD_INPUT);
    assert_null(text);
}

static void refuses_what_is_no_file(void **state) {
    (void)state;
    expect_refused(folder, "folder");
    expect_refused(in_scratch("missing"), "No such file");
    const char *fifo = in_scratch("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    (void)alarm(10); /* opening a FIFO must not wait for a writer */
    expect_refused(fifo, "not a regular file");
    (void)alarm(0);
    expect_refused("/dev/zero", "not a regular file");
}

static void limit_is_kept(void **state) {
    (void)state;
    const char *path = in_scratch("ten");
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_file_write_atomic(path, "0123456789", 10, NULL), KF_OK);
    assert_int_equal(kf_file_read(path, 9, &text, &size, NULL), KF_BAD_INPUT);
    assert_null(text);
    assert_int_equal(kf_file_read(path, 10, &text, &size, NULL), KF_OK);
    free(text);
}

static int count_entries(void) {
    DIR *stream = opendir(folder);
    int count = 0;
    while (readdir(stream) != NULL)
        count++;
    (void)closedir(stream);
    return count;
}

static void failed_writes_leave_nothing(void **state) {
    (void)state;
    kf_error error = {0};
    int before = count_entries();
    assert_int_equal(kf_file_write_atomic(in_scratch("no/such/folder"), "x", 1, &error), KF_BAD_INPUT);
    assert_int_equal(kf_file_write_atomic(folder, "x", 1, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "folder"));
    assert_int_equal(kf_file_write_atomic("/dev/null", "x", 1, &error), KF_BAD_INPUT);
    struct stat information;
    assert_int_equal(stat("/dev/null", &information), 0);
    assert_true(S_ISCHR(information.st_mode)); /* it was not renamed over */
    assert_int_equal(count_entries(), before);
}

static void links_stay_links(void **state) {
    (void)state;
    char target[KF_PATH + 64];
    (void)snprintf(target, sizeof target, "%s", in_scratch("target"));
    assert_int_equal(kf_file_write_atomic(target, "old", 3, NULL), KF_OK);
    const char *link = in_scratch("link");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(kf_file_write_atomic(link, "new", 3, NULL), KF_OK);
    struct stat information;
    assert_int_equal(lstat(link, &information), 0);
    assert_true(S_ISLNK(information.st_mode));
    expect_content(target, "new");
}

/* A file that replaces another one is there when it is whole. Nothing of it stays when it is given up or
 * has no room. */
static void drafts_are_put_in_place_or_dropped(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_error error;
    kf_file_draft draft;
    const int before = count_entries();
    assert_int_equal(kf_path(path, &error, "%s", in_scratch("draft")), KF_OK);
    assert_int_equal(kf_file_begin(path, 6, &draft, &error), KF_OK);
    assert_memory_equal(draft.data, "\0\0\0\0\0", 6);
    memcpy(draft.data, "first\n", 6);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(kf_file_end(&draft, KF_OK, &error), KF_OK);
    expect_content(path, "first\n");
    assert_int_equal(kf_file_begin(path, 1 << 20, &draft, &error), KF_OK);
    memset(draft.data, 'x', 1 << 20);
    assert_int_equal(kf_file_end(&draft, KF_GATE_FAILED, &error), KF_GATE_FAILED);
    assert_int_equal(kf_file_begin(path, (size_t)1 << 58, &draft, &error), KF_HOST);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(kf_file_begin(in_scratch("no/such/file"), 1, &draft, &error), KF_BAD_INPUT);
    expect_content(path, "first\n");
    assert_int_equal(kf_file_begin(path, 0, &draft, &error), KF_OK);
    assert_int_equal(kf_file_end(&draft, KF_OK, &error), KF_OK);
    expect_content(path, "");
    assert_int_equal(count_entries(), before + 1);
}

/* A draft that grows and shrinks keeps its content; one that found no room is dropped, and the reason is
 * said. */
static void drafts_change_their_size(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_error error;
    kf_file_draft draft;
    const int before = count_entries();
    assert_int_equal(kf_path(path, &error, "%s", in_scratch("growing")), KF_OK);
    assert_int_equal(kf_file_begin(path, 1, &draft, &error), KF_OK);
    memcpy(draft.data, "a", 1);
    assert_true(kf_file_resize(&draft, 3 << 20));
    const char *data = draft.data;
    assert_true(data[0] == 'a' && data[1] == '\0' && data[(3 << 20) - 1] == '\0');
    memcpy(draft.data, "abcdef", 6);
    assert_true(kf_file_resize(&draft, 3));
    assert_int_equal(kf_file_end(&draft, KF_OK, &error), KF_OK);
    expect_content(path, "abc");
    assert_int_equal(kf_file_begin(path, 1, &draft, &error), KF_OK);
    assert_false(kf_file_resize(&draft, (size_t)1 << 58));
    assert_false(kf_file_resize(&draft, 2));
    assert_int_equal(kf_file_end(&draft, KF_OK, &error), KF_HOST);
    assert_non_null(strstr(error.message, path));
    expect_content(path, "abc");
    assert_int_equal(count_entries(), before + 1);
}

/* Nothing stays of a process that is killed with a draft begun. */
static void drafts_of_the_killed_are_gone(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_error error;
    kf_file_draft draft;
    const int before = count_entries();
    assert_int_equal(kf_path(path, &error, "%s", in_scratch("killed")), KF_OK);
    assert_int_equal(kf_file_begin(path, 1, &draft, &error), KF_OK);
    const bool nameless = draft.nameless;
    assert_int_equal(kf_file_end(&draft, KF_GATE_FAILED, &error), KF_GATE_FAILED);
    if (!nameless) {
        print_message("skipped: the file system has no files without a name\n");
        skip();
    }
    const pid_t child = fork();
    if (child == 0) {
        if (kf_file_begin(path, 1 << 20, &draft, &error) == KF_OK) (void)raise(SIGKILL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(count_entries(), before);
}

/* Nothing stays of a process that is killed while it writes a file at once, here by the limit of a file's
 * size. */
static void files_of_the_killed_are_gone(void **state) {
    (void)state;
    kf_error error;
    static char text[4096];
    char path[KF_PATH];
    const int before = count_entries();
    assert_int_equal(kf_path(path, &error, "%s", in_scratch("half")), KF_OK);
    const pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGXFSZ, SIG_DFL);
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
        (void)kf_file_write_atomic(path, text, sizeof text, &error);
        (void)kf_file_write_atomic(path, text, sizeof text, &error);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
    assert_int_equal(count_entries(), before);
}

static void makes_folders(void **state) {
    (void)state;
    kf_error error = {0};
    struct stat information;
    const char *path = in_scratch("x/y//z/");
    assert_int_equal(kf_make_folders(path, &error), KF_OK);
    assert_int_equal(kf_make_folders(path, &error), KF_OK);
    assert_int_equal(stat(path, &information), 0);
    assert_true(S_ISDIR(information.st_mode));
    assert_int_equal(kf_file_write_atomic(in_scratch("file"), "x", 1, NULL), KF_OK);
    assert_int_equal(kf_make_folders(in_scratch("file/below"), &error), KF_BAD_INPUT);
    assert_int_equal(kf_make_folders(in_scratch("file"), &error), KF_BAD_INPUT);
    assert_int_equal(kf_make_folders("", &error), KF_BAD_INPUT);
}

static void refused(const char *path, bool group_may, const char *says) {
    kf_error error = {0};
    assert_int_equal(kf_folder_is_own(path, group_may, "give another", &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, says));
    assert_non_null(strstr(error.message, "give another"));
}

/* Folders and links to them or to files are refused if their owners or modes let somebody else choose what
 * is overwritten. Only root can make what belongs to others. */
static void folders_and_links_of_others_are_refused(void **state) {
    (void)state;
    enum { OTHER = 65534 };
    kf_error error = {0};
    char own[KF_PATH];
    assert_int_equal(kf_path(own, NULL, "%s", in_scratch("own")), KF_OK);
    assert_int_equal(kf_make_folders(own, &error), KF_OK);
    static const struct {
        mode_t mode;
        bool group_may, fine;
    } modes[] = {{0755, false, true}, {0775, true, true},  {0775, false, false},
                 {0777, true, false}, {01777, true, true}, {0700, false, true}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(own, modes[i].mode), 0);
        if (modes[i].fine)
            assert_int_equal(kf_folder_is_own(own, modes[i].group_may, "", &error), KF_OK);
        else
            refused(own, modes[i].group_may, "others may write into this folder");
    }
    char link_to_it[KF_PATH], link_to_file[KF_PATH];
    assert_int_equal(kf_path(link_to_it, NULL, "%s", in_scratch("link-to-own")), KF_OK);
    assert_int_equal(kf_path(link_to_file, NULL, "%s", in_scratch("own/link")), KF_OK);
    assert_int_equal(symlink(own, link_to_it), 0);
    assert_int_equal(symlink(in_scratch("theirs"), link_to_file), 0);
    assert_int_equal(kf_folder_is_own(link_to_it, false, "", &error), KF_OK);
    assert_int_equal(kf_file_write_atomic(link_to_file, "x", 1, &error), KF_OK);
    if (geteuid() != 0) return;
    assert_int_equal(lchown(link_to_it, OTHER, OTHER), 0);
    refused(link_to_it, false, "belongs to another user");
    assert_int_equal(unlink(link_to_file), 0); /* what was written has taken the link's place */
    assert_int_equal(kf_file_write_atomic(in_scratch("theirs"), "old", 3, &error), KF_OK);
    assert_int_equal(symlink(in_scratch("theirs"), link_to_file), 0);
    assert_int_equal(kf_file_write_atomic(link_to_file, "new", 3, &error), KF_OK);
    assert_int_equal(lchown(link_to_file, OTHER, OTHER), 0);
    assert_int_equal(kf_file_write_atomic(link_to_file, "theirs", 6, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "is a link that another user has made"));
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_file_read(in_scratch("theirs"), 0, &text, &size, &error), KF_OK);
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(chown(own, OTHER, OTHER), 0);
    refused(own, true, "belongs to another user");
}

/* A mapped file that somebody makes shorter ends the process with a line, not with a signal. */
static void mapped_files_that_become_shorter(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    char said[256] = "";
    const char *path = in_scratch("mapped");
    const caught_child child = fork_caught(STDERR_FILENO);
    if (child.process == 0) {
        const int file = open(path, O_RDWR | O_CREAT, 0600);
        if (file < 0 || ftruncate(file, BYTES) != 0) _exit(90);
        const volatile char *at = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
        kf_file_guard(path);
        if (ftruncate(file, 1) != 0) _exit(91);
        _exit(at[BYTES - 1] == 0 ? 92 : 93);
    }
    const int status = end_caught(child, said, sizeof said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), KF_MACHINE);
    assert_non_null(strstr(said, "/mapped: was made shorter by another program"));
}

static void paths_have_a_length(void **state) {
    (void)state;
    char path[KF_PATH];
    assert_int_equal(kf_path(path, NULL, "%s/%d", "a", 5), KF_OK);
    assert_string_equal(path, "a/5");
    assert_int_equal(kf_path(path, NULL, "%*d", KF_PATH - 1, 1), KF_OK);
    assert_int_equal(kf_path(path, NULL, "%*d", KF_PATH, 1), KF_BAD_INPUT);
}

static void personal_folders_follow_xdg(void **state) {
    (void)state;
    char path[KF_PATH], expected[KF_PATH + 128];
    struct stat information;
    assert_int_equal(setenv("XDG_CACHE_HOME", in_scratch("cache"), 1), 0);
    assert_int_equal(kf_cache_folder(path, NULL), KF_OK);
    assert_string_equal(path, in_scratch("cache/kftune"));
    assert_int_equal(stat(path, &information), 0);
    /* A relative path there is to be ignored, says the specification. */
    assert_int_equal(setenv("XDG_DATA_HOME", "relative", 1), 0);
    assert_int_equal(setenv("HOME", folder, 1), 0);
    assert_int_equal(kf_store_folder(path, NULL), KF_OK);
    (void)snprintf(expected, sizeof expected, "%s/.local/share/kftune", folder);
    assert_string_equal(path, expected);
}

static void data_folder_holds_kernels(void **state) {
    (void)state;
    const char *data = NULL;
    kf_error error = {0};
    assert_int_equal(setenv("KFTUNE_DATA", folder, 1), 0);
    assert_int_equal(kf_data_folder(&data, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "KFTUNE_DATA"));
    assert_int_equal(mkdir(in_scratch("kernels"), 0777), 0);
    assert_int_equal(kf_file_write_atomic(in_scratch("kernels/portable.h"), "", 0, NULL), KF_OK);
    assert_int_equal(kf_data_folder(&data, &error), KF_OK);
    assert_string_equal(data, folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(reads_files_without_a_size),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(limit_is_kept),
        cmocka_unit_test(failed_writes_leave_nothing),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(makes_folders),
        cmocka_unit_test(folders_and_links_of_others_are_refused),
        cmocka_unit_test(mapped_files_that_become_shorter),
        cmocka_unit_test(drafts_are_put_in_place_or_dropped),
        cmocka_unit_test(drafts_change_their_size),
        cmocka_unit_test(drafts_of_the_killed_are_gone),
        cmocka_unit_test(files_of_the_killed_are_gone),
        cmocka_unit_test(paths_have_a_length),
        cmocka_unit_test(personal_folders_follow_xdg),
        cmocka_unit_test(data_folder_holds_kernels),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
