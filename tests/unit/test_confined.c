/* Tests work in a child process with limits. Faults: an answer is lost, or a child that crashes, hangs or
 * fills memory costs its caller more than one line. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/confined.h"
#include "base/util/memory.h"
#include "base/util/text.h"

static const kf_confinement limits = {.memory_bytes = (size_t)64 << 20, .cpu_seconds = 1};

static kf_status answer_text(const void *context, kf_answer *answer, kf_error *error) {
    (void)error;
    enum { LARGE = 3 << 20 }; /* more than a pipe holds */
    answer->part[0] = kf_duplicate(context);
    answer->bytes[0] = strlen(context) + 1;
    answer->part[2] = memset(kf_allocate(LARGE), 'x', LARGE);
    answer->bytes[2] = LARGE;
    return KF_OK;
}

static kf_status refuse(const void *context, kf_answer *answer, kf_error *error) {
    (void)answer;
    return kf_fail(error, KF_BAD_INPUT, "%s: line 7 is wrong", (const char *)context);
}

static kf_status misbehave(const void *context, kf_answer *answer, kf_error *error) {
    (void)error;
    const char *how = context;
    if (strcmp(how, "crash") == 0) (void)raise(SIGSEGV);
    while (strcmp(how, "spin") == 0)
        __asm__ volatile("");
    if (strcmp(how, "no answer") == 0) _exit(1);
    if (strcmp(how, "killed") == 0) (void)raise(SIGKILL);
    if (strcmp(how, "no memory") == 0) kf_out_of_memory(100);
    while (strcmp(how, "grow slowly") == 0)
        memset(kf_allocate(100), 1, 100);
    if (strcmp(how, "grow") == 0)
        for (;;)
            memset(kf_allocate(1 << 20), 1, 1 << 20);
    answer->bytes[1] = (size_t)1 << 40; /* lies about its answer */
    return KF_OK;
}

static void an_answer_comes_back(void **state) {
    (void)state;
    kf_answer answer;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_confined_run("x.ply", &limits, answer_text, "hello", &answer, &error), KF_OK);
    assert_string_equal(answer.part[0], "hello");
    assert_null(answer.part[1]);
    assert_int_equal(answer.bytes[2], 3 << 20);
    assert_int_equal(((const char *)answer.part[2])[(3 << 20) - 1], 'x');
    kf_answer_free(&answer);
    assert_int_equal(kf_confined_run("x.ply", &limits, refuse, "x.ply", &answer, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "x.ply: line 7 is wrong");
}

static void misbehaviour_costs_one_line(void **state) {
    (void)state;
    static const struct {
        const char *how, *says;
    } cases[] = {{"crash", "x.ply: the library that reads it crashed (Segmentation fault)"},
                 {"spin", "x.ply: reading did not end within 1 s"},
                 {"lie", "x.ply: reading it takes more than 64 MiB of memory"},
                 {"grow slowly", "x.ply: reading it takes more than 64 MiB of memory"},
                 {"grow", "x.ply: reading it takes more than 64 MiB of memory"}};
    size_t count = sizeof cases / sizeof *cases;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    count -= 2; /* there the address space has no limit */
#endif
    for (size_t i = 0; i < count; i++) {
        kf_answer answer;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_confined_run("x.ply", &limits, misbehave, cases[i].how, &answer, &error),
                         KF_BAD_INPUT);
        if (strncmp(error.message, cases[i].says, strlen(cases[i].says)) != 0) fail_msg("%s", error.message);
        assert_null(answer.part[0]);
    }
}

/* A lack of memory or files is the machine's fault, not the file's. */
static void a_lack_is_the_machines(void **state) {
    (void)state;
    static const char *const lacks[] = {"no memory", "killed", "no answer"};
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
        kf_answer answer;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_confined_run("x.ply", &limits, misbehave, lacks[i], &answer, &error), KF_HOST);
        assert_memory_equal(error.message, "x.ply: ", 7);
        assert_null(strstr(error.message, "damaged"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lack_is_the_machines),
        cmocka_unit_test(an_answer_comes_back),
        cmocka_unit_test(misbehaviour_costs_one_line),
    };
    return cmocka_run_group_tests_name("confined", tests, NULL, NULL);
}
