/* Reads meshes. Neither the file nor the library that reads some formats is trusted. So they are read in a
 * child process with limits of memory and time. Every index and coordinate that comes back is checked. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/confined.h"
#include "base/util/memory.h"
#include "scene/internal.h"
#include "scene/mesh_import.h"

static const char *const endings[] = {".obj", ".stl", ".ply", ".gltf", ".glb"};

const char *kf_mesh_ending(const char *file) {
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    return dot == NULL || (slash != NULL && dot < slash) ? "" : dot;
}

bool kf_mesh_is_file_name(const char *file) {
    const char *ending = kf_mesh_ending(file);
    for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++)
        if (strcasecmp(ending, endings[e]) == 0) return true;
    return false;
}

/* Refuses a file that cannot be a mesh by its name, kind or size, before it is read. */
static kf_status check_file(const char *file, size_t *bytes, kf_error *error) {
    struct stat about;
    if (!kf_mesh_is_file_name(file))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: its name does not end like a mesh's; use a file ending in .obj, .stl, .ply, .gltf "
            "or .glb",
            file);
    if (stat(file, &about) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot open the mesh: %s", file, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: is not a regular file; give a mesh file", file);
    if (access(file, R_OK) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot read the mesh: %s", file, strerror(errno));
    if (about.st_size == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: the file is empty; export the mesh again", file);
    if (about.st_size > (off_t)KF_MESH_FILE_GIB << 30)
        return kf_fail(error, KF_BAD_INPUT, "%s: the file is larger than %d GiB; decimate the mesh", file,
                       KF_MESH_FILE_GIB);
    *bytes = (size_t)about.st_size;
    return KF_OK;
}

/* Hashes the content of a mesh file block by block, so a large file needs little memory. */
kf_status kf_mesh_file_hash(const char *file, char hash[KF_HASH_HEX], kf_error *error) {
    size_t bytes = 0;
    char block[1 << 16];
    kf_hasher hasher;
    KF_TRY(check_file(file, &bytes, error));
    FILE *stream = fopen(file, "rb");
    if (stream == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot read the mesh: %s", file, strerror(errno));
    kf_hash_begin(&hasher);
    for (size_t got; (got = fread(block, 1, sizeof block, stream)) > 0;)
        kf_hash_add(&hasher, block, got);
    const bool whole = ferror(stream) == 0;
    (void)fclose(stream);
    kf_hash_end(&hasher, hash);
    return whole ? KF_OK : kf_fail(error, KF_MACHINE, "%s: cannot be read to its end", file);
}

/* --- In the child --------------------------------------------------------------------------------------- */

/* The parts of the answer. */
enum { VERTICES, TRIANGLES, KINDS, NOTES };

/* The numbers of the answer besides the arrays. */
typedef struct kinds {
    size_t sheets, inner;
    double unit;
    long unit_line;
} kinds;

/* Reads a mesh in the confined child process, and sends its arrays and notes to the parent. */
static kf_status import(const void *context, kf_answer *answer, kf_error *error) {
    kf_mesh mesh = {0};
    kf_text notes = {0};
    KF_TRY(kf_mesh_import(context, &mesh, &notes, error));
    answer->part[VERTICES] = mesh.vertices;
    answer->bytes[VERTICES] = 3 * mesh.vertex_count * sizeof *mesh.vertices;
    answer->part[TRIANGLES] = mesh.triangles;
    answer->bytes[TRIANGLES] = 3 * (mesh.triangle_count + mesh.inner_count) * sizeof *mesh.triangles;
    kinds *numbers = kf_allocate_zeroed(1, sizeof *numbers);
    *numbers = (kinds){mesh.sheet_count, mesh.inner_count, mesh.unit, mesh.unit_line};
    answer->part[KINDS] = numbers;
    answer->bytes[KINDS] = sizeof *numbers;
    answer->part[NOTES] = notes.text;
    answer->bytes[NOTES] = notes.text != NULL ? notes.length + 1 : 0;
    return KF_OK;
}

/* --- In this process ------------------------------------------------------------------------------------ */

static kf_status make_no_sense(const char *file, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "%s: its content makes no sense; is the file damaged?", file);
}

static kf_status check_answer(const char *file, const kf_mesh *mesh, kf_error *error) {
    for (size_t i = 0; i < 3 * mesh->vertex_count; i++)
        if (!isfinite(mesh->vertices[i])) return make_no_sense(file, error);
    for (size_t i = 0; i < 3 * (mesh->triangle_count + mesh->inner_count); i++)
        if (mesh->triangles[i] >= mesh->vertex_count) return make_no_sense(file, error);
    return KF_OK;
}

/* Moves the arrays of the answer into the mesh. */
static kf_status take_answer(const char *file, kf_answer *answer, kf_mesh *mesh, kf_text *notes,
                             kf_error *error) {
    enum { VERTEX_BYTES = 3 * sizeof *mesh->vertices, TRIANGLE_BYTES = 3 * sizeof *mesh->triangles };
    kinds numbers = {0};
    const size_t triangles = answer->bytes[TRIANGLES] / TRIANGLE_BYTES;
    if (answer->bytes[KINDS] == sizeof numbers) memcpy(&numbers, answer->part[KINDS], sizeof numbers);
    if (!(numbers.unit > 1e-9 && numbers.unit < 1e9) || numbers.unit_line < 0) numbers.unit = 0.0;
    if (answer->bytes[VERTICES] == 0 || answer->bytes[VERTICES] % VERTEX_BYTES != 0 ||
        answer->bytes[TRIANGLES] == 0 || answer->bytes[TRIANGLES] % TRIANGLE_BYTES != 0 ||
        numbers.inner >= triangles || numbers.sheets > triangles - numbers.inner)
        return make_no_sense(file, error);
    const size_t length = answer->bytes[NOTES];
    if (length > 0) kf_note(notes, "%.*s", (int)length - 1, (const char *)answer->part[NOTES]);
    *mesh = (kf_mesh){.vertices = answer->part[VERTICES],
                      .vertex_count = answer->bytes[VERTICES] / VERTEX_BYTES,
                      .triangles = answer->part[TRIANGLES],
                      .triangle_count = triangles - numbers.inner,
                      .sheet_count = numbers.sheets,
                      .inner_count = numbers.inner,
                      .unit = numbers.unit,
                      .unit_line = numbers.unit_line};
    answer->part[VERTICES] = answer->part[TRIANGLES] = NULL;
    return check_answer(file, mesh, error);
}

/* Returns the limits for a file. A binary file needs up to ten times its size in memory, a text less.
 * Instances of a mesh can need more. */
static kf_confinement limits_for(size_t bytes) {
    static const size_t LEAST = (size_t)1 << 30, TIMES = 32, BYTES_A_SECOND = 1 << 20;
    enum { LEAST_SECONDS = 10 };
    return (kf_confinement){.memory_bytes = LEAST + TIMES * bytes,
                            .cpu_seconds = LEAST_SECONDS + (unsigned)(bytes / BYTES_A_SECOND)};
}

kf_status kf_mesh_read(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error) {
    size_t bytes = 0;
    memset(mesh, 0, sizeof *mesh);
    KF_TRY(check_file(file, &bytes, error));
    const kf_confinement limits = limits_for(bytes);
    kf_answer answer;
    KF_TRY(kf_confined_run(file, &limits, import, file, &answer, error));
    const kf_status status = take_answer(file, &answer, mesh, notes, error);
    kf_answer_free(&answer);
    if (status != KF_OK) kf_mesh_free(mesh);
    return status;
}
