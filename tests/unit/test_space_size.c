/* Tests spaces of a billion combinations and more. Faults: time or memory that grows with them. */
#include <time.h>

#include "base/util/text.h"
#include "tests/unit/sanitized.h"
#include "tests/unit/space_fixture.h"

/* Returns the processor time of this process, which does not depend on other work on the machine. */
static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the most memory that the process has had, in MiB. It includes everything, so it is an upper
 * bound. */
static double peak_mebibytes(void) {
    char line[128];
    double kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0) kibibytes = strtod(line + 6, NULL);
    (void)fclose(file);
    return kibibytes / 1024;
}

enum { CONSTRAINTS = 10 };

/* Generates `count` parameters p0, p1, ... of 0..choices-1 with constraints (up to the first NULL). */
static char *generated(int count, int choices, const char *const constraints[CONSTRAINTS]) {
    kf_text text = {0};
    kf_text_append(&text, "{\"system\":\"kinetic\",\"format\":1,\"parameters\":[");
    for (int i = 0; i < count; i++)
        kf_text_append(&text,
                       "%s{\"name\":\"p%d\",\"type\":\"integer\",\"values\":\"range(%d)\",\"default\":0}",
                       i > 0 ? "," : "", i, choices);
    kf_text_append(&text, "],\"constraints\":[");
    for (int i = 0; i < CONSTRAINTS && constraints[i] != NULL; i++)
        kf_text_append(&text, "%s{\"expression\":\"%s\",\"reason\":\"generated\"}", i > 0 ? "," : "",
                       constraints[i]);
    kf_text_append(&text, "],\"presets\":{\"baseline\":{},\"paper\":{}}}");
    return text.text;
}

static kf_space *built_in_time(const char *what, const char *text) {
    kf_error error = {0};
    double start = seconds_now();
    kf_space *space = from_text(text, scene(100, 5, 0), &error);
    double seconds = seconds_now() - start;
    if (space == NULL) fail_msg("%s: %s", what, error.message);
    print_message("%s: %.3g combinations, %.6g valid, %.3f s, at most %.0f MiB\n", what,
                  kf_space_raw_size(space), (double)kf_space_size(space), seconds, peak_mebibytes());
    if (!SANITIZED) { /* sanitizers take several times the time and memory */
        assert_true(seconds < 2);
        assert_true(peak_mebibytes() < 200);
    }
    return space;
}

static void check_round_trips(const kf_space *space, int samples) {
    for (int i = 0; i < samples; i++) {
        uint64_t index = kf_space_size(space) / (uint64_t)samples * (uint64_t)i, back = 0;
        int positions[KF_CONFIG_VALUES];
        kf_space_positions(space, index, positions);
        assert_true(kf_space_positions_index(space, positions, &back) && back == index);
    }
}

/* The constraints are divisors and sums, of two and three parameters, as real spaces have them. */
static void test_a_billion_combinations(void **state) {
    (void)state;
    static const char *const constraints[CONSTRAINTS] = {
        "p0 + p1 <= 9", "p1 + p2 <= 8", "p3 == 0 or p4 % p3 == 0", "p5 + p6 + p7 in [0, 9]", "p8 <= p0"};
    char *text = generated(9, 10, constraints);
    kf_space *space = built_in_time("pairs", text);
    assert_true(kf_space_raw_size(space) == 1e9);
    uint64_t expected = 0, pairs = 0; /* of p0, p1, p2, p8 and of p3, p4 */
    for (int p0 = 0; p0 < 10; p0++)
        for (int p1 = 0; p0 + p1 <= 9; p1++)
            for (int p2 = 0; p2 < 10 && p1 + p2 <= 8; p2++)
                expected += (uint64_t)(p0 + 1);
    for (int p3 = 0; p3 < 10; p3++)
        for (int p4 = 0; p4 < 10; p4++)
            pairs += p3 == 0 || p4 % p3 == 0;
    assert_int_equal(kf_space_size(space), expected * pairs * 56); /* 1 way to get 0 and 55 to get 9 */
    check_round_trips(space, 10000);
    kf_space_free(space);
    free(text);
}

/* The worst case: every parameter matters until the end, so that no two prefixes may share a node. */
static void test_a_billion_combinations_without_sharing(void **state) {
    (void)state;
    static const char *const constraints[CONSTRAINTS] = {
        "(p0 + p1) % 2 == 0", "(p1 + p2) % 2 == 0",
        "(p2 + p3) % 2 == 0", "(p3 + p4) % 2 == 0",
        "(p4 + p5) % 2 == 0", "(p5 + p6) % 2 == 0",
        "p6 == p7",           "p0 + 2*p1 + 3*p2 + 4*p3 + 5*p4 + 6*p5 + 7*p6 + 8*p7 + 9*p8 >= 0"};
    char *text = generated(9, 10, constraints);
    kf_space *space = built_in_time("no sharing", text);
    assert_true(kf_space_raw_size(space) == 1e9);
    assert_int_equal(kf_space_size(space), 2 * 78125 * 10); /* p0..p6 of one parity, p7 = p6, p8 free */
    check_round_trips(space, 10000);
    kf_space_free(space);
    free(text);
}

static void test_more_configs_than_fit_in_memory(void **state) {
    (void)state;
    static const char *const constraints[CONSTRAINTS] = {"p0 == p17"};
    char *text = generated(18, 10, constraints);
    kf_space *space = built_in_time("huge", text);
    assert_true(kf_space_size(space) == 100000000000000000); /* 10^17 */
    check_round_trips(space, 1000);
    kf_space_free(space);
    free(text);
}

static void expect_refused(int count, const char *constraint, const char *message) {
    const char *const constraints[CONSTRAINTS] = {constraint};
    char *text = generated(count, 10, constraints);
    kf_error error = {0};
    kf_space *space = from_text(text, scene(100, 5, 0), &error);
    assert_null(space);
    if (strstr(error.message, message) == NULL) fail_msg("%s", error.message);
    free(text);
}

static void test_spaces_beyond_reach_are_refused(void **state) {
    (void)state;
    expect_refused(20, NULL, "more than 2^63 valid configs");
    if (!SANITIZED) /* it takes long to give up */
        expect_refused(12, "p0+p1+p2+p3+p4+p5+p6+p7+p8+p9+p10+p11 in [0, 3]",
                       "the space is too large to build");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_billion_combinations),
        cmocka_unit_test(test_a_billion_combinations_without_sharing),
        cmocka_unit_test(test_more_configs_than_fit_in_memory),
        cmocka_unit_test(test_spaces_beyond_reach_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
