#include "base/backend/shared_headers.h"

#include <stdbool.h>
#include <string.h>

#include "base/util/include_text.h"

#if !__has_include("kernels/choices.h")
#error "compile from the repository root: headers of kernels/ are built into the program"
#endif
KF_INCLUDE_TEXT(kf_header_choices, "kernels/choices.h");
KF_INCLUDE_TEXT(kf_header_distance_table, "kernels/distance_table.h");
KF_INCLUDE_TEXT(kf_header_d2q9, "kernels/d2q9/arguments.h");
KF_INCLUDE_TEXT(kf_header_incompressible, "kernels/incompressible/arguments.h");
KF_INCLUDE_TEXT(kf_header_kinetic, "kernels/kinetic/arguments.h");
KF_INCLUDE_TEXT(kf_header_edge_columns, "kernels/kinetic/edge_columns.h");
KF_INCLUDE_TEXT(kf_header_moving_links, "kernels/kinetic/moving_links_arguments.h");
KF_INCLUDE_TEXT(kf_header_nested, "kernels/kinetic/nested_arguments.h");
KF_INCLUDE_TEXT(kf_header_roofs, "kernels/roofs/arguments.h");
KF_INCLUDE_TEXT(kf_header_picture, "kernels/smoke/picture.h");
KF_INCLUDE_TEXT(kf_header_tracers, "kernels/smoke/tracers.h");
KF_INCLUDE_TEXT(kf_header_sph, "kernels/sph/arguments.h");
KF_INCLUDE_TEXT(kf_header_stable_fluids, "kernels/stable_fluids/arguments.h");

const kf_shared_header kf_shared_headers[] = {{"choices.h", kf_header_choices},
                                              {"distance_table.h", kf_header_distance_table},
                                              {"d2q9/arguments.h", kf_header_d2q9},
                                              {"incompressible/arguments.h", kf_header_incompressible},
                                              {"kinetic/arguments.h", kf_header_kinetic},
                                              {"kinetic/edge_columns.h", kf_header_edge_columns},
                                              {"kinetic/moving_links_arguments.h", kf_header_moving_links},
                                              {"kinetic/nested_arguments.h", kf_header_nested},
                                              {"roofs/arguments.h", kf_header_roofs},
                                              {"smoke/picture.h", kf_header_picture},
                                              {"smoke/tracers.h", kf_header_tracers},
                                              {"sph/arguments.h", kf_header_sph},
                                              {"stable_fluids/arguments.h", kf_header_stable_fluids},
                                              {NULL, NULL}};

kf_status kf_shared_header_check(const char *file, const char *text, size_t size, const char *path,
                                 kf_error *error) {
    for (const kf_shared_header *header = kf_shared_headers; header->file != NULL; header++) {
        if (strcmp(header->file, file) != 0) continue;
        if (strlen(header->text) == size && memcmp(header->text, text, size) == 0) return KF_OK;
        return kf_fail(error, KF_HOST,
                       "%s: differs from the file with which this program was compiled, so kernels would "
                       "misread their arguments; build kftune again, or set KFTUNE_DATA to the "
                       "folder that belongs to it",
                       path);
    }
    return KF_OK;
}
