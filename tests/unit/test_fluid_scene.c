/* Tests scenes of stable_fluids by hand: units, solids, images behind walls, the start, and a plan's
 * snapshot and record. Faults: a wrong unit, place or sign of one number. */
#include <math.h>
#include <png.h>

#include "tests/unit/fluid_texts.h"
#include "tests/unit/near.h"

static const double PI = 3.14159265358979323846;

static void begin_at(const kf_fluid *f, int simulation, const int cell[3], double velocity[3]) {
    kf_fluid_waves *waves = kf_fluid_waves_make(f, simulation);
    kf_fluid_initial(waves, cell, velocity);
    kf_fluid_waves_free(waves);
}

static void refused(const char *text, const char *why) {
    static const int as_said[3];
    kf_error error = {KF_OK, ""};
    kf_fluid *f = NULL;
    assert_int_equal(kf_fluid_open(write_text("bad.json", text), as_said, &f, &error), KF_BAD_INPUT);
    assert_holds(error.message, why);
}

#define WALLED                                                                                               \
    "\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12], \"length\": 4, \"walls\": [\"x\", \"y\"]}, "   \
    "\"flow\": {\"time_step\": 0.1}"
#define DEEP                                                                                                 \
    "\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12, 8], \"length\": 4}, \"flow\": {\"time_step\": " \
    "0.1}"

/* A zero with a negative sign is the same number. */
static void zeros_have_no_sign(void **state) {
    (void)state;
#define UNIFORM(zero)                                                                                        \
    "{" PLAIN ", \"initial\": {\"kind\": \"taylor_green\", \"amplitude\": 0.5, \"velocity\": [1, " zero "]}" \
    "}"
    kf_fluid *one = open_text(UNIFORM("0")), *other = open_text(UNIFORM("-0.0"));
    assert_string_equal(one->hash, other->hash);
    kf_fluid_free(one);
    kf_fluid_free(other);
}

static void units_of_the_flow(void **state) {
    (void)state;
    kf_fluid *f = open_text(
        "{\"stable_fluids\": {\"advection\": \"cubic\", \"trace\": \"midpoint\", \"reflection\": true, "
        "\"diffusion\": \"exponential\", \"accuracy\": 0.02}, " FLAT
        ", \"viscosity\": 0.05, \"confinement\": 3}, "
        "\"initial\": {\"kind\": \"taylor_green\", \"velocity\": [1, -2], \"amplitude\": 0.5, \"mode\": 2, "
        "\"seed\": 9}, \"particles\": {\"rule\": \"seed\"}}");
    assert_int_equal(f->dimensions, 2);
    assert_int_equal(f->cells[0], 16);
    assert_int_equal(f->cells[1], 12);
    assert_int_equal(f->cells[2], 1);
    near(f->cell_size, 0.25);
    near(f->viscosity, 0.05 * 0.1 / 0.0625);
    near(f->confinement, 0.3);
    near(f->accuracy, 0.02);
    assert_int_equal(f->advection, KF_ADVECT_CUBIC);
    assert_true(f->midpoint && f->reflection && f->exponential);
    near_vector(f->start_velocity, 0.4, -0.8, 0);
    near(f->start_amplitude, 0.2);
    assert_int_equal(f->start, KF_START_TAYLOR_GREEN);
    assert_int_equal(f->start_mode, 2);
    assert_true(f->seed == 9 && f->particle_count == 16 * 12 && !f->particle_midpoint);
    kf_fluid_free(f);

    f = open_text("{" PLAIN ", \"kolmogorov\": {\"acceleration\": 2, \"mode\": 3}}");
    near(f->body_amplitude, 0.08);
    assert_int_equal(f->body_mode, 3);
    near(kf_fluid_body(f, 1), 0.08 * sin(2.0 * PI * 3 / 12));
    near(kf_fluid_body(f, 4), 0.0);
    f->body_mode = 0;
    near(kf_fluid_body(f, 5), 0.08);
    /* Defaults replace what is missing: linear interpolation, Euler's trace, implicit diffusion, rest, no
     * solid. */
    assert_int_equal(f->advection, KF_ADVECT_LINEAR);
    assert_true(!f->midpoint && !f->reflection && !f->exponential);
    near(f->accuracy, 1e-4);
    assert_true(f->viscosity == 0 && f->confinement == 0 && f->particle_count == 0);
    assert_int_equal(f->start, KF_START_REST);
    assert_int_equal(f->simulations, 1);
    assert_int_equal(f->solid, KF_SOLID_NONE);
    kf_fluid_free(f);
}

static void dyes_sources_and_pushes(void **state) {
    (void)state;
    kf_fluid *f = open_text(
        "{" PLAIN ", \"dyes\": [{\"name\": \"ink\", \"dissipation\": 2, \"lift\": 5}, {\"name\": \"milk\"}], "
        "\"sources\": [{\"center\": [1, 2], \"radius\": 0.5, \"velocity\": [3, 1], \"hold\": 0.2, "
        "\"acceleration\": [0, -10], \"dye\": [4, 8], \"from\": 0.25, \"until\": 0.65}, "
        "{\"center\": [1, 2], \"radius\": 0.5, \"velocity\": [3, 1]}, {\"center\": [1, 2], \"radius\": "
        "0.5}], "
        "\"pushes\": {\"reach\": 2, \"list\": [{\"step\": 7, \"at\": [3.9, 0.1], \"velocity\": [2, 3]}, "
        "{\"step\": 3, \"at\": [-0.1, 3.1], \"velocity\": [0, -1]}]}}");
    assert_int_equal(f->dye_count, 2);
    assert_string_equal(f->dyes[0].name, "ink");
    near(f->dyes[0].dissipation, 0.2);
    near(f->dyes[0].lift, 0.2);
    assert_true(f->dyes[1].dissipation == 0 && f->dyes[1].lift == 0);
    assert_int_equal(f->source_count, 3);
    const kf_fluid_source *s = &f->sources[0];
    near_vector(s->center, 3.5, 7.5, 0); /* cell (i, j) has its centre at (i, j) */
    near(s->radius, 2);
    near_vector(s->velocity, 1.2, 0.4, 0);
    near(s->pull, 1 - exp(-0.5));
    near_vector(s->acceleration, 0, -0.4, 0);
    near_vector(s->dye, 0.4, 0.8, 0);
    assert_true(s->first == 2 && s->last == 6); /* the steps that begin at 0.2 s and at 0.6 s */
    assert_true(f->sources[1].pull == 1 && f->sources[1].first == 0 && f->sources[1].last == INT64_MAX);
    assert_true(f->sources[2].pull == 0);
    assert_int_equal(f->impulse_count, 2);
    assert_true(f->impulses[0].step == 3 && f->impulses[1].step == 7); /* in their order */
    assert_int_equal(f->impulses[0].cell[0], 15);                      /* wrapped */
    assert_int_equal(f->impulses[0].cell[1], 0);                       /* 12.4 of 12 cells */
    assert_int_equal(f->impulses[1].cell[0], 15);
    assert_int_equal(f->impulses[1].cell[1], 0);
    assert_int_equal(f->impulses[1].reach, 2);
    near_vector(f->impulses[1].vector, 0.8, 1.2, 0);
    kf_fluid_free(f);

    write_text("clicks.csv", "# step,x,y,u,v\n4,1.3,2.6,1,2\n0,0.3,0.2,-1,0\n");
    f = open_text("{" PLAIN ", \"pushes\": {\"file\": \"clicks.csv\"}}");
    assert_int_equal(f->impulse_count, 2);
    assert_true(f->impulses[0].step == 0 && f->impulses[1].step == 4);
    assert_int_equal(f->impulses[1].cell[0], 5);
    assert_int_equal(f->impulses[1].cell[1], 10);
    assert_int_equal(f->impulses[1].reach, 4);
    near_vector(f->impulses[1].vector, 0.4, 0.8, 0);
    near_vector(f->impulses[0].vector, -0.4, 0, 0);
    kf_fluid_free(f);
    write_text("clicks.csv", "# step,x,y,u,v\n4,1.3,2.6,1,2\n0.5,0.3,0.2,-1,0\n");
    refused("{" PLAIN ", \"pushes\": {\"file\": \"clicks.csv\"}}",
            "clicks.csv:3: a push is \"step,x,y,u,v\"");
    write_text("clicks.csv", "4,1.3,2.6,1,2\r\n\r\n0,0.3,0.2,-1,0 m/s\r\n");
    refused("{" PLAIN ", \"pushes\": {\"file\": \"clicks.csv\"}}", "clicks.csv:3: a push is");
    write_text("clicks.csv", "4,1.3,9,1,2\n");
    refused("{" WALLED ", \"pushes\": {\"file\": \"clicks.csv\"}}",
            "clicks.csv:1: 9 m along y lies out of the box");

    /* The stress test has F = strength N dt (displacement / N), and a push every 50 steps, from step 100
     * on at half the box. */
    f = open_text("{" PLAIN ", \"pushes\": {\"stress_test\": {\"every\": 50, \"steps\": 120, "
                  "\"displacement\": 3, \"strength\": 2}}}");
    assert_int_equal(f->impulse_count, 3);
    assert_true(f->impulses[1].step == 50 && f->impulses[2].step == 100);
    assert_true(f->impulses[1].cell[0] == 0 && f->impulses[1].cell[1] == 0);
    assert_true(f->impulses[2].cell[0] == 8 && f->impulses[2].cell[1] == 6);
    near_vector(f->impulses[0].vector, 2 * 0.1 * 3 * 4 * 0.4, 2 * 0.1 * 3 * 4 * 0.4, 0);
    kf_fluid_free(f);
}

/* Behind walls everything that acts has an image, with mirrored places and reversed velocities across the
 * wall. */
static void images_behind_walls(void **state) {
    (void)state;
    kf_fluid *f = open_text(
        "{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12], \"length\": 4, \"walls\": [\"y\"]}, "
        "\"flow\": {\"time_step\": 0.1}, \"sources\": [{\"center\": [1, 2], \"radius\": 0.5, \"velocity\": "
        "[1, 2], \"acceleration\": [1, 2]}], \"pushes\": {\"list\": [{\"step\": 7, \"at\": [1, 1], "
        "\"velocity\": [2, 3]}]}, \"solid\": {\"shape\": \"box\", \"center\": [3, 0.5], \"size\": [0.5, 1]}, "
        "\"particles\": {}, \"initial\": {\"kind\": \"shear_wave\", \"amplitude\": 1, \"velocity\": [1, "
        "0]}}");
    int domain[3];
    kf_fluid_domain(f, domain);
    assert_true(domain[0] == 16 && domain[1] == 12 && domain[2] == 1);
    assert_true(f->cells[0] == 16 && f->cells[1] == 24);
    assert_true(f->particle_count == 16 * 12);
    near(f->cell_size, 0.25);
    assert_int_equal(f->source_count, 2);
    near_vector(f->sources[1].center, 3.5, 23 - 7.5, 0);
    near_vector(f->sources[1].velocity, 0.4, -0.8, 0);
    near_vector(f->sources[1].acceleration, 0.04, -0.08, 0);
    assert_int_equal(f->impulse_count, 2);
    assert_int_equal(f->impulses[0].cell[1] + f->impulses[1].cell[1], 23);
    near(f->impulses[0].vector[0], 0.8);
    near(f->impulses[0].vector[1] + f->impulses[1].vector[1], 0);
    for (int y = 0; y < 24; y++)
        for (int x = 0; x < 16; x++) {
            const bool filled = (x == 11 || x == 12) && (y < 4 || y >= 20);
            near((double)f->mask[16 * y + x], filled);
            double u[3];
            begin_at(f, 0, (int[3]){x, y, 0}, u);
            near_vector(u, 0.4, (y < 12 ? 1 : -1) * 0.4 * sin(2 * PI * x / 16), 0);
        }
    kf_fluid_free(f);
    refused("{" DEEP ", \"kolmogorov\": {\"acceleration\": 1}, \"domains\": {}}", "domains");
    refused("{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12], \"walls\": [\"z\"]}, \"flow\": "
            "{\"time_step\": 0.1}}",
            "domain.walls");
    refused("{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 14]}, \"flow\": {\"time_step\": 0.1}}",
            "14 along y is not of the form 2^a 3^b 5^c (8 or more): take 12 or 15");
    refused("{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12], \"walls\": [\"x\"]}, \"flow\": "
            "{\"time_step\": 0.1}, \"kolmogorov\": {\"acceleration\": 1}}",
            "periodic box");
    static const char *const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; axis++) {
        char text[256];
        (void)snprintf(
            text, sizeof text,
            "{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12, 8], \"walls\": [\"%s\"]}, \"flow\": "
            "{\"time_step\": 0.1}, \"kolmogorov\": {\"acceleration\": 1}}",
            axes[axis]);
        refused(text, "periodic box");
    }
    refused("{" PLAIN ", \"pushes\": {\"reach\": 6, \"list\": []}}", "pushes.reach");
    refused("{" PLAIN ", \"sources\": [{\"center\": [1, 1], \"radius\": 1.2}]}", "does not fit");
    refused("{" PLAIN ", \"sources\": [{\"center\": [1, 1], \"radius\": 0.5, \"from\": 5, \"until\": 1}]}",
            "sources[0]: until is not after from");
    refused("{" PLAIN ", \"sources\": [{\"center\": [1, 1], \"radius\": 0.5, \"hold\": 1}]}",
            "sources[0].hold: is for a source with a velocity");
    refused("{" PLAIN ", \"sources\": [{\"center\": [1, 3.1], \"radius\": 0.5}]}",
            "sources[0].center: 3.1 m along y lies out of the box, which goes from 0 to 3 m");
    refused("{" WALLED ", \"pushes\": {\"list\": [{\"step\": 0, \"at\": [-1, 1], \"velocity\": [1, 0]}]}}",
            "pushes.list[0].at: -1 m along x lies out of the box");
    refused("{" PLAIN ", \"dyes\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}",
            "'a' is the name of dyes[0], too");
    refused("{" PLAIN ", \"dyes\": [{\"name\": \"velocity\"}]}", "the name of another output");
    refused("{" PLAIN ", \"dyes\": [{\"name\": \"a/b\"}]}", "dyes[0].name: must be 1 to 23 letters");
    refused("{" PLAIN ", \"initial\": {\"amplitude\": 1}}",
            "initial.amplitude: is for another \"kind\" than rest");
}

static double volume_of(const kf_fluid *f, double centre[3]) {
    double sum = 0;
    memset(centre, 0, 3 * sizeof *centre);
    for (int z = 0; z < f->cells[2]; z++)
        for (int y = 0; y < f->cells[1]; y++)
            for (int x = 0; x < f->cells[0]; x++) {
                const double share = (double)f->mask[(z * f->cells[1] + y) * f->cells[0] + x];
                assert_true(share >= 0 && share <= 1);
                sum += share;
                centre[0] += share * x, centre[1] += share * y, centre[2] += share * z;
            }
    for (int i = 0; i < 3; i++)
        centre[i] /= sum;
    return sum;
}

/* Solids fill this volume at this place, in cells of 0.25 m, of which the first has its centre at 0.125 m. */
static void solids_fill_their_volume(void **state) {
    (void)state;
    double centre[3];
    kf_fluid *f =
        open_text("{" PLAIN ", \"solid\": {\"shape\": \"disc\", \"center\": [2, 1.25], \"radius\": 1, "
                  "\"velocity\": [1, -0.5], \"spin\": 2, \"eta\": 0.05}}");
    assert_true(fabs(volume_of(f, centre) / (PI * 16) - 1) < 0.02);
    near_vector(centre, 7.5, 4.5, 0);
    near_vector(f->motion.center, 7.5, 4.5, 0);
    near_vector(f->motion.velocity, 0.4, -0.2, 0);
    near_vector(f->motion.axis, 0, 0, 1);
    near(f->motion.spin, 0.2);
    near(f->drag, 2.0);
    near(f->rebound, 0.0);
    assert_int_equal(f->solid, KF_SOLID_MOVING);
    kf_fluid_free(f);

    f = open_text("{" DEEP ", \"solid\": {\"shape\": \"ball\", \"center\": [2, 1.5, 1], \"radius\": 0.9, "
                  "\"axis\": [0, 3, 4], \"velocity\": [0, 0, 0]}}");
    assert_true(fabs(volume_of(f, centre) / (4.0 / 3 * PI * pow(3.6, 3)) - 1) < 0.02);
    near_vector(centre, 7.5, 5.5, 3.5);
    near_vector(f->motion.axis, 0, 0.6, 0.8);
    assert_int_equal(f->solid, KF_SOLID_STILL);
    near(f->drag, KF_FLUID_SOLID_DRAG);
    near(f->rebound, KF_FLUID_SOLID_REBOUND);
    kf_fluid_free(f);

    f = open_text("{" DEEP
                  ", \"solid\": {\"shape\": \"box\", \"center\": [1, 1.5, 1], \"size\": [0.5, 1, 1.5], "
                  "\"spin\": 1}}");
    near(volume_of(f, centre), 2 * 4 * 6);
    near_vector(centre, 3.5, 5.5, 3.5);
    assert_int_equal(f->solid, KF_SOLID_MOVING);
    kf_fluid_free(f);

    /* A box of 3 x 2 x 1, made 1.5 m long: 6 x 4 x 2 cells. */
    write_text("brick.obj", "v 0 0 0\nv 3 0 0\nv 3 2 0\nv 0 2 0\nv 0 0 1\nv 3 0 1\nv 3 2 1\nv 0 2 1\n"
                            "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n");
    f = open_text("{" DEEP
                  ", \"solid\": {\"mesh\": \"brick.obj\", \"center\": [1.75, 1.5, 0.75], \"length\": "
                  "1.5}}");
    assert_true(fabs(volume_of(f, centre) - 48) < 1e-4);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(centre[i] - ((double[3]){6.5, 5.5, 2.5})[i]) < 1e-6);
    kf_fluid_free(f);
    refused("{" PLAIN ", \"solid\": {\"shape\": \"disc\", \"center\": [9, 9], \"radius\": 1}}", "outside");
    /* A hole in a mesh has no inside behind it. */
    write_text("open.obj", "v 0 0 0\nv 3 0 0\nv 3 2 0\nv 0 2 0\nv 0 0 1\nv 3 0 1\nv 3 2 1\nv 0 2 1\n"
                           "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 4 1 5 8\n");
    refused("{" DEEP ", \"solid\": {\"mesh\": \"open.obj\", \"center\": [1.75, 1.5, 0.75], \"length\": 1.5}}",
            "open.obj is not closed: 4 edges are open");
    refused("{" PLAIN ", \"solid\": {\"shape\": \"ball\", \"center\": [1, 1], \"radius\": 1}}", "disc");
    refused("{" PLAIN
            ", \"solid\": {\"shape\": \"disc\", \"center\": [1, 1], \"radius\": 0.5, \"size\": [1, 1]}}",
            "solid.size: is of another shape");
    refused("{" DEEP ", \"solid\": {\"shape\": \"ball\", \"center\": [1, 1, 1], \"radius\": 1, \"axis\": "
            "[0, 0, 0]}}",
            "solid.axis");
}

/* A solid that reaches beyond a periodic face goes on at the opposite one, and has all of its volume. It was
 * cut off. One that moves must begin within the box. */
static void solids_go_on_beyond_periodic_faces(void **state) {
    (void)state;
    static const char *const solids[] = {
        "\"shape\": \"ball\", \"center\": [%g, %g, %g], \"radius\": 0.9",
        "\"shape\": \"box\", \"center\": [%g, %g, %g], \"size\": [0.5, 1, 1.5]",
        "\"mesh\": \"brick.obj\", \"center\": [%g, %g, %g], \"length\": 1.5"};
    for (size_t i = 0; i < sizeof solids / sizeof *solids; i++) {
        char text[400], within[160], beyond[160];
        double centre[3];
        (void)snprintf(within, sizeof within, solids[i], 2.0, 1.5, 1.0);
        (void)snprintf(beyond, sizeof beyond, solids[i], 0.25, 3.0, 0.0);
        (void)snprintf(text, sizeof text, "{" DEEP ", \"solid\": {%s}}", within);
        kf_fluid *f = open_text(text);
        const double whole = volume_of(f, centre);
        kf_fluid_free(f);
        (void)snprintf(text, sizeof text, "{" DEEP ", \"solid\": {%s}}", beyond);
        f = open_text(text);
        near(volume_of(f, centre), whole);
        kf_fluid_free(f);
        (void)snprintf(text, sizeof text, "{" DEEP ", \"solid\": {%s, \"spin\": 1}}", beyond);
        refused(text, "it moves, and must begin within the box");
    }
}

/* What a run leaves out is noted: of several simulations it writes the first. */
static void of_several_simulations_one_is_written(void **state) {
    (void)state;
    kf_fluid *f =
        open_text("{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12], \"simulations\": 3}, \"flow\": "
                  "{\"time_step\": 0.1}}");
    assert_non_null(f->notes.text);
    assert_non_null(strstr(f->notes.text, "are of the first simulation"));
    kf_fluid_free(f);
    f = open_text("{" PLAIN "}");
    assert_null(f->notes.text);
    kf_fluid_free(f);
}

/* Dark pixels are solid; the picture's first row is the top of the domain. */
static void a_picture_stands_upright(void **state) {
    (void)state;
    unsigned char pixels[12][16];
    memset(pixels, 255, sizeof pixels);
    pixels[0][2] = 127; /* dark enough */
    pixels[11][5] = 0;
    pixels[4][15] = 128; /* not */
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 16, .height = 12, .format = PNG_FORMAT_GRAY};
    assert_int_equal(png_image_write_to_file(&image, test_path("mask.png"), 0, pixels, 0, NULL), 1);
    kf_fluid *f = open_text("{" PLAIN ", \"solid\": {\"mask\": \"mask.png\"}}");
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 16; x++)
            near((double)f->mask[16 * y + x], (x == 2 && y == 11) || (x == 5 && y == 0));
    kf_fluid_free(f);
}

static void starts_by_their_formulas(void **state) {
    (void)state;
    kf_fluid *f = box(16, 12, 10);
    f->start_amplitude = 0.3;
    f->start_mode = 2;
    f->start_velocity[2] = 0.1;
    for (int n = 0; n < 16 * 12 * 10; n += 7) {
        const int at[3] = {n % 16, n / 16 % 12, n / 192};
        const double x = 4 * PI * at[0] / 16, y = 4 * PI * at[1] / 12, z = 4 * PI * at[2] / 10;
        double u[3];
        f->start = KF_START_SHEAR_WAVE;
        begin_at(f, 0, at, u);
        near_vector(u, 0.4, 0.3 * sin(x), 0.1);
        f->start = KF_START_TAYLOR_GREEN;
        begin_at(f, 0, at, u);
        near_vector(u, 0.4 + 0.3 * sin(x) * cos(y) * cos(z), -0.3 * cos(x) * sin(y) * cos(z), 0.1);
        f->start = KF_START_KOLMOGOROV;
        begin_at(f, 0, at, u);
        near_vector(u, 0.4 + 0.3 * sin(y), 0, 0.1);
    }
    /* The random start has the given size, differs between simulations, and has only waves of two periods
     * at most. */
    f->start = KF_START_RANDOM;
    double most = 0, differs = 0, high = 0;
    for (int n = 0; n < 16 * 12 * 10; n++) {
        const int at[3] = {n % 16, n / 16 % 12, n / 192};
        double u[3], v[3];
        begin_at(f, 0, at, u);
        begin_at(f, 1, at, v);
        most = fmax(most, fabs(u[0] - 0.4));
        differs = fmax(differs, fabs(u[0] - v[0]));
        high += (u[1] - v[1]) * cos(2 * PI * 3 * at[0] / 16);
    }
    assert_true(most > 0.1 && most <= 0.3);
    assert_true(differs > 0.1 && fabs(high) < 1e-9);
    kf_fluid_free(f);

    /* Particles are one in each cell in the cells' order, or evenly spaced in a coarser grid. */
    f = box(16, 12, 1);
    double place[3];
    f->particle_count = 16 * 12;
    kf_fluid_particle(f, 16 * 3 + 5, place);
    near_vector(place, 5.5, 3.5, 0.5);
    f->particle_count = 12;
    kf_fluid_particle(f, 0, place);
    near_vector(place, 2, 2, 0.5);
    kf_fluid_particle(f, 6, place);
    near_vector(place, 10, 6, 0.5);
    kf_fluid_free(f);
}

/* Snapshot, record and time of a plan at its start agree with the file's numbers in SI units. */
static void what_a_user_sees(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_fluid *f = open_text(
        "{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 12], \"length\": 4, \"walls\": [\"y\"]}, "
        "\"flow\": {\"time_step\": 0.1}, \"dyes\": [{\"name\": \"ink\", \"dissipation\": 5}], "
        "\"solid\": {\"shape\": \"box\", \"center\": [3, 0.5], \"size\": [0.5, 1]}, "
        "\"sources\": [{\"center\": [1, 1.5], \"radius\": 0.7, \"dye\": [40], \"until\": 0.1}], "
        "\"initial\": {\"kind\": \"kolmogorov\", \"amplitude\": 2, \"velocity\": [1, 0]}}");
    kf_problem *problem = kf_fluid_problem(f, true);
    assert_true(kf_facts_value(&problem->facts, "size_y") == 12);
    assert_true(kf_facts_value(&problem->facts, "node_count") == 16 * 24);
    assert_true(kf_facts_value(&problem->facts, "cell_size") == 0.25);
    kf_config config;
    kf_plan *plan = NULL;
    kf_snapshot s = {0};
    kf_records records = {0};
    test_config(&config, F64);
    assert_int_equal(kf_fluid_make_plan(problem, &config, backend, &plan, &error), KF_OK);
    assert_int_equal(kf_plan_initialise(plan, &error), KF_OK);
    assert_int_equal(plan->methods->snapshot(plan, &s, &error), KF_OK);
    assert_int_equal(plan->methods->record(plan, &records, &error), KF_OK);
    near(plan->methods->time(plan, 7), 0.7);
    assert_true(s.nodes[0] == 16 && s.nodes[1] == 12 && s.nodes[2] == 1);
    for (int i = 0; i < 3; i++)
        near(s.origin[i], 0.125), near(s.spacing[i], 0.25);
    const kf_quantity *velocity = kf_snapshot_find(&s, "velocity"), *solid = kf_snapshot_find(&s, "solid");
    assert_string_equal(velocity->unit, "m/s");
    double energy = 0, top = 0;
    for (int n = 0; n < 16 * 12; n++) {
        const int row = n / 16;
        const double u = 1 + 2 * sin(2 * PI * row / 24);
        assert_true(fabs((double)velocity->values[3 * n] - u) < 1e-6 && velocity->values[3 * n + 1] == 0.0F);
        assert_true((solid->values[n] > 0.5F) == ((n % 16 == 11 || n % 16 == 12) && row < 4));
        energy += 0.5 * u * u / (16 * 12);
        top = fmax(top, u);
    }
    const kf_record *flow = kf_records_find(&records, "flow");
    near(kf_record_value(flow, "kinetic_energy"), energy);
    near(kf_record_value(flow, "top_speed"), top);
    near(kf_record_value(flow, "top_displacement"), top * 0.4);
    near(kf_record_value(flow, "ink"), 0);
    kf_records_free(&records);
    kf_snapshot_free(&s);

    /* The dye of the source's first step: 40 a second for 0.1 s, with (1 - r^2 / R^2)^2 in it. */
    assert_int_equal(kf_plan_advance(plan, 1, &error), KF_OK);
    memset(&records, 0, sizeof records);
    assert_int_equal(plan->methods->record(plan, &records, &error), KF_OK);
    assert_int_equal(plan->methods->snapshot(plan, &s, &error), KF_OK);
    const kf_quantity *ink = kf_snapshot_find(&s, "ink");
    double sum = 0;
    for (int n = 0; n < 16 * 12; n++)
        sum += (double)ink->values[n];
    assert_true(fabs(kf_record_value(kf_records_find(&records, "flow"), "ink") / (sum / 192) - 1) < 1e-6);
    kf_records_free(&records);
    kf_snapshot_free(&s);
    kf_plan_free(plan);
    kf_problem_free(problem);
}

static int setup(void **state) {
    return take_quick_compiler(state) != 0 || open_backend(state) != 0 ? -1 : make_test_folder(state);
}
static int teardown(void **state) {
    return close_backend(state) + remove_test_folder(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_the_flow),
        cmocka_unit_test(zeros_have_no_sign),
        cmocka_unit_test(dyes_sources_and_pushes),
        cmocka_unit_test(images_behind_walls),
        cmocka_unit_test(solids_fill_their_volume),
        cmocka_unit_test(of_several_simulations_one_is_written),
        cmocka_unit_test(solids_go_on_beyond_periodic_faces),
        cmocka_unit_test(a_picture_stands_upright),
        cmocka_unit_test(starts_by_their_formulas),
        cmocka_unit_test(what_a_user_sees),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
