/* The solid of a scene: a disc or ball, a box, a PNG picture (dark is solid) or a mesh, as the share of each
 * cell that it fills. */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"
#include "scene/scene.h"
#include "solver/stable_fluids/stable_fluids_reader.h"

/* The number of tested points along each axis of a cell. */
enum { FINE = 4 };

typedef struct solid {
    const char *file;
    const cJSON *object;
    kf_fluid *fluid;
    int domain[3];
    kf_error *error;
} solid;

static kf_json_place place_of(const solid *s) {
    return (kf_json_place){s->file, "solid"};
}

/* Sets the share of every cell of the domain: inside(data, metres) of FINE^d points. */
static void fill(const solid *s, bool (*inside)(const void *data, const double point[3]), const void *data) {
    const kf_fluid *f = s->fluid;
    const int deep = f->dimensions == 3 ? FINE : 1;
    const double points = (double)FINE * FINE * deep;
    for (int z = 0; z < s->domain[2]; z++)
        for (int y = 0; y < s->domain[1]; y++)
            for (int x = 0; x < s->domain[0]; x++) {
                int hits = 0;
                for (int i = 0; i < FINE * FINE * deep; i++) {
                    const int part[3] = {i % FINE, i / FINE % FINE, i / (FINE * FINE)};
                    const double point[3] = {(x + (part[0] + 0.5) / FINE) * f->cell_size,
                                             (y + (part[1] + 0.5) / FINE) * f->cell_size,
                                             f->dimensions == 3 ? (z + (part[2] + 0.5) / FINE) * f->cell_size
                                                                : 0};
                    hits += inside(data, point);
                }
                f->mask[((size_t)z * (size_t)f->cells[1] + (size_t)y) * (size_t)f->cells[0] + (size_t)x] =
                    (float)(hits / points);
            }
}

/* ---- Across faces ---- */

/* Finds the periods in metres: 0 across walls, and along an axis that the domain does not have. */
static void find_periods(const solid *s, double period[3]) {
    const kf_fluid *f = s->fluid;
    for (int i = 0; i < 3; i++)
        period[i] = i >= f->dimensions || f->walls[i] ? 0.0 : s->domain[i] * f->cell_size;
}

/* Refuses a solid that lies outside of the box. One that moves must begin within it: it is looked up in the
 * cells where it began. */
static kf_status check_extent(const solid *s, const double low[3], const double high[3]) {
    const kf_fluid *f = s->fluid;
    double period[3];
    find_periods(s, period);
    for (int i = 0; i < f->dimensions; i++) {
        const double size = s->domain[i] * f->cell_size, hair = 1e-9 * size;
        if (high[i] <= 0.0 || low[i] >= size)
            return kf_fail(
                s->error, KF_BAD_INPUT,
                "%s: the solid lies outside of the box: from %.4g to %.4g m along %c, where the box "
                "goes from 0 to %.4g m",
                s->file, low[i], high[i], "xyz"[i], size);
        if (f->solid == KF_SOLID_MOVING && period[i] > 0.0 && (low[i] < -hair || high[i] > size + hair))
            return kf_fail(
                s->error, KF_BAD_INPUT,
                "%s: solid: it moves, and must begin within the box: it goes from %.4g to %.4g m along "
                "%c, the box from 0 to %.4g m; move its center",
                s->file, low[i], high[i], "xyz"[i], size);
    }
    return KF_OK;
}

typedef struct shape {
    double center[3], half[3], radius, period[3];
    int dimensions;
} shape;

/* Returns the distance from the centre along an axis, to the nearest of its repetitions. */
static double from_center(const shape *s, int axis, const double p[3]) {
    const double d = p[axis] - s->center[axis], period = s->period[axis];
    return period > 0.0 ? d - period * floor(d / period + 0.5) : d;
}

static bool in_ball(const void *data, const double p[3]) {
    const shape *s = data;
    double square = 0;
    for (int i = 0; i < s->dimensions; i++) {
        const double d = from_center(s, i, p);
        square += d * d;
    }
    return square < s->radius * s->radius;
}
static bool in_box(const void *data, const double p[3]) {
    const shape *s = data;
    for (int i = 0; i < s->dimensions; i++)
        if (fabs(from_center(s, i, p)) >= s->half[i]) return false;
    return true;
}

/* Fills the mask with a shape whose half sizes are known. */
static kf_status fill_shape(const solid *s, bool ball, shape *wanted) {
    double low[3], high[3];
    find_periods(s, wanted->period);
    for (int i = 0; i < 3; i++) {
        low[i] = wanted->center[i] - wanted->half[i];
        high[i] = wanted->center[i] + wanted->half[i];
    }
    KF_TRY(check_extent(s, low, high));
    fill(s, ball ? in_ball : in_box, wanted);
    return KF_OK;
}

/* Fills the mask with a disc, a ball or a box, in metres. */
static kf_status read_shape(const solid *s, const char *name) {
    static const char *const not_of_balls[] = {"size", "length", NULL}, *const not_of_boxes[] = {
                                                                            "radius", "length", NULL};
    const kf_fluid *f = s->fluid;
    shape wanted = {.dimensions = f->dimensions};
    const bool ball = strcmp(name, f->dimensions == 3 ? "ball" : "disc") == 0;
    if (!ball && strcmp(name, "box") != 0)
        return kf_fail(s->error, KF_BAD_INPUT, "%s: solid.shape: '%s' is neither \"%s\" nor \"box\"", s->file,
                       name, f->dimensions == 3 ? "ball" : "disc");
    KF_TRY(kf_json_numbers(place_of(s), s->object, "center", true, -KF_FLUID_FAR, KF_FLUID_FAR, f->dimensions,
                           wanted.center, s->error));
    KF_TRY(kf_json_refuse_keys(place_of(s), s->object, ball ? not_of_balls : not_of_boxes,
                               "is of another shape", s->error));
    if (ball) {
        KF_TRY(kf_json_number(place_of(s), s->object, "radius", true, 1e-9, KF_FLUID_FAR, &wanted.radius,
                              s->error));
        for (int i = 0; i < 3; i++)
            wanted.half[i] = wanted.radius;
        return fill_shape(s, true, &wanted);
    }
    KF_TRY(kf_json_numbers(place_of(s), s->object, "size", true, 1e-9, KF_FLUID_FAR, f->dimensions,
                           wanted.half, s->error));
    for (int i = 0; i < 3; i++)
        wanted.half[i] *= 0.5;
    return fill_shape(s, false, &wanted);
}

/* --- Pictures ------------------------------------------------------------------------------------------- */

typedef struct picture {
    unsigned char *grey;
    int width, height;
    /* The domain's size in metres. */
    double size[2];
} picture;

static bool is_dark(const void *data, const double p[3]) {
    const picture *q = data;
    const int x = (int)(p[0] / q->size[0] * q->width), y = (int)((1 - p[1] / q->size[1]) * q->height);
    return q->grey[(size_t)(y < q->height ? y : q->height - 1) * (size_t)q->width +
                   (size_t)(x < q->width ? x : q->width - 1)] < 128;
}

/* Finds a file in the folder of the scene. */
static kf_status beside(const solid *s, const char *name, char path[KF_PATH]) {
    const char *slash = strrchr(s->file, '/');
    if (name[0] == '/' || slash == NULL) return kf_path(path, s->error, "%s", name);
    return kf_path(path, s->error, "%.*s/%s", (int)(slash - s->file), s->file, name);
}

/* Fills the mask from a PNG picture in two dimensions, whose dark pixels are solid; white stands where it
 * is transparent. */
static kf_status read_mask(const solid *s, const char *name) {
    enum { LARGEST = 16384 };
    static const char *const not_of_masks[] = {"center", "radius", "size", "length", NULL};
    char path[KF_PATH];
    png_image image = {.version = PNG_IMAGE_VERSION};
    const png_color white = {255, 255, 255};
    KF_TRY(kf_json_refuse_keys(place_of(s), s->object, not_of_masks, "is not of a mask, which covers the box",
                               s->error));
    KF_TRY(beside(s, name, path));
    if (s->fluid->dimensions == 3)
        return kf_fail(s->error, KF_BAD_INPUT, "%s: solid.mask: a picture is two-dimensional; give a mesh",
                       s->file);
    if (png_image_begin_read_from_file(&image, path) == 0)
        return kf_fail(s->error, KF_BAD_INPUT, "%s: cannot be read as a PNG picture: %s", path,
                       image.message);
    if (image.width > LARGEST || image.height > LARGEST) {
        png_image_free(&image);
        return kf_fail(s->error, KF_BAD_INPUT, "%s: a mask has at most %d pixels along each side", path,
                       LARGEST);
    }
    image.format = PNG_FORMAT_GRAY;
    picture q = {
        .grey = kf_allocate(PNG_IMAGE_SIZE(image)), .width = (int)image.width, .height = (int)image.height};
    for (int i = 0; i < 2; i++)
        q.size[i] = s->domain[i] * s->fluid->cell_size;
    const bool read = png_image_finish_read(&image, &white, q.grey, 0, NULL) != 0;
    if (read) fill(s, is_dark, &q);
    free(q.grey);
    return read ? KF_OK
                : kf_fail(s->error, KF_BAD_INPUT, "%s: the PNG picture is damaged: %s", path, image.message);
}

/* --- Meshes --------------------------------------------------------------------------------------------- */

/* Finds where the line along x through (y, z), both in metres, crosses the triangle, and adds the sign of the
 * crossing to the fine points to its right. A point is inside when the sum is not 0. */
static void pass_row(const kf_mesh *mesh, size_t triangle, double y, double z, double fine, int count,
                     int *turns) {
    const double *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + (size_t)i];
    const double ay = p[1][1] - p[0][1], az = p[1][2] - p[0][2], by = p[2][1] - p[0][1],
                 bz = p[2][2] - p[0][2];
    const double area = ay * bz - az * by;
    if (area == 0) return;
    const double u = ((y - p[0][1]) * bz - (z - p[0][2]) * by) / area;
    const double v = (ay * (z - p[0][2]) - az * (y - p[0][1])) / area;
    if (u < 0 || v < 0 || u + v > 1) return;
    const double x = p[0][0] + u * (p[1][0] - p[0][0]) + v * (p[2][0] - p[0][0]);
    int first = (int)ceil(fmax(x / fine - 0.5, 0));
    if (first < count) turns[first] += area > 0 ? 1 : -1;
}

/* Adds the crossings of the mesh with the lines along x of one plane of fine points. The points are shifted
 * by a fraction of their spacing, so none meets an edge of a mesh that lies on the grid. */
static void pass_plane(const solid *s, const kf_mesh *mesh, int k, int rows, int count, int *turns) {
    const double fine = s->fluid->cell_size / FINE, shift = 0.1234567e-3 * fine;
    const double z = (k + 0.5) * fine + 2 * shift;
    for (size_t t = 0; t < mesh->triangle_count - mesh->sheet_count; t++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (size_t corner = 0; corner < 3; corner++)
            for (size_t i = 0; i < 2; i++) {
                const double c = mesh->vertices[3 * (size_t)mesh->triangles[3 * t + corner] + i + 1];
                low[i] = fmin(low[i], c), high[i] = fmax(high[i], c);
            }
        if (z < low[1] || z > high[1]) continue;
        for (int j = (int)fmax(low[0] / fine - 1, 0); j < rows && (j - 1) * fine < high[0]; j++)
            pass_row(mesh, t, (j + 0.5) * fine + shift, z, fine, count, turns + (size_t)j * (size_t)count);
    }
}

/* Fills the mask with the share of each cell that lies inside the mesh, by FINE^3 points a cell. */
static void fill_mesh(const solid *s, const kf_mesh *mesh) {
    const kf_fluid *f = s->fluid;
    const int rows = s->domain[1] * FINE, count = s->domain[0] * FINE;
    const float share = 1.0F / (FINE * FINE * FINE);
    const size_t bytes = (size_t)rows * (size_t)count * sizeof(int);
    int *turns = kf_allocate(bytes);
    for (int k = 0; k < s->domain[2] * FINE; k++) {
        memset(turns, 0, bytes);
        pass_plane(s, mesh, k, rows, count, turns);
        for (int j = 0; j < rows; j++) {
            float *row = f->mask + ((size_t)(k / FINE) * (size_t)f->cells[1] + (size_t)(j / FINE)) *
                                       (size_t)f->cells[0];
            int inside = 0;
            for (int i = 0; i < count; i++) {
                inside += turns[(size_t)j * (size_t)count + (size_t)i];
                if (inside != 0) row[i / FINE] = fminf(1.0F, row[i / FINE] + share);
            }
        }
    }
    free(turns);
}

/* Fills the mask with a mesh in metres, and with its repetitions beyond periodic faces that reach into the
 * box. */
static void fill_repeated(const solid *s, kf_mesh *mesh) {
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const kf_box box = kf_mesh_bounds(mesh);
    double period[3], moved[3] = {0, 0, 0};
    find_periods(s, period);
    for (int image = 0; image < 27; image++) {
        const int step[3] = {(image + 1) % 3 - 1, (image / 3 + 1) % 3 - 1, (image / 9 + 1) % 3 - 1};
        double by[3];
        bool reaches = true;
        for (int i = 0; i < 3; i++) {
            const double at = step[i] * period[i];
            reaches = reaches && (step[i] == 0 || period[i] > 0.0) && box.high[i] + at > 0.0 &&
                      box.low[i] + at < s->domain[i] * s->fluid->cell_size;
            by[i] = at - moved[i];
        }
        if (!reaches) continue;
        for (int i = 0; i < 3; i++)
            moved[i] += by[i];
        if (image > 0) kf_mesh_transform(mesh, same, by);
        fill_mesh(s, mesh);
    }
}

/* Notes what was not read or mended in a mesh, and refuses one that encloses nothing: a line that enters it
 * must leave it, too. */
static kf_status check_mesh(const solid *s, const char *path, const kf_mesh *mesh, kf_text *notes) {
    kf_body body;
    if (notes->text != NULL) kf_note(&s->fluid->notes, "%s", notes->text);
    const size_t open = kf_mesh_body(mesh, true, &body);
    if (open > 0)
        return kf_fail(
            s->error, KF_BAD_INPUT,
            "%s: solid.mesh: %s is not closed: %zu edges are open; close its holes, because what lies "
            "behind one has no inside",
            s->file, path, open);
    if (!(body.volume > 0.0))
        return kf_fail(s->error, KF_BAD_INPUT, "%s: solid.mesh: %s is a sheet and encloses no volume",
                       s->file, path);
    return KF_OK;
}

/* Fills the mask from a mesh file, scaled to `length` metres along x and put at `center`. */
static kf_status read_mesh(const solid *s, const char *name) {
    static const char *const not_of_meshes[] = {"radius", "size", NULL};
    char path[KF_PATH];
    kf_mesh mesh = {0};
    kf_text notes = {0};
    double center[3] = {0, 0, 0}, length = 0;
    if (s->fluid->dimensions == 2)
        return kf_fail(s->error, KF_BAD_INPUT,
                       "%s: solid.mesh: a mesh needs a three-dimensional box; give a mask", s->file);
    KF_TRY(kf_json_refuse_keys(place_of(s), s->object, not_of_meshes, "is of a shape; a mesh has \"length\"",
                               s->error));
    KF_TRY(kf_json_numbers(place_of(s), s->object, "center", true, -KF_FLUID_FAR, KF_FLUID_FAR, 3, center,
                           s->error));
    KF_TRY(kf_json_number(place_of(s), s->object, "length", true, 1e-9, KF_FLUID_FAR, &length, s->error));
    KF_TRY(beside(s, name, path));
    kf_status status = kf_mesh_read(path, &mesh, &notes, s->error);
    if (status == KF_OK) status = check_mesh(s, path, &mesh, &notes);
    kf_text_free(&notes);
    if (status != KF_OK) {
        kf_mesh_free(&mesh);
        return status;
    }
    const kf_box box = kf_mesh_bounds(&mesh);
    const double scale = length / fmax(box.high[0] - box.low[0], 1e-30);
    const double matrix[9] = {scale, 0, 0, 0, scale, 0, 0, 0, scale};
    double offset[3];
    for (int i = 0; i < 3; i++)
        offset[i] = center[i] - scale * 0.5 * (box.low[i] + box.high[i]);
    kf_mesh_transform(&mesh, matrix, offset);
    const kf_box placed = kf_mesh_bounds(&mesh);
    status = check_extent(s, placed.low, placed.high);
    if (status == KF_OK) fill_repeated(s, &mesh);
    kf_mesh_free(&mesh);
    return status;
}

/* --- All of it ------------------------------------------------------------------------------------------ */

/* Reads how the solid moves, and how strongly it drives the fluid. eta is the time in seconds of a penalty;
 * without it the velocity is set. */
static kf_status read_motion(const solid *s) {
    kf_fluid *f = s->fluid;
    kf_fluid_motion *m = &f->motion;
    double spin = 0, eta = 0;
    m->axis[2] = 1;
    KF_TRY(kf_json_numbers(place_of(s), s->object, "velocity", false, -KF_FLUID_FAR, KF_FLUID_FAR,
                           f->dimensions, m->velocity, s->error));
    KF_TRY(
        kf_json_number(place_of(s), s->object, "spin", false, -KF_FLUID_FAR, KF_FLUID_FAR, &spin, s->error));
    if (f->dimensions == 3)
        KF_TRY(kf_json_numbers(place_of(s), s->object, "axis", false, -KF_FLUID_FAR, KF_FLUID_FAR, 3, m->axis,
                               s->error));
    KF_TRY(kf_json_number(place_of(s), s->object, "eta", false, 1e-12, KF_FLUID_FAR, &eta, s->error));
    f->drag = eta > 0 ? f->time_step / eta : KF_FLUID_SOLID_DRAG;
    f->rebound = eta > 0 ? 0 : KF_FLUID_SOLID_REBOUND;
    const double length = kf_length(m->axis);
    if (!(length > 0)) return kf_fail(s->error, KF_BAD_INPUT, "%s: solid.axis: give a direction", s->file);
    for (int i = 0; i < 3; i++) {
        m->axis[i] /= length;
        m->velocity[i] *= f->time_step / f->cell_size;
    }
    m->spin = spin * f->time_step;
    const bool moves = m->spin != 0 || m->velocity[0] != 0 || m->velocity[1] != 0 || m->velocity[2] != 0;
    f->solid = moves ? KF_SOLID_MOVING : KF_SOLID_STILL;
    return KF_OK;
}

/* Refuses a moving solid of which a part is further from its centre than half of the box: that part is nearer
 * to the solid's repetition, and would not be found. */
static kf_status check_reach(const solid *s) {
    const kf_fluid *f = s->fluid;
    size_t n = 0;
    for (int z = 0; z < f->cells[2]; z++)
        for (int y = 0; y < f->cells[1]; y++)
            for (int x = 0; x < f->cells[0]; x++) {
                const int at[3] = {x, y, z};
                if (f->mask[n++] == 0.0F) continue;
                for (int i = 0; i < f->dimensions; i++)
                    if (fabs(at[i] - f->motion.center[i]) > 0.5 * f->cells[i])
                        return kf_fail(
                            s->error, KF_BAD_INPUT,
                            "%s: solid: it moves, and a part of it is further from its centre than half of "
                            "the box along %c; make the box longer",
                            s->file, "xyz"[i]);
            }
    return KF_OK;
}

/* Computes the solid's centre, about which it turns, and its image behind the walls. */
static kf_status finish(const solid *s) {
    kf_fluid *f = s->fluid;
    double sum = 0, moment[3] = {0, 0, 0};
    for (int z = 0; z < f->cells[2]; z++)
        for (int y = 0; y < f->cells[1]; y++)
            for (int x = 0; x < f->cells[0]; x++) {
                const int at[3] = {x, y, z};
                size_t from = 0;
                for (int i = 2; i >= 0; i--)
                    from = from * (size_t)f->cells[i] +
                           (size_t)(at[i] < s->domain[i] ? at[i] : f->cells[i] - 1 - at[i]);
                const float share = f->mask[from];
                f->mask[((size_t)z * (size_t)f->cells[1] + (size_t)y) * (size_t)f->cells[0] + (size_t)x] =
                    share;
                sum += share;
                for (int i = 0; i < 3; i++)
                    moment[i] += (double)share * at[i];
            }
    if (!(sum > 0)) return kf_fail(s->error, KF_BAD_INPUT, "%s: the solid lies outside of the box", s->file);
    for (int i = 0; i < 3; i++)
        f->motion.center[i] = moment[i] / sum;
    return f->solid == KF_SOLID_MOVING ? check_reach(s) : KF_OK;
}

/* Reads solid: one of a shape, a mask and a mesh, and its motion. */
kf_status kf_fluid_read_solid(const char *file, const cJSON *root, kf_fluid *fluid, kf_error *error) {
    static const char *const keys[] = {"shape",  "center",   "radius", "size", "mask", "mesh",
                                       "length", "velocity", "spin",   "axis", "eta",  NULL};
    solid s = {.file = file, .fluid = fluid, .error = error};
    const kf_json_place top = {file, ""};
    const char *shape_name = NULL, *mask = NULL, *mesh = NULL;
    KF_TRY(kf_json_object(top, root, "solid", false, &s.object, error));
    if (s.object == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place_of(&s), s.object, keys, error));
    KF_TRY(kf_json_string(place_of(&s), s.object, "shape", false, &shape_name, error));
    KF_TRY(kf_json_string(place_of(&s), s.object, "mask", false, &mask, error));
    KF_TRY(kf_json_string(place_of(&s), s.object, "mesh", false, &mesh, error));
    if ((shape_name != NULL) + (mask != NULL) + (mesh != NULL) != 1)
        return kf_fail(error, KF_BAD_INPUT, "%s: solid: give one of \"shape\", \"mask\" and \"mesh\"", file);
    kf_fluid_domain(fluid, s.domain);
    fluid->mask = kf_allocate_zeroed(kf_fluid_cell_count(fluid), sizeof *fluid->mask);
    KF_TRY(read_motion(&s));
    KF_TRY(shape_name != NULL ? read_shape(&s, shape_name)
           : mask != NULL     ? read_mask(&s, mask)
                              : read_mesh(&s, mesh));
    return finish(&s);
}
