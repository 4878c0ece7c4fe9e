/* Tests nights against a pinned release. Faults: a regression passes after some nights, because they
 * become its own reference. */
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

/* Each slow program runs on two nights. The next one differs from it by a byte. */
static void test_ten_slow_nights(void **state) {
    (void)state;
    stage *s = new_stage("slow-nights");
    char program[KF_PATH], name[32];
    write_program(s, "release", 10000, 'a', KF_STATE_OK, program);
    (void)play(s, program);
    kf_verdict verdict = play(s, program);
    assert_verdict(&verdict, KF_SAME);
    pin(s, 2);
    for (int i = 0; i < NIGHTS; i++) {
        (void)snprintf(name, sizeof name, "slow-%d", i / 2);
        write_program(s, name, 13000, (char)('b' + i / 2), KF_STATE_OK, program);
        verdict = play(s, program);
        if (!kf_verdict_fails(verdict.state))
            fail_msg("night %d of a slow program is %s: %s", i + 3, kf_verdict_names[verdict.state],
                     verdict.reason);
        assert_int_equal(verdict.reference, 2);
        assert_true(verdict.change > 0.28 && verdict.change < 0.32);
    }
    /* The pin moves. */
    pin(s, 2 + NIGHTS);
    verdict = play(s, program);
    assert_verdict(&verdict, KF_SAME);
    free_stage(s);
}

/* Times that vary by a third show nothing. A third more instructions is found on every night. */
static void test_ten_nights_of_instructions(void **state) {
    (void)state;
    stage *s = new_stage("counted-nights");
    char program[KF_PATH], name[32];
    s->noise = 0.33;
    s->instructions = 189.8e6;
    kf_verdict verdict = {0};
    for (int i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof name, "good-%d", i);
        write_program(s, name, 10000, (char)('a' + i), KF_STATE_OK, program);
        verdict = play(s, program);
        if (kf_verdict_fails(verdict.state)) fail_msg("night %d: %s", i + 1, verdict.reason);
    }
    pin(s, 6);
    s->instructions = 254.2e6;
    for (int i = 0; i < NIGHTS; i++) {
        (void)snprintf(name, sizeof name, "more-%d", i / 2);
        write_program(s, name, 10000, (char)('0' + i / 2), KF_STATE_OK, program);
        verdict = play(s, program);
        if (!kf_verdict_fails(verdict.state))
            fail_msg("night %d with a third more instructions is %s: %s", i + 7,
                     kf_verdict_names[verdict.state], verdict.reason);
        assert_true(verdict.change > 0.33 && verdict.change < 0.35);
        assert_true(kf_verdict_of_instructions(&verdict));
    }
    /* A return to the release's count is no drift. */
    s->instructions = 189.8e6;
    write_program(s, "good-again", 10000, '9', KF_STATE_OK, program);
    verdict = play(s, program);
    if (kf_verdict_fails(verdict.state)) fail_msg("as the release, but %s", verdict.reason);
    free_stage(s);
}

/* When the code changed, times vary by a third and nothing else is known, the verdict is not SAME. */
static void test_noise_that_hides(void **state) {
    (void)state;
    stage *s = new_stage("noisy-nights");
    char program[KF_PATH], name[32];
    s->noise = 0.33;
    int without_data = 0;
    for (int i = 0; i < NIGHTS; i++) {
        (void)snprintf(name, sizeof name, "noisy-%d", i);
        write_program(s, name, 10000, (char)('0' + i), KF_STATE_OK, program);
        kf_verdict verdict = play(s, program);
        if (verdict.state == KF_SAME) fail_msg("night %d: %s", i + 1, verdict.reason);
        without_data += verdict.state == KF_NODATA && i > 0;
        if (verdict.state == KF_NODATA && i > 0) assert_non_null(strstr(verdict.reason, "would not be seen"));
    }
    assert_true(without_data > 0);
    kf_verdict verdict = play(s, program);
    assert_verdict(&verdict, KF_SAME); /* the same code needs no times */
    free_stage(s);
}

/* ---- Many nights ---- */

/* Changes of time that are planted in turns, in percent. */
static const double percent[3] = {2, 5, 30};

/* A machine on which changes are planted, and the counts of what is found. */
typedef struct machine {
    const char *what;
    double noise; /* relative amplitude of the times' noise */
    bool counts;  /* has counts of instructions, which grow as times do */
    bool pinned;  /* to the first night */
    /* Every so many processes one runs on a device that slows down. With 0 none does. */
    int throttled;
    int planted[3], found[3], quiet, alarms, crashes, told;
} machine;

/* Every sixth night has a change, the three of them in turns, which is reverted on the next night. Every
 * tenth program crashes. Each night has different code. Changes on every third night would be two of three
 * differences between nights, which the noise floor takes for noise. */
static void play_machine(machine *m, int nights) {
    char name[64], program[KF_PATH];
    (void)snprintf(name, sizeof name, "nights-%s", m->what);
    for (char *c = name; *c != '\0'; c++)
        if (*c == ' ' || *c == ',') *c = '-';
    stage *s = new_stage(name);
    s->noise = m->noise;
    s->throttled_each = m->throttled;
    for (int night = 0; night < nights; night++) {
        const int kind = night > 8 && night % 6 == 0 ? night / 6 % 3 : -1;
        const bool crash = night > 8 && kind < 0 && night % 10 == 4;
        const double change = kind >= 0 ? 0.01 * percent[kind] : 0.0;
        s->instructions = m->counts ? 1e8 * (1.0 + change) : 0.0;
        (void)snprintf(name, sizeof name, "program-%d", night);
        write_program(s, name, 10000.0 * (1.0 + change), (char)('0' + night % 10),
                      crash ? KF_STATE_CRASH : KF_STATE_OK, program);
        const kf_verdict verdict = play(s, program);
        const bool red = kf_verdict_fails(verdict.state);
        if (m->pinned && night == 0) pin(s, 1);
        if (crash) {
            m->crashes++;
            m->told += verdict.state == KF_WRONG;
        } else if (kind >= 0) {
            m->planted[kind]++;
            m->found[kind] += red;
        } else {
            m->quiet++;
            m->alarms += red;
        }
    }
    free_stage(s);
}

/* Prints which changes are found on the same night and which reported ones do not exist, and compares the
 * counts with docs/nightly.md. KFTUNE_NIGHTS is the number of nights of each machine. Without it there are
 * 26, with a pin. */
static void test_many_nights(void **state) {
    (void)state;
    const char *asked = getenv("KFTUNE_NIGHTS");
    const int nights = asked != NULL ? atoi(asked) : 26;
    machine machines[] = {
        {.what = "times within 0.4 %", .noise = 0.004},
        {.what = "times within 0.4 %, pinned", .noise = 0.004, .pinned = true},
        {.what = "times within 33 %, instructions", .noise = 0.33, .counts = true},
        {.what = "times within 33 %, instructions, pinned", .noise = 0.33, .counts = true, .pinned = true},
        {.what = "times within 33 %, nothing else", .noise = 0.33},
        {.what = "times within 0.4 %, every fourth throttled", .noise = 0.004, .throttled = 4},
    };
    printf("%-43s  %9s  %9s  %9s  %12s  %8s\n", "machine", "+2 %", "+5 %", "+30 %", "false alarms",
           "crashes");
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        machine *m = &machines[i];
        if (asked == NULL && !m->pinned) continue;
        play_machine(m, nights);
        printf("%-43s  %4d / %2d  %4d / %2d  %4d / %2d  %6d / %3d  %3d / %2d\n", m->what, m->found[0],
               m->planted[0], m->found[1], m->planted[1], m->found[2], m->planted[2], m->alarms, m->quiet,
               m->told, m->crashes);
        (void)fflush(stdout);
        assert_int_equal(m->told, m->crashes);
        assert_true(m->alarms * 50 <= m->quiet);
        if (m->noise > 0.1 && !m->counts) continue; /* such a machine needs counts of instructions, too */
        assert_int_equal(m->found[1], m->planted[1]);
        assert_int_equal(m->found[2], m->planted[2]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_slow_nights),
        cmocka_unit_test(test_ten_nights_of_instructions),
        cmocka_unit_test(test_noise_that_hides),
        cmocka_unit_test(test_many_nights),
    };
    kf_log_set_level(KF_LOG_QUIET);
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
