/* Tests every number of a particle scene in units of spacing, sound speed and density, by hand, with
 * walls, initial velocities and pressures, and the hash. Faults: a wrong unit or factor. */
#include <math.h>

#include "scene/particles.h"
#include "tests/unit/near.h"
#include "tests/unit/scene_files.h"

static const double PI = 3.14159265358979323846;

static kf_particle_scene *parse(const char *text, const kf_particle_options *options) {
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_particle_scene_parse("folder/units.json", text, options, &scene, &error) != KF_OK)
        fail_msg("%s", error.message);
    return scene;
}
static void refused(const char *text, const char *why) {
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_particle_scene_parse("test.json", text, NULL, &scene, &error), KF_BAD_INPUT);
    assert_holds(error.message, why);
}

/* With a spacing of 0.1 m, sound at 20 m/s and a density of 500 kg/m^3 the units are 200 kPa for stress,
 * 1000 Pa s for viscosity and 5 ms for time. */
#define BASE                                                                                                 \
    "\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1.2]}, \"fluid\": [{\"shape\": "          \
    "\"box\", \"low\": [0, 0, 0], \"high\": [1, 0.5, 0.6]}]"
#define MATERIAL(more) "\"material\": {\"density\": 500, \"sound_speed\": 20, " more "}"
#define SCENE(more)    "{" BASE ", " more "}"

static void units_of_materials(void **state) {
    (void)state;
    kf_particle_scene *s = parse(SCENE(MATERIAL("\"viscosity\": 3") ", \"gravity\": [1, 0, -9.81]"), NULL);
    const kf_material *m = &s->material;
    assert_string_equal(s->name, "units");
    near(kf_particle_seconds(s), 200);
    near(m->viscosity, 3e-3);
    near(m->consistency, 3.0 / 2e5 * 200);
    near(m->exponent, 1);
    near(m->growth, 100 * 200);
    near(m->viscosity_limit, 0.25 * 2.4);
    near(m->shear_modulus, 1.0 / 9);
    assert_true(m->stiff && m->yield_kind == KF_YIELD_NONE && m->branch == KF_BRANCH_BIVISCOUS);
    near_vector(s->gravity, 0.1 / 400, 0, -0.981 / 400);
    /* These are defaults. */
    near(s->support, 2.4);
    near(s->diffusion, 0.1);
    near(s->artificial, 0.02);
    near(s->impact, 0);
    assert_false(s->central_viscosity);
    near(s->courant, 0.25);
    near(s->shifting, 0);
    assert_true(s->tension && !s->dummies_slip && s->scheme == KF_SCHEME_MODERN && s->time_step == 0);
    assert_true(s->window_count == 1 && s->end_time == 0 && s->seed == 1 && s->colour == KF_COLOUR_SPEED);
    kf_particle_scene_free(s);

    s = parse(SCENE(MATERIAL("\"law\": \"herschel_bulkley\", \"consistency\": 40, \"exponent\": 0.5, "
                             "\"yield_stress\": 100, \"viscosity_limit\": 700, \"growth\": 3, "
                             "\"bed_friction\": 0.3, \"state\": \"tait\", "
                             "\"branch\": \"papanastasiou\"") ", \"model\": {\"shifting\": 2, "
                                                              "\"diffusion\": 0.2, \"courant\": 0.3, "
                                                              "\"tension\": false, \"time_step\": 0.001, "
                                                              "\"dummies_slip\": true}"),
              NULL);
    m = &s->material;
    near(m->consistency, 40 / 2e5 * sqrt(200));
    near(m->exponent, 0.5);
    near(m->yield, 100 / 2e5);
    near(m->viscosity_limit, 0.7);
    near(m->growth, 600);
    near(m->bed_friction, 0.3);
    assert_true(m->stiff && m->yield_kind == KF_YIELD_CONSTANT && m->branch == KF_BRANCH_PAPANASTASIOU);
    near(s->shifting, 2);
    near(s->diffusion, 0.2);
    near(s->courant, 0.3);
    near(s->time_step, 0.2);
    near(s->artificial, 0.1); /* of other laws than the Newtonian */
    assert_true(!s->tension && s->dummies_slip);
    kf_particle_scene_free(s);

    s = parse(SCENE(MATERIAL("\"law\": \"mu_i\", \"mu_s\": 0.4, \"mu_2\": 0.7, \"I_0\": 0.3, "
                             "\"grain_diameter\": 0.02, \"grain_density\": 2000, \"shear_speed\": 0.5")),
              NULL);
    m = &s->material;
    near(m->friction, 0.4);
    near(m->friction_fast, 0.7);
    near(m->inertial_number, 0.3);
    near(m->grain, 0.2 * 2);
    near(m->shear_modulus, 0.25);
    assert_true(!m->stiff && m->yield_kind == KF_YIELD_MU_I && m->branch == KF_BRANCH_ELASTIC);
    kf_particle_scene_free(s);
    s = parse(SCENE(MATERIAL("\"law\": \"mu_i\", \"mu_s\": 0.4")), NULL);
    near(s->material.friction_fast, 0.4);
    near(s->material.inertial_number, 0.279);
    near(s->material.grain, 0.01);
    kf_particle_scene_free(s);

    s = parse(SCENE(MATERIAL("\"law\": \"drucker_prager\", \"cohesion\": 50, \"friction_angle\": 25")), NULL);
    near(s->material.yield, 50 * cos(25 * PI / 180) / 2e5);
    near(s->material.friction, sin(25 * PI / 180));
    assert_true(s->material.yield_kind == KF_YIELD_DRUCKER_PRAGER);
    kf_particle_scene_free(s);

    /* The default speed of sound is ten times that of a fall through the box. */
    s = parse(SCENE("\"material\": {\"density\": 500, \"viscosity\": 1}, \"gravity\": [3, 0, -4]"), NULL);
    near(s->sound_speed, 10 * sqrt(2 * 5 * 1.2));
    assert_holds(s->notes, "material.sound_speed: 34.64 m/s");
    kf_particle_scene_free(s);
    /* Kind of fault: a fluid that is compressed to a part of its volume without a message. */
    s = parse(SCENE(MATERIAL("\"viscosity\": 1") ", \"gravity\": [0, 0, -500]"), NULL);
    assert_holds(s->notes, "20 m/s is less than the speed of a fall through the box, 34.64 m/s");
    kf_particle_scene_free(s);
    refused(SCENE("\"material\": {\"density\": 500, \"viscosity\": 1}"), "sound_speed");
    refused(SCENE(MATERIAL("\"viscosity\": 1, \"branch\": \"elastic\"")), "has no yield stress");
    refused(SCENE(MATERIAL("\"viscosity\": 1") ", \"run\": {\"colour\": \"yield\"}"), "run.colour");
    refused(SCENE(MATERIAL("\"viscosity\": 1") ", \"run\": {\"windows\": [1, 1]}"), "times must increase");
}

static void the_thesis_model(void **state) {
    (void)state;
    kf_particle_scene *s = parse(
        SCENE(MATERIAL(
            "\"viscosity\": 3") ", \"model\": {\"scheme\": \"thesis\", \"xsph\": 0.2, \"penalty\": 5000, "
                                "\"damping\": 8, \"drag\": 6, \"drag_height\": 0.3, \"speed_limit\": 5, "
                                "\"acceleration_limit\": 300, \"viscosity_at_rest\": 70, \"consistent\": "
                                "true}"),
        NULL);
    const kf_thesis_model *t = &s->thesis;
    near(t->xsph, 0.2);
    near(t->penalty, 5000.0 / 4e4);
    near(t->damping, 0.04);
    near(t->drag, 0.03);
    near(t->drag_height, 3);
    near(t->speed_limit, 0.25);
    near(t->acceleration_limit, 300 * 0.1 / 400);
    near(t->viscosity_at_rest, 0.07);
    assert_true(t->consistent && !s->material.stiff);
    kf_particle_scene_free(s);
    s = parse(SCENE(MATERIAL("\"viscosity\": 3") ", \"model\": {\"scheme\": \"thesis\"}"), NULL);
    near(s->thesis.penalty, 1e4 / 4e4);
    near(s->thesis.damping, 0.05);
    near(s->thesis.speed_limit, 1);
    near(s->thesis.acceleration_limit, 1e4 * 0.1 / 400);
    near(s->thesis.viscosity_at_rest, 0.5);
    assert_true(!s->thesis.consistent && s->thesis.drag == 0 && s->thesis.xsph == 0);
    kf_particle_scene_free(s);
    refused(SCENE(MATERIAL("\"law\": \"mu_i\", \"mu_s\": 1") ", \"model\": {\"scheme\": \"thesis\"}"),
            "scheme thesis has the laws");
    refused(SCENE(MATERIAL("\"viscosity\": 1, \"state\": \"tait\"") ", \"model\": {\"scheme\": \"thesis\"}"),
            "linear");
    refused(SCENE(MATERIAL(
                "\"viscosity\": 1") ", \"model\": {\"scheme\": \"thesis\"}, \"obstacles\": "
                                    "[{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [0.2, 0.2, 0.2]}]"),
            "walls without particles");
}

static void faces_gauges_and_the_run(void **state) {
    (void)state;
    kf_particle_scene *s = parse(
        "{\"particles\": {\"spacing\": 0.1, \"seed\": 5, \"shake\": 0.05}, \"box\": {\"size\": [2, 1, 1.23], "
        "\"faces\": {\"xmin\": \"dummies\", \"xmax\": \"no_slip\", \"ymin\": \"periodic\", \"ymax\": "
        "\"periodic\", \"zmin\": \"dummies\", \"zmax\": \"open\"}, \"face_velocity\": {\"xmax\": [0, 2, "
        "-1]}}, " MATERIAL(
            "\"viscosity\": 1") ", \"terrain\": {\"formula\": \"0.2 + 0.1 * x\", \"cell\": 0.5}, "
                                "\"gauges\": [{\"name\": \"H1\", \"height\": [0.5, 0.3]}, {\"name\": \"P1\", "
                                "\"pressure\": [1, 0.2, 0.4]}], "
                                "\"run\": {\"time\": 3, \"windows\": [0, 0.5, 2], \"colour\": \"pressure\"}, "
                                "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [1, 0.5, "
                                "0.6]}]}",
        NULL);
    static const kf_side sides[6] = {KF_SIDE_DUMMIES,  KF_SIDE_NO_SLIP, KF_SIDE_PERIODIC,
                                     KF_SIDE_PERIODIC, KF_SIDE_DUMMIES, KF_SIDE_OPEN};
    for (int f = 0; f < 6; f++)
        assert_int_equal(s->sides[f], sides[f]);
    near_vector(s->origin, 3, 0, 3);
    near_vector(s->size, 23, 10, 15); /* 12.3 spacings are 12 */
    assert_holds(s->notes, "box.size: 1.2 m along z");
    near_vector(s->side_velocity[1], 0, 0.1, -0.05);
    near_vector(s->side_velocity[0], 0, 0, 0);
    near(s->terrain.cell, 5);
    double slope[2];
    near(kf_terrain_height(&s->terrain, 3 + 7, 2, slope), 3 + 2 + 0.7);
    near(slope[0], 0.1);
    assert_int_equal(s->gauge_count, 2);
    assert_true(!s->gauges[0].is_pressure && s->gauges[1].is_pressure);
    near(s->gauges[0].place[0], 8);
    near(s->gauges[0].place[1], 3);
    near_vector(s->gauges[1].place, 13, 2, 7);
    near(s->end_time, 3);
    assert_int_equal(s->window_count, 3);
    near(s->windows[2], 2);
    assert_int_equal(s->colour, KF_COLOUR_PRESSURE);
    assert_true(s->seed == 5);
    near(s->shake, 0.05);
    kf_particle_scene_free(s);

#define FACED(faces)                                                                                         \
    "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1.2], " faces                            \
    "}, " MATERIAL("\"viscosity\": 1") ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": "   \
                                       "[1, 0.5, 0.6]}]}"
    refused(FACED("\"faces\": {\"xmin\": \"no_slip\"}, \"face_velocity\": {\"xmin\": [1, 0, 0]}"), "xmin");
    refused(FACED("\"face_velocity\": {\"ymin\": [1, 0, 0]}"), "a no_slip face may move");
    refused(FACED("\"faces\": {\"zmax\": \"periodic\"}"), "zmax is periodic");
    refused("{\"particles\": {\"spacing\": 0.3}, \"box\": {\"size\": [2, 1, 1.2]}, " MATERIAL(
                "\"viscosity\": 1") "}",
            "along y");
    /* Faces are free slip by default, and along an axis that the scene lacks there are no walls. */
    s = parse(
        "{\"particles\": {\"spacing\": 0.1, \"dimensions\": 2}, \"box\": {\"size\": [2, 1]}, " MATERIAL(
            "\"viscosity\": 1") ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
        NULL);
    near(s->support, 3);
    assert_true(s->sides[3] == KF_SIDE_FREE_SLIP && s->sides[4] == KF_SIDE_PERIODIC);
    kf_particle_scene_free(s);
}

/* A speed of 1 m/s is 0.05. A rotation of 2 /s is about the middle. The column's weight gives a pressure
 * by the linear equation or by Tait's. */
static void what_bodies_begin_with(void **state) {
    (void)state;
    kf_particle_scene *s =
        parse("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1.2]}, \"gravity\": [0, 0, "
              "-10], " MATERIAL(
                  "\"law\": \"power\", \"consistency\": 1, \"exponent\": 1.2") ", \"fluid\": [{\"shape\": "
                                                                               "\"box\", \"low\": "
                                                                               "[0.5, 0, 0], \"high\": [1.5, "
                                                                               "0.5, 0.6], \"velocity\": [1, "
                                                                               "-2, 0.5], \"rotation\": 2}, "
                                                                               "{\"shape\": \"ball\", "
                                                                               "\"center\": [1, 0.5, 0.9], "
                                                                               "\"radius\": 0.2, "
                                                                               "\"velocity\": [0, 0, -4]}]}",
              NULL);
    size_t boxed = 0;
    for (size_t k = 0; k < s->count; k++) {
        const float *x = s->position + 3 * k, *v = s->velocity + 3 * k;
        if (x[2] > 6.0f) {
            assert_true(v[0] == 0.0f && v[2] == -0.2f && s->deviation[k] == 0.0f);
            const double r = hypot(hypot((double)x[0] - 10, (double)x[1] - 5), (double)x[2] - 9);
            assert_true(r <= 2.0);
            continue;
        }
        boxed++;
        assert_true(fabs((double)v[0] - (0.05 - 0.01 * ((double)x[1] - 2.5))) < 1e-7);
        assert_true(fabs((double)v[1] - (-0.1 + 0.01 * ((double)x[0] - 10))) < 1e-7);
        assert_true(fabs((double)v[2] - 0.025) < 1e-7);
        assert_true(fabs((double)s->deviation[k] - 0.0025 * (6 - (double)x[2])) < 1e-8);
    }
    assert_int_equal(boxed, 10 * 5 * 6);
    /* These are the lattice points 1/2 off the centre within 2 spacings. */
    assert_int_equal(s->count - boxed, 32);
    kf_particle_scene_free(s);
    s = parse(SCENE(MATERIAL("\"viscosity\": 1") ", \"gravity\": [0, 0, -10]"), NULL);
    for (size_t k = 0; k < s->count; k++)
        assert_true(fabs((pow(1 + (double)s->deviation[k], 7) - 1) / 7 -
                         0.0025 * (6 - (double)s->position[3 * k + 2])) < 1e-6);
    kf_particle_scene_free(s);
    s = parse("{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1.2]}, \"gravity\": [0, 0, "
              "-10], " MATERIAL("\"viscosity\": 1") ", \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], "
                                                    "\"high\": [1, 0.5, 0.6], "
                                                    "\"hydrostatic\": false}]}",
              NULL);
    for (size_t k = 0; k < s->count; k++)
        assert_true(s->deviation[k] == 0.0f);
    kf_particle_scene_free(s);
}

/* Obstacles win over fluid, also where they lie in it. The layers beyond a face are walls. */
static void layers_have_their_places(void **state) {
    (void)state;
    for (int face = 0; face < 6; face++) {
        static const char *const names[6] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};
        static const int cells[3] = {20, 10, 12};
        char text[600];
        (void)snprintf(
            text, sizeof text,
            "{\"particles\": {\"spacing\": 0.1}, \"box\": {\"size\": [2, 1, 1.2], \"faces\": {\"%s\": "
            "\"dummies\"}}, " MATERIAL("\"viscosity\": 1") ", \"fluid\": [{\"shape\": \"box\", \"low\": "
                                                           "[0, 0, 0], \"high\": [2, 1, 1.2]}]}",
            names[face]);
        kf_particle_scene *s = parse(text, NULL);
        const int axis = face / 2, fluid = 20 * 10 * 12;
        assert_int_equal(s->wall_count, 3 * fluid / cells[axis]);
        assert_int_equal(s->count - s->wall_count, fluid);
        near(s->origin[axis], face % 2 == 0 ? 3 : 0);
        for (size_t k = 0; k < s->count; k++) {
            const double x = (double)s->position[3 * k + (size_t)axis] - s->origin[axis];
            const bool outside = x < 0 || x > cells[axis];
            assert_int_equal(outside, k >= s->count - s->wall_count);
        }
        kf_particle_scene_free(s);
    }
}

/* Places and speeds are randomly displaced by the given amount, without a mean, depending on the seed. */
static void particles_are_shaken_without_a_drift(void **state) {
    (void)state;
    const kf_particle_options shaken = {.shake = 0.2}, other = {.shake = 0.2, .seed = 77},
                              coarse = {.spacing_scale = 2.0};
    static const char text[] = SCENE(MATERIAL("\"viscosity\": 1"));
    kf_particle_scene *s = parse(text, &shaken), *plain = parse(text, NULL), *again = parse(text, &other);
    double mean = 0, square = 0, most = 0, fastest = 0;
    const size_t values = 3 * s->count;
    for (size_t i = 0; i < values; i++) {
        const double by = (double)s->position[i] - (double)plain->position[i];
        mean += by / (double)values;
        square += by * by / (double)values;
        most = fmax(most, fabs(by));
        fastest = fmax(fastest, fabs((double)s->velocity[i]));
    }
    assert_true(fabs(mean) < 0.02 && fabs(square / (0.04 / 3) - 1) < 0.1); /* uniform between -0.2 and 0.2 */
    assert_true(most <= 0.2001 && most > 0.19 && fastest <= 0.02001 && fastest > 0.019);
    assert_true(again->seed == 77 && memcmp(again->position, s->position, 3 * s->count * sizeof(float)) != 0);
    kf_particle_scene_free(again);
    again = parse(text, &coarse);
    near(again->spacing, 0.2);
    /* It is 2.5 spacings wide. Points on its face belong to it. */
    assert_int_equal(again->count, 5 * 3 * 3);
    kf_particle_scene_free(again);
    kf_particle_scene_free(plain);
    kf_particle_scene_free(s);
}

/* Everything that changes the simulation changes the hash. */
static void what_changes_the_simulation_changes_the_hash(void **state) {
    (void)state;
    kf_particle_scene *s = parse(SCENE(MATERIAL("\"viscosity\": 1") ", \"gravity\": [0, 0, -10]"), NULL);
    char hash[KF_HASH_HEX];
    memcpy(hash, s->hash, sizeof hash);
    kf_material *m = &s->material;
    kf_thesis_model *t = &s->thesis;
    double *const numbers[] = {&s->spacing,
                               &s->sound_speed,
                               &s->density,
                               &s->support,
                               &m->viscosity,
                               &m->consistency,
                               &m->exponent,
                               &m->yield,
                               &m->friction,
                               &m->friction_fast,
                               &m->inertial_number,
                               &m->grain,
                               &m->viscosity_limit,
                               &m->growth,
                               &m->shear_modulus,
                               &m->bed_friction,
                               &t->xsph,
                               &t->penalty,
                               &t->damping,
                               &t->drag,
                               &t->drag_height,
                               &t->speed_limit,
                               &t->acceleration_limit,
                               &t->viscosity_at_rest,
                               &s->diffusion,
                               &s->artificial,
                               &s->impact,
                               &s->shifting,
                               &s->courant,
                               &s->time_step,
                               &s->size[0],
                               &s->size[2],
                               &s->origin[1],
                               &s->gravity[0],
                               &s->gravity[2],
                               &s->side_velocity[0][1],
                               &s->side_velocity[5][2]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double was = *numbers[i];
        *numbers[i] = was * 1.5 + 0.125;
        kf_particle_scene_hash(s);
        if (strcmp(s->hash, hash) == 0) fail_msg("number %zu is not in the hash", i);
        *numbers[i] = was;
    }
    bool *const flags[] = {&m->stiff, &t->consistent, &s->tension, &s->dummies_slip, &s->central_viscosity};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        *flags[i] = !*flags[i];
        kf_particle_scene_hash(s);
        if (strcmp(s->hash, hash) == 0) fail_msg("flag %zu is not in the hash", i);
        *flags[i] = !*flags[i];
    }
    float *const values[] = {&s->position[4], &s->velocity[7], &s->deviation[3]};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const float was = *values[i];
        *values[i] = was + 0.25f;
        kf_particle_scene_hash(s);
        if (strcmp(s->hash, hash) == 0) fail_msg("particles' value %zu is not in the hash", i);
        *values[i] = was;
    }
    m->law = KF_LAW_POWER;
    kf_particle_scene_hash(s);
    assert_string_not_equal(s->hash, hash);
    m->law = KF_LAW_NEWTONIAN;
    m->branch = KF_BRANCH_ELASTIC;
    kf_particle_scene_hash(s);
    assert_string_not_equal(s->hash, hash);
    m->branch = KF_BRANCH_BIVISCOUS;
    s->scheme = KF_SCHEME_THESIS;
    kf_particle_scene_hash(s);
    assert_string_not_equal(s->hash, hash);
    s->scheme = KF_SCHEME_MODERN;
    s->sides[4] = KF_SIDE_NO_SLIP;
    kf_particle_scene_hash(s);
    assert_string_not_equal(s->hash, hash);
    s->sides[4] = KF_SIDE_FREE_SLIP;
    s->wall_count++;
    kf_particle_scene_hash(s);
    assert_string_not_equal(s->hash, hash);
    s->wall_count--;
    kf_particle_scene_hash(s);
    assert_string_equal(s->hash, hash);
    kf_particle_scene_free(s);
}

/* Headers of grids may give centres, pixels of pictures are nodes, and formulas have both coordinates.
 * Heights between nodes reproduce planes, and beyond the last node they are constant. */
static void heights_of_the_ground(void **state) {
    (void)state;
    static const double size[3] = {10, 6, 10};
    kf_terrain t;
    kf_error error = {KF_OK, ""};
    write_text("c.asc",
               "NCOLS 4\nNROWS 3\nXLLCENTER 5\nYLLCENTER 7\nCELLSIZE 2\n9 10 11 12\n5 6 7 8\n1 2 3 4\n");
    cJSON *object = cJSON_Parse("{\"file\": \"c.asc\"}");
    assert_int_equal(kf_terrain_read(test_path("scene.json"), object, 3, size, &t, &error), KF_OK);
    cJSON_Delete(object);
    near(t.origin[0], 0);
    near(t.origin[1], 0);
    near(t.cell, 2);
    double slope[2], low, high;
    near(kf_terrain_height(&t, 3, 2, slope), 1 + 1.5 + 4);
    near(slope[0], 0.5);
    near(slope[1], 2);
    kf_terrain_range(&t, &low, &high);
    assert_true(low == 1 && high == 12);
    kf_terrain_free(&t);
    object = cJSON_Parse("{\"formula\": \"2 * x - 3 * y + 1\", \"cell\": 0.7}");
    assert_int_equal(kf_terrain_read("scene.json", object, 3, size, &t, &error), KF_OK);
    cJSON_Delete(object);
    for (int i = 0; i <= 100; i++) {
        const double x = 0.1 * i, y = 0.06 * i;
        assert_true(fabs(kf_terrain_height(&t, x, 6 - y, slope) - (2 * x - 3 * (6 - y) + 1)) < 1e-9);
        assert_true(fabs(slope[0] - 2) < 1e-9 && fabs(slope[1] + 3) < 1e-9);
    }
    kf_terrain_free(&t);
    /* A spline smooths a quadratic by cell^2 / 8 times its curvature 2, and has its slope. */
    object = cJSON_Parse("{\"formula\": \"x * x\", \"cell\": 0.5}");
    assert_int_equal(kf_terrain_read("scene.json", object, 2, size, &t, &error), KF_OK);
    cJSON_Delete(object);
    assert_int_equal(t.nodes[1], 1);
    for (int i = 1; i < 100; i++) {
        assert_true(fabs(kf_terrain_height(&t, 0.1 * i, 0, slope) - (0.01 * i * i + 0.0625)) < 1e-9);
        assert_true(fabs(slope[0] - 0.2 * i) < 1e-9);
    }
    kf_terrain_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_materials),
        cmocka_unit_test(the_thesis_model),
        cmocka_unit_test(faces_gauges_and_the_run),
        cmocka_unit_test(what_bodies_begin_with),
        cmocka_unit_test(layers_have_their_places),
        cmocka_unit_test(particles_are_shaken_without_a_drift),
        cmocka_unit_test(what_changes_the_simulation_changes_the_hash),
        cmocka_unit_test(heights_of_the_ground),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
