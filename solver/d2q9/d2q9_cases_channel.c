/* A cylinder in a channel at Reynolds number 100: drag, lift and the frequency of its vortex street. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9_cases.h"
#include "solver/picture/picture.h"
#include "solver/validation/flow.h"

static const char source[] = "Schaefer & Turek 1996, case 2D-2";

typedef struct shedding {
    /* The lift is its largest amplitude. */
    double strouhal, drag, lift;
} shedding;

/* Samples force coefficients over the last periods. The frequency comes from the upward crossings of the lift
 * through its mean. */
static kf_status sample_shedding(const kf_validation *validation, kf_d2q9_flow *channel, uint64_t stride,
                                 int samples, shedding *result, kf_error *error) {
    double *lift = kf_allocate((size_t)samples * sizeof *lift), mean = 0;
    double diameter = channel->scene->reference_length, speed = channel->scene->reference_speed;
    double scale = 0.5 * speed * speed * diameter;
    kf_status status = KF_OK;
    result->drag = 0;
    for (int s = 0; s < samples && status == KF_OK; s++) {
        kf_solid_load load = {{0}, {0}};
        status = kf_flow_advance(validation, channel->plan, stride, error);
        if (status == KF_OK) status = channel->plan->methods->flow->load(channel->plan, &load, error);
        lift[s] = load.force[1] / scale;
        mean += lift[s] / samples;
        result->drag = kf_worse(result->drag, load.force[0] / scale);
    }
    double first = -1, last = -1;
    int periods = 0;
    result->lift = 0;
    for (int s = 0; s < samples && status == KF_OK; s++) {
        result->lift = kf_worse(result->lift, lift[s]);
        if (s == 0 || lift[s - 1] >= mean || lift[s] < mean) continue;
        last = s - 1 + (mean - lift[s - 1]) / (lift[s] - lift[s - 1]);
        if (first < 0)
            first = last;
        else
            periods++;
    }
    result->strouhal =
        periods > 0 ? periods / ((last - first) * (double)stride) * diameter / speed : (double)NAN;
    free(lift);
    return status;
}

/* Compares the cylinder in a channel at Reynolds number 100 with the published benchmark: Strouhal number,
 * and largest drag and lift. The bounds allow for a circle made of squares. */
kf_status kf_case_d2q9_channel(kf_validation *validation, kf_error *error) {
    enum { SAMPLES_A_PERIOD = 40, SAMPLED = 6 };
    /* Cells across the cylinder. */
    const int cells = validation->gpu ? 40 : validation->quick ? 10 : 20;
    const double staircase = 1.0 / cells; /* the circle is made of squares */
    kf_d2q9_flow channel;
    shedding result = {0};
    char quantity[96];
    kf_status status =
        kf_d2q9_open_flow(validation, "cylinder2d", 22 * cells, (41 * cells + 5) / 10, NULL, &channel, error);
    if (status == KF_OK) {
        double period = cells / (0.3 * channel.scene->reference_speed);
        status = kf_flow_advance(validation, channel.plan, (uint64_t)(24 * period), error);
        if (status == KF_OK)
            status = sample_shedding(validation, &channel, (uint64_t)(period / SAMPLES_A_PERIOD),
                                     SAMPLES_A_PERIOD * SAMPLED, &result, error);
    }
    if (status == KF_OK)
        status = kf_flow_draw(validation, channel.plan, "d2q9-channel", KF_AXIS_AUTO, 0.0, error);
    if (status == KF_OK) {
        (void)snprintf(quantity, sizeof quantity, "Re 100, %d cells across: Strouhal number", cells);
        kf_check_relative(validation, quantity, source, 0.300, result.strouhal, 0.8 * staircase);
        (void)snprintf(quantity, sizeof quantity, "Re 100, %d cells across: largest drag coefficient", cells);
        kf_check_relative(validation, quantity, source, 3.23, result.drag, 1.6 * staircase);
        (void)snprintf(quantity, sizeof quantity, "Re 100, %d cells across: largest lift coefficient", cells);
        kf_check_relative(validation, quantity, source, 1.00, result.lift, 4.0 * staircase);
    }
    kf_d2q9_close_flow(&channel);
    return status;
}
