/* Stokes flow through the square array of cylinders of the paper's section 7. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9_cases.h"
#include "solver/flow/flow_problem.h"
#include "solver/picture/picture.h"
#include "solver/validation/flow.h"

enum { ROWS = 18, OBSTACLES = ROWS * ROWS };
/* Eq. 14, with the digits of the paper. */
static const double exact_fraction = 0.1256637;

/* --- Voxels --------------------------------------------------------------------------------------------- */

const kf_table_4_row kf_table_4[KF_TABLE_4_ROWS] = {
    {128, 1.88e-1, 2.06e-1},  {256, 9.05e-4, 1.73e-2},  {512, 1.81e-2, 1.87e-2},
    {1024, 5.99e-4, 5.61e-3}, {2048, 8.70e-4, 4.78e-3}, {3072, 2.36e-4, 2.37e-3},
};

/* Returns the nodes of a mesh^2 of the paper that carry the array, (mesh - 2)^2, as kf_node_kind; caller
 * frees. The paper does not say how its circles were made of squares; of all rules tried this one gives the
 * six solid fractions of its Table 4. The array covers the mesh but for its rim, nodes are cells, a cell is
 * solid when its centre lies within a circle, and all of it is in single precision, which on 512^2 decides
 * about 432 centres that lie on a circle. The position is volatile lest the compiler fuses its product with
 * the subtraction. */
static unsigned char *voxels_of_table_4(int mesh) {
    const int n = mesh - 2;
    const float step = 180.0F / (float)n, radius = 2.0F;
    float *square = kf_allocate((size_t)n * sizeof *square);
    unsigned char *voxels = kf_allocate((size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        const volatile float position = ((float)i + 0.5F) * step;
        const float distance = position - (5.0F + 10.0F * floorf(position / 10.0F));
        square[i] = distance * distance;
    }
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            voxels[(size_t)y * (size_t)n + (size_t)x] =
                square[x] + square[y] < radius * radius ? KF_NODE_SOLID : KF_NODE_FLUID;
    free(square);
    return voxels;
}

static double fraction_error(const unsigned char *voxels, int n) {
    const size_t count = (size_t)n * (size_t)n;
    size_t solid = 0;
    for (size_t v = 0; v < count; v++)
        solid += voxels[v] == KF_NODE_SOLID;
    const double printed = nearbyint(1e6 * (double)solid / (double)count) * 1e-6;
    return fabs(printed / exact_fraction - 1.0);
}

double kf_table_4_fraction_error(int mesh) {
    unsigned char *voxels = voxels_of_table_4(mesh);
    const double error = fraction_error(voxels, mesh - 2);
    free(voxels);
    return error;
}

/* --- Drag factor ---------------------------------------------------------------------------------------- */

/* Returns the drag factor of Eq. 16 (Sangani & Acrivos). */
static double drag_factor(double fraction) {
    return -0.5 * log(fraction) - 0.738 + fraction - 0.887 * pow(fraction, 2) + 2.039 * pow(fraction, 3) -
           2.421 * pow(fraction, 4);
}

static kf_status darcy_velocity(kf_plan *plan, double *velocity, kf_error *error) {
    double *values;
    size_t count = (size_t)kf_plan_scene(plan)->nodes[0] * (size_t)kf_plan_scene(plan)->nodes[1];
    KF_TRY(kf_d2q9_read(plan, &values, error));
    *velocity = 0;
    for (size_t n = 0; n < count; n++)
        *velocity += values[count + n];
    *velocity /= (double)count;
    free(values);
    return KF_OK;
}

/* Runs until the flow is steady. */
static kf_status settle(const kf_validation *validation, const kf_d2q9_flow *array, double *velocity,
                        kf_error *error) {
    enum { MOST_ROUNDS = 60 };
    const double viscosity = array->scene->viscosity, spacing = (double)array->scene->nodes[0] / ROWS;
    /* A change decays by the drag of the obstacles within about spacing^2 / viscosity / 30 steps. */
    const uint64_t steps = (uint64_t)(0.25 * spacing * spacing / viscosity) + 16;
    double before = 0;
    *velocity = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        KF_TRY(kf_flow_advance(validation, array->plan, steps, error));
        KF_TRY(darcy_velocity(array->plan, velocity, error));
        if (fabs(*velocity - before) < 1e-5 * fabs(*velocity)) break;
        before = *velocity;
    }
    return KF_OK;
}

/* Lengthens the time step. Stokes flow does not depend on it, and a fine grid then settles in fewer steps. */
static void lengthen_time_step(kf_scene *scene) {
    const double factor = fmax(1.0, scene->nodes[0] / 512.0);
    scene->time_step *= factor;
    scene->reference_speed *= factor;
    scene->viscosity *= factor;
    scene->body_force[0] *= factor * factor;
}

/* The shipped scene on the nodes that carry the array, with the paper's voxels. */
static kf_status open_array(const kf_validation *validation, int mesh, kf_d2q9_flow *array, kf_error *error) {
    const int n = mesh - 2;
    const kf_scene_options options = {.nodes = {n, n, 1}};
    memset(array, 0, sizeof *array);
    KF_TRY(kf_scene_open("cylinder_array2d", &options, &array->scene, error));
    lengthen_time_step(array->scene);
    free(array->scene->mask);
    array->scene->mask = voxels_of_table_4(mesh);
    return kf_d2q9_open_plan(validation, NULL, array, error);
}

kf_status kf_d2q9_array_errors(const kf_validation *validation, int mesh, kf_array_errors *errors,
                               kf_error *error) {
    kf_d2q9_flow array;
    kf_solid_load load = {{0}, {0}};
    double velocity = 0;
    kf_status status = open_array(validation, mesh, &array, error);
    if (status == KF_OK) status = settle(validation, &array, &velocity, error);
    if (status == KF_OK) status = array.plan->methods->flow->load(array.plan, &load, error);
    if (status == KF_OK) {
        const int n = mesh - 2;
        const double driving = array.scene->body_force[0] * n * n;
        const double k = 4.0 * kf_pi * array.scene->viscosity * velocity / (driving / OBSTACLES);
        errors->fraction = fraction_error(array.scene->mask, n);
        errors->k = fabs(k / drag_factor(exact_fraction) - 1.0);
        errors->force = fabs(load.force[0] / driving - 1.0);
        status = kf_flow_draw(validation, array.plan, "d2q9-array", KF_AXIS_AUTO, 0.0, error);
    }
    kf_d2q9_close_flow(&array);
    return status;
}

/* Checks the square array of cylinders: solid fractions by the paper's Table 4, the drag factor by Sangani
 * and Acrivos, and momentum exchange by the driving force. */
kf_status kf_case_d2q9_array(kf_validation *validation, kf_error *error) {
    const int mesh = validation->gpu ? 1024 : 256;
    char quantity[96];
    kf_array_errors errors;
    for (int row = 0; row < KF_TABLE_4_ROWS; row++) {
        const kf_table_4_row *paper = &kf_table_4[row];
        (void)snprintf(quantity, sizeof quantity, "%d^2: relative error of the solid fraction", paper->mesh);
        const double last_digit = 0.01 * pow(10.0, floor(log10(paper->fraction)));
        kf_check_absolute(validation, quantity, "Toelke 2008, Table 4, to its last digit", paper->fraction,
                          kf_table_4_fraction_error(paper->mesh), 0.501 * last_digit);
    }
    KF_TRY(kf_d2q9_array_errors(validation, mesh, &errors, error));
    (void)snprintf(quantity, sizeof quantity, "%d^2: relative error of the drag factor k", mesh);
    kf_check_absolute(validation, quantity, "Sangani & Acrivos 1982 (Eq. 16 of Toelke 2008)", 0.0, errors.k,
                      0.02);
    (void)snprintf(quantity, sizeof quantity, "%d^2: force by momentum exchange / driving force - 1", mesh);
    kf_check_absolute(validation, quantity, "conservation of momentum", 0.0, errors.force, 1e-3);
    return KF_OK;
}
