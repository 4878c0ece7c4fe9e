#include "solver/validation/profile.h"

#include <math.h>

#include "solver/validation/flow.h"

double kf_profile_velocity(const kf_scene *scene, const double *values, int component, double place,
                           double lid) {
    const int n = scene->nodes[1], depth = scene->nodes[2];
    const size_t count = (size_t)n * (size_t)n * (size_t)depth;
    const double at = place * n - 0.5;
    int low = (int)floor(at) - 1;
    if (low < 0) low = 0;
    if (low > n - 4) low = n - 4;
    const double s = at - low;
    const double weight[4] = {-(s - 1) * (s - 2) * (s - 3) / 6, s * (s - 2) * (s - 3) / 2,
                              -s * (s - 1) * (s - 3) / 2, s * (s - 1) * (s - 2) / 6};
    double sum = 0;
    /* The centre line lies between nodes, so the value is the mean of the four nodes around it (two in the
     * plane). */
    for (int i = 0; i < 4; i++)
        for (int side = 0; side < 4; side++) {
            const int across = n / 2 - side % 2, z = depth == 1 ? 0 : depth / 2 - side / 2;
            const int x = component == 1 ? low + i : across, y = component == 1 ? across : low + i;
            const size_t node = (size_t)x + (size_t)n * ((size_t)y + (size_t)n * (size_t)z);
            sum += 0.25 * weight[i] * values[(size_t)(component + 1) * count + node];
        }
    return sum / lid;
}

double kf_profile_deviation(const kf_scene *scene, const double *values, int component, double lid,
                            const kf_profile_point *points, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) {
        if (points[i].place <= 0.0 || points[i].place >= 1.0) continue;
        const double here = kf_profile_velocity(scene, values, component, points[i].place, lid);
        const double error = fabs(here - points[i].velocity);
        largest = kf_worse(largest, error);
    }
    return largest;
}
