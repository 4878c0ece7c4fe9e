/* The part of reading a mesh that runs in a child process (mesh.c): assimp imports without post-processing,
 * every index is checked, and only then may it cut polygons into triangles. */
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <math.h>
#include <string.h>

#include "scene/internal.h"
#include "scene/mesh_import.h"

enum { NODE_DEPTH = 256, TRIANGLES_LIMIT = 100000000 };

/* Indices before anything dereferences them, coordinates before anything computes with them. */
static kf_status check_contents(const char *file, const struct aiScene *scene, kf_error *error) {
    size_t triangles = 0, faces = 0;
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
            if (face->mNumIndices >= 3) {
                faces++;
                triangles += face->mNumIndices - 2;
            }
        }
    }
    if (faces == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: holds no faces, only points or lines, or nothing; export a surface", file);
    if (triangles > TRIANGLES_LIMIT)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: holds %zu triangles, more than the %d allowed; decimate the mesh", file,
                       triangles, TRIANGLES_LIMIT);
    return KF_OK;
}

static void append_mesh(kf_mesh_builder *builder, const struct aiMesh *mesh,
                        const struct aiMatrix4x4 *to_world) {
    const struct aiMatrix4x4 t = *to_world;
    const uint32_t first = (uint32_t)builder->mesh.vertex_count;
    for (unsigned v = 0; v < mesh->mNumVertices; v++) {
        const double x = mesh->mVertices[v].x, y = mesh->mVertices[v].y, z = mesh->mVertices[v].z;
        kf_mesh_add_vertex(builder, t.a1 * x + t.a2 * y + t.a3 * z + t.a4,
                           t.b1 * x + t.b2 * y + t.b3 * z + t.b4, t.c1 * x + t.c2 * y + t.c3 * z + t.c4);
    }
    for (unsigned f = 0; f < mesh->mNumFaces; f++) {
        const struct aiFace *face = &mesh->mFaces[f];
        if (face->mNumIndices == 3)
            kf_mesh_add_triangle(builder, first + face->mIndices[0], first + face->mIndices[1],
                                 first + face->mIndices[2]);
    }
}

typedef struct node_walk {
    const char *file;
    const struct aiScene *scene;
    kf_mesh_builder builder;
    kf_error *error;
} node_walk;

static kf_status append_node(node_walk *walk, const struct aiNode *node, struct aiMatrix4x4 to_world,
                             int depth) {
    if (depth > NODE_DEPTH)
        return kf_fail(walk->error, KF_BAD_INPUT,
                       "%s: nodes nested more than %d deep; export the mesh flattened", walk->file,
                       NODE_DEPTH);
    aiMultiplyMatrix4(&to_world, &node->mTransformation);
    for (unsigned m = 0; m < node->mNumMeshes; m++) {
        if (node->mMeshes[m] >= walk->scene->mNumMeshes)
            return kf_fail(walk->error, KF_BAD_INPUT,
                           "%s: a node refers to mesh %u, but there are %u; export the mesh again",
                           walk->file, node->mMeshes[m], walk->scene->mNumMeshes);
        append_mesh(&walk->builder, walk->scene->mMeshes[node->mMeshes[m]], &to_world);
        if (walk->builder.mesh.triangle_count > TRIANGLES_LIMIT)
            return kf_fail(walk->error, KF_BAD_INPUT,
                           "%s: its instances hold more than %d triangles; decimate the "
                           "mesh",
                           walk->file, TRIANGLES_LIMIT);
    }
    for (unsigned c = 0; c < node->mNumChildren; c++)
        KF_TRY(append_node(walk, node->mChildren[c], to_world, depth + 1));
    return KF_OK;
}

static kf_status check_placed(const char *file, const kf_mesh *mesh, kf_error *error) {
    for (size_t i = 0; i < 3 * mesh->vertex_count; i++)
        if (!(fabs(mesh->vertices[i]) < 1e30)) /* also true for NaN */
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: vertex %zu lies at infinity or further than 1e30 units away; repair the mesh and "
                "export it again",
                file, i / 3);
    return KF_OK;
}

static kf_status clean(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error) {
    const size_t dropped = kf_mesh_clean(mesh);
    if (mesh->triangle_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: none of its %zu triangles has an area (degenerate); export a surface", file,
                       dropped);
    if (dropped > 0)
        kf_note(notes, "%s: %zu of %zu triangles have no area and were dropped", file, dropped,
                dropped + mesh->triangle_count);
    return KF_OK;
}

/* assimp drops faces with wrong indices from glTF files and only its log says so. */
static void note_dropped_faces(const char *message, char *user) {
    if (strstr(message, "out-of-range") != NULL) *user = 1;
}

static const struct aiScene *import(const char *file, bool *out_of_range) {
    char seen = 0;
    const struct aiLogStream log = {note_dropped_faces, &seen};
    aiAttachLogStream(&log);
    const struct aiScene *scene = aiImportFile(file, 0);
    aiDetachLogStream(&log);
    *out_of_range = seen != 0;
    return scene;
}

static kf_status read_scene(const char *file, const struct aiScene **scene, kf_error *error) {
    bool out_of_range = false;
    *scene = import(file, &out_of_range);
    if (*scene == NULL) {
        /* assimp's own words may be long, and may end with a newline; the line stays one line. */
        char reason[200];
        kf_copy_text(reason, sizeof reason, aiGetErrorString());
        reason[strcspn(reason, "\r\n")] = '\0';
        return kf_fail(error, KF_BAD_INPUT, "%s: cannot be read as a mesh (%s); is it a whole %s file?", file,
                       reason, kf_mesh_ending(file) + 1);
    }
    if (out_of_range)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: some faces refer to vertices that are out of range; export the mesh again", file);
    KF_TRY(check_contents(file, *scene, error));
    const struct aiScene *triangulated = aiApplyPostProcessing(*scene, aiProcess_Triangulate);
    if (triangulated == NULL) {
        *scene = NULL; /* assimp has released it */
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: its polygons cannot be cut into triangles; triangulate the mesh before "
                       "exporting it",
                       file);
    }
    *scene = triangulated;
    return KF_OK;
}

kf_status kf_mesh_import(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error) {
    node_walk walk = {.file = file, .error = error};
    kf_status status = read_scene(file, &walk.scene, error);
    if (status == KF_OK) {
        struct aiMatrix4x4 identity;
        aiIdentityMatrix4(&identity);
        status = append_node(&walk, walk.scene->mRootNode, identity, 0);
    }
    if (walk.scene != NULL) aiReleaseImport(walk.scene);
    *mesh = walk.builder.mesh;
    if (status == KF_OK) status = check_placed(file, mesh, error);
    if (status == KF_OK) status = clean(file, mesh, notes, error);
    if (status != KF_OK) kf_mesh_free(mesh);
    return status;
}
