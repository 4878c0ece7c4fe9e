/* Does in this process what fuzz_mesh does in a child, which is hundreds of times as fast. A crash inside
 * of assimp costs the program a child, and scripts/fuzz.sh continues after it. */
#include "tests/fuzz/fuzz_file.h"

#include <math.h>

#include "scene/internal.h"
#include "scene/mesh_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    static const char *const endings[] = {".obj", ".stl", ".ply", ".gltf", ".glb"};
    if (size < 2) return 0;
    kf_mesh mesh = {0};
    kf_text notes = {0};
    const char *path = fuzz_file(data + 1, size - 1, endings[data[0] % 5]);
    const kf_status status = kf_mesh_import(path, &mesh, &notes, &error);
    fuzz_check(status, &error);
    for (size_t i = 0; status == KF_OK && i < 3 * mesh.vertex_count; i++)
        if (!isfinite(mesh.vertices[i])) abort();
    for (size_t i = 0; status == KF_OK && i < 3 * (mesh.triangle_count + mesh.inner_count); i++)
        if (mesh.triangles[i] >= mesh.vertex_count) abort();
    if (status == KF_OK) kf_mesh_free(&mesh);
    kf_text_free(&notes);
    return 0;
}
