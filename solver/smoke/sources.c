#include "solver/smoke/sources.h"

#include <math.h>
#include <string.h>

#include "solver/flow/flow_frame.h"

static const double PI = 3.14159265358979323846;
/* Vertical rakes across the solid's front. Their positions are in widths of the solid, from its middle. The
 * lowest and the highest nozzle, the distance from the solid, and the nozzles' radius are in its heights. */
enum { RAKES = 3, FEWEST_NOZZLES = 3, MOST_NOZZLES = 12 };
static const double PLACES[RAKES] = {-0.34, 0, 0.34}, LOWEST = 0.10, HIGHEST = 1.25, AHEAD = 2.2,
                    RADIUS = 0.02;
/* In cells. With a smaller spacing the smoke forms a wall and no streaks. */
static const double LEAST_RADIUS = 0.4, LEAST_SPACING = 3;
/* Tracers per cell. */
static const double FRESH_DENSITY = 60;
static const double TRANSITS = 1.5, CALM_SPEED = 0.05;

double kf_smoke_stream_speed(const kf_scene *scene) {
    return scene->reference_speed > 0 ? scene->reference_speed : CALM_SPEED;
}

double kf_smoke_transit(const kf_scene *scene) {
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    return scene->nodes[frame.flow_axis] / kf_smoke_stream_speed(scene);
}

static double within(double x, int nodes) {
    return fmin(fmax(x, 0.5), nodes - 1.5);
}

/* Chooses rakes of nozzles in the stream before the solid, from a little above the ground to its height,
 * where the scene names no emitters. */
static void choose_emitters(const kf_scene *scene, kf_smoke_sources *sources) {
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    const int flow = frame.flow_axis, up = frame.up_axis, side = 3 - flow - up;
    double low[3], high[3];
    for (int a = 0; a < 3; a++) {
        bool solid = scene->mesh.triangle_count > 0;
        low[a] = solid ? scene->solid_low[a] : scene->nodes[a] / 3.0;
        high[a] = solid ? scene->solid_high[a] : scene->nodes[a] * 2.0 / 3.0;
    }
    const double height = high[up] - low[up], middle = 0.5 * (low[side] + high[side]);
    const bool forwards = frame.drag[flow] > 0;
    const double front = forwards ? low[flow] - AHEAD * height : high[flow] + AHEAD * height;
    const double nozzles = floor((HIGHEST - LOWEST) * height / LEAST_SPACING) + 1;
    sources->count = RAKES;
    for (int r = 0; r < RAKES; r++) {
        kf_emitter *rake = &sources->emitters[r];
        *rake = (kf_emitter){.shape = KF_EMITTER_RAKE,
                             .nozzles = (int)fmin(fmax(nozzles, FEWEST_NOZZLES), MOST_NOZZLES)};
        rake->radius = fmax(LEAST_RADIUS, RADIUS * height);
        rake->rate =
            FRESH_DENSITY * kf_smoke_stream_speed(scene) * PI * rake->radius * rake->radius * rake->nozzles;
        rake->from[flow] = within(front, scene->nodes[flow]);
        rake->from[side] = within(middle + PLACES[r] * (high[side] - low[side]), scene->nodes[side]);
        memcpy(rake->to, rake->from, sizeof rake->to);
        rake->from[up] = within(low[up] + LOWEST * height, scene->nodes[up]);
        rake->to[up] = within(low[up] + HIGHEST * height, scene->nodes[up]);
    }
}

void kf_smoke_choose_sources(const kf_scene *scene, kf_smoke_sources *sources) {
    *sources = scene->smoke;
    if (sources->seed == 0) sources->seed = 1;
    if (!(sources->opacity > 0)) sources->opacity = 2;
    if (sources->count == 0) choose_emitters(scene, sources);
    if (sources->capacity > 0) return;
    double rate = 0;
    for (int e = 0; e < sources->count; e++)
        rate += sources->emitters[e].rate;
    sources->capacity =
        (long)fmin(fmax(ceil(TRANSITS * rate * kf_smoke_transit(scene)), 1000), KF_TRACERS_LIMIT);
}

/* Finds the area that an emitter shows to the stream, in cells^2, and how thick its smoke is. */
static void measure(const kf_emitter *emitter, int flow, double *area, double *thickness) {
    const double r = emitter->radius;
    if (emitter->shape == KF_EMITTER_RAKE) {
        *area = PI * r * r * emitter->nozzles;
        *thickness = 2 * r;
    } else if (emitter->shape == KF_EMITTER_DISC) {
        *area = PI * r * r * fmax(fabs(emitter->normal[flow]), 0.05);
        *thickness = 2 * r;
    } else {
        const int b = (flow + 1) % 3, c = (flow + 2) % 3;
        const double height = fmax(emitter->to[b] - emitter->from[b], 1),
                     width = fmax(emitter->to[c] - emitter->from[c], 1);
        *area = height * width;
        *thickness = fmin(height, width);
    }
}

double kf_smoke_extinction(const kf_scene *scene, const kf_smoke_sources *sources) {
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    double thickest = 0;
    for (int e = 0; e < sources->count; e++) {
        double area, thickness;
        measure(&sources->emitters[e], frame.flow_axis, &area, &thickness);
        const double density = sources->emitters[e].rate / (area * kf_smoke_stream_speed(scene));
        thickest = fmax(thickest, density * thickness);
    }
    return sources->opacity / thickest;
}
