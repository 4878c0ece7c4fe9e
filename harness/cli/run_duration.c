#include "harness/cli/run_duration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/number.h"
#include "solver/flow/flow_problem.h"

const kf_scene *kf_run_scene(const kf_problem *problem) {
    return kf_problem_is_flow(problem) ? kf_problem_scene(problem) : NULL;
}

/* Reads a time such as "2s", "250ms" or "2". */
static kf_status read_time(const char *text, double *seconds, kf_error *error) {
    char *end = NULL;
    *seconds = kf_read_decimal(text, &end);
    if (strcmp(end, "ms") == 0) *seconds *= 1e-3;
    const bool unit = *end == '\0' || strcmp(end, "s") == 0 || strcmp(end, "ms") == 0;
    if (end != text && unit && *seconds > 0.0 && *seconds < 1e9) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "option '--time': '%s' is no time; give seconds of the flow, for example 2s or 250ms",
                   text);
}

kf_status kf_value_time(const kf_option *option, const char *value, kf_error *error) {
    double seconds;
    (void)option;
    return read_time(value, &seconds, error);
}

kf_status kf_value_until(const kf_option *option, const char *value, kf_error *error) {
    if (strcmp(value, "settled") == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is not known; use settled", option->name, value);
}

kf_status kf_run_steps(const kf_arguments *arguments, long *steps, kf_error *error) {
    return kf_argument_integer(arguments, "--steps", steps, error);
}

kf_status kf_run_duration(const kf_arguments *arguments, const kf_problem *problem, long *steps,
                          kf_production_options *how, kf_error *error) {
    static const char *const ways[] = {"--steps", "--flow-throughs", "--time"};
    enum { MOST_FLOW_THROUGHS = 50 };
    const kf_scene *scene = kf_run_scene(problem);
    const char *until = kf_argument(arguments, "--until", NULL),
               *time = kf_argument(arguments, "--time", NULL);
    double flow_throughs = 0.0, seconds = 0.0;
    int given = 0;
    for (int i = 0; i < 3; i++)
        given += kf_argument_given(arguments, ways[i]);
    if (given > 1)
        return kf_fail(error, KF_BAD_INPUT,
                       "options '--steps', '--flow-throughs' and '--time': give one of them");
    KF_TRY(kf_run_steps(arguments, steps, error));
    KF_TRY(kf_argument_number(arguments, "--flow-throughs", &flow_throughs, error));
    if (time != NULL) KF_TRY(read_time(time, &seconds, error));
    if (scene == NULL) {
        /* Some systems say how long a step is about, and how long their scene shows something. */
        const double step = kf_facts_value(&problem->facts, "time_step");
        if (given == 0 && kf_facts_find(&problem->facts, "end_time") != NULL)
            seconds = kf_facts_value(&problem->facts, "end_time");
        how->seconds = step > 0.0 ? seconds : 0.0;
        if (until == NULL && flow_throughs == 0.0 && step > 0.0 && seconds > 0.0)
            *steps = (long)fmin(ceil(seconds / step), 1e12);
        if (until == NULL && flow_throughs == 0.0 && (step > 0.0 || seconds == 0.0)) return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "%s: no stream goes through it; give --steps", problem->name);
    }
    how->flow_through = kf_scene_flow_through(scene);
    how->turn = scene->yaw * 0.017453292519943295;
    how->until_settled = until != NULL;
    if (until != NULL && given == 0) flow_throughs = MOST_FLOW_THROUGHS;
    if (flow_throughs > 0.0 && how->flow_through == 0.0)
        return kf_fail(error, KF_BAD_INPUT, "%s: no stream goes through it; give --steps", problem->name);
    if (until != NULL && !kf_scene_has_solid(scene))
        return kf_fail(error, KF_BAD_INPUT, "option '--until': %s has no solid whose drag could settle",
                       problem->name);
    const double wanted =
        flow_throughs > 0.0 ? flow_throughs * how->flow_through : seconds / scene->time_step;
    if (wanted > 1e12) return kf_fail(error, KF_BAD_INPUT, "%.3g steps are more than 1e12", wanted);
    if (wanted > 0.0) *steps = (long)ceil(wanted);
    return KF_OK;
}
