/* Tests what plans state of themselves: snapshots, records, verifications, facts. Faults: a quantity that
 * is missing, or has another's name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/plan/facts.h"
#include "base/plan/record.h"
#include "base/plan/snapshot.h"
#include "base/plan/system.h"

/* --- Snapshots ------------------------------------------------------------------------------------------ */

static void snapshots_of_nodes(void **state) {
    (void)state;
    enum { NX = 4, NY = 3, NZ = 2, NODES = NX * NY * NZ };
    kf_snapshot s;
    kf_error error;
    kf_snapshot_of_nodes(&s, (const int[3]){NX, NY, NZ}, 0.25, 0.5);
    assert_true(s.on == KF_ON_NODES && s.count == NODES);
    for (int axis = 0; axis < 3; axis++)
        assert_true(s.origin[axis] == 0.25 && s.spacing[axis] == 0.5);
    float *density = kf_snapshot_add(&s, "density", "kg/m^3", 1), *velocity = NULL;
    for (int i = 0; i < NODES; i++)
        density[i] = 1.0F;
    velocity = kf_snapshot_add(&s, "velocity", "m/s", 3);
    for (int i = 0; i < 3 * NODES; i++)
        velocity[i] = (float)i;
    s.step = 77;
    assert_int_equal(kf_snapshot_check(&s, &error), KF_OK);
    const kf_quantity *found = kf_snapshot_find(&s, "velocity");
    assert_true(found->components == 3 && found->values == velocity);
    assert_string_equal(found->unit, "m/s");
    assert_ptr_equal(kf_snapshot_find(&s, "density")->values, density);
    assert_null(kf_snapshot_find(&s, "veloc"));
    /* Node (3,2,1) is the last, and (1,2,0) the tenth. */
    static const struct {
        int node;
        const char *place;
    } places[] = {{NODES - 1, "(3,2,1)"}, {9, "(1,2,0)"}, {12, "(0,0,1)"}, {0, "(0,0,0)"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int component = 0; component < 3; component += 2) {
            float *value = &velocity[3 * places[i].node + component], kept = *value;
            *value = INFINITY;
            assert_int_equal(kf_snapshot_check(&s, &error), KF_GATE_FAILED);
            assert_non_null(strstr(error.message, places[i].place));
            assert_non_null(strstr(error.message, "velocity"));
            assert_non_null(strstr(error.message, "77"));
            *value = kept;
        }
    kf_snapshot_free(&s);
    assert_int_equal(s.count, 0);
    kf_snapshot_of_particles(&s, 20);
    float *position = kf_snapshot_add(&s, "position", "m", 3);
    memset(position, 0, 60 * sizeof *position);
    assert_int_equal(kf_snapshot_check(&s, &error), KF_OK);
    position[3 * 17 + 2] = NAN;
    assert_int_equal(kf_snapshot_check(&s, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "particle 17"));
    kf_snapshot_free(&s);
}

/* --- Records -------------------------------------------------------------------------------------------- */

static void records_have_columns(void **state) {
    (void)state;
    kf_records records = {.step = 3};
    char title[64];
    kf_record *forces = kf_records_add(&records, "forces");
    kf_record_add(forces, "drag_coefficient", "", 0.5);
    kf_record_add_vector(forces, "force", "N", (const double[3]){1, 2, 3});
    kf_record_add(kf_records_add(&records, "energy"), "kinetic", "J", 7);
    const kf_record *found = kf_records_find(&records, "forces");
    assert_int_equal(found->count, 4);
    assert_true(kf_record_value(found, "drag_coefficient") == 0.5);
    assert_true(kf_record_value(found, "force_x") == 1 && kf_record_value(found, "force_y") == 2 &&
                kf_record_value(found, "force_z") == 3);
    assert_true(isnan(kf_record_value(found, "force")));
    assert_true(kf_record_value(kf_records_find(&records, "energy"), "kinetic") == 7);
    assert_null(kf_records_find(&records, "force"));
    assert_string_equal(kf_column_title(&found->columns[0], title, sizeof title), "drag_coefficient");
    assert_string_equal(kf_column_title(&found->columns[3], title, sizeof title), "force_z_N");
    kf_records_free(&records);
    assert_int_equal(records.count, 0);
}

/* --- Verifications -------------------------------------------------------------------------------------- */

static void judged(const double values[3], const double bounds[3], const char *farthest) {
    static const char *const names[] = {"fields", "mass", "force"};
    kf_verification v = {.count = 0};
    kf_error error = {KF_OK, ""};
    for (int i = 0; i < 3; i++)
        kf_verification_add(&v, names[i], values[i], bounds[i]);
    assert_true(v.count == 3 && (v.error == values[0] || isnan(values[0])) && v.bound == bounds[0]);
    assert_string_equal(v.deviations[2].name, "force");
    assert_true(v.deviations[2].value == values[2] || isnan(values[2]));
    assert_int_equal(kf_verification_judge(&v, &error), farthest != NULL ? KF_GATE_FAILED : KF_OK);
    if (farthest == NULL) return;
    assert_int_equal(strncmp(error.message, farthest, strlen(farthest)), 0);
    assert_true(error.message[strlen(error.message) - 1] == ')'); /* the place is unknown */
}

/* Within the bounds, ends included, there is no message. Otherwise the value farthest beyond its bound is
 * named. A NaN counts as the farthest. */
static void verifications_name_the_worst(void **state) {
    (void)state;
    judged((const double[3]){1e-6, 1e-9, 1e-3}, (const double[3]){1e-5, 1e-8, 1e-2}, NULL);
    judged((const double[3]){1e-5, 1e-8, 1e-2}, (const double[3]){1e-5, 1e-8, 1e-2}, NULL);
    judged((const double[3]){1.01e-5, 1e-8, 1e-2}, (const double[3]){1e-5, 1e-8, 1e-2}, "fields");
    judged((const double[3]){2e-5, 3e-8, 1e-2}, (const double[3]){1e-5, 1e-8, 1e-2}, "mass");
    judged((const double[3]){2e-5, 3e-8, 1}, (const double[3]){1e-5, 1e-8, 1e-2}, "force");
    judged((const double[3]){1e9, (double)NAN, 1}, (const double[3]){1e-5, 1e-8, 1e-2}, "mass");
}

/* --- Facts ---------------------------------------------------------------------------------------------- */

static void facts_go_out_and_in(void **state) {
    (void)state;
    kf_facts facts = {NULL, 0, 0}, back, copy;
    char text[KF_FACTS_TEXT];
    int size[3];
    kf_facts_size(&facts, (const int[3]){96, 48, 32}, "nodes");
    kf_facts_amount(&facts, "node_count", 96.0 * 48 * 32, "nodes");
    kf_facts_amount(&facts, "sample_count", 12345, "samples");
    kf_facts_number(&facts, "viscosity", 0.015625, "cell^2/step");
    kf_facts_number(&facts, "lost", (double)NAN, "");
    kf_facts_word(&facts, "collision", "acm_mrt");
    for (int i = 0; i < 20; i++) /* more than there was room for */
        kf_facts_number(&facts, "reynolds", 100 + i, "");
    assert_true(kf_facts_find(&facts, "node_count")->extensive &&
                !kf_facts_find(&facts, "viscosity")->extensive);
    /* The number of nodes follows from the size. For other quantities the counts are written. */
    assert_string_equal(kf_facts_text(&facts, text), "96x48x32 nodes, 12345 samples");
    assert_string_equal(kf_facts_size_text(&facts, text), "96x48x32");
    kf_facts counts = {NULL, 0, 0};
    kf_facts_amount(&counts, "sample_count", 1, "samples");
    kf_facts_amount(&counts, "particle_count", 22, "particles");
    kf_facts_amount(&counts, "tracer_count", 333, "");
    assert_string_equal(kf_facts_text(&counts, text), "1 samples, 22 particles, 333 tracer_count");
    kf_facts_free(&counts);
    cJSON *json = kf_facts_to_json(&facts), *units = kf_facts_units(&facts);
    assert_int_equal(kf_facts_from_json("test", json, units, &back, NULL), KF_OK);
    assert_true(kf_facts_get_size(&back, size) && size[0] == 96 && size[1] == 48 && size[2] == 32);
    assert_true(kf_facts_value(&back, "viscosity") == 0.015625 && isnan(kf_facts_value(&back, "lost")));
    assert_string_equal(kf_facts_find(&back, "collision")->word, "acm_mrt");
    assert_string_equal(kf_facts_find(&back, "viscosity")->unit, "cell^2/step");
    assert_true(kf_facts_value(&back, "reynolds") == 100); /* the first of a name */
    kf_facts_copy(&copy, &back);
    kf_facts_free(&back);
    assert_true(kf_facts_value(&copy, "sample_count") == 12345);
    kf_facts_free(&copy);
    cJSON_Delete(json);
    cJSON_Delete(units);
    kf_facts_free(&facts);
    /* Without a size there is none, and the counts stand alone. */
    kf_facts_amount(&facts, "particle_count", 1000, "");
    assert_false(kf_facts_get_size(&facts, size));
    assert_true(size[0] == 0 && size[1] == 0 && size[2] == 0);
    assert_string_equal(kf_facts_size_text(&facts, text), "1000 particle_count");
    kf_facts_free(&facts);
    /* The largest possible size is accepted, and a larger one refused. */
    kf_facts_size(&facts, (const int[3]){1 << 30, 1, 1}, "");
    assert_true(kf_facts_get_size(&facts, size) && size[0] == 1 << 30);
    kf_facts_free(&facts);
    kf_facts_size(&facts, (const int[3]){(1 << 30) + 1, 1, 1}, "");
    assert_false(kf_facts_get_size(&facts, size));
    kf_facts_free(&facts);
    /* A value that is neither a number nor a short word is refused. */
    static const char *const wrong[] = {"{\"a\": true}", "{\"a\": [1]}", "{\"a\": null}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json = cJSON_Parse(wrong[i]);
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_facts_from_json("scene.json", json, NULL, &back, &error), KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "facts.a"));
        cJSON_Delete(json);
    }
    json = cJSON_CreateObject();
    char word[KF_NAME + 1];
    memset(word, 'w', sizeof word);
    word[KF_NAME - 1] = '\0';
    cJSON_AddStringToObject(json, "a", word);
    assert_int_equal(kf_facts_from_json("scene.json", json, NULL, &back, NULL), KF_OK);
    kf_facts_free(&back);
    word[KF_NAME - 1] = 'w';
    word[KF_NAME] = '\0';
    cJSON_AddStringToObject(json, "b", word);
    assert_int_equal(kf_facts_from_json("scene.json", json, NULL, &back, NULL), KF_BAD_INPUT);
    cJSON_Delete(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_of_nodes),
        cmocka_unit_test(records_have_columns),
        cmocka_unit_test(verifications_name_the_worst),
        cmocka_unit_test(facts_go_out_and_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
