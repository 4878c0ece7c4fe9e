#include "plots/tables.h"

kf_time_unit kf_time_unit_for(double longest_us) {
    if (longest_us >= 10000) return (kf_time_unit){"ms", 1e-3};
    return (kf_time_unit){"us", 1};
}
