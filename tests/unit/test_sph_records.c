/* Tests what a plan of particles states of its state: snapshot, records, gauges, time, against sums by the
 * test and known motions. Faults: a wrong sum, unit or particle. */
#include <math.h>

#include "solver/sph/sph.h"
#include "solver/sph/sph_cases.h"
#include "solver/sph/sph_picture.h"
#include "solver/sph/sph_problem.h"
#include "solver/sph/sph_view.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/plan_fixture.h"

#include <png.h>

#define WATER "\"material\": {\"density\": 300, \"sound_speed\": 20, \"viscosity\": 2}"
static const char tank[] =
    "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05, \"shake\": 0.1}, \"box\": {\"size\": [2, 1.5], "
    "\"faces\": {\"xmin\": \"dummies\", \"ymin\": \"dummies\"}}, \"gravity\": [1, -9.81], " WATER
    ", \"gauges\": [{\"name\": \"H\", \"height\": [0.4]}, {\"name\": \"P\", \"pressure\": [0.4, 0.62]}, "
    "{\"name\": \"S\", \"pressure\": [0.4, 0.9]}, {\"name\": "
    "\"dry\", \"height\": [1.7]}], \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 0.9], "
    "\"velocity\": [0.5, -0.25], \"rotation\": 1}]}";
static const char block[] = "{\"particles\": {\"spacing\": 0.1, \"shake\": 0.1}, \"box\": {\"size\": [1.4, "
                            "0.7, 1.2], \"faces\": {\"zmin\": "
                            "\"dummies\"}}, \"gravity\": [0, 1, -9.81], \"material\": {\"density\": 300, "
                            "\"sound_speed\": 20, \"law\": "
                            "\"bingham\", \"viscosity\": 2, \"yield_stress\": 300}, \"gauges\": [{\"name\": "
                            "\"H\", \"height\": [0.4, 0.3]}, "
                            "{\"name\": \"P\", \"pressure\": [0.4, 0.3, 0.2]}], \"fluid\": [{\"shape\": "
                            "\"box\", \"low\": [0, 0, 0], \"high\": "
                            "[0.8, 0.7, 0.9], \"velocity\": [0.5, 0, 1]}]}";

static kf_problem *problem_from(const char *text) {
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    must(kf_particle_scene_parse("records.json", text, NULL, &scene, &error), &error);
    return kf_sph_problem(scene);
}

static kf_plan *plan_of(const kf_problem *problem) {
    kf_variables variables;
    kf_space *space;
    kf_config config;
    kf_plan *plan;
    kf_error error = {KF_OK, ""};
    kf_system_sph.variables(problem, kf_backend_device(backend), &variables);
    must(kf_space_open("sph", kf_system_sph.space_file, &variables, NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    must(kf_system_sph.plan(problem, &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    kf_space_free(space);
    return plan;
}

static void near_at(double value, double expected, double relative, int line) {
    if (!(fabs(value - expected) <= relative * fmax(fabs(expected), 1e-6)))
        fail_msg("line %d: %.9g is not %.9g", line, value, expected);
}
#define near(value, expected, relative) near_at(value, expected, relative, __LINE__)

static double column(const kf_records *records, const char *table, const char *name) {
    const kf_record *record = kf_records_find(records, table);
    assert_non_null(record);
    return kf_record_value(record, name);
}

/* Compares records in SI units with sums over the snapshot, whose units the scene's first state fixes. */
static void sums_of_the_snapshot(const char *text, int steps) {
    kf_problem *problem = problem_from(text);
    const kf_particle_scene *s = problem->own;
    kf_plan *plan = plan_of(problem);
    kf_error error = {KF_OK, ""};
    kf_snapshot snapshot = {0};
    kf_records records = {0};
    const int d = s->dimensions, up = d - 1;
    const size_t fluid = s->count - s->wall_count;
    advance(plan, (uint64_t)steps);
    must(kf_plan_snapshot(plan, &snapshot, &error), &error);
    must(kf_plan_record(plan, &records, &error), &error);
    const float *x = kf_snapshot_find(&snapshot, "position")->values,
                *v = kf_snapshot_find(&snapshot, "velocity")->values,
                *rho = kf_snapshot_find(&snapshot, "density")->values,
                *p = kf_snapshot_find(&snapshot, "pressure")->values,
                *wall = kf_snapshot_find(&snapshot, "wall")->values;
    const double mass = 300 * pow(s->spacing, d),
                 g[3] = {s->gravity[0] * 400 / s->spacing, s->gravity[1] * 400 / s->spacing,
                         s->gravity[2] * 400 / s->spacing};
    double kinetic = 0, potential = 0, fastest = 0, front = 0, centre[3] = {0}, most = 0, mean = 0,
           densest = 0, off = 0;
    double highest[2] = {-1, -1}, weights[2] = {0}, pressure[2] = {0};
    const double reach = s->support * s->spacing, at[2][3] = {{0.4, d == 2 ? 0.62 : 0.3, 0.2}, {0.4, 0.9, 0}};
    for (size_t k = 0; k < s->count; k++) {
        assert_true((wall[k] != 0.0f) == (k >= fluid));
        if (steps == 0) {
            for (size_t i = 0; i < 3; i++) {
                near((double)x[3 * k + i] + 1,
                     ((double)s->position[3 * k + i] - s->origin[i]) * s->spacing + 1, 1e-6);
                near((double)v[3 * k + i] + 1, (double)s->velocity[3 * k + i] * 20 + 1, 1e-6);
            }
            near((double)rho[k], 300 * (1 + (double)s->deviation[k]), 1e-6);
        }
        if (k >= fluid) continue;
        const double e = (double)rho[k] / 300 - 1, stiff = (pow(1 + e, 7) - 1) / 7;
        assert_true(fabs((double)p[k] - 300 * 400 * (s->material.stiff ? stiff : e)) < 0.1);
        double square = 0, r2[2] = {0};
        for (size_t i = 0; i < 3; i++) {
            square += (double)v[3 * k + i] * (double)v[3 * k + i];
            potential -= mass * g[i] * ((double)x[3 * k + i] + s->origin[i] * s->spacing);
            centre[i] += (double)x[3 * k + i] / (double)fluid;
            for (int j = 0; j < 2 && (int)i < d; j++)
                r2[j] += pow((double)x[3 * k + i] - at[j][i], 2);
        }
        kinetic += 0.5 * mass * square;
        fastest = fmax(fastest, sqrt(square));
        front = fmax(front, (double)x[3 * k]);
        most = fmax(most, fabs(e));
        densest = fmax(densest, e);
        off += fabs(e) > 0.01 ? 1.0 / (double)fluid : 0.0;
        mean += fabs(e) / (double)fluid;
        const double beside = hypot((double)x[3 * k] - 0.4, d == 2 ? 0 : (double)x[3 * k + 1] - 0.3);
        if (beside <= 0.5 * reach) highest[0] = fmax(highest[0], (double)x[3 * k + (size_t)up]);
        if (fabs((double)x[3 * k] - 1.7) <= 0.5 * reach) highest[1] = 1;
        for (int j = 0; j < 2; j++) {
            const double weight = pow(fmax(1 - sqrt(r2[j]) / reach, 0), 2);
            weights[j] += weight, pressure[j] += weight * (double)p[k];
        }
    }
    near(column(&records, "energy", "kinetic_energy"), kinetic, 1e-4);
    near(column(&records, "energy", "potential_energy"), potential, 1e-4);
    near(column(&records, "energy", "largest_speed"), fastest, 1e-5);
    near(column(&records, "energy", "largest_density_deviation"), most, 1e-3);
    near(column(&records, "energy", "mean_density_deviation"), mean, 1e-3);
    near(column(&records, "energy", "largest_compression"), densest, 1e-3);
    near(column(&records, "energy", "share_1_percent_off"), off, 1e-6);
    near(column(&records, "runout", "front_x"), front, 1e-5);
    near(column(&records, "runout", "centre_x"), centre[0], 1e-5);
    near(column(&records, "runout", "centre_y"), centre[1], 1e-5);
    if (d == 3) near(column(&records, "runout", "centre_z"), centre[2], 1e-5);
    assert_true(column(&records, "runout", "particles_inside") == (double)fluid);
    near(column(&records, "gauges", "H"), highest[0] + 0.5 * s->spacing, 1e-5);
    double room[2];
    for (int j = 0; j < 2; j++) {
        const double place[3] = {at[j][0] / s->spacing + s->origin[0], at[j][1] / s->spacing + s->origin[1],
                                 at[j][2] / s->spacing + s->origin[2]};
        room[j] = kf_sph_gauge_room(s, place, s->support);
    }
    near(column(&records, "gauges", "P"), pressure[0] / fmax(weights[0], room[0]), 1e-3);
    if (d == 2) { /* at the surface: without particles there is no pressure */
        assert_true(weights[1] < 0.6 * room[1]);
        near(column(&records, "gauges", "S"), pressure[1] / room[1], 1e-3);
    }
    if (d == 2) assert_true(column(&records, "gauges", "dry") == 0.0 && highest[1] < 0);
    if (steps == 0) assert_true(kf_sph_methods.time(plan, 0) == 0.0);
    kf_records_free(&records);
    kf_snapshot_free(&snapshot);
    kf_plan_free(plan);
    kf_problem_free(problem);
}

/* The integral of (1 - r / R)^2 over a ball is 4 pi R^3 / 30, over a disc pi R^2 / 6. A wall removes half
 * of it, an edge three quarters. */
static void what_a_gauge_of_pressure_has_around_it(void **state) {
    (void)state;
    const double pi = 3.14159265358979323846, disc = pi * 9.0 / 6.0, ball = 4.0 * pi * pow(2.4, 3.0) / 30.0;
    kf_problem *flat = problem_from(tank), *deep = problem_from(block);
    const kf_particle_scene *f = flat->own, *b = deep->own;
    const double right = f->size[0], above = b->origin[2]; /* the floor is made of particles */
    near(kf_sph_gauge_room(f, (double[]){right - 9, 12, 0}, 3.0), disc, 0.01);
    near(kf_sph_gauge_room(f, (double[]){right, 12, 0}, 3.0), disc / 2, 0.01);
    near(kf_sph_gauge_room(f, (double[]){right, f->size[1], 0}, 3.0), disc / 4, 0.01);
    near(kf_sph_gauge_room(b, (double[]){5, 3.5, above + 5}, 2.4), ball, 0.01);
    near(kf_sph_gauge_room(b, (double[]){5, 3.5, above}, 2.4), ball / 2, 0.02);
    kf_problem_free(flat);
    kf_problem_free(deep);
}

/* A gauge sees through periodic faces: beside one it reads what it reads in the middle. It read half of it,
 * and a quarter in a corner. */
static void gauges_see_through_periodic_faces(void **state) {
    (void)state;
    static const char layer[] =
        "{\"particles\": {\"dimensions\": 3, \"spacing\": 0.1}, \"box\": {\"size\": [1.5, 1.2, 0.8], "
        "\"faces\": "
        "{\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"periodic\", \"ymax\": \"periodic\"}}, "
        "\"gravity\": [0, 0, -9.81], " WATER
        ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [1.5, "
        "1.2, 0.6], \"hydrostatic\": true}], \"obstacles\": [{\"shape\": \"box\", \"low\": [%g, 0.2, 0.1], "
        "\"high\": "
        "[%g, 0.4, 0.3]}], \"gauges\": [{\"name\": \"within\", \"pressure\": [%g, 0.6, 0.2]}, {\"name\": "
        "\"beside\", "
        "\"pressure\": [%g, 0, 0.2]}, {\"name\": \"high\", \"height\": [%g, 0]}]}";
    double read[2][3];
    /* The same layer twice, moved by half of its length along x. */
    for (int moved = 0; moved < 2; moved++) {
        const double by = moved ? 0.7 : 0.0;
        char text[1200];
        kf_records records = {0};
        kf_error error = {KF_OK, ""};
        (void)snprintf(text, sizeof text, layer, 0.1 + by, 0.3 + by, 0.0 + by, 0.0 + by, 0.0 + by);
        kf_problem *problem = problem_from(text);
        kf_plan *plan = plan_of(problem);
        must(kf_plan_record(plan, &records, &error), &error);
        read[moved][0] = column(&records, "gauges", "within");
        read[moved][1] = column(&records, "gauges", "beside");
        read[moved][2] = column(&records, "gauges", "high");
        kf_records_free(&records);
        kf_plan_free(plan);
        kf_problem_free(problem);
    }
    for (int g = 0; g < 3; g++)
        near(read[0][g], read[1][g], 1e-4);
    near(read[0][1], 300 * 9.81 * 0.4, 0.03);
}

static void in_two_dimensions(void **state) {
    (void)state;
    sums_of_the_snapshot(tank, 0);
    sums_of_the_snapshot(tank, 9);
}
static void in_three_dimensions(void **state) {
    (void)state;
    sums_of_the_snapshot(block, 0);
    sums_of_the_snapshot(block, 9);
}

/* Snow slides onto flatter ground. The window's fine particles lie above the ground, though the slope
 * below the coarse ones was steeper where they began. */
static void a_window_on_terrain_lies_above_it(void **state) {
    (void)state;
    static const char text[] =
        "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.005}, \"box\": {\"size\": [1.5, 1.5]}, "
        "\"gravity\": [0, -9.81], \"material\": {\"density\": 300, \"sound_speed\": 30, \"viscosity\": 2}, "
        "\"terrain\": {\"formula\": \"0.1 + 0.8 * max(0, 1 - x / 1.2) ** 2\", \"cell\": 0.02}, \"fluid\": "
        "[{\"shape\": \"polygon\", \"polygon\": [0.1, 0.5], \"depth\": 0.4, \"velocity\": [2.5, -2.5]}], "
        "\"run\": {\"windows\": [0.12]}}";
    const char *path = in_scratch("slide.json");
    const kf_problem_options options = {0};
    kf_error error = {KF_OK, ""};
    kf_snapshot snapshot = {0};
    kf_problem *problem;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    must(kf_sph_problem_open(path, &options, &problem, &error), &error);
    const kf_particle_scene *s = problem->own;
    assert_true(s->count > 5000); /* more than the coarse run has */
    kf_plan *plan = plan_of(problem);
    must(kf_sph_methods.seek(plan, 0, 0.0, &error), &error);
    must(kf_plan_snapshot(plan, &snapshot, &error), &error);
    const float *x = kf_snapshot_find(&snapshot, "position")->values;
    double middle = 0;
    for (size_t k = 0; k < s->count; k++) {
        const double at = (double)x[3 * k] / s->spacing + s->origin[0];
        const double up = (double)x[3 * k + 1] / s->spacing + s->origin[1];
        assert_true(up > kf_terrain_height(&s->terrain, at, 0.0, NULL) + 0.24);
        middle += (double)x[3 * k] / (double)s->count;
    }
    assert_true(middle > 0.45 && middle < 0.75); /* 0.3 at first */
    kf_snapshot_free(&snapshot);
    kf_plan_free(plan);
    kf_problem_free(problem);
}

/* A drop without contact falls as a stone: its centre follows the law of free fall in time, with fixed
 * steps, and its energy is constant. */
static void a_drop_falls_as_a_stone(void **state) {
    (void)state;
    kf_problem *problem = problem_from(
        "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [3, 3, 3]}, \"gravity\": [2, -1, -9.81], "
        "\"material\": {\"density\": 300, \"sound_speed\": 20, \"viscosity\": 0}, \"model\": {\"time_step\": "
        "0.001}, "
        "\"fluid\": [{\"shape\": \"ball\", \"center\": [1.5, 1.5, 2], \"radius\": 0.4, \"velocity\": [1, 2, "
        "0.5]}]}");
    kf_plan *plan = plan_of(problem);
    kf_error error = {KF_OK, ""};
    kf_records first = {0}, last = {0};
    must(kf_plan_record(plan, &first, &error), &error);
    advance(plan, 100);
    must(kf_plan_record(plan, &last, &error), &error);
    near(kf_sph_methods.time(plan, 100), 0.1, 1e-5);
    near(kf_sph_methods.time(plan, 150), 0.15, 1e-5);
    static const double v[3] = {1, 2, 0.5}, g[3] = {2, -1, -9.81}, start[3] = {1.5, 1.5, 2};
    static const char *const names[3] = {"centre_x", "centre_y", "centre_z"};
    for (int i = 0; i < 3; i++) {
        near(column(&first, "runout", names[i]), start[i], 1e-5);
        near(column(&last, "runout", names[i]), start[i] + 0.1 * v[i] + 0.005 * g[i], 2e-4);
    }
    const double before = column(&first, "energy", "kinetic_energy"),
                 work = column(&first, "energy", "potential_energy") -
                        column(&last, "energy", "potential_energy");
    near(column(&last, "energy", "kinetic_energy"), before + work, 2e-3);
    kf_records_free(&first);
    kf_records_free(&last);
    kf_plan_free(plan);
    kf_problem_free(problem);
}

/* A particle that leaves through an open face stays where it came to rest, less than a step's distance (2
 * cm) beyond it, and is not counted. */
static void what_leaves_stays(void **state) {
    (void)state;
    kf_problem *problem = problem_from(
        "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1}, \"box\": {\"size\": [2, 2], \"faces\": "
        "{\"ymin\": \"open\"}}, \"gravity\": [0, -9.81], \"material\": {\"density\": 300, \"sound_speed\": "
        "100, "
        "\"viscosity\": 0}, \"model\": {\"time_step\": 0.001}, \"fluid\": [{\"shape\": \"ball\", \"center\": "
        "[1, 0.4], \"radius\": 0.3, \"velocity\": [0, -10]}]}");
    kf_plan *plan = plan_of(problem);
    const size_t count = ((const kf_particle_scene *)problem->own)->count;
    kf_error error = {KF_OK, ""};
    kf_snapshot snapshot = {0};
    kf_records records = {0};
    advance(plan, 90);
    must(kf_plan_snapshot(plan, &snapshot, &error), &error);
    must(kf_plan_record(plan, &records, &error), &error);
    const float *x = kf_snapshot_find(&snapshot, "position")->values;
    for (size_t k = 0; k < count; k++)
        assert_true(x[3 * k + 1] < 0.0f && x[3 * k + 1] > -0.02f);
    assert_true(count > 20 && column(&records, "runout", "particles_inside") == 0.0);
    kf_records_free(&records);
    kf_snapshot_free(&snapshot);
    kf_plan_free(plan);
    kf_problem_free(problem);
}

/* A problem's facts are counted by hand. */
static void facts_by_hand(void **state) {
    (void)state;
    kf_problem *problem = problem_from(tank);
    const kf_facts *f = &problem->facts;
    assert_true(kf_facts_value(f, "size_x") == 43 && kf_facts_value(f, "size_y") == 33);
    assert_true(kf_facts_value(f, "particle_count") == 20 * 18);
    assert_true(kf_facts_value(f, "wall_particle_count") == 43 * 33 - 40 * 30);
    assert_true(kf_facts_value(f, "dimensions") == 2 && kf_facts_value(f, "terrain") == 0);
    assert_null(kf_facts_find(f, "branch")); /* water does not yield */
    near(kf_facts_value(f, "spacing"), 0.05, 1e-12);
    near(kf_facts_value(f, "sound_speed"), 20, 1e-12);
    near(kf_facts_value(f, "neighbours"), acos(-1) * 9, 0.05);
    /* 0.25 s / (c + 0.05 c) with s half the support, 1.5 spacings: 3.57e-1 of 0.05 m / 20 m/s. */
    near(kf_facts_value(f, "time_step"), 0.25 * 1.5 / 1.05 * 0.05 / 20, 1e-6);
    kf_problem_free(problem);
}

static void colour_at(const char *path, int x, int y, int rgb[3]) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    for (int i = 0; i < 3; i++)
        rgb[i] = pixels[3 * (y * (int)image.width + x) + i];
    free(pixels);
}

/* A box of 2 x 1 m is drawn at 760 pixels per metre, with its floor at row 824. The fastest particles are
 * yellow, those at rest have the dark end of the colours, and an obstacle is grey. Where there is nothing
 * the paper is visible. */
static void a_flat_picture_shows_what_is_where(void **state) {
    (void)state;
    kf_problem *problem = problem_from(
        "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05}, \"box\": {\"size\": [2, 1]}, " WATER
        ", \"obstacles\": [{\"shape\": \"box\", \"low\": [1.5, 0], \"high\": [1.8, 0.3]}], \"fluid\": "
        "[{\"shape\": "
        "\"box\", \"low\": [0, 0], \"high\": [0.5, 0.5]}, {\"shape\": \"box\", \"low\": [0.75, 0.5], "
        "\"high\": [1.25, "
        "1], \"velocity\": [3, 4]}]}");
    kf_plan *plan = plan_of(problem);
    kf_error error = {KF_OK, ""};
    kf_snapshot snapshot = {0};
    must(kf_plan_snapshot(plan, &snapshot, &error), &error);
    const char *path = in_scratch("flat.png");
    must(kf_sph_picture(problem->own, &snapshot, path, &error), &error);
    static const struct {
        double x, y;
        int rgb[3];
    } places[] = {{0.225, 0.225, {70, 53, 126}}, /* 0.15 of the colours */
                  {1.025, 0.775, {253, 231, 37}}, {1.675, 0.175, {120, 116, 110}},
                  {0.25, 0.75, {250, 250, 250}},  {1.4, 0.6, {250, 250, 250}},
                  {1.9, 0.1, {250, 250, 250}}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int rgb[3];
        colour_at(path, (int)(40 + 760 * places[i].x), (int)(824 - 760 * places[i].y), rgb);
        for (int c = 0; c < 3; c++)
            if (abs(rgb[c] - places[i].rgb[c]) > 3)
                fail_msg("place %zu has the colour (%d, %d, %d)", i, rgb[0], rgb[1], rgb[2]);
    }
    kf_snapshot_free(&snapshot);
    kf_plan_free(plan);
    kf_problem_free(problem);
}

static double along(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The view is from in front and above. The fluid's room fills the picture. A particle is a ball of 0.8
 * spacings in its place, and a nearer one hides a farther one. The floor is below, the sky above. */
static void what_the_camera_sees(void **state) {
    (void)state;
    enum { WIDTH = 320, HEIGHT = 180 };
    kf_problem *problem = problem_from(block);
    const kf_particle_scene *s = problem->own;
    kf_sph_view v;
    kf_sph_view_begin(s, WIDTH, HEIGHT, &v);
    static const double up[3] = {0, 0, 1}, sun[3] = {-0.35, -0.75, 0.75}, room[3] = {1.4, 0.7, 1.15 * 0.85};
    const double size = sqrt(0.35 * 0.35 + 0.85 * 0.85 + 0.32 * 0.32), ahead[3] = {-0.35, 0.85, -0.32};
    near(along(v.ahead, ahead), size, 1e-9);
    near(along(v.ahead, v.ahead), 1, 1e-9);
    near(along(v.right, v.right), 1, 1e-9);
    near(along(v.above, v.above), 1, 1e-9);
    near(1 + along(v.right, up) + fabs(along(v.right, v.ahead)) + fabs(along(v.above, v.ahead)), 1, 1e-9);
    assert_true(v.right[0] > 0 && v.above[2] > 0);
    near(along(v.light, sun) / sqrt(along(sun, sun)), 1, 1e-9);
    near(v.focal, 1.6 * WIDTH, 1e-9);
    double widest = 0, tallest = 0;
    for (int corner = 0; corner < 8; corner++) {
        double way[3];
        for (int a = 0; a < 3; a++)
            way[a] = (corner >> a & 1 ? room[a] : 0.0) - v.eye[a];
        widest = fmax(widest, fabs(along(way, v.right)) / along(way, v.ahead) * v.focal / WIDTH);
        tallest = fmax(tallest, fabs(along(way, v.above)) / along(way, v.ahead) * v.focal / HEIGHT);
    }
    assert_true(widest <= 0.4701 && tallest <= 0.45); /* particles are slightly displaced at random */
    assert_true(widest > 0.46 || tallest > 0.43);

    static const float places[3][3] = {{0.7f, 0.35f, 0.4f}, {0.9f, 0.2f, 0.7f}, {0.3f, 0.5f, 0.2f}};
    kf_sph_view_ground(&v);
    for (int k = 0; k < 3; k++) {
        const double *to = v.ahead;
        const float behind[3] = {places[k][0] + (float)(0.5 * to[0]), places[k][1] + (float)(0.5 * to[1]),
                                 places[k][2] + (float)(0.5 * to[2])};
        kf_sph_view_particle(&v, places[k], 0.25f + (float)k, k == 1);
        kf_sph_view_particle(&v, behind, 9.0f, false); /* half a metre farther: visible at most beside it */
    }
    int pixels[3];
    for (int k = 0; k < 3; k++) {
        double way[3];
        for (int a = 0; a < 3; a++)
            way[a] = (double)places[k][a] - v.eye[a];
        const double depth = along(way, v.ahead);
        const int x = (int)floor(WIDTH / 2.0 + v.focal * along(way, v.right) / depth),
                  y = (int)floor(HEIGHT / 2.0 - v.focal * along(way, v.above) / depth);
        pixels[k] = y * WIDTH + x;
        assert_true(fabs((double)v.surface[pixels[k]] - (depth - 0.8 * s->spacing)) < 0.1 * s->spacing);
        assert_true(v.value[pixels[k]] == 0.25f + (float)k);
        assert_int_equal(v.wall[pixels[k]] != 0, k == 1);
        /* The ball has the right radius: one pixel is inside its rim, and one beyond. */
        const double radius = v.focal * 0.8 * s->spacing / depth;
        assert_true(v.value[pixels[k] + (int)(0.9 * radius)] == 0.25f + (float)k);
        assert_true(v.value[pixels[k] - (int)(1.0 + 1.1 * radius)] != 0.25f + (float)k);
    }
    kf_sph_view_end(&v);
    for (int k = 0; k < 3; k++) {
        const kf_sph_pixel *pixel = &v.pixels[pixels[k]];
        assert_int_equal(pixel->kind, KF_SPH_SURFACE);
        assert_true(pixel->value == 0.25f + (float)k && pixel->wall == (k == 1));
        assert_true(along(pixel->normal, v.ahead) < -0.85);
    }
    assert_int_equal(v.pixels[0].kind, KF_SPH_NOTHING);
    /* The floor's corner at the front is drawn at its place, flat. */
    static const double front[3] = {1.35, 0.05, 0.0};
    double way[3];
    for (int a = 0; a < 3; a++)
        way[a] = front[a] - v.eye[a];
    const double depth = along(way, v.ahead);
    const int x = (int)floor(WIDTH / 2.0 + v.focal * along(way, v.right) / depth),
              y = (int)floor(HEIGHT / 2.0 - v.focal * along(way, v.above) / depth);
    const kf_sph_pixel *floor_pixel = &v.pixels[y * WIDTH + x];
    assert_int_equal(floor_pixel->kind, KF_SPH_GROUND);
    assert_true(fabs((double)v.ground[y * WIDTH + x] - depth) < 3 * depth / v.focal);
    assert_true(floor_pixel->normal[2] == 1.0 && !floor_pixel->cut && !floor_pixel->contour);
    static const struct {
        float place[3];
        bool shown;
    } walls[] = {{{0.7f, 0.3f, 0.5f}, true},   {{0.7f, 0.3f, -0.05f}, false}, {{-0.1f, 0.3f, 0.5f}, false},
                 {{1.45f, 0.3f, 0.5f}, false}, {{0.7f, 0.75f, 0.5f}, false},  {{0.7f, 0.3f, 1.25f}, false}};
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++)
        assert_int_equal(kf_sph_view_shows_wall(&v, walls[i].place), walls[i].shown);
    kf_sph_view_free(&v);
    kf_problem_free(problem);
}

static int setup(void **state) {
    return open_backend_for_variants_on_all_cores(state) != 0 ? -1 : make_scratch(state);
}
static int teardown(void **state) {
    return close_backend(state) + remove_scratch(state);
}

/* In a column of water the middle half of the depth carries the weight above it. A validation case finds
 * this in any order of the particles, whatever the pressures above and below. */
static void the_middle_of_a_tank_is_weighed(void **state) {
    (void)state;
    enum { LAYERS = 16, LAYER = KF_SPH_TANK_SPACINGS * KF_SPH_TANK_SPACINGS, COUNT = LAYERS * LAYER };
    kf_particle_scene scene = {
        .count = COUNT, .spacing = 0.1, .density = 500, .sound_speed = 20, .scheme = KF_SCHEME_THESIS};
    float *values = calloc((size_t)COUNT * KF_SPH_STATE_VALUES, sizeof *values);
    const kf_sph_flow flow = {.scene = &scene, .values = values};
    for (int wild = 0; wild <= 2; wild++) {
        for (size_t k = 0; k < COUNT; k++) {
            const size_t at = k * 5 % COUNT; /* counted from below; each once, as 5 does not divide COUNT */
            const bool above = at >= COUNT - COUNT / 4, below = at < COUNT / 4;
            const double load = ((double)(COUNT - at) - 0.5) / LAYER * scene.spacing * 9.81,
                         spoilt = (wild == 1 && above) || (wild == 2 && below) ? 7.0 : 1.0;
            values[KF_SPH_STATE_VALUES * k + 2] = (float)at / LAYER;
            values[KF_SPH_STATE_VALUES * k + 6] =
                (float)(spoilt * load / (scene.sound_speed * scene.sound_speed));
        }
        assert_true(fabs(kf_sph_pressure_over_weight(&flow, 0.25) - 0.25) < 1e-5);
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_gauge_of_pressure_has_around_it),
                                       cmocka_unit_test(gauges_see_through_periodic_faces),
                                       cmocka_unit_test(in_two_dimensions),
                                       cmocka_unit_test(in_three_dimensions),
                                       cmocka_unit_test(a_window_on_terrain_lies_above_it),
                                       cmocka_unit_test(a_drop_falls_as_a_stone),
                                       cmocka_unit_test(what_leaves_stays),
                                       cmocka_unit_test(facts_by_hand),
                                       cmocka_unit_test(a_flat_picture_shows_what_is_where),
                                       cmocka_unit_test(what_the_camera_sees),
                                       cmocka_unit_test(the_middle_of_a_tank_is_weighed)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
