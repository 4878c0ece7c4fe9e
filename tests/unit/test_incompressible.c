/* Tests every solver in the space of the incompressible system against the reference, with walls, solids
 * at rest and turning, open and periodic faces, and its state. Faults: one combination of solver and
 * boundary is wrong. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "tests/unit/incompressible_configs.h"

#include <math.h>
#include <unistd.h>

#include "base/util/text.h"
#include "solver/incompressible/reference.h"
#include "solver/validation/flow.h"

static void verify(kf_scene *scene, int steps, const char *const *changes) {
    kf_error error = {0};
    kf_reference *reference;
    kf_incompressible_own_model(scene)->tolerance = 1e-5;
    must(incompressible->reference(problem_of(incompressible, scene), steps, &reference, &error), &error);
    for (int i = 0; changes[i] != NULL; i++) {
        const kf_config config = configure(scene, changes[i]);
        const double off = verify_config(incompressible, scene, &config, reference, steps);
        if (getenv("KFTUNE_TEST_PRINT") != NULL) (void)printf("%s %s: %.3g\n", scene->name, changes[i], off);
    }
    incompressible->free_reference(reference);
    kf_scene_free(scene);
}

static const char *const all_solvers[] = {
    "solver=multigrid_cg",
    "solver=multigrid_cg sweeps=1 bounds=kept addresses=one",
    "solver=multigrid_cg sweeps=3 storage=f64",
    "solver=multigrid iterations=50",
    "solver=cg iterations=400",
    "solver=incomplete_cg iterations=400",
    "solver=fourier_cg",
    "solver=fourier_cg storage=f64",
    "solver=incomplete_cg iterations=400 least_iterations=300 storage=f64",
    NULL};
static const char *const one_solver[] = {"solver=multigrid_cg",
                                         "solver=multigrid_cg bounds=kept addresses=one storage=f64", NULL};
static const char *const unlimited[] = {"solver=multigrid_cg addresses=one",
                                        "solver=multigrid_cg storage=f64", NULL};
static const char *const two_solvers[] = {"solver=multigrid_cg bounds=kept",
                                          "solver=fourier_cg addresses=one", NULL};

static void test_ball(void **state) {
    (void)state;
    const kf_scene_options options = {.nodes = {32, 16, 16}};
    kf_error error = {0};
    kf_scene *scene;
    must(kf_scene_open("ball", &options, &scene, &error), &error);
    verify(scene, 2, all_solvers);
}
/* The middles of faces are on the surface, half way between a cell outside and one as deep inside.
 * Friction agrees with the reference only if their height is exactly 0. A compiler that contracts a
 * product and a sum would miss it. */
static void test_faces_on_the_surface(void **state) {
    (void)state;
    const kf_scene_options options = {.nodes = {200, 100, 100}};
    kf_error error = {0};
    kf_scene *large, *scene;
    must(kf_scene_open("ball", &options, &large, &error), &error);
    must(kf_scene_reduce(large, 24000, &scene, &error), &error);
    kf_scene_free(large);
    scene->viscosity = 0.05; /* so that friction is much of the force */
    char *quick = getenv("KFTUNE_CC") != NULL ? kf_duplicate(getenv("KFTUNE_CC")) : NULL;
    assert_int_equal(unsetenv("KFTUNE_CC"), 0);
    verify(scene, 1, (const char *const[]){"solver=multigrid_cg", NULL});
    if (quick != NULL) assert_int_equal(setenv("KFTUNE_CC", quick, 1), 0);
    free(quick);
}
/* Takes out the triangles about the ends of the solid along an axis. */
static void make_holes(kf_scene *scene, int axis) {
    kf_mesh *mesh = &scene->mesh;
    double middle[3];
    size_t kept = 0;
    for (int i = 0; i < 3; i++)
        middle[i] = 0.5 * (scene->solid_low[i] + scene->solid_high[i]);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *at = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t];
        double beside = 0.0;
        for (int i = 0; i < 3; i++)
            beside += i == axis ? 0.0 : (at[i] - middle[i]) * (at[i] - middle[i]);
        if (beside < 0.6) continue;
        memmove(mesh->triangles + 3 * kept, mesh->triangles + 3 * t, 3 * sizeof *mesh->triangles);
        kept++;
    }
    assert_true(kept < mesh->triangle_count);
    mesh->triangle_count = kept;
    scene->open_edges = 1;
}
static bool is_a_distance(const kf_distance_grid *grid) {
    const int row = grid->size[0], plane = row * grid->size[1], step[3] = {1, row, plane};
    for (int i = 0; i + plane + row + 1 < plane * grid->size[2]; i++)
        for (int a = 0; a < 3; a++)
            if (fabsf(grid->values[i] - grid->values[i + step[a]]) > 1.001F * (float)grid->spacing)
                return false;
    return true;
}
/* Rows that enter through the mesh and leave through a hole, or the other way round, take the side of most
 * other rows. The solid is then still a ball but for the hole's rim, and kernels and reference agree on
 * it. */
static void test_mesh_with_holes(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        kf_scene *scene = open_shipped_scene("ball", 9000);
        kf_distance_grid whole, holed;
        kf_scene_distance(scene, &whole);
        make_holes(scene, axis);
        kf_scene_distance(scene, &holed);
        assert_memory_equal(whole.size, holed.size, sizeof whole.size);
        int solid = 0, differ = 0;
        for (int i = 0; i < whole.size[0] * whole.size[1] * whole.size[2]; i++) {
            solid += whole.values[i] < 0.0F;
            differ += (whole.values[i] < 0.0F) != (holed.values[i] < 0.0F);
        }
        assert_true(is_a_distance(&whole) && is_a_distance(&holed));
        print_message("axis %d: %d points inside, %d of another side with holes\n", axis, solid, differ);
        assert_true(solid > 200 && differ < solid / 10);
        free(whole.values);
        free(holed.values);
        verify(scene, 1, (const char *const[]){"solver=multigrid_cg", NULL});
    }
}
/* A moving wall and stilts. */
static void test_a_moving_wall_and_stilts(void **state) {
    (void)state;
    verify(open_shipped_scene("ahmed", 14000), 2, two_solvers);
}
/* The gate refuses a load of which one component is no number. */
static void test_a_load_without_a_number(void **state) {
    (void)state;
    kf_scene *scene = open_shipped_scene("ahmed", 10000);
    kf_reference *reference;
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    must(incompressible->reference(problem_of(incompressible, scene), 1, &reference, &error), &error);
    const kf_config config = configure(scene, one_solver[0]);
    kf_plan *plan = open_plan_of(incompressible, scene, &config);
    advance(plan, 1);
    must(incompressible->verify(plan, reference, &verification, &error), &error);
    const kf_solid_load right = reference->load;
    for (int i = 0; i < 6; i++) {
        *(i < 3 ? &reference->load.force[i] : &reference->load.torque[i - 3]) = (double)NAN;
        assert_int_equal(incompressible->verify(plan, reference, &verification, &error), KF_GATE_FAILED);
        reference->load = right;
    }
    kf_plan_free(plan);
    incompressible->free_reference(reference);
    kf_scene_free(scene);
}
static void test_a_turning_solid(void **state) {
    (void)state;
    kf_scene *scene = open_shipped_scene("ahmed", 10000);
    scene->motion.moving = true;
    scene->motion.axis[0] = scene->motion.axis[1] = 0.0;
    scene->motion.axis[2] = 1.0;
    scene->motion.angular_speed = 0.02;
    for (int i = 0; i < 3; i++)
        scene->motion.center[i] = 0.5 * (scene->solid_low[i] + scene->solid_high[i]);
    verify(scene, 3, one_solver);
}
static void disturb(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    *density = 1.0;
    velocity[0] = 0.2 * sin(0.7 * i + 0.3 * j) * cos(0.4 * k);
    velocity[1] = 0.3 * cos(0.5 * i - 0.8 * k);
    velocity[2] = 0.25 * sin(0.6 * j + 0.9 * k + 0.2 * i);
}
/* Periodic along x, walls that move along y, free slip along z; steps that carry over cells. */
static void test_steps_carry_over_cells_in_a_box(void **state) {
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        kf_scene *scene = kf_flow_box("box", 16, 13, 10, 0.05);
        scene->initial_state = disturb;
        scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_WALL;
        scene->face_velocity[KF_YMAX][0] = 0.3;
        scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_FREE_SLIP;
        scene->body_force[0] = 1e-3;
        if (variant > 0) kf_scene_stretch_time(scene, 8.0);
        kf_incompressible_own_model(scene)->unlimited = variant == 1;
        kf_incompressible_own_model(scene)->trace = variant == 1 ? KF_TRACE_EULER : KF_TRACE_MIDPOINT;
        kf_incompressible_own_model(scene)->viscous_term = variant == 0   ? KF_VISCOUS_EXPLICIT
                                                           : variant == 1 ? KF_VISCOUS_OFF
                                                                          : KF_VISCOUS_IMPLICIT;
        verify(scene, 3, variant == 1 ? unlimited : one_solver);
    }
}

/* The records of a state are velocity and pressure in the user's units, forces, and the residual of the
 * pressure's solver. The load is compared with the momentum that a duct's fluid loses. */
static void test_records_are_in_the_users_units(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_shipped_scene("ball", 6000);
    kf_incompressible_own_model(scene)->tolerance = 1e-5;
    const kf_config config = configure(scene, "solver=multigrid_cg");
    kf_plan *plan = open_plan_of(incompressible, scene, &config);
    kf_records records = {0};
    kf_snapshot snapshot = {0};
    kf_solid_load load;
    double *values, divergence;
    must(kf_plan_record(plan, &records, &error), &error);
    assert_true(kf_record_value(kf_records_find(&records, "forces"), "drag_coefficient") == 0.0);
    kf_records_free(&records);
    memset(&records, 0, sizeof records);
    enum { STEPS = 3 };
    advance(plan, STEPS);
    must(kf_plan_record(plan, &records, &error), &error);
    must(kf_plan_snapshot(plan, &snapshot, &error), &error);
    must(kf_incompressible_read(plan, &values, &error), &error);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    must(kf_incompressible_divergence(plan, &divergence, &error), &error);
    const kf_record *forces = kf_records_find(&records, "forces"),
                    *pressure = kf_records_find(&records, "pressure");
    const double speed = scene->cell_size / scene->time_step, u = scene->reference_speed;
    assert_true(load.force[0] > 0.0);
    assert_true(fabs(kf_record_value(forces, "drag_coefficient") /
                         (load.force[0] / (0.5 * u * u * scene->frontal_area)) -
                     1.0) < 1e-9);
    assert_true(kf_record_value(pressure, "solves") == 2 * STEPS);
    assert_true(kf_record_value(pressure, "missed") == 0);
    for (int half = 0; half < 2; half++) {
        assert_true(kf_record_value(pressure, half ? "iterations_second" : "iterations") >= 1);
        assert_true(kf_record_value(pressure, half ? "residual_second" : "residual") <= 1e-5);
    }
    assert_true(fabs(kf_record_value(pressure, "divergence") * scene->time_step / divergence - 1.0) < 1e-9);
    const size_t count = snapshot.count;
    const float *v = kf_snapshot_find(&snapshot, "velocity")->values,
                *cp = kf_snapshot_find(&snapshot, "pressure_coefficient")->values;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < 3; a++)
            assert_true(fabs((double)v[3 * i + a] - values[(a + 1) * count + i] * speed) < 1e-5 * u * speed);
        assert_true(fabs((double)cp[i] - values[i] / (1.5 * u * u)) < 1e-3);
    }
    /* The ball stands in the middle: the flow is the same above and below, left and right. */
    const size_t nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1], nz = (size_t)scene->nodes[2];
    double uneven[6] = {0};
    assert_int_equal(ny, nz);
    for (size_t z = 0; z < nz; z++)
        for (size_t y = 0; y < ny; y++)
            for (size_t x = 0; x < nx; x++) {
                const size_t i = (z * ny + y) * nx + x, above = ((nz - 1 - z) * ny + y) * nx + x,
                             beside = (z * ny + ny - 1 - y) * nx + x, turned = (y * ny + z) * nx + x;
                uneven[4] = fmax(uneven[4], fabs(values[count + i] - values[count + turned]) / u);
                uneven[5] = fmax(uneven[5], fabs(values[2 * count + i] - values[3 * count + turned]) / u);
                uneven[0] = fmax(uneven[0], fabs(values[count + i] - values[count + above]) / u);
                uneven[1] = fmax(uneven[1], fabs(values[count + i] - values[count + beside]) / u);
                uneven[2] = fmax(uneven[2], fabs(values[3 * count + i] + values[3 * count + above]) / u);
                uneven[3] = fmax(uneven[3], fabs(values[2 * count + i] + values[2 * count + beside]) / u);
            }
    /* Faces are cut along one of their diagonals, so mirror images differ a little. Exchanging y and z
     * makes no difference. */
    for (int i = 0; i < 4; i++)
        assert_true(uneven[i] < 0.06);
    assert_true(uneven[4] < 1e-3 && uneven[5] < 1e-3);
    assert_true(fabs(load.force[1]) + fabs(load.force[2]) < 0.06 * load.force[0]);
    assert_true(fabs(load.force[1] - load.force[2]) < 1e-4 * load.force[0]);
    kf_records_free(&records);
    kf_snapshot_free(&snapshot);
    free(values);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* Checks the velocity that carries smoke: at every cell that of the fields, and that of the reference. */
static void check_smoke_velocity(kf_scene *scene, const char *changes) {
    enum { STEPS = 2 };
    kf_error error = {0};
    kf_fields fields = {0};
    kf_reference *reference;
    kf_buffer *buffer;
    kf_incompressible_own_model(scene)->tolerance = 1e-5;
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2],
                 bytes = 4 * count * sizeof(float);
    const kf_config config = configure(scene, changes);
    kf_plan *plan = open_plan_of(incompressible, scene, &config);
    float *velocity = malloc(bytes);
    double most = 0.0, off = 0.0;
    must(incompressible->reference(problem_of(incompressible, scene), STEPS, &reference, &error), &error);
    must(kf_buffer_create(backend, bytes, &buffer, &error), &error);
    must(kf_buffer_fill(buffer, 0xff, &error), &error); /* no numbers */
    advance(plan, STEPS);
    must(plan->methods->flow->velocity(plan, buffer, &error), &error);
    must(kf_backend_synchronize(backend, &error), &error);
    must(kf_buffer_download(buffer, 0, velocity, bytes, &error), &error);
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < 3; a++) {
            const double expected = reference->values[(a + 1) * count + i];
            assert_true(velocity[4 * i + a] == fields.velocity[a][i]);
            most = fmax(most, fabs(expected));
            off = fmax(off, fabs((double)velocity[4 * i + a] - expected));
        }
        assert_true(velocity[4 * i + 3] == 0.0F);
    }
    if (!(off < 1e-3 * most)) fail_msg("%s: %.3g off where speeds reach %.3g", changes, off, most);
    kf_fields_free(&fields);
    kf_buffer_free(buffer);
    free(velocity);
    incompressible->free_reference(reference);
    kf_plan_free(plan);
    kf_scene_free(scene);
}
static void test_smoke_velocity(void **state) {
    (void)state;
    check_smoke_velocity(open_shipped_scene("ball", 6000), "solver=multigrid_cg");
    for (int periodic = 0; periodic < 3; periodic++) {
        kf_scene *scene = kf_flow_box("smoke", 14 + periodic, 11, 9 + periodic, 0.05);
        scene->initial_state = disturb;
        for (int face = 0; face < KF_FACES; face++)
            if (face / 2 != periodic) scene->faces[face] = KF_FREE_SLIP;
        check_smoke_velocity(scene,
                             periodic == 1 ? "solver=multigrid_cg storage=f64" : "solver=multigrid_cg");
    }
}

/* A run continues from a checkpoint bit for bit. */
static void test_a_checkpoint_continues_bit_for_bit(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_shipped_scene("ball", 6000);
    const kf_config config = configure(scene, "solver=multigrid_cg");
    kf_plan *plan = open_plan_of(incompressible, scene, &config);
    size_t bytes;
    double *values[2];
    advance(plan, 2);
    must(plan->methods->state_size(plan, &bytes, &error), &error);
    void *kept = malloc(bytes);
    must(plan->methods->save(plan, kept, &error), &error);
    advance(plan, 2);
    must(kf_incompressible_read(plan, &values[0], &error), &error);
    must(plan->methods->restore(plan, kept, 2, &error), &error);
    advance(plan, 2);
    must(kf_incompressible_read(plan, &values[1], &error), &error);
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    assert_memory_equal(values[0], values[1], 4 * count * sizeof(double));
    free(values[0]);
    free(values[1]);
    free(kept);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* A section makes a file this system's, and its steps longer; what it does not know is refused. */
static void test_a_section_chooses_the_system(void **state) {
    (void)state;
    static const char text[] =
        "{\"domain\": {\"cells\": [16, 16, 16], \"size\": [1, 1, 1]},"
        " \"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"free_slip\", \"ymax\": "
        "\"free_slip\","
        " \"zmin\": \"free_slip\", \"zmax\": \"free_slip\"},"
        " \"flow\": {\"speed\": 1, \"reynolds\": 100, \"reference_length\": 1, \"lattice_speed\": 0.05},"
        " \"incompressible\": {\"steps\": 10, \"%s\": false}}";
    static const char *const keys[] = {"limiter", "limiters"};
    kf_error error = {0};
    for (int i = 0; i < 2; i++) {
        char path[] = "/tmp/kftune-section-XXXXXX.json", whole[1024];
        kf_problem *problem = NULL;
        const int file = mkstemps(path, 5);
        assert_true(file >= 0);
        (void)snprintf(whole, sizeof whole, text, keys[i]);
        assert_int_equal(write(file, whole, strlen(whole)), (long)strlen(whole));
        (void)close(file);
        const kf_status status = kf_problem_open(path, NULL, NULL, &problem, &error);
        (void)unlink(path);
        assert_int_equal(status, i == 0 ? KF_OK : KF_BAD_INPUT);
        if (i == 1) {
            assert_non_null(strstr(error.message, "limiters"));
            continue;
        }
        assert_ptr_equal(problem->system, incompressible);
        assert_true(kf_problem_is_flow(problem));
        assert_true(kf_incompressible_model_of(kf_problem_scene(problem))->unlimited);
        assert_true(fabs(kf_facts_value(&problem->facts, "time_step") / (10 * 0.05 / 16) - 1) < 1e-9);
        assert_true(fabs(kf_problem_scene(problem)->face_velocity[KF_XMIN][0] - 0.5) < 1e-9);
        kf_problem_free(problem);
    }
}

/* More friction than an explicit term can take is refused with a way out. */
static void test_most_explicit_viscosity(void **state) {
    (void)state;
    static const struct {
        double viscosity;
        kf_viscous_term term;
        kf_status status;
    } cases[] = {{KF_MOST_EXPLICIT_VISCOSITY, KF_VISCOUS_EXPLICIT, KF_OK},
                 {1.01 * KF_MOST_EXPLICIT_VISCOSITY, KF_VISCOUS_EXPLICIT, KF_BAD_INPUT},
                 {1.01 * KF_MOST_EXPLICIT_VISCOSITY, KF_VISCOUS_OFF, KF_OK},
                 {2.0, KF_VISCOUS_IMPLICIT, KF_OK},
                 {2.0, KF_VISCOUS_AUTOMATIC, KF_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_error error = {0};
        kf_scene *scene = open_shipped_scene("ball", 20000);
        scene->viscosity = cases[i].viscosity;
        kf_incompressible_own_model(scene)->viscous_term = cases[i].term;
        assert_int_equal(incompressible->accepts(problem_of(incompressible, scene), &error), cases[i].status);
        if (cases[i].status != KF_OK) assert_non_null(strstr(error.message, "\"implicit\""));
        kf_scene_free(scene);
    }
}

/* A config that does not choose gets the implicit term where the explicit one would be unstable. */
static void test_automatic_viscous_term(void **state) {
    (void)state;
    static const struct {
        double viscosity, speed;
        kf_viscous_term given, taken;
    } cases[] = {{0.9 / 6.0, 0.1, KF_VISCOUS_AUTOMATIC, KF_VISCOUS_EXPLICIT},
                 {1.1 / 6.0, 0.1, KF_VISCOUS_AUTOMATIC, KF_VISCOUS_IMPLICIT},
                 {0.9 / 12.0, 2.0, KF_VISCOUS_AUTOMATIC, KF_VISCOUS_EXPLICIT},
                 {1.1 / 12.0, 2.0, KF_VISCOUS_AUTOMATIC, KF_VISCOUS_IMPLICIT},
                 {1.1 / 12.0, 2.0, KF_VISCOUS_EXPLICIT, KF_VISCOUS_EXPLICIT},
                 {2.0, 2.0, KF_VISCOUS_OFF, KF_VISCOUS_OFF}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_scene *scene = open_shipped_scene("ball", 20000);
        kf_scene_stretch_time(scene, cases[i].speed / scene->face_velocity[KF_XMIN][0]);
        scene->viscosity = cases[i].viscosity;
        kf_incompressible_own_model(scene)->viscous_term = cases[i].given;
        assert_int_equal(kf_incompressible_viscous_term(scene), cases[i].taken);
        kf_scene_free(scene);
    }
}

/* Too few iterations give a result with a reason. */
static void test_too_few(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_shipped_scene("ball", 20000);
    kf_plan *plan;
    kf_incompressible_own_model(scene)->tolerance = 1e-6;
    const kf_config config = configure(scene, "solver=multigrid_cg iterations=3 sweeps=1");
    must(incompressible->plan(problem_of(incompressible, scene), &config, backend, &plan, &error), &error);
    assert_int_equal(kf_plan_initialise(plan, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "did not converge in the first steps"));
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* The same holds if iterations suffice for the first steps and not for the gate's. A kernel is not judged
 * wrong for that. */
static void test_gate_of_too_few(void **state) {
    (void)state;
    kf_error error = {0};
    kf_scene *scene = open_shipped_scene("ball", 20000);
    kf_reference *reference;
    kf_verification verification;
    kf_incompressible_own_model(scene)->tolerance = 1e-5;
    const kf_config config = configure(scene, "solver=multigrid_cg iterations=9 sweeps=2");
    kf_plan *plan = open_plan_of(incompressible, scene, &config);
    must(incompressible->reference(problem_of(incompressible, scene), 2, &reference, &error), &error);
    advance(plan, 2);
    must(incompressible->verify(plan, reference, &verification, &error), &error);
    kf_incompressible *system = plan->system;
    kf_solve_state states[KF_HALVES];
    must(kf_incompressible_solves(plan, states, &error), &error);
    states[1].missed = 1;
    states[1].worst = 0.5;
    must(kf_buffer_upload(system->solves, 0, states, sizeof states, &error), &error);
    assert_int_equal(incompressible->verify(plan, reference, &verification, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "did not converge in the gate's steps: multigrid_cg left"));
    states[1].residual = (double)NAN;
    must(kf_buffer_upload(system->solves, 0, states, sizeof states, &error), &error);
    assert_int_equal(incompressible->verify(plan, reference, &verification, &error), KF_GATE_FAILED);
    incompressible->free_reference(reference);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mesh_with_holes),
                                       cmocka_unit_test(test_a_moving_wall_and_stilts),
                                       cmocka_unit_test(test_a_turning_solid),
                                       cmocka_unit_test(test_a_load_without_a_number),
                                       cmocka_unit_test(test_steps_carry_over_cells_in_a_box),
                                       cmocka_unit_test(test_records_are_in_the_users_units),
                                       cmocka_unit_test(test_smoke_velocity),
                                       cmocka_unit_test(test_a_checkpoint_continues_bit_for_bit),
                                       cmocka_unit_test(test_a_section_chooses_the_system),
                                       cmocka_unit_test(test_most_explicit_viscosity),
                                       cmocka_unit_test(test_automatic_viscous_term),
                                       cmocka_unit_test(test_too_few),
                                       cmocka_unit_test(test_gate_of_too_few),
                                       cmocka_unit_test(test_faces_on_the_surface),
                                       cmocka_unit_test_setup(test_ball, go_on_with_all_cores)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
