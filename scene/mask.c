/* Finds the kind of the nodes of two-dimensional scenes: fluid, solid, inflow or outflow. The source is a PNG
 * picture (white fluid, black solid, green inflow, red outflow, upper edge at ymax) or a list of discs. */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "scene/internal.h"

/* A picture of one colour can be a thousand times larger than its file, so the size of pictures is limited.
 */
enum { LONGEST_SIDE = 16384, MOST_PIXELS = 1 << 26 };

bool kf_mask_is_file_name(const char *file) {
    return kf_ends_in(file, ".png");
}

/* ---- Pictures ---- */

typedef struct picture {
    int width, height;
    unsigned char *pixels; /* RGB, the upper row first */
} picture;

/* Opens a mask's picture, and checks its size before memory is allocated for it. */
static kf_status begin_picture(const char *file, png_image *image, kf_error *error) {
    memset(image, 0, sizeof *image);
    image->version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(image, file) == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot be read as a PNG picture: %s", file, image->message);
    if (image->width < 3 || image->height < 3 || image->width > LONGEST_SIDE ||
        image->height > LONGEST_SIDE || (size_t)image->width * image->height > MOST_PIXELS) {
        kf_status status =
            kf_fail(error, KF_BAD_INPUT,
                    "%s: a mask has 3 to %d pixels along each side and at most %d pixels in all, this one "
                    "%ux%u; 'cells' or --grid may be finer than its picture",
                    file, LONGEST_SIDE, MOST_PIXELS, image->width, image->height);
        png_image_free(image);
        return status;
    }
    return KF_OK;
}

kf_status kf_mask_size(const char *file, int nodes[3], kf_error *error) {
    png_image image;
    KF_TRY(begin_picture(file, &image, error));
    nodes[0] = (int)image.width;
    nodes[1] = (int)image.height;
    nodes[2] = 1;
    png_image_free(&image);
    return KF_OK;
}

static kf_status read_picture(const char *file, picture *read, kf_error *error) {
    png_image image;
    KF_TRY(begin_picture(file, &image, error));
    image.format = PNG_FORMAT_RGB;
    read->width = (int)image.width;
    read->height = (int)image.height;
    read->pixels = kf_allocate(PNG_IMAGE_SIZE(image));
    /* Transparent pixels are fluid. */
    const png_color white = {255, 255, 255};
    if (png_image_finish_read(&image, &white, read->pixels, 0, NULL) != 0) return KF_OK;
    free(read->pixels);
    return kf_fail(error, KF_BAD_INPUT, "%s: the PNG picture is damaged: %s", file, image.message);
}

/* Returns the kind of a pixel, or -1 for another colour. The threshold of greys is their middle. Colours are
 * told apart by their strongest channel. */
static int kind_of_pixel(const unsigned char *rgb) {
    enum { STANDS_OUT = 64 };
    int red = rgb[0], green = rgb[1], blue = rgb[2];
    int most = red > green ? red : green, least = red < green ? red : green;
    most = blue > most ? blue : most;
    least = blue < least ? blue : least;
    if (most - least < STANDS_OUT) return red + green + blue >= 3 * 128 ? KF_NODE_FLUID : KF_NODE_SOLID;
    if (green - (red > blue ? red : blue) >= STANDS_OUT) return KF_NODE_INFLOW;
    if (red - (green > blue ? green : blue) >= STANDS_OUT) return KF_NODE_OUTFLOW;
    return -1;
}

static kf_status kinds_of_picture(const char *file, const picture *read, unsigned char *kinds,
                                  kf_error *error) {
    for (int y = 0; y < read->height; y++)
        for (int x = 0; x < read->width; x++) {
            size_t from = (size_t)y * (size_t)read->width + (size_t)x;
            const unsigned char *rgb = read->pixels + 3 * from;
            int kind = kind_of_pixel(rgb);
            if (kind < 0)
                return kf_fail(
                    error, KF_BAD_INPUT,
                    "%s: the pixel at (%d, %d) is neither white (fluid), black (solid), green (inflow) "
                    "nor red (outflow) but rgb(%d, %d, %d)",
                    file, x, y, rgb[0], rgb[1], rgb[2]);
            kinds[(size_t)(read->height - 1 - y) * (size_t)read->width + (size_t)x] = (unsigned char)kind;
        }
    return KF_OK;
}

/* ---- Other grids ---- */

/* Returns the kind of the part of a mask that a node of another grid covers. It is solid when half of the
 * part is. It is open when any of it is, because inflow and outflow are often one node wide. */
static unsigned char kind_of_part(const unsigned char *mask, int width, const int low[2], const int high[2]) {
    long counts[KF_NODE_KINDS] = {0};
    for (int y = low[1]; y < high[1]; y++)
        for (int x = low[0]; x < high[0]; x++)
            counts[mask[(size_t)y * (size_t)width + (size_t)x]]++;
    if (counts[KF_NODE_INFLOW] > 0 || counts[KF_NODE_OUTFLOW] > 0)
        return counts[KF_NODE_INFLOW] >= counts[KF_NODE_OUTFLOW] ? KF_NODE_INFLOW : KF_NODE_OUTFLOW;
    return counts[KF_NODE_SOLID] >= counts[KF_NODE_FLUID] ? KF_NODE_SOLID : KF_NODE_FLUID;
}

static unsigned char *regrid(const unsigned char *mask, const int from[2], const int to[2]) {
    unsigned char *other = kf_allocate((size_t)to[0] * (size_t)to[1]);
    for (int y = 0; y < to[1]; y++)
        for (int x = 0; x < to[0]; x++) {
            const int at[2] = {x, y};
            int low[2], high[2];
            for (int a = 0; a < 2; a++) {
                low[a] = (int)((long long)at[a] * from[a] / to[a]);
                high[a] = (int)((long long)(at[a] + 1) * from[a] / to[a]);
                if (high[a] == low[a]) high[a]++;
            }
            other[(size_t)y * (size_t)to[0] + (size_t)x] = kind_of_part(mask, from[0], low, high);
        }
    return other;
}

/* ---- Finishing ---- */

static bool touches_fluid(const kf_scene *scene, int x, int y) {
    for (int ny = y - 1; ny <= y + 1; ny++)
        for (int nx = x - 1; nx <= x + 1; nx++)
            if (nx >= 0 && ny >= 0 && nx < scene->nodes[0] && ny < scene->nodes[1] &&
                scene->mask[(size_t)ny * (size_t)scene->nodes[0] + (size_t)nx] == KF_NODE_FLUID)
                return true;
    return false;
}

/* Makes open nodes solid that touch no fluid. */
static void finish(kf_scene *scene) {
    int low[2] = {scene->nodes[0], scene->nodes[1]}, high[2] = {-1, -1};
    for (int y = 0; y < scene->nodes[1]; y++)
        for (int x = 0; x < scene->nodes[0]; x++) {
            unsigned char *kind = &scene->mask[(size_t)y * (size_t)scene->nodes[0] + (size_t)x];
            if (*kind == KF_NODE_FLUID) continue;
            if (*kind != KF_NODE_SOLID && !touches_fluid(scene, x, y)) *kind = KF_NODE_SOLID;
            if (*kind != KF_NODE_SOLID) continue;
            const int at[2] = {x, y};
            for (int a = 0; a < 2; a++) {
                low[a] = at[a] < low[a] ? at[a] : low[a];
                high[a] = at[a] > high[a] ? at[a] : high[a];
            }
        }
    for (int a = 0; a < 2; a++) {
        scene->solid_low[a] = high[a] < 0 ? 0.0 : low[a] - 0.5;
        scene->solid_high[a] = high[a] < 0 ? 0.0 : high[a] + 0.5;
    }
}

void kf_mask_coarsen(kf_scene *scene, const int coarse[3]) {
    unsigned char *mask = regrid(scene->mask, scene->nodes, coarse);
    free(scene->mask);
    scene->mask = mask;
    kf_scene on_coarse = *scene;
    memcpy(on_coarse.nodes, coarse, sizeof on_coarse.nodes);
    finish(&on_coarse);
    memcpy(scene->solid_low, on_coarse.solid_low, sizeof scene->solid_low);
    memcpy(scene->solid_high, on_coarse.solid_high, sizeof scene->solid_high);
}

/* ---- Making ---- */

static kf_status from_picture(const kf_description *d, kf_scene *scene, kf_error *error) {
    picture read;
    if (read_picture(d->mask.file, &read, error) != KF_OK)
        return kf_fail_context(error, "%s: mask.file", d->source);
    unsigned char *kinds = kf_allocate((size_t)read.width * (size_t)read.height);
    const int size[2] = {read.width, read.height};
    kf_status status = kinds_of_picture(d->mask.file, &read, kinds, error);
    if (status == KF_OK) scene->mask = regrid(kinds, size, scene->nodes);
    free(kinds);
    free(read.pixels);
    return status;
}

/* Computes the square of the distance along one axis between a node's centre and that of the nearest disc. */
static double *squares_along(const kf_description *d, int axis, int count) {
    const kf_mask_description *m = &d->mask;
    double *squares = kf_allocate((size_t)count * sizeof *squares);
    for (int i = 0; i < count; i++) {
        double r = (i + 0.5) * d->cell_size - m->center[axis];
        if (m->source == KF_MASK_DISC_ARRAY) r -= m->spacing * nearbyint(r / m->spacing);
        squares[i] = r * r;
    }
    return squares;
}

/* Makes each node solid whose centre lies within a disc. */
static void from_discs(const kf_description *d, kf_scene *scene) {
    const double limit = d->mask.radius * d->mask.radius * (1.0 - 1e-12);
    double *along_x = squares_along(d, 0, scene->nodes[0]), *along_y = squares_along(d, 1, scene->nodes[1]);
    scene->mask = kf_allocate((size_t)scene->nodes[0] * (size_t)scene->nodes[1]);
    for (int y = 0; y < scene->nodes[1]; y++)
        for (int x = 0; x < scene->nodes[0]; x++)
            scene->mask[(size_t)y * (size_t)scene->nodes[0] + (size_t)x] =
                along_x[x] + along_y[y] < limit ? KF_NODE_SOLID : KF_NODE_FLUID;
    free(along_x);
    free(along_y);
}

/* Sets the pressure of open nodes, which is density / 3 in lattice units. */
static kf_status set_pressure(const kf_description *d, kf_scene *scene, kf_error *error) {
    const double speed = scene->time_step / d->cell_size;
    scene->mask_has_pressure = d->mask.pressure_given;
    if (!d->mask.pressure_given) return KF_OK;
    scene->mask_density = 3.0 * d->mask.pressure * speed * speed;
    if (fabs(scene->mask_density) <= 0.3) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: mask.pressure: changes the density by %.3g, at most 0.3; make flow.lattice_speed smaller",
        d->source, scene->mask_density);
}

/* Refuses a disc that reaches beyond a periodic face: the nodes there would be missing at the opposite face.
 * In such a domain the flow is the same wherever the disc is. */
static kf_status check_disc(const kf_description *d, const kf_scene *scene, kf_error *error) {
    const kf_mask_description *m = &d->mask;
    for (int a = 0; a < 2; a++) {
        const double size = scene->nodes[a] * d->cell_size, low = m->center[a] - m->radius,
                     high = m->center[a] + m->radius, cell = d->cell_size;
        if (d->faces[2 * a] != KF_PERIODIC || (low > -0.5 * cell && high < size + 0.5 * cell)) continue;
        if (high <= 0.0 || low >= size) continue; /* it lies outside, which has its own message */
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: mask: the disc reaches beyond the periodic faces along %c, from %.4g to %.4g m, and the "
            "domain goes from 0 to %.4g m; move mask.center, which changes nothing else there",
            d->source, "xy"[a], low, high, size);
    }
    return KF_OK;
}

/* Makes the mask of a two-dimensional scene from a picture or from discs, and sets the velocity or pressure
 * of its open nodes. */
kf_status kf_mask_make(const kf_description *d, kf_scene *scene, kf_error *error) {
    if (scene->nodes[2] != 1 || d->solid.present)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: mask: is for two-dimensional scenes: 1 cell along z and no \"solid\"", d->source);
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    if (d->mask.source == KF_MASK_DISC) KF_TRY(check_disc(d, scene, error));
    if (d->mask.source == KF_MASK_PICTURE)
        KF_TRY(from_picture(d, scene, error));
    else
        from_discs(d, scene);
    finish(scene);
    for (int a = 0; a < 3; a++) {
        double v = d->mask.velocity_given ? d->mask.velocity[a] : a == 0 ? d->speed : 0.0;
        scene->mask_velocity[a] = v * scene->time_step / d->cell_size;
        if (fabs(scene->mask_velocity[a]) > 0.3)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: mask.velocity: %.3g cells a step, at most 0.3; make flow.lattice_speed smaller",
                d->source, scene->mask_velocity[a]);
    }
    KF_TRY(set_pressure(d, scene, error));
    if (d->mask.source != KF_MASK_PICTURE && memchr(scene->mask, KF_NODE_SOLID, count) == NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: mask: no node lies in the disc of radius %.4g m around %.4g, %.4g m; move it into the "
            "domain, or make the cells of %.4g m smaller",
            d->source, d->mask.radius, d->mask.center[0], d->mask.center[1], d->cell_size);
    if (memchr(scene->mask, KF_NODE_FLUID, count) == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: mask: has no fluid node", d->source);
    return KF_OK;
}

/* ---- From files ---- */

/* Reads "mask": {"file": "x.png", "velocity": [..] or "pressure": p}, {"shape": "disc", "center": [x, y],
 * "radius": r}, or {"shape": "disc_array", "center": [x, y], "radius": r, "spacing": a}; in metres. */
kf_status kf_description_read_mask(const char *file, const cJSON *root, kf_description *d, kf_error *error) {
    static const char *const picture_keys[] = {"file", "velocity", "pressure", NULL};
    static const char *const disc_keys[] = {"shape", "center", "radius", "spacing", NULL};
    static const char *const of_array[] = {"spacing", NULL};
    static const char *const shapes[] = {"disc", "disc_array"};
    const kf_json_place top = {file, ""}, place = {file, "mask"};
    kf_mask_description *m = &d->mask;
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "mask", false, &object, error));
    if (object == NULL) return KF_OK;
    if (cJSON_HasObjectItem(object, "file")) {
        const char *name = NULL, *slash = strrchr(file, '/');
        KF_TRY(kf_json_check_keys(place, object, picture_keys, error));
        KF_TRY(kf_json_string(place, object, "file", true, &name, error));
        m->source = KF_MASK_PICTURE;
        m->velocity_given = cJSON_HasObjectItem(object, "velocity");
        KF_TRY(kf_json_numbers(place, object, "velocity", false, -1e6, 1e6, 3, m->velocity, error));
        m->pressure_given = cJSON_HasObjectItem(object, "pressure");
        KF_TRY(kf_json_number(place, object, "pressure", false, -1e12, 1e12, &m->pressure, error));
        if (m->velocity_given && m->pressure_given)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: mask: give velocity or pressure at inflow nodes, not both", file);
        if (name[0] == '/' || slash == NULL) return kf_path(m->file, error, "%s", name);
        return kf_path(m->file, error, "%.*s/%s", (int)(slash - file), file, name);
    }
    int shape = 0;
    KF_TRY(kf_json_check_keys(place, object, disc_keys, error));
    KF_TRY(kf_json_choice(place, object, "shape", true, shapes, 2, &shape, error));
    if (shape == 0) KF_TRY(kf_json_refuse_keys(place, object, of_array, "is for a \"disc_array\"", error));
    KF_TRY(kf_json_numbers(place, object, "center", true, -1e9, 1e9, 2, m->center, error));
    KF_TRY(kf_json_number(place, object, "radius", true, 1e-9, 1e9, &m->radius, error));
    KF_TRY(kf_json_number(place, object, "spacing", shape == 1, 1e-9, 1e9, &m->spacing, error));
    m->source = shape == 1 ? KF_MASK_DISC_ARRAY : KF_MASK_DISC;
    return KF_OK;
}

/* Finds whether the picture itself marks where fluid enters and leaves. */
static kf_status find_open_pixels(const char *file, bool *open, kf_error *error) {
    picture read;
    KF_TRY(read_picture(file, &read, error));
    size_t count = (size_t)read.width * (size_t)read.height;
    unsigned char *kinds = kf_allocate(count);
    kf_status status = kinds_of_picture(file, &read, kinds, error);
    *open = status == KF_OK &&
            (memchr(kinds, KF_NODE_INFLOW, count) != NULL || memchr(kinds, KF_NODE_OUTFLOW, count) != NULL);
    free(kinds);
    free(read.pixels);
    return status;
}

/* Makes the description of a wind tunnel around a bare mask. A pixel is a millimetre, and the wind has 1 m/s
 * from the left at Reynolds number 100, unless the picture has its own openings. */
kf_status kf_description_mask_tunnel(kf_description *d, const int nodes[3], kf_text *notes, kf_error *error) {
    bool open = false;
    KF_TRY(kf_mask_size(d->source, d->cells, error));
    KF_TRY(find_open_pixels(d->source, &open, error));
    double height = d->cells[1];
    if (nodes[0] > 0) memcpy(d->cells, nodes, sizeof d->cells);
    d->mask.source = KF_MASK_PICTURE;
    kf_copy_text(d->mask.file, sizeof d->mask.file, d->source);
    d->cell_size = height / d->cells[1] * 0.001;
    for (int f = 0; f < KF_ZMIN; f++)
        d->faces[f] = open ? KF_WALL : f == KF_XMIN ? KF_INFLOW : f == KF_XMAX ? KF_OUTFLOW : KF_FREE_SLIP;
    d->faces[KF_ZMIN] = d->faces[KF_ZMAX] = KF_PERIODIC;
    d->speed = 1.0;
    d->reynolds = 100.0;
    d->reference_length = height * 0.001 / 4.0;
    d->collision = KF_MRT;
    kf_note(notes, "domain: %dx%d nodes of %.4g m, a pixel of the mask is a millimetre", d->cells[0],
            d->cells[1], d->cell_size);
    kf_note(notes, "boundaries: %s",
            open ? "walls; fluid enters and leaves at the mask's green and red pixels"
                 : "inflow at xmin, outflow at xmax, free_slip at ymin and ymax");
    kf_note(notes, "flow: %g m/s along +x, Reynolds number %g of a quarter of the height, %g cells a step",
            d->speed, d->reynolds, d->lattice_speed);
    kf_note(notes, "model: %s", kf_collision_names[d->collision]);
    return KF_OK;
}

/* Makes the scene document of a bare picture, a tunnel around the solid in it. */
static cJSON *document_of_tunnel(const kf_description *d) {
    cJSON *document = cJSON_CreateObject(), *boundaries = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "description", "A picture as a mask, a pixel a millimetre.");
    cJSON *mask = cJSON_AddObjectToObject(document, "mask"),
          *domain = cJSON_AddObjectToObject(document, "domain");
    cJSON_AddStringToObject(mask, "file", d->mask.file);
    cJSON_AddItemToObject(domain, "cells", cJSON_CreateIntArray(d->cells, 2));
    cJSON_AddNumberToObject(domain, "cell_size", d->cell_size);
    for (int f = 0; f < KF_FACES; f++)
        cJSON_AddStringToObject(boundaries, kf_face_names[f], kf_boundary_names[d->faces[f]]);
    cJSON_AddItemToObject(document, "boundaries", boundaries);
    cJSON *flow = cJSON_AddObjectToObject(document, "flow"),
          *model = cJSON_AddObjectToObject(document, "model");
    cJSON_AddNumberToObject(flow, "speed", d->speed);
    cJSON_AddNumberToObject(flow, "reynolds", d->reynolds);
    cJSON_AddNumberToObject(flow, "reference_length", d->reference_length);
    cJSON_AddStringToObject(model, "collision", kf_collision_names[d->collision]);
    return document;
}

kf_status kf_scene_of_picture(const char *file, cJSON **document, kf_error *error) {
    kf_description *d = kf_allocate_zeroed(1, sizeof *d);
    char whole[KF_PATH];
    kf_description_defaults(d, kf_real_path(file, whole) ? whole : file);
    kf_text notes = {0};
    const kf_status status = kf_description_mask_tunnel(d, (const int[3]){0, 0, 0}, &notes, error);
    if (status == KF_OK) *document = document_of_tunnel(d);
    kf_text_free(&notes);
    free(d);
    return status;
}
