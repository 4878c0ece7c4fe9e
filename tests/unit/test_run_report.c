/* Tests how long a run lasts by its options, and what it reports of drag and lift. Faults: a wrong number
 * of steps, or a mean of the wrong rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/run_coefficients.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_pictures.h"
#include "solver/picture/colour_map.h"
#include "solver/systems.h"

static kf_problem *problem;
static const kf_scene *scene;

static int open_ball(void **state) {
    (void)state;
    const kf_problem_options options = {.nodes = {32, 16, 16}};
    if (kf_problem_open("ball", "kinetic", &options, &problem, NULL) != KF_OK) return -1;
    scene = kf_run_scene(problem);
    return scene != NULL ? 0 : -1;
}
static int close_ball(void **state) {
    (void)state;
    kf_problem_free(problem);
    return 0;
}

static kf_status run_nothing(const kf_arguments *arguments, kf_error *error) {
    (void)arguments, (void)error;
    return KF_OK;
}

/* Reads the number of steps that these words ask for. Without a number *steps stays 7. */
static kf_status steps_of(const char *words, long *steps, kf_error *error) {
    static const kf_option options[] = {KF_DURATION_OPTIONS, {0}};
    const kf_command command = {.name = "run", .options = options, .run = run_nothing};
    char text[128], *word[8];
    int count = 0;
    kf_arguments *arguments = kf_allocate_zeroed(1, sizeof *arguments);
    kf_production_options how = {0};
    kf_copy_text(text, sizeof text, words);
    for (char *rest = text, *one; (one = strtok_r(rest, " ", &rest)) != NULL;)
        word[count++] = one;
    *steps = 7;
    kf_status status = kf_arguments_parse(&command, count, word, arguments, error);
    if (status == KF_OK) status = kf_run_duration(arguments, problem, steps, &how, error);
    free(arguments);
    return status;
}

static void test_durations_in_every_unit(void **state) {
    (void)state;
    const double through = kf_scene_flow_through(scene), dt = scene->time_step;
    const struct {
        const char *words;
        double steps;
    } cases[] = {{"", 7},
                 {"--steps 12", 12},
                 {"--flow-throughs 2.5", ceil(2.5 * through)},
                 {"--time 2s", ceil(2 / dt)},
                 {"--time 2", ceil(2 / dt)},
                 {"--time 250ms", ceil(0.25 / dt)},
                 {"--until settled", ceil(50 * through)},
                 {"--until settled --steps 9", 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        long steps;
        kf_error error = {KF_OK, ""};
        if (steps_of(cases[i].words, &steps, &error) != KF_OK) fail_msg("%s", error.message);
        assert_true(fabs((double)steps - cases[i].steps) <= 1);
    }
    static const char *const refused[] = {"--steps 5 --time 2s",
                                          "--steps 5 --flow-throughs 1",
                                          "--time 2s --flow-throughs 1",
                                          "--time 2h",
                                          "--time -1s",
                                          "--until tired"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        long steps;
        kf_error error = {KF_OK, ""};
        assert_int_equal(steps_of(refused[i], &steps, &error), KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "--"));
    }
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected))) fail_msg("%.9g is not %.9g", value, expected);
}

/* Reads which pictures these words ask for, in a run with this many steps. */
static kf_status pictures_in(uint64_t steps, const char *words, kf_production_options *how, kf_error *error) {
    static const kf_option options[] = {KF_PICTURE_OPTIONS, {0}};
    const kf_command command = {.name = "run", .options = options, .run = run_nothing};
    char text[256], *word[16];
    int count = 0;
    kf_arguments *arguments = kf_allocate_zeroed(1, sizeof *arguments);
    kf_copy_text(text, sizeof text, words);
    for (char *rest = text, *one; (one = strtok_r(rest, " ", &rest)) != NULL;)
        word[count++] = one;
    *how = (kf_production_options){.steps = steps};
    kf_status status = kf_arguments_parse(&command, count, word, arguments, error);
    if (status == KF_OK) status = kf_run_pictures(arguments, scene, how, error);
    free(arguments);
    return status;
}

static kf_status pictures_of(const char *words, kf_production_options *how, kf_error *error) {
    return pictures_in(1000, words, how, error);
}

static void test_pictures_of_every_option(void **state) {
    (void)state;
    kf_production_options how;
    kf_error error = {KF_OK, ""};
    if (pictures_of("--picture vorticity,speed,surface,y_plus --slice y=0.3m --range speed=2:60 --range "
                    "surface=-3:0.5 --range y_plus=0:90 --range -7:8 --camera 90,-10,1.5 "
                    "--picture-every 25",
                    &how, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(how.picture_count, 2);
    assert_true(how.surfaces[KF_SURFACE_PRESSURE].drawn && how.picture_every == 25 && how.film_every == 0);
    assert_int_equal(how.pictures[0].field, KF_PICTURE_VORTICITY);
    assert_int_equal(how.pictures[1].field, KF_PICTURE_SPEED);
    static const double spans[3][2] = {{-7, 8}, {2, 60}, {-3, 0.5}};
    for (int i = 0; i < 2; i++) {
        const kf_picture_view *view = &how.pictures[i];
        assert_true(view->ranged && view->low == spans[i][0] && view->high == spans[i][1]);
        assert_true(view->normal == 1 && view->placed);
        assert_near(view->position, 0.3);
    }
    assert_true(how.surfaces[KF_SURFACE_PRESSURE].low == spans[2][0] &&
                how.surfaces[KF_SURFACE_PRESSURE].high == spans[2][1]);
    assert_true(how.surfaces[KF_SURFACE_Y_PLUS].drawn && how.surfaces[KF_SURFACE_Y_PLUS].high == 90.0);
    assert_true(how.viewpoint.azimuth == 90 && how.viewpoint.elevation == -10 && how.viewpoint.zoom == 1.5);
    /* A film has fixed colours, for 1 m/s about 0.1 m. 1000 steps make 250 frames, or the number that was
     * asked for. */
    assert_int_equal(
        pictures_of("--film --picture speed,pressure,vorticity,surface --range pressure=-2:3", &how, &error),
        KF_OK);
    assert_int_equal(how.film_every, 4);
    const double most = kf_scale_top(100),
                 span[4][2] = {{0, kf_scale_top(1.5)}, {-2, 3}, {-most, most}, {-1.5, 1}};
    for (int i = 0; i < 3; i++)
        assert_true(how.pictures[i].ranged && how.pictures[i].low == span[i][0] &&
                    how.pictures[i].high == span[i][1]);
    assert_true(how.surfaces[KF_SURFACE_PRESSURE].low == span[3][0] &&
                how.surfaces[KF_SURFACE_PRESSURE].high == span[3][1]);
    /* The steps of a run, and those between two frames. */
    static const int steps_of[][2] = {{250, 1}, {499, 1}, {500, 2}, {999, 3}};
    for (size_t i = 0; i < sizeof steps_of / sizeof *steps_of; i++) {
        assert_int_equal(pictures_in((uint64_t)steps_of[i][0], "--film", &how, &error), KF_OK);
        assert_int_equal(how.film_every, steps_of[i][1]);
    }
    assert_int_equal(pictures_of("--film --film-every 7", &how, &error), KF_OK);
    assert_int_equal(how.film_every, 7);
    assert_int_equal(pictures_of("", &how, &error), KF_OK);
    assert_true(how.film_every == 0 && how.picture_every == 0 && kf_surface_drawn(&how) < 0 &&
                how.viewpoint.azimuth == 54.5);
    static const char *const refused[] = {"--range 5:1",    "--range 1",       "--range pressure=0:1",
                                          "--camera 90",    "--camera 0,81",   "--camera 0,0,0.05",
                                          "--film-every 3", "--picture heat",  "--slice w",
                                          "--slice y=5m",   "--range 1:2:3",   "--range speed=1:inf",
                                          "--camera 361,0", "--camera 0,0,1,2"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (pictures_of(refused[i], &how, &error) != KF_BAD_INPUT) fail_msg("%s is taken", refused[i]);
}

static double value_of(const cJSON *json, const char *name) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, name);
    assert_non_null(value);
    return value->valuedouble;
}

/* The reported coefficients are the recorded ones, with their reference area. A turned solid has axes of
 * its own. */
static void test_coefficients_have_their_area(void **state) {
    (void)state;
    kf_drag_report report = {.known = true, .settled = true, .from_step = 100, .step = 400};
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        report.mean[c] = (kf_series_mean){.mean = 0.4 + c, .half = 0.01 * (1 + c), .rms = 0.02};
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        report.body[c] = (kf_series_mean){.mean = 5.0 + c, .half = 0.1 * (1 + c), .rms = 0.2};
    const double area = scene->frontal_area * scene->cell_size * scene->cell_size;
    for (int given = 0; given < 2; given++) {
        const double share = given ? 0.5 : 1;
        kf_scene *refers = kf_allocate(sizeof *refers);
        *refers = *scene;
        if (given) kf_scene_refer_to_area(refers, 2 * area);
        refers->yaw = given ? 30 : 0;
        kf_scene fine = {.reference_length = 2 * scene->reference_length}; /* the solid's, of nested grids */
        refers->finer_count = given;
        refers->finer[0] = &fine;
        cJSON *json = kf_run_coefficients_json(refers, &report, 200);
        const cJSON *body = cJSON_GetObjectItemCaseSensitive(json, "body_axes");
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(json, "reference_area_is")->valuestring,
                            given ? "given" : "measured front");
        free(refers);
        static const char *const names[KF_COEFFICIENTS] = {"drag", "lift", "side"};
        for (int c = 0; c < KF_COEFFICIENTS; c++) {
            const cJSON *mean = cJSON_GetObjectItemCaseSensitive(json, names[c]),
                        *interval = cJSON_GetObjectItemCaseSensitive(mean, "interval_95");
            assert_near(value_of(mean, "mean"), 0.4 + c);
            assert_near(value_of(mean, "rms"), 0.02);
            assert_near(cJSON_GetArrayItem(interval, 0)->valuedouble, 0.4 + c - 0.01 * (1 + c));
            assert_near(cJSON_GetArrayItem(interval, 1)->valuedouble, 0.4 + c + 0.01 * (1 + c));
            mean = cJSON_GetObjectItemCaseSensitive(body, names[c]);
            interval = cJSON_GetObjectItemCaseSensitive(mean, "interval_95");
            assert_near(value_of(mean, "mean"), 5.0 + c);
            assert_near(cJSON_GetArrayItem(interval, 1)->valuedouble, 5.0 + c + 0.1 * (1 + c));
        }
        assert_near(value_of(json, "reference_area_m2"), area / share);
        assert_near(value_of(json, "simulated_s"), 400 * scene->time_step);
        assert_near(value_of(json, "flow_throughs"), 2);
        assert_near(value_of(json, "cells_a_length"), (given ? 2 : 1) * scene->reference_length);
        assert_near(value_of(json, "speed_m_s"),
                    scene->reference_speed * scene->cell_size / scene->time_step);
        cJSON_Delete(json);
    }
    report.known = false;
    cJSON *none = kf_run_coefficients_json(scene, &report, 200);
    assert_true(cJSON_IsNull(none));
    cJSON_Delete(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_in_every_unit),
        cmocka_unit_test(test_pictures_of_every_option),
        cmocka_unit_test(test_coefficients_have_their_area),
    };
    return cmocka_run_group_tests(tests, open_ball, close_ball);
}
