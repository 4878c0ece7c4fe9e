/* Tests files of flows whose vorticity, Q, mask and surface are known, and the list of a series. Faults: a
 * wrong derivative, sign, unit or axis. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/output/flow_files.h"
#include "solver/output/mean_fields.h"
#include "solver/output/series_file.h"
#include "solver/output/vtkhdf.h"
#include "tests/unit/box_mesh.h"

enum { N = 12 };
static const double cell = 0.1;
static const kf_solid_pose at_rest = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/* Makes the flow u = (a y, b x, 0) in m/s over metres, pressure coefficient = z in metres. */
static kf_snapshot linear_flow(double a, double b) {
    const int nodes[3] = {N, N, N};
    kf_snapshot s;
    kf_snapshot_of_nodes(&s, nodes, 0.5 * cell, cell);
    float *u = kf_snapshot_add(&s, "velocity", "m/s", 3),
          *p = kf_snapshot_add(&s, "pressure_coefficient", "1", 1);
    for (size_t i = 0; i < s.count; i++) {
        const size_t plane = i / N / N;
        const double x = cell * (double)(i % N), y = cell * (double)(i / N % N), z = cell * (double)plane;
        u[3 * i] = (float)(a * y);
        u[3 * i + 1] = (float)(b * x);
        u[3 * i + 2] = 0.0F;
        p[i] = (float)z;
    }
    return s;
}

static void check_linear(double a, double b, double vorticity, double q) {
    const kf_scene empty = {.nodes = {N, N, N}};
    kf_snapshot s = linear_flow(a, b);
    kf_flow_quantities_derive(&empty, &at_rest, KF_VORTICITY | KF_Q_CRITERION | KF_PRESSURE, &s);
    assert_null(kf_snapshot_find(&s, "velocity"));
    assert_non_null(kf_snapshot_find(&s, "pressure_coefficient"));
    const float *w = kf_snapshot_find(&s, "vorticity")->values,
                *found = kf_snapshot_find(&s, "q_criterion")->values;
    for (size_t i = 0; i < s.count; i++) {
        assert_true(fabs((double)w[3 * i + 2] - vorticity) < 1e-4 && fabs((double)w[3 * i]) < 1e-4);
        assert_true(fabs((double)found[i] - q) < 1e-4);
    }
    kf_snapshot_free(&s);
}

static void test_derivatives_of_linear_flows(void **state) {
    (void)state;
    check_linear(-3.0, 3.0, 6.0, 9.0); /* turning like a rigid body: Q is the square of the angular speed */
    check_linear(2.0, 0.0, -2.0, 0.0); /* a shear flow is no vortex */
    check_linear(2.0, 2.0, 0.0, -4.0); /* pure strain */
}

/* Across a periodic face the first and the last node are neighbours. Derivatives there were one-sided. */
static void test_derivatives_across_periodic_faces(void **state) {
    (void)state;
    for (int a = 0; a < 3; a++) {
        const int c = (a + 1) % 3,
                  b = (a + 2) % 3; /* u_c changes along a, so that the vorticity is along b */
        kf_scene scene = {.nodes = {N, N, N}, .cell_size = cell};
        for (int f = 0; f < 6; f++)
            scene.faces[f] = f / 2 == a ? KF_PERIODIC : KF_WALL;
        kf_snapshot s;
        kf_snapshot_of_nodes(&s, scene.nodes, 0.5 * cell, cell);
        float *u = kf_snapshot_add(&s, "velocity", "m/s", 3);
        const double wave = 2.0 * 3.14159265358979323846 / N, factor = sin(wave) / cell;
        for (size_t i = 0; i < s.count; i++) {
            const size_t at[3] = {i % N, i / N % N, i / (N * N)};
            u[3 * i] = u[3 * i + 1] = u[3 * i + 2] = 0.0F;
            u[3 * i + (size_t)c] = (float)sin(wave * (double)at[a]);
        }
        kf_flow_quantities_derive(&scene, &at_rest, KF_VORTICITY, &s);
        const float *w = kf_snapshot_find(&s, "vorticity")->values;
        for (size_t i = 0; i < s.count; i++) {
            const size_t at[3] = {i % N, i / N % N, i / (N * N)};
            assert_true(fabs((double)w[3 * i + (size_t)b] - factor * cos(wave * (double)at[a])) <
                        1e-4 * factor);
        }
        kf_snapshot_free(&s);
    }
}

/* A flow of one layer of nodes has no derivatives across it, whichever axis that is. u is (y, z, x)
 * without the one across. */
static void test_derivatives_of_a_layer(void **state) {
    (void)state;
    for (int flat = 0; flat < 3; flat++) {
        int nodes[3] = {N, N, N};
        nodes[flat] = 1;
        const kf_scene empty = {.nodes = {nodes[0], nodes[1], nodes[2]}};
        kf_snapshot s;
        kf_snapshot_of_nodes(&s, nodes, 0.5 * cell, cell);
        float *u = kf_snapshot_add(&s, "velocity", "m/s", 3);
        for (size_t i = 0; i < s.count; i++) {
            const size_t at[3] = {i % (size_t)nodes[0], i / (size_t)nodes[0] % (size_t)nodes[1],
                                  i / (size_t)(nodes[0] * nodes[1])};
            for (size_t c = 0; c < 3; c++)
                u[3 * i + c] = (float)(cell * (double)at[(c + 1) % 3]);
        }
        kf_flow_quantities_derive(&empty, &at_rest, KF_VORTICITY | KF_Q_CRITERION, &s);
        const float *w = kf_snapshot_find(&s, "vorticity")->values,
                    *q = kf_snapshot_find(&s, "q_criterion")->values;
        for (size_t i = 0; i < s.count; i++) {
            for (int a = 0; a < 3; a++) /* -d u_b / d x_c, where c has nodes */
                assert_true(fabs((double)w[3 * i + (size_t)a] - ((a + 2) % 3 == flat ? 0.0 : -1.0)) < 1e-4);
            assert_true(fabs((double)q[i]) < 1e-4);
        }
        kf_snapshot_free(&s);
    }
}

/* A cube from 3 to 8 in lattice units, triangles outwards. */
static kf_scene *make_cube(void) {
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    *scene = (kf_scene){.nodes = {N, N, N}, .cell_size = cell, .time_step = 0.5, .viscosity = 0.02};
    scene->mesh = box_mesh((const double[3]){3, 3, 3}, (const double[3]){8, 8, 8});
    return scene;
}

static void test_nodes_inside_and_at_the_edge_of_a_solid(void **state) {
    (void)state;
    kf_scene *scene = make_cube();
    kf_snapshot s = linear_flow(0.0, 0.0);
    kf_flow_quantities_derive(scene, &at_rest, KF_SOLID | KF_VELOCITY, &s);
    const float *solid = kf_snapshot_find(&s, "solid")->values;
    for (size_t i = 0; i < s.count; i++) {
        const size_t at[3] = {i % N, i / N % N, i / N / N};
        bool inside = true, edge = false;
        for (int a = 0; a < 3; a++) {
            inside = inside && at[a] > 3 && at[a] < 8;
            edge = edge || at[a] == 3 || at[a] == 8;
        }
        if (!edge) assert_true(solid[i] == (inside ? 1.0F : 0.0F));
    }
    kf_snapshot_free(&s);
    kf_scene_free(scene);
}

/* With a law of the wall, shear and y+ are those of the law: two cells out at y+ 900, where only its
 * logarithm counts. */
static void test_surface_by_a_law(void **state) {
    (void)state;
    kf_scene *scene = make_cube();
    kf_snapshot flow = linear_flow(0.0, 0.0), surface;
    const double lattice = cell / scene->time_step, speed = 3.0;
    float *u = kf_snapshot_find(&flow, "velocity")->values;
    for (size_t i = 0; i < flow.count; i++)
        u[3 * i] = (float)speed;
    const double along = speed * sqrt(2.0 / 3.0),
                 plus = log(1.0 + 0.384 * 900.0) / 0.384 + 4.27 - log(0.384) / 0.384, friction = along / plus;
    scene->wall_law = true;
    scene->viscosity = friction * 2.0 * cell / 900.0 / (cell * lattice);
    kf_flow_surface(scene, &at_rest, &flow, &surface);
    const float *shear = kf_snapshot_find(&surface, "wall_shear")->values,
                *y_plus = kf_snapshot_find(&surface, "y_plus")->values;
    for (size_t v = 0; v < 8; v++) {
        double square = 0.0;
        for (size_t a = 0; a < 3; a++)
            square += pow((double)shear[3 * v + a], 2);
        assert_true(fabs(sqrt(square) / (friction * friction) - 1.0) < 1e-4);
        assert_true(shear[3 * v] > 0.0F);
        assert_true(fabs((double)y_plus[v] / 225.0 - 1.0) < 1e-4);
    }
    kf_snapshot_free(&surface);
    kf_snapshot_free(&flow);
    kf_scene_free(scene);
}

/* Makes a flow that moves like a solid about the cube's middle, with `moves` and `turns` in lattice units.
 * Its pressure differs from node to node. */
static kf_snapshot rigid_flow(const kf_scene *scene, const double moves[3], const double turns[3]) {
    kf_snapshot flow = linear_flow(0.0, 0.0);
    float *u = kf_snapshot_find(&flow, "velocity")->values;
    for (size_t i = 0; i < flow.count; i++) {
        const size_t row = i / N, plane = row / N;
        const double arm[3] = {(double)(i % N) - 5.5, (double)(row % N) - 5.5, (double)plane - 5.5};
        double v[3];
        kf_cross(turns, arm, v);
        for (size_t a = 0; a < 3; a++)
            u[3 * i + a] = (float)((v[a] + moves[a]) * scene->cell_size / scene->time_step);
    }
    return flow;
}

static double largest_shear(const kf_snapshot *surface, double *y_plus) {
    const float *shear = kf_snapshot_find(surface, "wall_shear")->values,
                *plus = kf_snapshot_find(surface, "y_plus")->values;
    double largest = *y_plus = 0.0;
    for (size_t v = 0; v < surface->count; v++) {
        *y_plus = fmax(*y_plus, (double)plus[v]);
        for (size_t a = 0; a < 3; a++)
            largest = fmax(largest, fabs((double)shear[3 * v + a]));
    }
    return largest;
}

/* Fluid that moves with a solid exerts no friction on it, and fluid at rest does, whether the solid is
 * alone or one of several. */
static void test_surface_that_moves(void **state) {
    (void)state;
    const double moves[3] = {0.05, -0.02, 0.03}, turns[3] = {0.0, 0.006, -0.008}, none[3] = {0};
    for (int several = 0; several < 2; several++) {
        kf_scene *scene = make_cube();
        kf_solid_pose pose = at_rest;
        for (int a = 0; a < 3; a++) {
            scene->motion.center[a] = pose.center[a] = 5.5;
            pose.velocity[a] = several ? 0.0 : moves[a];
            pose.angular_velocity[a] = several ? 0.0 : turns[a];
        }
        if (several) {
            scene->solid_count = 1;
            scene->solids[0].motion = (kf_motion){
                .moving = true, .center = {5.5, 5.5, 5.5}, .axis = {0, 0.6, -0.8}, .angular_speed = 0.01};
        }
        kf_snapshot with = rigid_flow(scene, several ? none : moves, turns), still = linear_flow(0.0, 0.0),
                    surface;
        double y_plus;
        kf_flow_surface(scene, &pose, &with, &surface);
        const double rubbed = largest_shear(&surface, &y_plus);
        assert_true(rubbed < 1e-8 && y_plus < 0.05);
        kf_snapshot_free(&surface);
        kf_flow_surface(scene, &pose, &still, &surface);
        assert_true(largest_shear(&surface, &y_plus) > 1e-5 && y_plus > 0.1);
        kf_snapshot_free(&surface);
        kf_snapshot_free(&with);
        kf_snapshot_free(&still);
        kf_scene_free(scene);
    }
}

/* A solid that has passed a periodic face is seen where it is in the domain: as a whole when it is any
 * number of domains away, on both sides when it lies across the face. */
static void test_solid_beyond_a_seam(void **state) {
    (void)state;
    static const int away[] = {0, 1, -3};
    kf_scene *scene = make_cube();
    kf_snapshot flow = linear_flow(1.0, 0.5), surface[3];
    for (size_t i = 0; i < 3; i++) {
        kf_snapshot s = linear_flow(1.0, 0.5);
        kf_solid_pose pose = at_rest;
        for (int a = 0; a < 3; a++)
            pose.center[a] = away[i] * N;
        kf_flow_surface(scene, &pose, &flow, &surface[i]);
        for (size_t q = 0; q < surface[0].quantity_count; q++)
            for (size_t v = 0; v < surface[0].count * (size_t)surface[0].quantities[q].components; v++)
                assert_true(fabs((double)surface[i].quantities[q].values[v] -
                                 (double)surface[0].quantities[q].values[v]) < 1e-6);
        pose.center[0] += 6.4;
        kf_flow_quantities_derive(scene, &pose, KF_SOLID, &s);
        const float *solid = kf_snapshot_find(&s, "solid")->values;
        for (size_t n = 0; n < s.count; n++) {
            const size_t at[3] = {(n % N + 6) % N, n / N % N, n / N / N};
            if (at[1] == 3 || at[1] == 8 || at[2] == 3 || at[2] == 8) continue;
            const bool inside = at[0] > 3 && at[0] <= 8 && at[1] > 3 && at[1] < 8 && at[2] > 3 && at[2] < 8;
            assert_true(solid[n] == (inside ? 1.0F : 0.0F));
        }
        kf_snapshot_free(&s);
    }
    for (size_t i = 0; i < 3; i++)
        kf_snapshot_free(&surface[i]);
    kf_snapshot_free(&flow);
    kf_scene_free(scene);
}

/* At the corners the outside lies along the diagonal, 1/sqrt(3) of a cell along each axis, whichever way
 * the triangles look. */
static void check_surface(bool inwards) {
    kf_scene *scene = make_cube();
    for (size_t t = 0; inwards && t < scene->mesh.triangle_count; t++) {
        uint32_t *corner = scene->mesh.triangles + 3 * t, second = corner[1];
        corner[1] = corner[2];
        corner[2] = second;
    }
    kf_snapshot flow = linear_flow(1.0, 0.0), surface;
    kf_flow_surface(scene, &at_rest, &flow, &surface);
    const float *points = kf_snapshot_find(&surface, "position")->values,
                *p = kf_snapshot_find(&surface, "pressure_coefficient")->values,
                *shear = kf_snapshot_find(&surface, "wall_shear")->values,
                *y_plus = kf_snapshot_find(&surface, "y_plus")->values;
    const double out = 1.0 / sqrt(3.0), viscosity = 0.02 * cell * cell / 0.5;
    assert_int_equal(surface.count, 8);
    assert_int_equal(surface.triangle_count, 12);
    for (size_t v = 0; v < 8; v++) {
        const double side = v >> 2 & 1 ? 1.0 : -1.0, y = v >> 1 & 1 ? 8.0 : 3.0, ys = v >> 1 & 1 ? 1.0 : -1.0;
        assert_true(fabs((double)points[3 * v + 2] - cell * ((side > 0.0 ? 8.0 : 3.0) + 0.5)) < 1e-6);
        assert_true(fabs((double)p[v] - cell * ((side > 0.0 ? 8.0 : 3.0) + side * out)) < 1e-5);
        /* Along x; two thirds of it lie along the surface. The parabola through both is at most half as steep
         * again as the line. */
        const double speed = cell * (y + 1.5 * ys * out), farther = cell * (y + 3.0 * ys * out),
                     steeper = fmin(1.5, 2.0 - 0.5 * farther / speed),
                     stress = viscosity * speed / (1.5 * cell) * steeper;
        assert_true(fabs((double)shear[3 * v] - stress * 2.0 / 3.0) < 1e-4 * stress + 1e-9);
        const double friction = sqrt(stress * sqrt(2.0 / 3.0));
        assert_true(fabs((double)y_plus[v] - friction * 0.5 * cell / viscosity) < 1e-3);
    }
    kf_snapshot_free(&surface);
    kf_snapshot_free(&flow);
    kf_scene_free(scene);
}

/* Nodes inside a solid without fluid, at rest and with the pressure 0, have no share in the pressure a cell
 * outside; and where that place lies beyond the outermost nodes, as above a road, the pressure is theirs. */
static void test_pressure_beside_nodes_without_fluid(void **state) {
    (void)state;
    for (int low = 0; low < 2; low++) {
        kf_scene *scene = make_cube();
        kf_snapshot flow = linear_flow(1.0, 0.0), surface;
        float *u = kf_snapshot_find(&flow, "velocity")->values,
              *pressure = kf_snapshot_find(&flow, "pressure_coefficient")->values;
        for (size_t face = 0; face < KF_FACES; face++)
            scene->faces[face] = KF_FREE_SLIP;
        for (size_t v = 0; low && v < 8; v++)
            scene->mesh.vertices[3 * v + 2] -=
                3.4; /* from -0.4 to 4.6, on a face of the domain but for 0.1 */
        for (size_t i = 0; i < flow.count; i++) {
            const size_t at[3] = {i % N, i / N % N, i / N / N};
            bool inside = true;
            for (size_t a = 0; a < 3; a++)
                inside =
                    inside && (double)at[a] >= scene->mesh.vertices[a] && at[a] <= (a == 2 && low ? 4 : 8);
            pressure[i] = inside ? 0.0F : pressure[i] + 1.0F;
            if (!inside) continue;
            memset(u + 3 * i, 0, 3 * sizeof *u);
        }
        kf_flow_surface(scene, &at_rest, &flow, &surface);
        const float *p = kf_snapshot_find(&surface, "pressure_coefficient")->values;
        for (size_t v = 0; v < 8; v++) {
            double sum = 0.0, fluid = 0.0, at[3];
            for (size_t c = 0; c < 3; c++) {
                const double corner = scene->mesh.vertices[3 * v + c], up = v >> c & 1 ? 1.0 : -1.0;
                at[c] = fmin(fmax(corner + up / sqrt(3.0), 0.0), N - 1.0);
            }
            for (size_t k = 0; k < 8; k++) {
                double weight = 1.0;
                size_t node[3];
                for (size_t c = 0; c < 3; c++) {
                    node[c] = (size_t)at[c] + (k >> c & 1);
                    weight *= 1.0 - fabs(at[c] - (double)node[c]);
                }
                if (weight == 0.0 || pressure[(node[2] * N + node[1]) * N + node[0]] == 0.0F) continue;
                sum += weight * (1.0 + cell * (double)node[2]);
                fluid += weight;
            }
            assert_true(low || fluid < 1.0);
            if (!(fabs((double)p[v] - sum / fluid) < 1e-6))
                fail_msg("vertex %zu: %g, not %g", v, (double)p[v], sum / fluid);
        }
        kf_snapshot_free(&surface);
        kf_snapshot_free(&flow);
        kf_scene_free(scene);
    }
}

/* The speed in the layer is s - s^2/12 at s cells from the corners at y = 8. Its slope at the surface is
 * 1, which a line through 1.5 cells takes to be 0.88. */
static void test_shear_of_a_curved_layer(void **state) {
    (void)state;
    kf_scene *scene = make_cube();
    kf_snapshot flow = linear_flow(0.0, 0.0), surface;
    float *u = kf_snapshot_find(&flow, "velocity")->values;
    for (size_t i = 0; i < flow.count; i++) {
        const double s = sqrt(3.0) * ((double)(i / N % N) - 8.0);
        u[3 * i] = s > 0.0 ? (float)(s - s * s / 12.0) : 0.0F;
    }
    kf_flow_surface(scene, &at_rest, &flow, &surface);
    const float *shear = kf_snapshot_find(&surface, "wall_shear")->values;
    const double unit = 0.02 * cell * cell / 0.5 / cell * 2.0 / 3.0; /* of a slope of 1 along x */
    for (size_t v = 0; v < 8; v++)
        if (v >> 1 & 1) assert_true(fabs((double)shear[3 * v] / unit - 1.0) < 0.03);
    kf_snapshot_free(&surface);
    kf_snapshot_free(&flow);
    kf_scene_free(scene);
}

static void test_forces_on_a_surface(void **state) {
    (void)state;
    check_surface(false);
    check_surface(true);
}

/* Three flows of slopes 1, 2 and 6: mean 3, mean square about it 14/3. */
static void test_means_and_mean_squares_by_hand(void **state) {
    (void)state;
    static const double slopes[] = {1.0, 2.0, 6.0};
    kf_mean_fields means = {.samples = 0};
    kf_snapshot mean;
    for (int i = 0; i < 3; i++) {
        kf_snapshot s = linear_flow(slopes[i], 0.0);
        s.step = (uint64_t)i;
        kf_mean_fields_add(&means, &s);
        kf_snapshot_free(&s);
    }
    kf_mean_fields_snapshot(&means, &mean);
    assert_int_equal(mean.step, 2);
    const float *u = kf_snapshot_find(&mean, "velocity")->values,
                *rms = kf_snapshot_find(&mean, "velocity_rms")->values,
                *steady = kf_snapshot_find(&mean, "pressure_coefficient_rms")->values;
    for (size_t i = 0; i < mean.count; i++) {
        const size_t row = i / N;
        const double y = cell * (double)(row % N);
        assert_true(fabs((double)u[3 * i] - 3.0 * y) < 1e-5 &&
                    fabs((double)rms[3 * i] - sqrt(14.0 / 3.0) * y) < 1e-5);
        assert_true(steady[i] == 0.0F && rms[3 * i + 1] == 0.0F);
    }
    kf_snapshot_free(&mean);
    kf_mean_fields_free(&means);
}

/* Where u is 1, 2 and 6 and v is -2, -3 and -7, u'v' is minus the mean square of u', 14/3. w is twice u,
 * so that v w is tested, too. */
static void test_stresses_by_hand(void **state) {
    (void)state;
    static const float u[] = {1.0F, 2.0F, 6.0F};
    kf_mean_fields means = {.samples = 0};
    kf_snapshot mean;
    for (int i = 0; i < 3; i++) {
        kf_snapshot s = linear_flow(0.0, 0.0);
        float *velocity = kf_snapshot_find(&s, "velocity")->values;
        for (size_t n = 0; n < s.count; n++) {
            velocity[3 * n] = u[i];
            velocity[3 * n + 1] = -1.0F - u[i];
            velocity[3 * n + 2] = 2.0F * u[i];
        }
        kf_mean_fields_add(&means, &s);
        kf_snapshot_free(&s);
    }
    kf_mean_fields_snapshot(&means, &mean);
    static const double expected[] = {1.0, 1.0, 4.0, -1.0, 2.0, -2.0}; /* of 14/3: xx, yy, zz, xy, xz, yz */
    const kf_quantity *stress = kf_snapshot_find(&mean, "reynolds_stress");
    assert_non_null(stress);
    assert_int_equal(stress->components, 6);
    for (size_t i = 0; i < 6 * mean.count; i++)
        assert_true(fabs((double)stress->values[i] - expected[i % 6] * 14.0 / 3.0) < 1e-5);
    kf_snapshot_free(&mean);
    kf_mean_fields_free(&means);
}

static void test_unknown_quantities_are_refused(void **state) {
    (void)state;
    int quantities;
    kf_error error;
    assert_int_equal(kf_flow_quantities_read("velocity,q,surface", &quantities, &error), KF_OK);
    assert_int_equal(quantities, KF_VELOCITY | KF_Q_CRITERION | KF_SURFACE);
    assert_int_equal(kf_flow_quantities_read("velocity,heat", &quantities, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "'heat'"));
    assert_int_equal(kf_flow_quantities_read("", &quantities, &error), KF_BAD_INPUT);
    assert_int_equal(kf_flow_quantities_read("velocities", &quantities, &error), KF_BAD_INPUT);
    assert_int_equal(kf_flow_quantities_read("veloc", &quantities, &error), KF_BAD_INPUT);
}

static void touch(const char *folder, const char *name) {
    char path[KF_PATH];
    kf_error error;
    assert_int_equal(kf_path(path, &error, "%s/%s", folder, name), KF_OK);
    assert_int_equal(kf_file_write_atomic(path, "x", 1, &error), KF_OK);
}

/* Returns the series of fields of a run that began after first_step. The caller frees it. */
static char *series_of(const char *folder, uint64_t first_step) {
    static const char *const written[] = {"run_1/fields_000200.vtkhdf", "run_1/surface_000010.vtkhdf",
                                          "run_1/fields_000300.png", "run_1/fields_1000000.vtkhdf"};
    const kf_series_files files = {folder, first_step, written, sizeof written / sizeof *written};
    char path[KF_PATH], *text = NULL;
    size_t size;
    kf_error error;
    assert_int_equal(kf_series_file_write(&files, "fields", 1000000, 512.25, &error), KF_OK);
    assert_int_equal(kf_path(path, &error, "%s/fields.vtkhdf.series", folder), KF_OK);
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    return text;
}

static int names_in(const char *text) {
    int count = 0;
    for (; (text = strstr(text, "name")) != NULL; text++)
        count++;
    return count;
}

/* Writes the fields of one node at a moment. */
static void write_moment(const char *folder, const char *name, uint64_t step, double time) {
    char path[KF_PATH];
    kf_error error;
    kf_snapshot snapshot;
    kf_snapshot_of_nodes(&snapshot, (const int[3]){2, 1, 1}, 0.5, 1.0);
    memset(kf_snapshot_add(&snapshot, "velocity", "m/s", 3), 0, 6 * sizeof(float));
    snapshot.step = step;
    snapshot.time = time;
    assert_int_equal(kf_path(path, &error, "%s/%s", folder, name), KF_OK);
    assert_int_equal(kf_vtkhdf_write(path, &snapshot, 0, &error), KF_OK);
    kf_snapshot_free(&snapshot);
}

/* The series has a run's own files, and of others in the folder those from which the run continued. Times
 * are those of the files, since steps of particles differ in length. Once they are listed, the files need
 * not be read again. */
static void test_a_series_is_of_one_run(void **state) {
    (void)state;
    char folder[] = "/tmp/kftune-series-XXXXXX";
    assert_non_null(mkdtemp(folder));
    static const char *const names[] = {"surface_000010.vtkhdf", "fields_000500.vtkhdf", "fields_x.vtkhdf",
                                        "fields_000100.vtkhdf"}; /* the last one is damaged */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        touch(folder, names[i]);
    write_moment(folder, "fields_000010.vtkhdf", 10, 4.5);
    write_moment(folder, "fields_000200.vtkhdf", 200, 99.125);
    char *anew = series_of(folder, 0), *further = series_of(folder, 200);
    assert_int_equal(names_in(anew), 2);
    assert_true(strstr(anew, "fields_000200.vtkhdf") < strstr(anew, "fields_1000000.vtkhdf"));
    assert_int_equal(names_in(further), 3); /* step 200 once, 500 is another run's */
    const char *first = strstr(further, "{\"name\": \"fields_000010.vtkhdf\", \"time\": 4.5}"),
               *second = strstr(further, "{\"name\": \"fields_000200.vtkhdf\", \"time\": 99.125}"),
               *third = strstr(further, "{\"name\": \"fields_1000000.vtkhdf\", \"time\": 512.25}");
    assert_true(first != NULL && second > first && third > second);
    touch(folder, "fields_000010.vtkhdf");
    char *again = series_of(folder, 200);
    assert_string_equal(again, further);
    free(again);
    free(anew);
    free(further);
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives_of_linear_flows),
        cmocka_unit_test(test_derivatives_of_a_layer),
        cmocka_unit_test(test_derivatives_across_periodic_faces),
        cmocka_unit_test(test_surface_by_a_law),
        cmocka_unit_test(test_nodes_inside_and_at_the_edge_of_a_solid),
        cmocka_unit_test(test_surface_that_moves),
        cmocka_unit_test(test_solid_beyond_a_seam),
        cmocka_unit_test(test_forces_on_a_surface),
        cmocka_unit_test(test_pressure_beside_nodes_without_fluid),
        cmocka_unit_test(test_shear_of_a_curved_layer),
        cmocka_unit_test(test_means_and_mean_squares_by_hand),
        cmocka_unit_test(test_stresses_by_hand),
        cmocka_unit_test(test_unknown_quantities_are_refused),
        cmocka_unit_test(test_a_series_is_of_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
