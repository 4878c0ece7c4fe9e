/* Reads a mesh in the child process of mesh.c: calls the reader of the format, cuts faces into triangles, and
 * mends the surface. */
#include "scene/mesh_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/util/foreign.h"
#include "scene/mesh_mend.h"

/* ---- The mesh as it was read ---- */

/* Refuses a file whose first bytes show that it is not a mesh, whatever its name. The reader refuses files
 * that it cannot read. */
static kf_status check_kind(const char *file, kf_error *error) {
    char bytes[512];
    FILE *stream = fopen(file, "rbe");
    if (stream == NULL) return KF_OK;
    const size_t size = fread(bytes, 1, sizeof bytes, stream);
    (void)fclose(stream);
    const char *kind = kf_foreign_kind(bytes, size);
    return kind == NULL ? KF_OK : kf_fail(error, KF_BAD_INPUT, "%s: %s", file, kind);
}

/* Chooses the reader by the ending of the file's name. */
static kf_status read_polygons(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error) {
    static const struct {
        const char *ending;
        kf_status (*read)(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
    } readers[] = {{".obj", kf_obj_read},
                   {".stl", kf_stl_read},
                   {".ply", kf_ply_read},
                   {".gltf", kf_gltf_read},
                   {".glb", kf_gltf_read}};
    KF_TRY(check_kind(file, error));
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++)
        if (strcasecmp(kf_mesh_ending(file), readers[r].ending) == 0)
            return readers[r].read(file, polygons, notes, error);
    return kf_fail(error, KF_BAD_INPUT, "%s: its name does not end like a mesh's", file);
}

/* Refuses a mesh without faces, with too many faces, or with infinite vertices. */
static kf_status check_polygons(const char *file, const kf_polygons *p, kf_error *error) {
    if (p->count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: contains no faces (only points or lines, or nothing); export a surface", file);
    const size_t triangles = p->corner_count - 2 * p->count;
    if (triangles > KF_MESH_TRIANGLES)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: holds %zu triangles, more than the %d allowed; decimate the mesh", file,
                       triangles, KF_MESH_TRIANGLES);
    for (size_t i = 0; i < 3 * p->builder.mesh.vertex_count; i++)
        /* This is also true for NaN. */
        if (!(fabs(p->builder.mesh.vertices[i]) < 1e30))
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: vertex %zu lies at infinity or further than 1e30 units away; repair the mesh and "
                "export it again",
                file, i / 3);
    return KF_OK;
}

/* Cuts polygons into triangles. Polygons that cross themselves have no defined area. A few of them do not
 * matter. */
static kf_status cut_polygons(const char *file, kf_polygons *p, kf_text *notes, kf_error *error) {
    static const double MOST_CROSSED = 1e-3, ROUNDING = 1e-9;
    double crossed = 0.0;
    size_t count = 0, first = 0;
    for (size_t f = 0, begin = 0; f < p->count; begin = p->ends[f++]) {
        const size_t before = p->builder.mesh.triangle_count;
        const double twice = kf_polygon_cut(&p->builder, p->corners + begin, p->ends[f] - begin);
        double area = 0.0;
        if (twice == 0.0) continue;
        for (size_t t = before; t < p->builder.mesh.triangle_count; t++)
            area += kf_mesh_triangle_area(&p->builder.mesh, t);
        if (twice <= ROUNDING * area) continue;
        crossed += twice;
        if (count++ == 0) first = f;
    }
    if (count == 0) return KF_OK;
    const double share = crossed / kf_mesh_area(&p->builder.mesh);
    if (share > MOST_CROSSED)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %zu of its faces cross themselves, the first is face %zu (counted from 1), and their area, "
            "%.2g %% of the surface, is ambiguous; triangulate the mesh and export it again",
            file, count, first + 1, 100.0 * share);
    kf_note(notes, "%s: %zu of its faces cross themselves, the first is face %zu (counted from 1)", file,
            count, first + 1);
    return KF_OK;
}

/* Notes coordinates in single precision that are too far from the origin to keep small details. */
static kf_status check_precision(const char *file, const kf_polygons *p, const kf_mesh *mesh, kf_text *notes,
                                 kf_error *error) {
    static const double SAID = 1e-5, REFUSED = 1e-3;
    const kf_box box = kf_mesh_bounds(mesh);
    double extent = 0.0;
    for (int a = 0; a < 3; a++)
        extent = fmax(extent, box.high[a] - box.low[a]);
    if (p->coarsest > REFUSED * extent)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: its coordinates are of single precision, in steps of %.2g where the mesh is %.3g long: "
            "its shape is lost; move it to the origin and export it again, or export OBJ",
            file, p->coarsest, extent);
    if (p->coarsest > SAID * extent)
        kf_note(notes,
                "%s: its coordinates are of single precision, in steps of %.2g where the mesh is %.3g long; "
                "moved "
                "to the origin and exported again it has all its digits",
                file, p->coarsest, extent);
    return KF_OK;
}

/* ---- Pieces that were left behind ---- */

/* Notes a mesh of which most of the extent is empty. A single triangle far away makes the solid much longer.
 * Lengths, Reynolds number and grid then follow that length. */
static void note_gap(const char *file, const kf_mesh *mesh, kf_text *notes) {
    static const double MOST = 0.5;
    const size_t count = mesh->triangle_count;
    const kf_box box = kf_mesh_bounds(mesh);
    for (int axis = 0; axis < 3; axis++) {
        /* A gap of more than half of the extent contains its middle. */
        const double extent = box.high[axis] - box.low[axis], middle = 0.5 * (box.low[axis] + box.high[axis]);
        double from = -INFINITY, to = INFINITY;
        size_t before = 0, beyond = 0;
        for (size_t t = 0; t < count; t++) {
            double low, high;
            kf_mesh_stretch(mesh, t, axis, &low, &high);
            if (high < middle) {
                from = fmax(from, high);
                before++;
            } else if (low > middle) {
                to = fmin(to, low);
                beyond++;
            }
        }
        const size_t less = before < beyond ? before : beyond;
        if (less == 0 || before + beyond < count || !(to - from > MOST * extent)) continue;
        kf_note(notes,
                "%s: it has a gap from %.4g to %.4g along %c, %.0f %% of its extent; does the piece of %zu "
                "triangle%s beyond the gap belong to it?",
                file, from, to, "xyz"[axis], 100.0 * (to - from) / extent, less, less == 1 ? "" : "s");
    }
}

/* ---- All of it ---- */

/* Mends the surface of a mesh, and notes each change. */
static kf_status mend(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error) {
    kf_mended done;
    const size_t before = mesh->triangle_count;
    kf_mesh_mend(mesh, &done);
    if (mesh->triangle_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: none of its %zu triangles has an area (degenerate); export a surface", file,
                       before);
    if (done.flat > 0)
        kf_note(notes, "%s: %zu of %zu triangles have no area and were dropped", file, done.flat, before);
    if (done.repeated > 0)
        kf_note(notes,
                "%s: %zu of %zu triangles coincide with others, in either orientation, and were dropped",
                file, done.repeated, before);
    if (done.joined > 0)
        kf_note(notes,
                "%s: %zu corners within the edges of other triangles, or a rounding beside others, were "
                "joined with them",
                file, done.joined);
    if (done.turned > 0)
        kf_note(notes,
                "%s: %zu of %zu triangles had the opposite orientation of their neighbours and were turned",
                file, done.turned, before);
    if (done.inside > 0)
        kf_note(notes,
                "%s: %zu of %zu triangles cannot be reached by a stream from outside, and have no effect",
                file, done.inside, before);
    return KF_OK;
}

/* Reads a file, cuts its polygons into triangles, mends the mesh and checks it, with a note for each change.
 */
kf_status kf_mesh_import(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error) {
    kf_polygons polygons = {.coarsest = 0.0};
    kf_status status = read_polygons(file, &polygons, notes, error);
    if (status == KF_OK) status = check_polygons(file, &polygons, error);
    if (status == KF_OK) status = cut_polygons(file, &polygons, notes, error);
    *mesh = polygons.builder.mesh;
    memset(&polygons.builder.mesh, 0, sizeof polygons.builder.mesh);
    if (status == KF_OK) status = mend(file, mesh, notes, error);
    if (status == KF_OK) status = check_precision(file, &polygons, mesh, notes, error);
    if (status == KF_OK) note_gap(file, mesh, notes);
    mesh->unit = polygons.unit;
    mesh->unit_line = polygons.unit_line;
    kf_polygons_free(&polygons);
    if (status != KF_OK) kf_mesh_free(mesh);
    return status;
}
