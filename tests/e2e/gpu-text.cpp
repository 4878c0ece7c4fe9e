/* Runs steps of a level of nested grids and its coupling, from the kernels' text for GPUs, on a cpu
 * (gpu-text.sh). It is compiled three times: PART 1 is the coupling, 2 the flow, 3 the driver, which
 * prints a hash of all that matters of both levels, and a weighted sum. With KF_COARSE_MOMENTS the coarser
 * level holds moments, with KF_NODES_PER_THREAD=2 threads have two nodes, and with KF_LAYERS nodes of a box
 * have a viscosity of turbulence. */
#if PART == 1 || PART == 2
#include "gpu-text.h"
#include TEXT

#else
#include "nested_arguments.h"
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#endif

#if PART == 1
static const kf_nested_arguments *given;
/* Runs the blocks of refine (0) or coarsen (1), one after the other. */
extern "C" void cross(int what, const void *arguments) {
    given = (const kf_nested_arguments *)arguments;
    const int threads = what ? KF_COARSEN_THREADS : KF_REFINE_THREADS;
    for (int block = 0; block < given->extent[0] / threads; block++) {
        blockIdx = {(unsigned)block, 0, 0};
        if (what)
            run_block(threads, [] { coarsen(*given); });
        else
            run_block(threads, [] { refine(*given); });
    }
}
/* Gives the populations of a node that holds these moments. */
extern "C" void spread(const double *moments, double *populations) {
    kf_moments m;
    memcpy(&m, moments, sizeof m);
    kf_to_populations(&m, 0, 0.0, 0.0, 0.0, populations, 1);
}
#elif PART == 2
/* Runs the threads of a step one after the other, as they share nothing. */
extern "C" void flow(const void *arguments) {
    const kf_flow_arguments *a = (const kf_flow_arguments *)arguments;
    blockDim = {32, 1, 1};
    threadIdx = {0, 0, 0};
    for (int z = 0; z < a->extent[2]; z++)
        for (int y = 0; y < a->extent[1]; y++)
            for (int x = 0; x < a->extent[0]; x++) {
                blockIdx = {(unsigned)x / 32, (unsigned)y, (unsigned)z};
                threadIdx.x = (unsigned)x % 32;
                stream_collide(*a);
            }
}
#else
extern "C" void cross(int what, const void *arguments);
extern "C" void flow(const void *arguments);
extern "C" void spread(const double *moments, double *populations);

#ifndef KF_COARSE_MOMENTS
#define KF_COARSE_MOMENTS 0
#endif
#ifndef KF_NODES_PER_THREAD
#define KF_NODES_PER_THREAD 1
#endif
enum { MOMENTS = 9, COARSE_WORDS = KF_COARSE_MOMENTS ? MOMENTS : 27 };
enum { GHOSTS = 2, ROOM = 3, CYCLES = 2 };
/* The box has ghosts on all sides but the low one across z, which lies at a face of the domain. */
static const int first[3] = {4, 4, 0}, cells[3] = {17, 5, 4}, coarse_nodes[3] = {25, 13, 8};
static const int low_ghosts[3] = {GHOSTS, GHOSTS, 0};

struct grid {
    int nodes[3], words;
    int row_pitch;
    long long plane_pitch, capacity;
    std::vector<double> f[2];
};
static grid coarse, fine;
static std::vector<double> fresh, inner, eddies;
static kf_nested_arguments crossing;
static kf_flow_arguments step;

static double some() {
    return 1e-3 * (drand48() - 0.5);
}
static void begin(grid *g, const int nodes[3], int words) {
    memcpy(g->nodes, nodes, sizeof g->nodes);
    g->words = words;
    g->row_pitch = (nodes[0] + 2 + 31) / 32 * 32;
    g->plane_pitch = (long long)g->row_pitch * (nodes[1] + 2);
    g->capacity = g->plane_pitch * (nodes[2] + 2) + 64;
    for (std::vector<double> &f : g->f) {
        f.resize(words * g->capacity);
        for (double &value : f)
            value = some();
    }
}
static kf_kinetic_grid grid_of(const grid &g) {
    return {{g.nodes[0], g.nodes[1], g.nodes[2]}, g.row_pitch};
}
static kf_kinetic_memory memory_of(const grid &g) {
    return {g.plane_pitch, 32, g.capacity};
}
/* Layout csoa, groups of 32 nodes. */
static double &value_at(grid &g, int which, int i, int x, int y, int z) {
    const long long k = 32 + x + (long long)g.row_pitch * (y + 1) + g.plane_pitch * (z + 1);
    return g.f[which][(k / 32 * g.words + i) * 32 + k % 32];
}
/* Sets the coarser level to states that moments can hold. */
static void set_coarse() {
    for (int z = 0; z < coarse.nodes[2]; z++)
        for (int y = 0; y < coarse.nodes[1]; y++)
            for (int x = 0; x < coarse.nodes[0]; x++) {
                double values[27], moments[MOMENTS];
                for (double &moment : moments)
                    moment = some();
                if (KF_COARSE_MOMENTS)
                    memcpy(values, moments, sizeof moments);
                else
                    spread(moments, values);
                for (int i = 0; i < COARSE_WORDS; i++)
                    value_at(coarse, 0, i, x, y, z) = values[i];
            }
}

/* Returns whether a still finer grid, ROOM nodes from the sides, has a node this far from its own sides. */
static bool is_covered(int x, int y, int z, int far) {
    const int at[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < step.covered.low[axis] + (low_ghosts[axis] ? far : 0) ||
            at[axis] >= step.covered.high[axis] - far)
            return false;
    return true;
}
/* Writes what that finer grid supplies: its outermost layer. */
static void overwrite_rim(int which) {
    for (int z = 0; z < fine.nodes[2]; z++)
        for (int y = 0; y < fine.nodes[1]; y++)
            for (int x = 0; x < fine.nodes[0]; x++)
                for (int i = 0; i < 27 && is_covered(x, y, z, 0) && !is_covered(x, y, z, 1); i++)
                    value_at(fine, which, i, x, y, z) = some();
}

static uint64_t hash = 1469598103934665603ULL;
static long wrong;
static double sum;
static void add(double value) {
    static uint64_t weight = 1;
    uint64_t bits;
    weight = weight * 6364136223846793005ULL + 1442695040888963407ULL;
    sum += value * (double)(int64_t)weight / 9.2e18;
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 1099511628211ULL;
    wrong += !(fabs(value) < 1.0);
}
/* Adds the populations of a node, also of one that holds moments. */
static void add_node(grid &g, int which, int x, int y, int z) {
    double values[27], populations[27];
    for (int i = 0; i < g.words; i++)
        values[i] = value_at(g, which, i, x, y, z);
    if (g.words == MOMENTS) spread(values, populations);
    for (int i = 0; i < 27; i++)
        add(g.words == MOMENTS ? populations[i] : values[i]);
}
/* Adds the valid part of a grid after a step of the finer level, except for what a finer one covers. */
static void add_grid(grid &g, int which, int left_out) {
    const bool finer = &g == &fine;
    for (int z = finer && low_ghosts[2] ? left_out : 0; z < g.nodes[2] - left_out; z++)
        for (int y = left_out; y < g.nodes[1] - left_out; y++)
            for (int x = left_out; x < g.nodes[0] - left_out; x++)
                if (!(finer && is_covered(x, y, z, 1))) add_node(g, which, x, y, z);
}

static void add_box(const int low[3], const int high[3], int across) {
    kf_nested_arguments *a = &crossing;
    const int b = a->boxes, u = across == 0 ? 1 : 0, v = across == 2 ? 1 : 2;
    for (int axis = 0; axis < 3; axis++) {
        a->low[b][axis] = low[axis];
        a->size[b][axis] = high[axis] - low[axis];
        if (a->size[b][axis] <= 0) return;
    }
    const int *size = a->size[b];
    a->across[b] = across;
    a->start[b + 1] = a->start[b] + (size[u] + KF_NESTED_TILE_U - 1) / KF_NESTED_TILE_U *
                                        ((size[v] + KF_NESTED_TILE_V - 1) / KF_NESTED_TILE_V) * size[across];
    a->boxes++;
}
/* Couples a layer of cells beside the box (refine), or its outermost layer (coarsen). */
static void cross_layer(int what) {
    int low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = what == 0 && low_ghosts[axis] ? -1 : 0;
        high[axis] = cells[axis] + (what == 0);
    }
    crossing.boxes = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const int end = high[axis], from = low[axis];
        if (low_ghosts[axis]) {
            high[axis] = from + 1;
            add_box(low, high, axis);
            low[axis] = from + 1;
        }
        high[axis] = end;
        low[axis] = end - 1;
        add_box(low, high, axis);
        low[axis] = from + (low_ghosts[axis] ? 1 : 0);
        high[axis] = end - 1;
    }
    crossing.extent[0] = crossing.start[crossing.boxes] * (what ? KF_COARSEN_THREADS : KF_REFINE_THREADS);
    crossing.extent[1] = crossing.extent[2] = 1;
    crossing.scale = what ? 1.9 : 0.53;
    cross(what, &crossing);
}

static void set_arguments() {
    crossing.every = 1;
    crossing.coarse.grid = grid_of(coarse);
    crossing.coarse.memory = memory_of(coarse);
    crossing.coarse.populations = {coarse.f[0].data(), coarse.f[0].data()};
    crossing.fine.grid = step.grid = grid_of(fine);
    crossing.fine.memory = step.memory = memory_of(fine);
    crossing.fine.populations = {fine.f[0].data(), fine.f[0].data()};
    crossing.fine.edges = {fresh.data(), inner.data()};
    for (int axis = 0; axis < 3; axis++) {
        crossing.first[axis] = first[axis];
        crossing.ghosts[axis] = low_ghosts[axis];
        crossing.end[axis] = fine.nodes[axis] - GHOSTS;
        step.covered.low[axis] = low_ghosts[axis] ? low_ghosts[axis] + ROOM : 0;
        step.covered.high[axis] = fine.nodes[axis] - GHOSTS - ROOM;
        step.extent[axis] = fine.nodes[axis];
    }
    crossing.fine.covered = step.covered;
    step.extent[0] = (fine.nodes[0] + KF_NODES_PER_THREAD - 1) / KF_NODES_PER_THREAD;
    step.layer.box = {{5, 3, 1}, {fine.nodes[0] - 4, fine.nodes[1] - 3, fine.nodes[2] - 2}};
    eddies.resize((size_t)fine.nodes[0] * fine.nodes[1] * fine.nodes[2]);
    for (double &viscosity : eddies)
        viscosity = 0.01 * drand48();
    step.layer.eddies = eddies.data();
    step.part.planes = fine.nodes[2];
    step.part.rows = fine.nodes[1];
    step.part.parts = 1;
    step.scalars.double_precision.shear_rate = 1.9;
    step.scalars.double_precision.high_order_rate = 1.0;
    for (int face = 0; face < 6; face++)
        step.faces.velocity[face][0] = 0.05;
    step.faces.specular_share[4] = 0.3;
}

/* Takes step p of two, from one grid to the other. */
static void take_step(int p) {
    step.populations = {fine.f[p].data(), fine.f[1 - p].data()};
    step.edges = {p == 0 ? fresh.data() : nullptr, p == 1 ? inner.data() : nullptr};
    for (int axis = 0; axis < 3; axis++) {
        step.needed.low[axis] = low_ghosts[axis] ? p + 1 : 0;
        step.needed.high[axis] = fine.nodes[axis] - p - 1;
    }
    flow(&step);
    overwrite_rim(1 - p);
    add_grid(fine, 1 - p, p + 1);
}

/* Usage: gpu-text [fresh|inner]. Spoils what is stored there before it is read. */
int main(int count, char **arguments) {
    const char *spoilt = count > 1 ? arguments[1] : "";
    int nodes[3];
    srand48(7);
    for (int axis = 0; axis < 3; axis++)
        nodes[axis] = 2 * cells[axis] + low_ghosts[axis] + GHOSTS;
    begin(&fine, nodes, 27);
    begin(&coarse, coarse_nodes, COARSE_WORDS);
    srand48(8); /* independent of the numbers drawn so far */
    set_coarse();
    const size_t rows = (size_t)nodes[1] * nodes[2], middle = (size_t)nodes[2] / 2 * nodes[1] + nodes[1] / 2;
    fresh.assign(2 * 27 * rows * 2, NAN);
    inner.assign(2 * 27 * rows * 4, NAN);
    set_arguments();
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        cross_layer(0);
        if (strcmp(spoilt, "fresh") == 0) fresh[2 * (rows + middle) + 1] += 1e-3; /* what enters the box */
        take_step(0);
        take_step(1);
        if (strcmp(spoilt, "inner") == 0) inner[4 * (rows + middle)] += 1e-3;
        cross_layer(1);
        add_grid(coarse, 0, 0);
    }
    printf("%016llx, sum %.15g, %ld values are no numbers\n", (unsigned long long)hash, sum, wrong);
    return 0;
}
#endif
