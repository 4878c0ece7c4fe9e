#include "base/statistics/detector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"

const kf_rules kf_standard_rules = {
    .least_change = 0.00995033, /* log 1.01 */
    .noise_factor = 3.0,
    .most_threshold = 0.182322, /* log 1.2 */
    .point_probability = 0.001,
    .confirmed_share = 0.75,
    .confirmed_probability = 0.01,
    .false_discovery_rate = 0.05,
    .drift = 0.0295588, /* log 1.03 */
};

/* Makes the median absolute deviation of normal values their standard deviation. */
static const double NORMAL = 1.4826;

static double deviation(const double *values, int count) {
    double *distance = kf_allocate((size_t)count * sizeof *distance),
           centre = kf_median(values, (size_t)count);
    for (int i = 0; i < count; i++)
        distance[i] = fabs(values[i] - centre);
    double result = NORMAL * kf_median(distance, (size_t)count);
    free(distance);
    return result;
}

kf_night_level kf_night_level_of(const double *times, int count, bool identical) {
    kf_night_level night = {
        .level = (double)NAN, .spread = (double)NAN, .processes = count, .identical = identical};
    if (count == 0) return night;
    double logs[KF_SAMPLE_LIMIT] = {0.0};
    if (count > KF_SAMPLE_LIMIT) count = KF_SAMPLE_LIMIT;
    for (int i = 0; i < count; i++)
        logs[i] = log(times[i]);
    night.level = kf_median(logs, (size_t)count);
    if (count > 2) night.spread = deviation(logs, count);
    return night;
}

/* Returns the noise of the median of a night's processes, were they all that varies. */
static double from_processes(const kf_night_level *nights, int count) {
    enum { NIGHTS = 20 };
    double errors[NIGHTS];
    int known = 0;
    for (int i = count - 1; i >= 0 && known < NIGHTS; i--)
        if (!isnan(nights[i].spread))
            errors[known++] = nights[i].spread * sqrt(M_PI / 2.0 / nights[i].processes);
    return known > 0 ? kf_median(errors, (size_t)known) : 0.0;
}

/* Returns the noise of a night as the standard deviation of a logarithm. It comes from differences of nights
 * with identical code when there are enough, else from all nights. It is at least the spread between the
 * processes of a night. */
double kf_noise_floor(const kf_night_level *nights, int count) {
    enum { NIGHTS = 20, ENOUGH_IDENTICAL = 8, ENOUGH = 4 };
    double identical[NIGHTS], all[NIGHTS];
    int identical_count = 0, all_count = 0;
    for (int i = count - 1; i > 0 && i > count - 1 - NIGHTS; i--) {
        double difference = nights[i].level - nights[i - 1].level;
        all[all_count++] = difference;
        if (nights[i].identical) identical[identical_count++] = difference;
    }
    double noise = 0.0;
    if (identical_count >= ENOUGH_IDENTICAL)
        noise = deviation(identical, identical_count) / M_SQRT2;
    else if (all_count >= ENOUGH)
        noise = deviation(all, all_count) / M_SQRT2;
    return fmax(noise, from_processes(nights, count));
}

static double median_level(const double *levels, int begin, int end) {
    return kf_median(levels + begin, (size_t)(end - begin));
}

/* Tests a series for a change tonight: a change point near its end, or one night that differs from its level
 * by more than the threshold. Only the last KF_WINDOW nights of a long series count. */
kf_screening kf_screen(const kf_night_level *nights, int count, const kf_rules *rules) {
    kf_screening result = {.before = count - 2};
    if (count > KF_WINDOW) {
        result = kf_screen(nights + count - KF_WINDOW, KF_WINDOW, rules);
        if (result.before >= 0) result.before += count - KF_WINDOW;
        return result;
    }
    /* The noise leaves tonight out, because its own deviation would raise the threshold. */
    result.noise = kf_noise_floor(nights, count - 1);
    result.threshold =
        fmin(fmax(rules->least_change, rules->noise_factor * result.noise), rules->most_threshold);
    if (count < 2) return result;
    double levels[KF_WINDOW];
    kf_change_point points[KF_WINDOW];
    for (int i = 0; i < count; i++)
        levels[i] = nights[i].level;
    int found = kf_change_points(levels, count, rules->point_probability, result.threshold, points);
    int last = found > 0 ? points[found - 1].at : 0;
    if (found > 0 && count - last <= KF_RECENT) {
        int begin = found > 1 ? points[found - 2].at : 0;
        result.before = last - 1;
        result.shift = median_level(levels, last, count) - median_level(levels, begin, last);
        result.candidate = fabs(result.shift) > result.threshold;
        if (result.candidate) return result;
    }
    /* Compares a single night with its level. The t test needs more nights than a new series has. */
    result.before = count - 2;
    int begin = last < count - 1 ? last : 0;
    result.shift = levels[count - 1] - median_level(levels, begin, count - 1);
    result.candidate = fabs(result.shift) > result.threshold;
    return result;
}

kf_finding kf_confirm(const kf_comparison *comparison, double threshold, const kf_rules *rules) {
    /* A short history gives many candidates, and the comparison is the only evidence. So it needs a smaller
     * probability. */
    double probability = rules->confirmed_probability * (threshold >= rules->most_threshold ? 0.1 : 1.0);
    if (isnan(comparison->shift) || comparison->probability >= probability ||
        fabs(comparison->shift) <= rules->confirmed_share * threshold)
        return KF_FINDING_NONE;
    return comparison->shift > 0 ? KF_FINDING_SLOWER : KF_FINDING_FASTER;
}

bool kf_undecided(const kf_comparison *comparison, double threshold, const kf_rules *rules) {
    return kf_confirm(comparison, threshold, rules) == KF_FINDING_NONE &&
           fabs(comparison->shift) > 0.5 * threshold;
}
