#include "scene/probes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/number.h"
#include "base/util/text.h"
#include "base/util/vector.h"
#include "scene/internal.h"

static const char usual[] =
    "must be X,Y,Z, or FROM:TO[:POINTS] of such places, or surface[:AXIS[=PLACE]], for "
    "example 2L,0,0.5L (L: lengths of the solid from its middle, m, c: cells)";

void kf_probe_frame_of(const kf_scene *scene, kf_probe_frame *frame) {
    const double h = scene->cell_size;
    bool solid = false;
    *frame = (kf_probe_frame){.cell_size = h, .across = 1, .scene = scene};
    memcpy(frame->nodes, scene->nodes, sizeof frame->nodes);
    for (int a = 0; a < 3; a++) {
        frame->origin[a] = (0.5 * (scene->solid_low[a] + scene->solid_high[a]) + 0.5) * h;
        solid = solid || scene->solid_high[a] > scene->solid_low[a];
    }
    if (solid) frame->length = scene->reference_length * h;
}

bool kf_probe_name_is_good(const char *name) {
    const size_t length = strlen(name);
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') return false;
    return length > 0 && length < KF_PROBE_NAME;
}

/* Reads one coordinate and moves the text behind it. usual: the unit when none is given. Returns NAN without
 * a number, or when a length in L is not known. */
static double coordinate(const char **text, int axis, char usual_unit, const kf_probe_frame *frame) {
    char *end = NULL;
    const double value = kf_read_decimal(*text, &end);
    if (end == *text) return (double)NAN;
    const bool given = *end == 'L' || *end == 'c' || *end == 'm';
    const char unit = given ? *end : usual_unit;
    *text = end + given;
    if (unit == 'm') return value;
    if (unit == 'c') return value * frame->cell_size;
    return frame->length > 0.0 ? frame->origin[axis] + value * frame->length : (double)NAN;
}

/* Reads X,Y,Z. When one coordinate is in L, those without a unit are too: 2L,0,0 is behind the middle.
 * Returns false when the text is not a place. */
static bool read_place(const char **text, const kf_probe_frame *frame, double at[3]) {
    const size_t length = strcspn(*text, ":");
    const char usual_unit = memchr(*text, 'L', length) != NULL ? 'L' : 'm';
    at[2] = 0.5 * frame->cell_size;
    for (int a = 0; a < 3; a++) {
        if (a > 0 && **text != ',') return a == 2 && frame->nodes[2] == 1;
        if (a > 0) (*text)++;
        at[a] = coordinate(text, a, usual_unit, frame);
        if (!isfinite(at[a])) return false;
    }
    return true;
}

static void add_point(kf_probe *probe, const double at[3]) {
    probe->points = kf_grow(probe->points, probe->count, &probe->room, sizeof *probe->points);
    memcpy(probe->points[probe->count++], at, 3 * sizeof *at);
}

/* Refuses points outside the domain. */
static kf_status check_inside(const char *place, const kf_probe *probe, const kf_probe_frame *frame,
                              kf_error *error) {
    for (size_t i = 0; i < probe->count; i++)
        for (int a = 0; a < 3; a++) {
            const double at = probe->points[i][a], size = frame->nodes[a] * frame->cell_size;
            if (at < -1e-9 * size || at > size * (1.0 + 1e-9))
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: lies at %.4g m along %c, out of the domain (0 to %.4g m)", place, at,
                               "xyz"[a], size);
        }
    return KF_OK;
}

static kf_status bad(const char *place, const char *text, const kf_probe_frame *frame, kf_error *error) {
    if (strchr(text, 'L') != NULL && frame->length <= 0.0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: '%s': L is a solid's length, and there is no solid; give m or c", place, text);
    return kf_fail(error, KF_BAD_INPUT, "%s: '%s' %s", place, text, usual);
}

/* Fills a line with equally spaced points, both ends included. There are as many as requested, or one in
 * every cell. */
static void fill_line(const double from[3], const double to[3], long points, double cell, kf_probe *probe) {
    const double apart[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    long count = points > 0 ? points : 1 + (long)fmin(ceil(kf_length(apart) / cell - 1e-9), 1e6);
    if (count < 2) count = 2;
    if (count > KF_PROBE_POINTS) count = KF_PROBE_POINTS;
    for (long i = 0; i < count; i++) {
        double at[3];
        for (int a = 0; a < 3; a++)
            at[a] = from[a] + apart[a] * (double)i / (double)(count - 1);
        add_point(probe, at);
    }
}

/* Reads a point or a line. */
static kf_status read_points(const char *place, const char *text, const kf_probe_frame *frame,
                             kf_probe *probe, kf_error *error) {
    const char *rest = text;
    double from[3], to[3];
    long points = 0;
    if (!read_place(&rest, frame, from)) return bad(place, text, frame, error);
    if (*rest == '\0') {
        add_point(probe, from);
        return check_inside(place, probe, frame, error);
    }
    if (*rest++ != ':' || !read_place(&rest, frame, to)) return bad(place, text, frame, error);
    if (*rest == ':') {
        char *end = NULL;
        points = isdigit((unsigned char)rest[1]) ? strtol(rest + 1, &end, 10) : 0;
        if (points < 2 || points > KF_PROBE_POINTS)
            return kf_fail(error, KF_BAD_INPUT, "%s: '%s': a line has 2 to %d points", place, text,
                           KF_PROBE_POINTS);
        rest = end;
    }
    if (*rest != '\0') return bad(place, text, frame, error);
    probe->kind = KF_PROBE_LINE;
    fill_line(from, to, points, frame->cell_size, probe);
    return check_inside(place, probe, frame, error);
}

/* ---- Cuts of the surface ---- */

/* Returns whether a point with this normal exists within a distance. */
static bool is_crowded(const kf_probe *probe, const double at[3], const double normal[3], double distance) {
    for (size_t i = 0; i < probe->count; i++) {
        const double *p = probe->points[i], apart[3] = {p[0] - at[0], p[1] - at[1], p[2] - at[2]};
        if (kf_length(apart) < distance && kf_dot(probe->normals[i], normal) > 0.5) return true;
    }
    return false;
}

/* Adds points along the line in which the plane cuts a triangle. plane: in lattice units; side: 1, or -1 when
 * the mesh's normals point inwards. */
static void cut_triangle(const kf_mesh *mesh, size_t triangle, int axis, double plane, double side,
                         double cell, kf_probe *probe) {
    const uint32_t *corner = mesh->triangles + 3 * triangle;
    double ends[2][3], along[3], normal[3];
    int count = 0;
    for (int k = 0; k < 3 && count < 2; k++) {
        const double *p = mesh->vertices + 3 * (size_t)corner[k],
                     *q = mesh->vertices + 3 * (size_t)corner[(k + 1) % 3];
        if ((p[axis] < plane) == (q[axis] < plane)) continue;
        const double share = (plane - p[axis]) / (q[axis] - p[axis]);
        for (int a = 0; a < 3; a++)
            ends[count][a] = p[a] + share * (q[a] - p[a]);
        count++;
    }
    kf_mesh_normal(mesh, triangle, normal);
    if (count < 2 || kf_length(normal) <= 0.0) return;
    for (int a = 0; a < 3; a++) {
        normal[a] *= side;
        along[a] = ends[1][a] - ends[0][a];
    }
    const int stretches = (int)fmin(fmax(ceil(kf_length(along)), 1.0), KF_PROBE_POINTS);
    for (int i = 0; i < stretches && probe->count < KF_PROBE_POINTS; i++) {
        double at[3];
        for (int a = 0; a < 3; a++)
            at[a] = (ends[0][a] + along[a] * (i + 0.5) / stretches + 0.5) * cell;
        if (is_crowded(probe, at, normal, 0.5 * cell)) continue;
        add_point(probe, at);
        memcpy(probe->normals[probe->count - 1], normal, sizeof normal);
    }
}

/* Reads surface[:AXIS[=PLACE]] and cuts the mesh there. A mesh with a negative volume has normals that point
 * inwards. */
static kf_status read_surface(const char *place, const char *text, const kf_probe_frame *frame,
                              kf_probe *probe, kf_error *error) {
    const kf_mesh *mesh = frame->scene != NULL ? &frame->scene->mesh : NULL;
    const char *rest = text + strlen("surface");
    int axis = frame->across;
    if (mesh == NULL || mesh->triangle_count == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: '%s': there is no solid whose surface could be cut", place,
                       text);
    if (frame->scene->solid_count > 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: '%s': taps are on the surface of one solid, and there are several; give a point or "
            "a line",
            place, text);
    if (*rest == ':' && rest[1] >= 'x' && rest[1] <= 'z') {
        axis = rest[1] - 'x';
        rest += 2;
    }
    double at = frame->origin[axis], volume = 0.0;
    if (*rest == '=') {
        rest++;
        at = coordinate(&rest, axis, 'm', frame);
    }
    if (*rest != '\0' || !isfinite(at)) return bad(place, text, frame, error);
    probe->kind = KF_PROBE_SURFACE;
    probe->room = KF_PROBE_POINTS + 1;
    probe->points = kf_allocate(probe->room * sizeof *probe->points);
    probe->normals = kf_allocate(probe->room * sizeof *probe->normals);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t],
                     *q = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + 1],
                     *r = mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + 2];
        double normal[3];
        kf_cross(q, r, normal);
        volume += kf_dot(p, normal);
    }
    /* The plane is shifted slightly. Corners often lie at round numbers, and triangles in the plane would be
     * cut along it. */
    for (size_t t = 0; t < mesh->triangle_count; t++)
        cut_triangle(mesh, t, axis, at / frame->cell_size - 0.5 + 1e-7, volume < 0.0 ? -1.0 : 1.0,
                     frame->cell_size, probe);
    if (probe->count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: '%s': the plane %c = %.4g m does not cut the solid", place, text,
                   "xyz"[axis], at);
}

/* Reads the probes of a file. Each name must be unique and valid as a file name, and its place a non-empty
 * text. */
kf_status kf_probes_of_file(const char *file, const cJSON *root, kf_probe_texts *texts, kf_error *error) {
    const kf_json_place top = {file, ""};
    const cJSON *probes = NULL, *entry;
    texts->count = 0;
    KF_TRY(kf_json_object(top, root, "probes", false, &probes, error));
    cJSON_ArrayForEach(entry, probes) {
        const char *text = cJSON_IsString(entry) ? entry->valuestring : "";
        for (int i = 0; i < texts->count; i++)
            if (strcmp(texts->list[i].name, entry->string) == 0)
                return kf_fail(error, KF_BAD_INPUT, "%s: probes: %s is there twice", file, entry->string);
        if (texts->count == KF_PROBES || !kf_probe_name_is_good(entry->string) || *text == '\0' ||
            strlen(text) >= sizeof texts->list->text)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: probes: must be an object with at most %d names (letters, digits, - and _), each "
                "with its place, as {\"wake\": \"2L,0,0.5L\"}",
                file, KF_PROBES);
        kf_copy_text(texts->list[texts->count].name, KF_PROBE_NAME, entry->string);
        kf_copy_text(texts->list[texts->count++].text, sizeof texts->list->text, text);
    }
    return KF_OK;
}

kf_status kf_probe_read(const char *place, const char *name, const char *text, const kf_probe_frame *frame,
                        kf_probe *probe, kf_error *error) {
    *probe = (kf_probe){.kind = KF_PROBE_POINT};
    if (!kf_probe_name_is_good(name))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: '%s' is no name of a probe: at most %d letters, digits, - and _", place, name,
                       KF_PROBE_NAME - 1);
    kf_copy_text(probe->name, sizeof probe->name, name);
    const bool surface = strncmp(text, "surface", strlen("surface")) == 0;
    const kf_status status = surface ? read_surface(place, text, frame, probe, error)
                                     : read_points(place, text, frame, probe, error);
    if (status != KF_OK) kf_probe_free(probe);
    return status;
}

void kf_probe_free(kf_probe *probe) {
    free(probe->points);
    free(probe->normals);
    *probe = (kf_probe){.count = 0};
}

/* Returns how a triangle winds around the vertical line above a place: +1 or -1 where it crosses that line,
 * else 0. */
static int winding(const kf_mesh *mesh, size_t triangle, const double at[3]) {
    static const double up[3] = {0.0, 0.0, 1.0};
    double normal[3];
    const double height = kf_mesh_ray_meets(mesh, triangle, at, up);
    if (!isfinite(height) || height <= 0.0) return 0;
    kf_mesh_normal(mesh, triangle, normal);
    return normal[2] > 0.0 ? 1 : -1;
}

/* Returns whether a point (m) lies in the initial solid, or in solid nodes of a mask. */
static bool is_inside(const kf_scene *scene, const double point[3]) {
    const kf_mesh *mesh = &scene->mesh;
    double at[3];
    int turns = 0;
    /* The point is shifted slightly, because edges often lie above round numbers. */
    for (int a = 0; a < 3; a++) {
        at[a] = point[a] / scene->cell_size - 0.5 + (a < 2 ? 1.7e-7 * (a + 1) : 0.0);
        if (mesh->triangle_count > 0 && (at[a] < scene->solid_low[a] || at[a] > scene->solid_high[a]))
            return false;
    }
    if (scene->mask != NULL) {
        const int x = (int)lround(at[0]), y = (int)lround(at[1]);
        return x >= 0 && y >= 0 && x < scene->nodes[0] && y < scene->nodes[1] &&
               scene->mask[(size_t)y * (size_t)scene->nodes[0] + (size_t)x] == KF_NODE_SOLID;
    }
    for (size_t t = 0; t < mesh->triangle_count; t++)
        turns += winding(mesh, t, at);
    return turns != 0;
}

size_t kf_probe_points_inside(const kf_probe *probe, const kf_scene *scene) {
    size_t inside = 0;
    for (size_t i = 0; i < probe->count && probe->kind != KF_PROBE_SURFACE; i++)
        inside += is_inside(scene, probe->points[i]);
    return inside;
}
