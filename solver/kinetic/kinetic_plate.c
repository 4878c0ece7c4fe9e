/* A turbulent layer along a flat plate with a law of the wall. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/kinetic/kinetic_layers.h"
#include "solver/validation/body.h"

enum {
    LEAD = 40,
    TAIL = 60,
    TRIP = 12,
    PITCH = 6,
    CUBE = 2,
    WINDOW = 20,
    PLACES = 2,
    LOOKS = 60,
    COUNTED = LOOKS / 2
};
/* The plate lies above the mirror at -0.5, and the space below it has no flow. */
static const double STREAM = 0.08, WALL = -0.3;

/* Two sizes. The smaller one only checks that everything runs. */
typedef struct plate_size {
    /* The node `edge` gives the speed of the stream. */
    int nodes[3], places[PLACES], edge;
    /* The number of crossings of the stream that the run takes. */
    double crossings;
} plate_size;
static const plate_size full = {{720, 64, 48}, {330, 630}, 40, 5.0},
                        small = {{200, 16, 12}, {90, 120}, 12, 0.5};

/* The values at one place: c_f, the momentum thickness in cells, and the speed of the stream above the layer
 * in cells per step. */
typedef struct section {
    double friction, thickness, stream;
} section;

/* Makes the scene of a plate in a stream. With `tripped`, two rows of cubes behind its front make eddies;
 * without them the layer is modelled. viscosity: lattice units. */
static kf_scene *make_plate(const plate_size *plate, double viscosity, bool tripped) {
    const int *nodes = plate->nodes;
    kf_scene *scene = kf_flow_box("plate", nodes[0], nodes[1], nodes[2], viscosity);
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_FREE_SLIP;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = scene->reference_speed = STREAM;
    scene->wall_law = true;
    scene->rate_rule = KF_RATE_K17;
    kf_body_add_sheet(scene, (const double[2]){LEAD, WALL}, (const double[2]){nodes[0] - LEAD - TAIL, 0.0});
    scene->layers = !tripped;
    for (int row = 0; tripped && row < 2; row++)
        for (int z = 0; z < nodes[2]; z += PITCH) {
            const double x = LEAD + TRIP + row * PITCH, y = WALL - 0.1, at = z + 0.5 * row * PITCH + 0.4;
            kf_body_add_box(scene, (const double[3]){x, y, at},
                            (const double[3]){x + CUBE, WALL + CUBE, at + CUBE});
        }
    return scene;
}

/* Adds the friction of the wall's nodes within a window around each place. */
static void add_friction(const plate_size *plate, const kf_links *links, const double *friction_velocity,
                         section sections[PLACES]) {
    for (int p = 0; p < PLACES; p++) {
        double sum = 0.0, area = 0.0;
        for (size_t n = 0; n < links->wall_count; n++) {
            const kf_wall_node *wall = &links->wall[n];
            const int from = links->link[wall->first].at[0].node[0] - plate->places[p];
            if (abs(from) > WINDOW) continue;
            sum += wall->area * friction_velocity[n] * friction_velocity[n];
            area += wall->area;
        }
        sections[p].friction += 2.0 * sum / (area * STREAM * STREAM * COUNTED);
    }
}

/* Returns the mean speed along the plate at a height, over a window and its width. */
static double mean_speed(const plate_size *plate, const double *velocity, int place, int y) {
    const size_t nx = (size_t)plate->nodes[0], ny = (size_t)plate->nodes[1];
    double sum = 0.0;
    for (int z = 0; z < plate->nodes[2]; z++)
        for (int x = place - WINDOW; x <= place + WINDOW; x++)
            sum += velocity[(size_t)x + nx * ((size_t)y + ny * (size_t)z)];
    return sum / (plate->nodes[2] * (2.0 * WINDOW + 1.0));
}

/* Adds momentum thickness and the stream above the layer. The first cell reaches from the wall up. */
static void add_profile(const plate_size *plate, const double *velocity, section sections[PLACES]) {
    for (int p = 0; p < PLACES; p++) {
        const double stream = mean_speed(plate, velocity, plate->places[p], plate->edge);
        double thickness = 0.0;
        for (int y = 0; y <= plate->edge; y++) {
            const double u = mean_speed(plate, velocity, plate->places[p], y) / stream;
            thickness += (y == 0 ? 0.5 - WALL : 1.0) * u * (1.0 - u);
        }
        sections[p].thickness += thickness / COUNTED;
        sections[p].stream += stream / COUNTED;
    }
}

/* Samples the flow once. *sound: whether it has not diverged. */
static kf_status look(const plate_size *plate, const kf_scene *scene, kf_plan *plan, section sections[PLACES],
                      bool *sound, kf_error *error) {
    double *values;
    double *friction_velocity = kf_allocate((scene->links.wall_count + 1) * sizeof *friction_velocity);
    kf_wall_look found;
    kf_status status = plan->methods->flow->wall(plan, &found, friction_velocity, error);
    if (status == KF_OK) add_friction(plate, &scene->links, friction_velocity, sections);
    free(friction_velocity);
    KF_TRY(status);
    KF_TRY(kf_kinetic_read(plan, &values, error));
    *sound = !isnan(kf_flow_energy(scene, values));
    add_profile(plate, values + kf_flow_count(scene), sections);
    free(values);
    return KF_OK;
}

/* Runs the flow. Means are over the later half. */
static kf_status run_plate(kf_validation *validation, const plate_size *plate, kf_scene *scene,
                           section sections[PLACES], kf_error *error) {
    const uint64_t stretch = (uint64_t)(plate->crossings * plate->nodes[0] / STREAM / LOOKS);
    kf_plan *plan = NULL;
    bool sound = true;
    kf_status status = kf_body_link(scene, false, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    for (int n = 0; status == KF_OK && sound && n < LOOKS; n++) {
        status = kf_flow_advance(validation, plan, stretch, error);
        if (status == KF_OK && n >= LOOKS - COUNTED)
            status = look(plate, scene, plan, sections, &sound, error);
    }
    if (status == KF_OK) status = kf_flow_draw(validation, plan, "wall_plate", 2, STREAM, error);
    kf_flow_close(plan);
    for (int p = 0; p < PLACES && !sound; p++)
        sections[p].friction = (double)NAN;
    return status;
}

/* The law 0.0592 Re_x^-0.2 gives a momentum thickness of 0.037 x Re_x^-0.2, so that c_f over it needs no
 * place at which the turbulent layer began. Between Re_theta 600 and 70,000 measured layers follow 2
 * (ln(Re_theta) / 0.384 + 4.127)^-2, which is up to a tenth lower (Nagib, Chauhan and Monkewitz, Phil. Trans.
 * R. Soc. A 365, 755, 2007). */
kf_status kf_check_plate(kf_validation *validation, double reynolds_of_cell, bool tripped, kf_error *error) {
    section sections[PLACES] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const plate_size *size = validation->quick ? &small : &full;
    kf_scene *scene = make_plate(size, STREAM / reynolds_of_cell, tripped);
    const kf_status status = run_plate(validation, size, scene, sections, error);
    kf_scene_free(scene);
    KF_TRY(status);
    for (int p = 0; p < PLACES; p++) {
        const section *s = &sections[p];
        const double of_layer = s->thickness * s->stream / STREAM * reynolds_of_cell,
                     of_place = pow(of_layer / 0.037, 1.25), right = 0.0592 * pow(of_place, -0.2),
                     friction = s->friction * pow(STREAM / s->stream, 2);
        char quantity[128];
        (void)snprintf(quantity, sizeof quantity,
                       "%s plate, %.0f a cell, %d cells: c_f at Re_x %.2g, layer of %.1f cells",
                       tripped ? "tripped" : "modelled", reynolds_of_cell, size->places[p] - LEAD, of_place,
                       72.0 / 7.0 * s->thickness);
        kf_check_relative(validation, quantity, "0.0592 Re_x^-0.2", right, friction,
                          validation->quick ? 1.0 : 0.1);
        (void)snprintf(quantity, sizeof quantity, "the same by its Re_theta, %.3g", of_layer);
        kf_check_relative(validation, quantity, "Nagib, Chauhan and Monkewitz 2007",
                          2.0 / pow(log(of_layer) / 0.384 + 4.127, 2), friction,
                          validation->quick ? 1.0 : 0.1);
    }
    return KF_OK;
}
