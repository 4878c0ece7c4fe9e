/* Tests the comparison of our counters with those of Nsight Compute, on texts in the form that both write.
 * Faults: launches that are paired wrongly, or units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "tests/unit/check.h"
#include "tests/unit/ncu_table.h"

/* The kernels of the plan in its order. average_sum runs every 16 steps, and was counted in step 0. */
#define OURS                                                                                                 \
    "0,boundary_all,dram__bytes_read.sum,5000\n"                                                             \
    "0,boundary_all,l1tex__t_sector_hit_rate.pct,0.10\n"                                                     \
    "1,average_sum,dram__bytes_read.sum,191102976\n"                                                         \
    "1,average_sum,l1tex__t_sector_hit_rate.pct,12.5\n"                                                      \
    "2,stream,dram__bytes_read.sum,1234567.5\n"                                                              \
    "2,stream,l1tex__t_sector_hit_rate.pct,50.0\n"                                                           \
    "3,scan,dram__bytes_read.sum,100\n"                                                                      \
    "4,scan,dram__bytes_read.sum,200\n"

#define HEAD                                                                                                 \
    "==PROF== Connected to process 4242 (/tmp/test_cupti_gpu)\n"                                             \
    "part 1 average_sum\n"                                                                                   \
    "==PROF== Disconnected from process 4242\n"                                                              \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "   \
    "Size\","                                                                                                \
    "\"Grid Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\",\"l1tex__t_sector_hit_rate.pct\"\n"            \
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte\",\"%\"\n"
#define ROW(id, kernel, bytes, hits)                                                                         \
    "\"" id "\",\"4242\",\"test_cupti_gpu\",\"127.0.0.1\",\"" kernel                                         \
    "\",\"1\",\"7\",\"(256, 1, 1)\",\"(96, 96, "                                                             \
    "1)\",\"0\",\"9.0\",\"" bytes "\",\"" hits "\"\n"

static const char *const judged[] = {"average_sum", "stream", "scan", NULL};

static bool compare(const char *theirs, ncu_comparison *c, char *table, size_t size) {
    char *our_text = strdup(OURS), *ncu_text = strdup(theirs);
    FILE *out = fmemopen(table, size, "w");
    assert_non_null(out);
    const bool same = ncu_compare(our_text, ncu_text, judged, c, out);
    (void)fclose(out);
    free(our_text);
    free(ncu_text);
    return same;
}

/* In order of time step 0 comes first. Paired by position, every kernel would be compared with its
 * neighbour. */
static void pairs_by_name_not_by_position(void **state) {
    (void)state;
    ncu_comparison c;
    char table[4096];
    assert_true(compare(HEAD ROW("0", "average_sum", "191,102,976", "12.5")
                            ROW("1", "boundary_all", "5,000", "0.30")
                                ROW("2", "stream(stream_arguments)", "1,234,567.50", "50.10")
                                    ROW("3", "scan", "100", "") ROW("4", "scan", "200", ""),
                        &c, table, sizeof table));
    assert_int_equal(c.launches, 5);
    assert_int_equal(c.values, 8);
    assert_int_equal(c.judged_seen, 6);
    assert_int_equal(c.wrong, 0);
    assert_int_equal(c.unpaired, 0);
}

/* Launches of one kernel are paired in their order. Exchanged, both are wrong. */
static void pairs_equal_names_by_order(void **state) {
    (void)state;
    ncu_comparison c;
    char table[4096];
    assert_false(compare(HEAD ROW("0", "average_sum", "191,102,976", "12.5")
                             ROW("1", "boundary_all", "5,000", "0.1") ROW("2", "stream", "1,234,567.50", "50")
                                 ROW("3", "scan", "200", "") ROW("4", "scan", "100", ""),
                         &c, table, sizeof table));
    assert_int_equal(c.wrong, 2);
}

static void tells_what_differs(void **state) {
    (void)state;
    ncu_comparison c;
    char table[4096];
    /* The bytes of a compared kernel differ by 3 %. Those of a kernel that is only shown differ by a
     * factor of two. */
    assert_false(compare(HEAD ROW("0", "average_sum", "191,102,976", "12.5")
                             ROW("1", "boundary_all", "10,000", "0.1") ROW("2", "stream", "1,272,000", "50")
                                 ROW("3", "scan", "100", "") ROW("4", "scan", "200", ""),
                         &c, table, sizeof table));
    assert_int_equal(c.wrong, 1);
    assert_non_null(strstr(table, "DIFFERS"));
    assert_non_null(strstr(table, "differs, not judged"));
}

/* A launch that only one of the two tables has is reported. */
static void tells_what_has_no_partner(void **state) {
    (void)state;
    ncu_comparison c;
    char table[4096];
    assert_false(compare(HEAD ROW("0", "average_sum", "191,102,976", "12.5")
                             ROW("1", "boundary_all", "5,000", "0.1") ROW("2", "stream", "1,234,567", "50")
                                 ROW("3", "scan", "100", "") ROW("4", "memset", "7", ""),
                         &c, table, sizeof table));
    assert_int_equal(c.wrong, 0);
    assert_int_equal(c.unpaired, 2); /* second launch of scan, and memset */
    assert_false(compare(HEAD, &c, table, sizeof table));
    assert_false(compare("==ERROR== ERR_NVGPUCTRPERM\n", &c, table, sizeof table));
    assert_int_equal(c.values, 0);
}

/* Reads what ncu wrote on an H200, with hundreds of columns that were not asked for, and what kftune
 * counted there. */
static void pairs_what_was_recorded(void **state) {
    (void)state;
    static const char *const longest[] = {"stream", "collision_terms", "update", NULL};
    char *ours = text_of_file("tests/data/ncu-h200-ours.csv"), *ncu = text_of_file("tests/data/ncu-h200.csv");
    kf_text with_late_columns = {0};
    /* The kernel boundary_all is part 0, and ncu's third row. Its occupancy is in the 283rd column. */
    kf_text_append(&with_late_columns,
                   "0,boundary_all,sm__warps_active.avg.pct_of_peak_sustained_active,85.98\n%s", ours);
    char table[65536];
    ncu_comparison c;
    FILE *out = fmemopen(table, sizeof table, "w");
    assert_non_null(out);
    assert_true(ncu_compare(with_late_columns.text, ncu, longest, &c, out));
    (void)fclose(out);
    assert_int_equal(c.launches, 11);
    assert_int_equal(c.values, 89);
    assert_int_equal(c.judged_seen, 24);
    assert_int_equal(c.unpaired, 0);
    kf_text_free(&with_late_columns);
    free(ours);
    free(ncu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_by_name_not_by_position),
        cmocka_unit_test(pairs_equal_names_by_order),
        cmocka_unit_test(tells_what_differs),
        cmocka_unit_test(tells_what_has_no_partner),
        cmocka_unit_test(pairs_what_was_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
