#include "harness/cli/run_pictures.h"
#include "harness/cli/scene_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/number.h"
#include "base/util/text.h"
#include "solver/picture/colour_map.h"

enum { FRAMES = 250 };

static int field_of(const char *word, size_t length) {
    for (int field = 0; field < KF_PICTURE_FIELDS; field++)
        if (strlen(kf_picture_fields[field]) == length &&
            strncmp(kf_picture_fields[field], word, length) == 0)
            return field;
    return -1;
}

static kf_picture_view *view_of(kf_production_options *how, int field) {
    for (int i = 0; i < how->picture_count; i++)
        if ((int)how->pictures[i].field == field) return &how->pictures[i];
    return NULL;
}

/* Returns the kind of surface picture that has this name, or -1. */
static int surface_of(const char *word, size_t length) {
    for (int kind = 0; kind < KF_SURFACE_KINDS; kind++)
        if (strlen(kf_surface_kinds[kind]) == length && strncmp(word, kf_surface_kinds[kind], length) == 0)
            return kind;
    return -1;
}

/* Reads a list of fields to draw, such as speed,pressure,surface. A field that is named twice is drawn once.
 */
static kf_status read_list(const char *word, kf_production_options *how, kf_error *error) {
    how->no_pictures = strcmp(word, "none") == 0;
    if (how->no_pictures) return KF_OK;
    while (true) {
        const size_t length = strcspn(word, ",");
        const int field = field_of(word, length), kind = surface_of(word, length);
        if (kind >= 0)
            how->surfaces[kind].drawn = true;
        else if (field < 0)
            return kf_fail(error, KF_BAD_INPUT,
                           "option '--picture': '%.*s' is none of speed, pressure, vorticity, surface, "
                           "y_plus, nor 'none' alone",
                           (int)length, word);
        else if (view_of(how, field) == NULL)
            how->pictures[how->picture_count++] =
                (kf_picture_view){.field = (kf_picture_field)field, .normal = KF_AXIS_AUTO};
        if (word[length] == '\0') return KF_OK;
        word += length + 1;
    }
}

kf_status kf_value_pictures(const kf_option *option, const char *value, kf_error *error) {
    kf_production_options how = {.picture_count = 0};
    (void)option;
    return read_list(value, &how, error);
}

/* Reads a slice such as "y", "y=0.4" or "y=0.4m"; *place is 0 if it is not given. */
static kf_status read_slice(const char *text, double *place, kf_error *error) {
    char *end = NULL;
    const bool axis = *text >= 'x' && *text <= 'z' && (text[1] == '\0' || text[1] == '=');
    *place = axis && text[1] == '=' ? kf_read_decimal(text + 2, &end) : 0.0;
    const bool good =
        axis && (text[1] == '\0' || (end != text + 2 && (*end == '\0' || strcmp(end, "m") == 0)));
    if (!good)
        return kf_fail(error, KF_BAD_INPUT,
                       "--slice '%s': must be x, y or z, or one of them with a place in metres, y=0.4m",
                       text);
    return KF_OK;
}

kf_status kf_value_slice(const kf_option *option, const char *value, kf_error *error) {
    double place;
    (void)option;
    return read_slice(value, &place, error);
}

/* Sets the slice of the pictures, if it lies within the domain. */
static kf_status choose_slice(const kf_arguments *arguments, const kf_scene *scene,
                              kf_production_options *how, kf_error *error) {
    const char *text = kf_argument(arguments, "--slice", NULL);
    double place = 0.0;
    if (text == NULL) return KF_OK;
    KF_TRY(read_slice(text, &place, error));
    const int normal = *text - 'x';
    const double size = scene != NULL ? scene->nodes[normal] * scene->cell_size : (double)INFINITY;
    if (!(place >= 0.0 && place <= size))
        return kf_fail(error, KF_BAD_INPUT, "--slice '%s': the domain is from 0 to %.4g m along %c", text,
                       size, *text);
    for (int i = 0; i < how->picture_count; i++) {
        how->pictures[i].normal = normal;
        how->pictures[i].placed = text[1] == '=';
        how->pictures[i].position = place;
    }
    return KF_OK;
}

static void set_range(kf_picture_view *view, double low, double high) {
    view->ranged = true;
    view->low = low;
    view->high = high;
}

/* Reads the colour range of a picture, LOW:HIGH or FIELD=LOW:HIGH. */
static kf_status read_range(const char *text, double *low, double *high, kf_error *error) {
    const char *equals = strchr(text, '='), *range = equals != NULL ? equals + 1 : text;
    char *middle = NULL, *end = NULL;
    *low = kf_read_decimal(range, &middle);
    *high = *middle == ':' ? kf_read_decimal(middle + 1, &end) : 0.0;
    if (middle == range || *middle != ':' || end == middle + 1 || *end != '\0' || !isfinite(*low) ||
        !(*low < *high) || !isfinite(*high))
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--range': '%s' must be LOW:HIGH, as 0:60 or pressure=-1.5:1", text);
    return KF_OK;
}

kf_status kf_value_range(const kf_option *option, const char *value, kf_error *error) {
    double low, high;
    (void)option;
    return read_range(value, &low, &high, error);
}

/* Sets the colour range of the first picture, or of the named field's picture. */
static kf_status choose_range(const char *text, kf_production_options *how, kf_error *error) {
    const char *equals = strchr(text, '=');
    double low = 0.0, high = 0.0;
    KF_TRY(read_range(text, &low, &high, error));
    kf_picture_view *view = how->picture_count > 0 ? &how->pictures[0] : NULL;
    int kind = kf_surface_drawn(how);
    if (equals != NULL) {
        const size_t length = (size_t)(equals - text);
        const int field = field_of(text, length);
        view = field >= 0 ? view_of(how, field) : NULL;
        kind = surface_of(text, length);
        if (view == NULL && (kind < 0 || !how->surfaces[kind].drawn))
            return kf_fail(error, KF_BAD_INPUT, "option '--range': '%s': --picture has no %.*s", text,
                           (int)length, text);
    }
    if (view != NULL)
        set_range(view, low, high);
    else if (kind >= 0)
        how->surfaces[kind] = (kf_surface_picture){true, low, high};
    return KF_OK;
}

/* Reads the camera of surface pictures: azimuth and elevation in degrees, and zoom, by default 1. */
static kf_status read_camera(const char *text, kf_viewpoint *from, kf_error *error) {
    char *end = NULL;
    const char *word = text;
    double values[3] = {0.0, 0.0, 1.0};
    int count = 0;
    bool more = true;
    for (; more && count < 3; count++, word = end + 1) {
        values[count] = kf_read_decimal(word, &end);
        if (end == word) break;
        more = *end == ',';
    }
    const bool good = count >= 2 && !more && *end == '\0' && fabs(values[0]) <= 360.0 &&
                      fabs(values[1]) <= 80.0 && values[2] >= 0.1 && values[2] <= 20.0;
    if (!good)
        return kf_fail(
            error, KF_BAD_INPUT,
            "option '--camera': '%s' must be AZIMUTH,ELEVATION[,ZOOM]: -360 to 360 and -80 to 80 degrees, "
            "0.1 to 20, for example 90,10,1.5",
            text);
    *from = (kf_viewpoint){values[0], values[1], values[2]};
    return KF_OK;
}

kf_status kf_value_camera(const kf_option *option, const char *value, kf_error *error) {
    kf_viewpoint from;
    (void)option;
    return read_camera(value, &from, error);
}

/* Fixes the colour range of a film, so that it is the same in all frames. */
static void fix_colours(const kf_scene *scene, kf_production_options *how) {
    const double speed = scene->reference_speed * scene->cell_size / scene->time_step,
                 length = scene->reference_length * scene->cell_size;
    if (!(speed > 0.0)) return;
    for (int i = 0; i < how->picture_count; i++) {
        kf_picture_view *view = &how->pictures[i];
        if (view->ranged) continue;
        if (view->field == KF_PICTURE_SPEED) set_range(view, 0.0, kf_scale_top(1.5 * speed));
        if (view->field == KF_PICTURE_PRESSURE) set_range(view, -1.5, 1.0);
        if (view->field == KF_PICTURE_VORTICITY && length > 0.0) {
            const double most = kf_scale_top(10.0 * speed / length);
            set_range(view, -most, most);
        }
    }
    kf_surface_picture *pressure = &how->surfaces[KF_SURFACE_PRESSURE],
                       *y_plus = &how->surfaces[KF_SURFACE_Y_PLUS];
    if (pressure->low == pressure->high) *pressure = (kf_surface_picture){pressure->drawn, -1.5, 1.0};
    const double usual = kf_scene_wall_distance(scene);
    if (y_plus->low == y_plus->high && usual > 0.0)
        *y_plus = (kf_surface_picture){y_plus->drawn, 0.0, kf_scale_top(2.0 * usual)};
}

static kf_status read_film(const kf_arguments *arguments, const kf_scene *scene, kf_production_options *how,
                           kf_error *error) {
    long every = how->steps > FRAMES ? (long)(how->steps / FRAMES) : 1;
    if (!kf_argument_given(arguments, "--film")) {
        if (!kf_argument_given(arguments, "--film-every")) return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "--film-every: there is no film without --film");
    }
    KF_TRY(kf_argument_integer(arguments, "--film-every", &every, error));
    how->film_every = (uint64_t)every;
    if (!kf_argument_given(arguments, "--restart") && how->film_every > how->steps)
        kf_warn(
            "option '--film-every': no frame will be drawn: there is one every %ld steps, and the run ends "
            "after %" PRIu64,
            every, how->steps);
    fix_colours(scene, how);
    return KF_OK;
}

/* Refuses options of pictures of which the run draws none. */
static kf_status check_drawn(const kf_arguments *arguments, const kf_production_options *how,
                             kf_error *error) {
    const bool slices = how->picture_count > 0, surfaces = kf_surface_drawn(how) >= 0,
               smoke = kf_argument_given(arguments, "--smoke");
    const struct {
        const char *option, *why;
        bool drawn;
    } checks[] = {
        {"--slice", "--picture has no slice; add speed, pressure or vorticity to it", slices},
        {"--range", "--picture has nothing to colour; add a quantity to it", slices || surfaces},
        {"--camera", "looks at a solid or at smoke; add --picture surface or --smoke", surfaces || smoke},
        {"--picture-every", "--picture has nothing to draw; add a quantity to it", slices || surfaces},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (!checks[i].drawn && kf_argument_given(arguments, checks[i].option))
            return kf_fail(error, KF_BAD_INPUT, "option '%s': %s", checks[i].option, checks[i].why);
    return KF_OK;
}

kf_status kf_run_pictures(const kf_arguments *arguments, const kf_scene *scene, kf_production_options *how,
                          kf_error *error) {
    static const char *const flows[] = {"--picture", "--slice", "--range",
                                        "--camera",  "--film",  "--film-every"};
    long pictures = 0;
    KF_TRY(kf_argument_integer(arguments, "--picture-every", &pictures, error));
    how->picture_every = (uint64_t)pictures;
    how->viewpoint = KF_VIEWPOINT_USUAL;
    if (scene == NULL && strcmp(kf_argument(arguments, "--picture", ""), "none") == 0) {
        how->no_pictures = true;
        return check_drawn(arguments, how, error);
    }
    for (size_t i = 0; scene == NULL && i < sizeof flows / sizeof *flows; i++)
        if (kf_argument_given(arguments, flows[i]))
            return kf_fail(error, KF_BAD_INPUT, "option '%s': is only for pictures of flows", flows[i]);
    if (scene == NULL) return KF_OK;
    KF_TRY(read_list(kf_argument(arguments, "--picture", kf_picture_fields[KF_PICTURE_SPEED]), how, error));
    if (kf_surface_drawn(how) >= 0 && scene->mesh.triangle_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--picture': %s has no solid whose surface could be drawn", scene->name);
    KF_TRY(choose_slice(arguments, scene, how, error));
    const char *const *ranges = NULL;
    const int count = kf_argument_all(arguments, "--range", &ranges);
    for (int i = 0; i < count; i++)
        KF_TRY(choose_range(ranges[i], how, error));
    const char *camera = kf_argument(arguments, "--camera", NULL);
    if (camera != NULL) KF_TRY(read_camera(camera, &how->viewpoint, error));
    KF_TRY(check_drawn(arguments, how, error));
    if (how->no_pictures && kf_argument_given(arguments, "--film") &&
        !kf_argument_given(arguments, "--smoke"))
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--film': needs a quantity to show, but --picture is 'none'");
    return read_film(arguments, scene, how, error);
}
