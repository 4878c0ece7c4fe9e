#include "solver/smoke/box_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"

enum { LEAF = 4, MOST_NEIGHBOURS = 64 };
/* The cosine of 35 degrees. */
static const double LEAST_COSINE = 0.82;

typedef struct builder {
    const kf_mesh *mesh;
    kf_box_tree *tree;
    /* The triangles. Those of a tree node are consecutive. */
    uint32_t *order;
    /* [triangle][3]; their length is twice the area. */
    double *normals;
    /* [vertex + 1]: the index of its first triangle in around. */
    uint32_t *start;
    uint32_t *around;
} builder;

static const double *corner(const kf_mesh *mesh, size_t triangle, size_t c) {
    return mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + c];
}

/* --- Normals ----------------------------------------------------------------------------------------------
 */

static void find_normals(builder *b) {
    for (size_t t = 0; t < b->mesh->triangle_count; t++) {
        const double *p = corner(b->mesh, t, 0), *q = corner(b->mesh, t, 1), *r = corner(b->mesh, t, 2);
        for (size_t i = 0; i < 3; i++) {
            const size_t k = (i + 1) % 3, l = (i + 2) % 3;
            b->normals[3 * t + i] = (q[k] - p[k]) * (r[l] - p[l]) - (q[l] - p[l]) * (r[k] - p[k]);
        }
    }
}

static void find_neighbours(builder *b) {
    const kf_mesh *mesh = b->mesh;
    for (size_t c = 0; c < 3 * mesh->triangle_count; c++)
        b->start[mesh->triangles[c] + 1]++;
    for (size_t v = 0; v < mesh->vertex_count; v++)
        b->start[v + 1] += b->start[v];
    uint32_t *next = kf_allocate((mesh->vertex_count + 1) * sizeof *next);
    memcpy(next, b->start, (mesh->vertex_count + 1) * sizeof *next);
    for (size_t c = 0; c < 3 * mesh->triangle_count; c++)
        b->around[next[mesh->triangles[c]]++] = (uint32_t)(c / 3);
    free(next);
}

/* Returns the normal at a triangle's corner: the mean over triangles around the vertex that do not make an
 * edge with this one. */
static void corner_normal(const builder *b, size_t triangle, size_t c, float normal[3]) {
    const uint32_t vertex = b->mesh->triangles[3 * triangle + c];
    const double *own = b->normals + 3 * triangle;
    double sum[3] = {own[0], own[1], own[2]};
    const uint32_t first = b->start[vertex], beyond = b->start[vertex + 1];
    for (uint32_t i = first; i < beyond && beyond - first <= MOST_NEIGHBOURS; i++) {
        const double *other = b->normals + 3 * (size_t)b->around[i];
        if (b->around[i] == triangle ||
            kf_dot(own, other) < LEAST_COSINE * sqrt(kf_dot(own, own) * kf_dot(other, other)))
            continue;
        for (int a = 0; a < 3; a++)
            sum[a] += other[a];
    }
    const double size = kf_length(sum);
    for (int a = 0; a < 3; a++)
        normal[a] = size > 0 ? (float)(sum[a] / size) : 0;
}

/* --- Boxes ------------------------------------------------------------------------------------------------
 */

static double middle(const builder *b, uint32_t triangle, int axis) {
    double sum = 0;
    for (size_t c = 0; c < 3; c++)
        sum += corner(b->mesh, triangle, c)[axis];
    return sum;
}

/* Finds the box around triangles first to first + count - 1, a little wider than rounding. */
static void bound(const builder *b, size_t first, size_t count, kf_box_node *node) {
    for (int a = 0; a < 3; a++) {
        node->low[a] = INFINITY;
        node->high[a] = -INFINITY;
    }
    for (size_t i = first; i < first + count; i++) {
        for (size_t c = 0; c < 3; c++) {
            const double *p = corner(b->mesh, b->order[i], c);
            for (int a = 0; a < 3;
                 a++) { /* wider than the triangle by more than the rounding of its corners */
                const float slack = 1e-4F + 1e-6F * fabsf((float)p[a]);
                node->low[a] = fminf(node->low[a], (float)p[a] - slack);
                node->high[a] = fmaxf(node->high[a], (float)p[a] + slack);
            }
        }
    }
}

/* Sorts partly: the triangles before `half` have their middle at or below those after it (Hoare's selection).
 */
static void halve(const builder *b, size_t first, size_t count, int axis) {
    size_t low = first, high = first + count - 1;
    const size_t half = first + count / 2;
    while (low < high) {
        const double pivot = middle(b, b->order[low + (high - low) / 2], axis);
        size_t i = low, j = high;
        for (;;) {
            while (middle(b, b->order[i], axis) < pivot)
                i++;
            while (middle(b, b->order[j], axis) > pivot)
                j--;
            if (i >= j) break;
            const uint32_t swapped = b->order[i];
            b->order[i++] = b->order[j];
            b->order[j--] = swapped;
        }
        if (half <= j)
            high = j;
        else
            low = j + 1;
    }
}

/* Halves keep the tree's depth below the logarithm of the number of triangles. */
static void build_node(builder *b, size_t index, size_t first, size_t count) {
    kf_box_tree *tree = b->tree;
    bound(b, first, count, &tree->nodes[index]);
    tree->nodes[index].first = (int)first;
    tree->nodes[index].count = (int)count;
    if (count <= LEAF) return;
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (tree->nodes[index].high[a] - tree->nodes[index].low[a] >
            tree->nodes[index].high[axis] - tree->nodes[index].low[axis])
            axis = a;
    halve(b, first, count, axis);
    const size_t children = tree->node_count;
    tree->node_count += 2;
    tree->nodes[index].first = (int)children;
    tree->nodes[index].count = 0;
    build_node(b, children, first, count / 2);
    build_node(b, children + 1, first + count / 2, count - count / 2);
}

static void store_triangles(const builder *b) {
    for (size_t i = 0; i < b->mesh->triangle_count; i++) {
        float *target = b->tree->triangles + KF_TRIANGLE_FLOATS * i;
        const size_t t = b->order[i];
        const double *p = corner(b->mesh, t, 0);
        for (size_t a = 0; a < 3; a++) {
            target[a] = (float)p[a];
            target[3 + a] = (float)(corner(b->mesh, t, 1)[a] - p[a]);
            target[6 + a] = (float)(corner(b->mesh, t, 2)[a] - p[a]);
        }
        for (size_t c = 0; c < 3; c++)
            corner_normal(b, t, c, target + 9 + 3 * c);
    }
}

/* Builds the tree of boxes around a mesh's triangles, through which rays pass. kf_box_tree_free frees it. */
void kf_box_tree_build(const kf_mesh *mesh, kf_box_tree *tree) {
    const size_t count = mesh->triangle_count;
    builder b = {.mesh = mesh, .tree = tree};
    *tree = (kf_box_tree){.node_count = 1, .triangle_count = count};
    tree->nodes = kf_allocate(2 * count * sizeof *tree->nodes);
    tree->triangles = kf_allocate(count * KF_TRIANGLE_FLOATS * sizeof *tree->triangles);
    b.order = kf_allocate(count * sizeof *b.order);
    b.normals = kf_allocate(3 * count * sizeof *b.normals);
    b.start = kf_allocate_zeroed(mesh->vertex_count + 1, sizeof *b.start);
    b.around = kf_allocate(3 * count * sizeof *b.around);
    for (size_t t = 0; t < count; t++)
        b.order[t] = (uint32_t)t;
    find_normals(&b);
    find_neighbours(&b);
    build_node(&b, 0, 0, count);
    store_triangles(&b);
    free(b.order);
    free(b.normals);
    free(b.start);
    free(b.around);
}

void kf_box_tree_free(kf_box_tree *tree) {
    free(tree->nodes);
    free(tree->triangles);
    *tree = (kf_box_tree){0};
}
