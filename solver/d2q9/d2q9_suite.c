/* Table 4 of Tölke 2008: the solid fraction of the square array of cylinders on each mesh. */
#include "solver/d2q9/d2q9_cases.h"
#include "solver/flow/flow_suite.h"

static const char *const mesh_key[] = {"mesh", NULL};

static int mesh_of(const kf_figure_input *input) {
    return (int)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(input->row, "mesh"));
}

static kf_status measure_drag(const kf_figure_input *input, kf_backend *backend,
                              double values[KF_FIGURE_VALUES], kf_error *error) {
    static const volatile int never;
    const kf_validation validation = {.backend = backend, .interrupted = &never};
    kf_array_errors errors;
    KF_TRY(kf_d2q9_array_errors(&validation, mesh_of(input), &errors, error));
    values[0] = errors.k;
    return KF_OK;
}

static void drag_error(const kf_figure_input *input, kf_figure *figure) {
    figure->value = input->values[0];
}

static void fraction_error(const kf_figure_input *input, kf_figure *figure) {
    figure->value = kf_table_4_fraction_error(mesh_of(input));
}

static const kf_figure_kind kinds[] = {
    {.name = "array_drag_error", .keys = mesh_key, .unit = "", .measure = measure_drag, .make = drag_error},
    {.name = "array_fraction_error", .keys = mesh_key, .unit = "", .make = fraction_error},
    {.name = NULL},
};

const kf_suite_system kf_d2q9_suite = {.change = kf_flow_change, .kinds = kinds};
