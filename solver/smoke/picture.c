#include "solver/smoke/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "kernels/smoke/picture.h"
#include "kernels/smoke/tracers.h"
#include "solver/picture/canvas.h"
#include "solver/smoke/box_tree.h"
#include "solver/smoke/camera.h"

enum { BUFFERS = 9, KERNELS = 6 };
enum { SMOOTH, FIND_OCCUPIED, PART_THIN, SPREAD_THIN, CAST_SHADE, DRAW };
static const char *const kernel_names[KERNELS] = {"smooth",      "find_occupied", "part_thin",
                                                  "spread_thin", "cast_shade",    "draw"};
/* Linear colours of smoke for the paint values 0, 1/2 and 1: fresh to old, or slow to twice the stream's
 * speed. White is in the middle, and is the colour of plain smoke, except for age. */
static const float COLOURS[KF_SMOKE_PAINTS][3][3] = {
    [KF_PAINT_NONE] = {{0.96F, 0.97F, 0.98F}, {0.96F, 0.97F, 0.98F}, {0.96F, 0.97F, 0.98F}},
    [KF_PAINT_AGE] = {{1.0F, 0.95F, 0.86F}, {0.62F, 0.80F, 0.98F}, {0.20F, 0.36F, 0.90F}},
    [KF_PAINT_SPEED] = {{0.10F, 0.30F, 0.95F}, {0.96F, 0.97F, 0.98F}, {1.0F, 0.42F, 0.08F}},
};
/* Linear. */
static const struct {
    float colour[3], roof[3], road[3], gloss;
} BODIES[KF_SMOKE_BODIES] = {
    [KF_BODY_LACQUER] = {{0.26F, 0.028F, 0.020F}, {0.26F, 0.028F, 0.020F}, {0.020F, 0.022F, 0.026F}, 0.25F},
    [KF_BODY_STONE] = {{0.25F, 0.17F, 0.10F}, {0.22F, 0.060F, 0.028F}, {0.034F, 0.033F, 0.033F}, 0.02F},
};
/* Tracers a node, after smoothing: below, they are seen one by one unless they are spread. */
static const double SPARSE = 0.7;

struct kf_smoke_picture {
    kf_backend *backend;
    const kf_scene *scene;
    kf_module *module;
    kf_function *kernels[KERNELS];
    kf_buffer *buffers[BUFFERS];
    int buffer_count;
    kf_buffer *pixels;
    kf_picture_arguments arguments;
    /* The camera's position, and the point that it looks at; the solid is at its initial pose. */
    double eye[3], focus[3];
};

/* --- Opening ----------------------------------------------------------------------------------------------
 */

static void to_floats(const double *from, float *to, int count) {
    for (int i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static void set_camera(kf_smoke_picture *picture, int refinement, const int size[2],
                       const kf_viewpoint *from) {
    const kf_scene *scene = picture->scene;
    kf_picture_arguments *a = &picture->arguments;
    kf_camera camera;
    kf_camera_choose(scene, (double)size[0] / size[1], from, &camera);
    memcpy(picture->eye, camera.eye, sizeof camera.eye);
    memcpy(picture->focus, camera.focus, sizeof camera.focus);
    to_floats(camera.ahead, a->ahead, 3);
    to_floats(camera.right, a->right, 3);
    to_floats(camera.above, a->above, 3);
    to_floats(camera.light, a->light, 3);
    a->reach = (float)camera.reach;
    a->width = size[0];
    a->height = size[1];
    a->up = camera.up;
    a->has_ground = camera.has_ground;
    a->ground = (float)camera.ground;
    for (int i = 0; i < 3; i++)
        a->shift[i] = (float)(camera.light[i] / camera.light[camera.up] / refinement);
    a->slant = (float)(1 / camera.light[camera.up] / refinement);
}

static void set_grid(const kf_scene *scene, double extinction, int refinement, kf_picture_arguments *a) {
    for (int i = 0; i < 3; i++) {
        a->nodes[i] = scene->nodes[i] * refinement;
        a->stride[i] = i == 0 ? 1 : a->stride[i - 1] * a->nodes[i - 1];
        a->blocks[i] = (a->nodes[i] + KF_SMOKE_BLOCK - 1) / KF_SMOKE_BLOCK;
    }
    const double cells = (double)refinement * refinement * refinement;
    a->refinement = (float)refinement;
    a->per_unit = (float)(extinction * cells / KF_TRACER_UNIT);
    a->sparse = (float)(SPARSE * extinction * cells);
    a->spacing = refinement;
}

/* Makes a buffer with this content, or undefined for NULL, and sets its address. */
static kf_status make_buffer(kf_smoke_picture *picture, size_t bytes, const void *contents, void **address,
                             kf_error *error) {
    kf_buffer **buffer = &picture->buffers[picture->buffer_count];
    KF_TRY(kf_buffer_create(picture->backend, bytes, buffer, error));
    picture->buffer_count++;
    *address = kf_buffer_address(*buffer);
    return contents == NULL ? KF_OK : kf_buffer_upload(*buffer, 0, contents, bytes, error);
}

static size_t node_count(const kf_picture_arguments *a) {
    return (size_t)a->nodes[0] * (size_t)a->nodes[1] * (size_t)a->nodes[2];
}

/* Uploads the solid's mesh as a tree of boxes, if there is one. */
static kf_status upload_solid(kf_smoke_picture *picture, kf_error *error) {
    kf_picture_arguments *a = &picture->arguments;
    if (picture->scene->mesh.triangle_count == 0) return KF_OK;
    kf_box_tree tree;
    void *nodes = NULL, *triangles = NULL, *behind = NULL;
    kf_box_tree_build(&picture->scene->mesh, &tree);
    kf_status status = make_buffer(picture, tree.node_count * sizeof *tree.nodes, tree.nodes, &nodes, error);
    if (status == KF_OK)
        status = make_buffer(picture, tree.triangle_count * KF_TRIANGLE_FLOATS * sizeof(float),
                             tree.triangles, &triangles, error);
    kf_box_tree_free(&tree);
    if (status == KF_OK) status = make_buffer(picture, node_count(a) * sizeof(float), NULL, &behind, error);
    a->tree = nodes;
    a->triangles = triangles;
    a->behind = behind;
    return status;
}

/* Compiles the picture's kernels and makes their memory: density, light, paint, pixels, solid. */
static kf_status build(kf_smoke_picture *picture, kf_smoke_paint paint, kf_error *error) {
    kf_picture_arguments *a = &picture->arguments;
    const size_t nodes = node_count(a);
    const size_t blocks = (size_t)a->blocks[0] * (size_t)a->blocks[1] * (size_t)a->blocks[2];
    const kf_source source = {.file = "kernels/smoke/picture.cu"};
    kf_build built;
    KF_TRY(kf_module_load(picture->backend, &source, &picture->module, &built, error));
    for (int k = 0; k < KERNELS; k++)
        KF_TRY(kf_module_function(picture->module, kernel_names[k], &picture->kernels[k], error));
    void *address;
    KF_TRY(make_buffer(picture, nodes * sizeof(float), NULL, &address, error));
    a->extinction = address;
    KF_TRY(make_buffer(picture, nodes * sizeof(float), NULL, &address, error));
    a->shade = address;
    if (paint != KF_PAINT_NONE) {
        KF_TRY(make_buffer(picture, nodes * sizeof(float), NULL, &address, error));
        a->painted = address;
        KF_TRY(make_buffer(picture, nodes * sizeof(float), NULL, &address, error));
        a->thin = address;
    }
    KF_TRY(make_buffer(picture, blocks * sizeof(int), NULL, &address, error));
    a->occupied = address;
    KF_TRY(make_buffer(picture, (size_t)a->width * (size_t)a->height * 3, NULL, &address, error));
    a->pixels = address;
    picture->pixels = picture->buffers[picture->buffer_count - 1];
    return upload_solid(picture, error);
}

kf_status kf_smoke_picture_open(kf_backend *backend, const kf_scene *scene, kf_smoke_paint paint,
                                double extinction, int refinement, const int size[2],
                                const kf_viewpoint *from, kf_smoke_picture **picture, kf_error *error) {
    kf_smoke_picture *made = kf_allocate_zeroed(1, sizeof *made);
    made->backend = backend;
    made->scene = scene;
    set_grid(scene, extinction, refinement, &made->arguments);
    set_camera(made, refinement, size, from);
    memcpy(made->arguments.colours, COLOURS[paint], sizeof COLOURS[paint]);
    memcpy(made->arguments.body, BODIES[scene->smoke.body].colour, sizeof made->arguments.body);
    memcpy(made->arguments.roof, BODIES[scene->smoke.body].roof, sizeof made->arguments.roof);
    memcpy(made->arguments.road, BODIES[scene->smoke.body].road, sizeof made->arguments.road);
    made->arguments.gloss = BODIES[scene->smoke.body].gloss;
    kf_status status = build(made, paint, error);
    if (status != KF_OK)
        kf_smoke_picture_free(made);
    else
        *picture = made;
    return status;
}

void kf_smoke_picture_free(kf_smoke_picture *picture) {
    if (picture == NULL) return;
    (void)kf_backend_synchronize(picture->backend, NULL);
    for (int i = 0; i < picture->buffer_count; i++)
        kf_buffer_free(picture->buffers[i]);
    if (picture->module != NULL) kf_module_free(picture->module);
    free(picture);
}

/* --- Drawing ----------------------------------------------------------------------------------------------
 */

static kf_status launch(kf_smoke_picture *picture, int kernel, int x, int y, int z, kf_error *error) {
    const int block[3] = {32, 4, 1};
    kf_picture_arguments *a = &picture->arguments;
    a->extent[0] = x;
    a->extent[1] = y;
    a->extent[2] = z;
    kf_launch one;
    kf_launch_set(&one, kernel_names[kernel], picture->kernels[kernel], block, a, sizeof *a);
    return kf_backend_launch(picture->backend, &one, error);
}

/* Sets the solid's pose in the domain, and the camera. */
static void set_pose(kf_smoke_picture *picture, const kf_solid_pose *pose) {
    const kf_scene *scene = picture->scene;
    kf_picture_arguments *a = &picture->arguments;
    double center[3], eye[3], focus[3];
    for (int i = 0; i < 3; i++) {
        const double away = pose->center[i] - scene->motion.center[i],
                     middle = 0.5 * (scene->solid_low[i] + scene->solid_high[i]) + away;
        const int nodes = scene->nodes[i];
        const double back = scene->faces[2 * i] == KF_PERIODIC ? nodes * floor((middle + 0.5) / nodes) : 0.0;
        center[i] = pose->center[i] - back;
        eye[i] = picture->eye[i] + away - back;
        focus[i] = picture->focus[i] + away - back;
    }
    to_floats(pose->rotation, a->rotation, 9);
    to_floats(center, a->center, 3);
    to_floats(scene->motion.center, a->start, 3);
    to_floats(eye, a->eye, 3);
    to_floats(focus, a->focus, 3);
}

static kf_status draw(kf_smoke_picture *picture, kf_error *error) {
    kf_picture_arguments *a = &picture->arguments;
    const int *n = a->nodes, up = a->up;
    KF_TRY(launch(picture, SMOOTH, n[0], n[1], n[2], error));
    a->margin = KF_SPREAD_TAPS * a->spacing;
    KF_TRY(launch(picture, FIND_OCCUPIED, a->blocks[0], a->blocks[1], a->blocks[2], error));
    KF_TRY(launch(picture, PART_THIN, n[0], n[1], n[2], error));
    KF_TRY(launch(picture, SPREAD_THIN, n[0], n[1], n[2], error));
    a->margin = 0;
    KF_TRY(launch(picture, FIND_OCCUPIED, a->blocks[0], a->blocks[1], a->blocks[2], error));
    for (a->plane = n[up] - 1; a->plane >= 0; a->plane--)
        KF_TRY(launch(picture, CAST_SHADE, n[up == 0 ? 1 : 0], n[up == 2 ? 1 : 2], 1, error));
    KF_TRY(launch(picture, DRAW, a->width, a->height, 1, error));
    return kf_backend_synchronize(picture->backend, error);
}

kf_status kf_smoke_picture_write(kf_smoke_picture *picture, const kf_buffer *density, const kf_buffer *paint,
                                 const kf_solid_pose *pose, const char *path, kf_error *error) {
    picture->arguments.density = kf_buffer_address((kf_buffer *)density);
    picture->arguments.paint = paint == NULL ? NULL : kf_buffer_address((kf_buffer *)paint);
    set_pose(picture, pose);
    KF_TRY(draw(picture, error));
    kf_canvas canvas;
    kf_canvas_begin(&canvas, picture->arguments.width, picture->arguments.height, (kf_colour){0, 0, 0});
    kf_status status = kf_buffer_download(picture->pixels, 0, canvas.pixels,
                                          (size_t)canvas.width * (size_t)canvas.height * 3, error);
    if (status == KF_OK) status = kf_canvas_write_png(&canvas, path, error);
    kf_canvas_free(&canvas);
    return status;
}
