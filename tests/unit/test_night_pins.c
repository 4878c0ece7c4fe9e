/* Nights held against a pinned release. The kind of fault: something that is known is asked last, so that a
 * red night goes green by itself. */
#include "base/util/log.h"
#include "tests/unit/night_stage.h"

enum { NIGHTS = 10 };

static void pin(const stage *s, int64_t night) {
    kf_store *store = fixture_open(s->store);
    kf_error error = {0};
    int count = 0;
    assert_int_equal(kf_store_pin(store, night, &count, &error), KF_OK);
    assert_int_equal(count, 1);
    kf_store_close(store);
}

static stage *begin(const char *name) {
    stage *s = kf_allocate_zeroed(1, sizeof *s);
    open_stage(s, name);
    return s;
}

static void end(stage *s) {
    kf_suite_free(&s->suite);
    free(s);
}

/* The same slow program, then the same with a byte more, every second night. */
static void test_ten_slow_nights(void **state) {
    (void)state;
    stage *s = begin("slow-nights");
    char program[KF_PATH], name[32];
    write_program(s, "release", 10000, 'a', KF_STATE_OK, program);
    (void)play(s, program, KF_OK);
    kf_verdict verdict = play(s, program, KF_OK);
    assert_verdict(&verdict, KF_SAME);
    pin(s, 2);
    for (int i = 0; i < NIGHTS; i++) {
        (void)snprintf(name, sizeof name, "slow-%d", i / 2);
        write_program(s, name, 13000, (char)('b' + i / 2), KF_STATE_OK, program);
        verdict = play(s, program, KF_OK);
        if (!kf_verdict_fails(verdict.state))
            fail_msg("night %d of a slow program is %s: %s", i + 3, kf_verdict_names[verdict.state],
                     verdict.reason);
        assert_int_equal(verdict.reference, 2);
        assert_true(verdict.change > 0.28 && verdict.change < 0.32);
    }
    /* Until the pin moves. */
    pin(s, 2 + NIGHTS);
    verdict = play(s, program, KF_OK);
    assert_verdict(&verdict, KF_SAME);
    end(s);
}

/* Times that vary by a third say nothing; a third more instructions does, every night. */
static void test_ten_nights_of_instructions(void **state) {
    (void)state;
    stage *s = begin("counted-nights");
    char program[KF_PATH], name[32];
    s->noise = 0.33;
    s->instructions = 189.8e6;
    kf_verdict verdict = {0};
    for (int i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof name, "good-%d", i);
        write_program(s, name, 10000, (char)('a' + i), KF_STATE_OK, program);
        verdict = play(s, program, KF_OK);
        if (kf_verdict_fails(verdict.state)) fail_msg("night %d: %s", i + 1, verdict.reason);
    }
    pin(s, 6);
    s->instructions = 254.2e6;
    for (int i = 0; i < NIGHTS; i++) {
        (void)snprintf(name, sizeof name, "more-%d", i / 2);
        write_program(s, name, 10000, (char)('0' + i / 2), KF_STATE_OK, program);
        verdict = play(s, program, KF_OK);
        if (!kf_verdict_fails(verdict.state))
            fail_msg("night %d with a third more instructions is %s: %s", i + 7,
                     kf_verdict_names[verdict.state], verdict.reason);
        assert_true(verdict.change > 0.33 && verdict.change < 0.35);
        assert_true(kf_verdict_of_instructions(&verdict));
    }
    /* Fewer than the release is no drift. */
    s->instructions = 189.8e6;
    write_program(s, "good-again", 10000, '9', KF_STATE_OK, program);
    verdict = play(s, program, KF_OK);
    if (kf_verdict_fails(verdict.state)) fail_msg("as the release, but %s", verdict.reason);
    end(s);
}

/* The code changed, times vary by a third and nothing else is known: that is not SAME. */
static void test_noise_that_hides(void **state) {
    (void)state;
    stage *s = begin("noisy-nights");
    char program[KF_PATH], name[32];
    s->noise = 0.33;
    int without_data = 0;
    for (int i = 0; i < NIGHTS; i++) {
        (void)snprintf(name, sizeof name, "noisy-%d", i);
        write_program(s, name, 10000, (char)('0' + i), KF_STATE_OK, program);
        kf_verdict verdict = play(s, program, KF_OK);
        if (verdict.state == KF_SAME) fail_msg("night %d: %s", i + 1, verdict.reason);
        without_data += verdict.state == KF_NODATA && i > 0;
        if (verdict.state == KF_NODATA && i > 0) assert_non_null(strstr(verdict.reason, "would not be seen"));
    }
    assert_true(without_data > 0);
    kf_verdict verdict = play(s, program, KF_OK);
    assert_verdict(&verdict, KF_SAME); /* the same code needs no times */
    end(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_slow_nights),
        cmocka_unit_test(test_ten_nights_of_instructions),
        cmocka_unit_test(test_noise_that_hides),
    };
    kf_log_set_level(KF_LOG_QUIET);
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
