/* Reads any bytes as a mesh. The first byte chooses the format. assimp runs in its confined child. */
#include "tests/fuzz/fuzz_file.h"

#include "scene/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    static const char *const endings[] = {".obj", ".stl", ".ply", ".gltf", ".glb"};
    if (size == 0) return 0;
    kf_mesh mesh;
    kf_text notes = {0};
    const char *path = fuzz_file(data + 1, size - 1, endings[data[0] % 5]);
    const kf_status status = kf_mesh_read(path, &mesh, &notes, &error);
    fuzz_check(status, &error);
    for (size_t i = 0; status == KF_OK && i < 3 * mesh.triangle_count; i++)
        if (mesh.triangles[i] >= mesh.vertex_count) abort();
    if (status == KF_OK) kf_mesh_free(&mesh);
    kf_text_free(&notes);
    return 0;
}
