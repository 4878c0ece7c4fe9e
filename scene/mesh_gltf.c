/* Reads glTF through assimp, without its post-processing; every index is checked before it is used. */
#include "scene/mesh_gltf.h"

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"

enum { NODE_DEPTH = 256 };

/* ---- Files, whose names the library does not decode ---- */

static FILE *stream_of(struct aiFile *file) {
    return (FILE *)file->UserData;
}

static size_t read_bytes(struct aiFile *file, char *to, size_t size, size_t count) {
    return fread(to, size, count, stream_of(file));
}

static size_t write_bytes(struct aiFile *file, const char *from, size_t size, size_t count) {
    (void)file, (void)from, (void)size, (void)count;
    return 0;
}

static size_t tell(struct aiFile *file) {
    const long at = ftell(stream_of(file));
    return at < 0 ? 0 : (size_t)at;
}

static enum aiReturn seek(struct aiFile *file, size_t offset, enum aiOrigin origin) {
    const int whence = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
    return fseek(stream_of(file), (long)offset, whence) == 0 ? aiReturn_SUCCESS : aiReturn_FAILURE;
}

static size_t size_of(struct aiFile *file) {
    const long at = ftell(stream_of(file));
    if (at < 0 || fseek(stream_of(file), 0, SEEK_END) != 0) return 0;
    const size_t size = tell(file);
    (void)fseek(stream_of(file), at, SEEK_SET);
    return size;
}

static void flush(struct aiFile *file) {
    (void)file;
}

/* Opens a file for assimp. It tries the name as it is, and then with %-escapes decoded. It never opens a file
 * for writing. */
static struct aiFile *open_decoded(struct aiFileIO *io, const char *name, const char *mode) {
    (void)io;
    if (mode[0] != 'r') return NULL;
    FILE *stream = fopen(name, "rbe");
    if (stream == NULL) {
        char *decoded = kf_duplicate(name);
        kf_gltf_decode(decoded);
        stream = fopen(decoded, "rbe");
        free(decoded);
    }
    if (stream == NULL) return NULL;
    struct aiFile *file = kf_allocate(sizeof *file);
    *file = (struct aiFile){.ReadProc = read_bytes,
                            .WriteProc = write_bytes,
                            .TellProc = tell,
                            .FileSizeProc = size_of,
                            .SeekProc = seek,
                            .FlushProc = flush,
                            .UserData = (aiUserData)stream};
    return file;
}

static void close_decoded(struct aiFileIO *io, struct aiFile *file) {
    (void)io;
    (void)fclose(stream_of(file));
    free(file);
}

/* ---- Reading ---- */

/* Checks indices before they are used as such, and coordinates before they are computed with. */
static kf_status check_contents(const char *file, const struct aiScene *scene, kf_error *error) {
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *mesh = scene->mMeshes[m];
        for (unsigned v = 0; v < mesh->mNumVertices; v++) {
            const struct aiVector3D p = mesh->mVertices[v];
            if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: vertex %u of mesh %u is NaN or infinite; repair the mesh and "
                               "export it again",
                               file, v, m);
        }
        for (unsigned f = 0; f < mesh->mNumFaces; f++) {
            const struct aiFace *face = &mesh->mFaces[f];
            for (unsigned i = 0; i < face->mNumIndices; i++)
                if (face->mIndices[i] >= mesh->mNumVertices)
                    return kf_fail(error, KF_BAD_INPUT,
                                   "%s: face %u of mesh %u refers to vertex %u, but there are %u "
                                   "(counted from 0); export the mesh again",
                                   file, f, m, face->mIndices[i], mesh->mNumVertices);
        }
    }
    return KF_OK;
}

/* The pose of a node's meshes. The library multiplies poses in single precision. That is not enough for
 * parts that are far from the origin and near each other. */
typedef struct pose {
    double entry[3][4];
} pose;

static pose pose_of(const struct aiMatrix4x4 *m) {
    return (pose){{{m->a1, m->a2, m->a3, m->a4}, {m->b1, m->b2, m->b3, m->b4}, {m->c1, m->c2, m->c3, m->c4}}};
}

static pose product(const pose *outer, const pose *inner) {
    pose result;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            result.entry[i][j] = j == 3 ? outer->entry[i][3] : 0.0;
            for (int k = 0; k < 3; k++)
                result.entry[i][j] += outer->entry[i][k] * inner->entry[k][j];
        }
    return result;
}

/* Appends a mesh's vertices, moved to world coordinates in double precision, and its faces. */
static void append_mesh(kf_polygons *polygons, const struct aiMesh *mesh, const pose *to_world) {
    const uint32_t first = (uint32_t)polygons->builder.mesh.vertex_count;
    double scale = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            scale = fmax(scale, fabs(to_world->entry[i][j]));
    for (unsigned v = 0; v < mesh->mNumVertices; v++) {
        const double p[3] = {mesh->mVertices[v].x, mesh->mVertices[v].y, mesh->mVertices[v].z};
        double q[3];
        for (int i = 0; i < 3; i++) {
            const double *row = to_world->entry[i];
            q[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
            kf_polygons_single(polygons, scale * p[i]);
        }
        (void)kf_mesh_add_vertex(&polygons->builder, q[0], q[1], q[2]);
    }
    for (unsigned f = 0; f < mesh->mNumFaces; f++) {
        const struct aiFace *face = &mesh->mFaces[f];
        for (unsigned i = 0; i < face->mNumIndices; i++)
            kf_polygons_corner(polygons, first + face->mIndices[i]);
        kf_polygons_end(polygons);
    }
}

typedef struct node_walk {
    const char *file;
    const struct aiScene *scene;
    kf_polygons *polygons;
    kf_error *error;
} node_walk;

/* Appends the meshes of a node and of those below it. */
static kf_status append_node(node_walk *walk, const struct aiNode *node, const pose *outer, int depth) {
    if (depth > NODE_DEPTH)
        return kf_fail(walk->error, KF_BAD_INPUT,
                       "%s: nodes nested more than %d deep; export the mesh flattened", walk->file,
                       NODE_DEPTH);
    const pose own = pose_of(&node->mTransformation), to_world = product(outer, &own);
    for (unsigned m = 0; m < node->mNumMeshes; m++) {
        if (node->mMeshes[m] >= walk->scene->mNumMeshes)
            return kf_fail(walk->error, KF_BAD_INPUT,
                           "%s: a node refers to mesh %u, but there are %u; export the mesh again",
                           walk->file, node->mMeshes[m], walk->scene->mNumMeshes);
        append_mesh(walk->polygons, walk->scene->mMeshes[node->mMeshes[m]], &to_world);
        if (walk->polygons->count > KF_MESH_TRIANGLES ||
            walk->polygons->builder.mesh.vertex_count > UINT32_MAX / 2)
            return kf_fail(walk->error, KF_BAD_INPUT,
                           "%s: its instances hold more than %d triangles; decimate the mesh", walk->file,
                           KF_MESH_TRIANGLES);
    }
    for (unsigned c = 0; c < node->mNumChildren; c++)
        KF_TRY(append_node(walk, node->mChildren[c], &to_world, depth + 1));
    return KF_OK;
}

/* Notes that assimp has dropped faces with wrong indices. Only its log says this. */
static void note_dropped_faces(const char *message, char *user) {
    if (strstr(message, "out-of-range") != NULL) *user = 1;
}

static const struct aiScene *import(const char *file, bool *out_of_range) {
    char seen = 0;
    const struct aiLogStream log = {note_dropped_faces, &seen};
    struct aiFileIO files = {.OpenProc = open_decoded, .CloseProc = close_decoded};
    aiAttachLogStream(&log);
    const struct aiScene *scene = aiImportFileEx(file, 0, &files);
    aiDetachLogStream(&log);
    *out_of_range = seen != 0;
    return scene;
}

/* Fails with assimp's message, which may be long and may end with a newline. The message becomes one line. */
static kf_status explain(const char *file, kf_error *error) {
    char reason[200];
    kf_copy_text(reason, sizeof reason, aiGetErrorString());
    reason[strcspn(reason, "\r\n")] = '\0';
    return kf_fail(error, KF_BAD_INPUT, "%s: cannot be read as a mesh (%s); is it a whole %s file?", file,
                   reason, kf_mesh_ending(file) + 1);
}

/* Reads a glTF file: checks its text, reads it with assimp, and appends its nodes. */
kf_status kf_gltf_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error) {
    static const pose here = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    bool out_of_range = false;
    KF_TRY(kf_gltf_check(file, notes, error));
    node_walk walk = {
        .file = file, .scene = import(file, &out_of_range), .polygons = polygons, .error = error};
    if (walk.scene == NULL) return explain(file, error);
    kf_status status = KF_OK;
    if (out_of_range)
        status =
            kf_fail(error, KF_BAD_INPUT,
                    "%s: some faces refer to vertices that are out of range; export the mesh again", file);
    if (status == KF_OK) status = check_contents(file, walk.scene, error);
    if (status == KF_OK) status = append_node(&walk, walk.scene->mRootNode, &here, 0);
    aiReleaseImport(walk.scene);
    return status;
}
