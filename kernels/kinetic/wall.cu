/* Friction by a law of the wall at a solid at rest with links, where y+ is large. reflect_and_find takes
 * the place of reflect_links (links.cu), and apply_friction has an item for each node beside the surface. It
 * writes the returning populations too, unless the solid is thin: then place_links does so after it.
 *
 * The law is Reichardt's (Z. angew. Math. Mech. 31, 208, 1951) with the constants of Lee and Moser (J. Fluid
 * Mech. 774, 395, 2015). It gives the traction from the velocity at a node about two cells from the surface.
 * Links reflect as at a wall that moves with the fluid of their own node, so they exchange little but
 * pressure. A force on the node supplies the difference. The tangential force on the surface is then the
 * law's traction times the area that the node's links represent. Bounce-back with a law's traction is the
 * idea of Han, Ooka and Kikumoto (Fluid Dyn. Res. 53, 045506, 2021), for flat walls on the grid. The force
 * and the moving wall are ours, for any position of the surface.
 *
 * Where a surface is at an angle to the grid, its links form a staircase. Pressure and stream push on the
 * steps of this staircase, and these pushes have parts along the surface. Such parts do not cancel over
 * neighbouring nodes, because nodes further out see a faster stream: fluid along such a wall would drive
 * itself. The force on the node balances these parts, too.
 *
 * A layer is slower at its wall than further out, and goes the same way. A node on a step of the staircase
 * can become faster: fluid leaves through its links, more fluid follows, and nothing limits its speed. So the
 * part of a node's speed above 1.25 of the speed that the law reads meets no slip, and the node gets no push.
 * In a corner of the staircase a node can turn against the stream: a vortex of two cells, which such pushes
 * spin faster and faster. So what flows against the stream meets no slip and is not pushed on, either. Across
 * the stream a node has slip and is pushed on up to half of the speed that the law reads.
 *
 * A layer along the surface crosses the steps: it passes through the links of a tread and comes out of those
 * of the riser. Its mass must be the same there. With each node's own velocity it is not, because the node at
 * the riser is further out and faster. The wall then emits fluid without momentum on one side of a solid, and
 * absorbs it on the other, which grows on gentle slopes. So a source at the node makes the mass that its
 * links pass that of an even layer, with the speed that the law gives a quarter of a cell from the surface.
 */
#include "arguments.h"
typedef kf_wall_arguments kf_module_arguments; /* what the functions of the headers take */

#include "law.h"
#include "links.h"

#define KF_BACK (1.0 / KF_UNIT)

KF_FUNCTION double kf_surface(const kf_wall_arguments *a, int wall, int number) {
    return a->wall.surface[(long long)number * a->wall.count + wall];
}
KF_FUNCTION double *kf_found(const kf_wall_arguments *a, int wall, int number) {
    return a->wall.found + (long long)number * a->wall.count + wall;
}

/* Loads a node's populations after its collision, by code. */
KF_FUNCTION void kf_load_node(const kf_wall_arguments *a, kf_index node, kf_real f[27]) {
    KF_UNROLL
    for (int code = 0; code < 27; code++)
        f[code] = kf_from_store(*kf_address(a, a->populations.source, kf_directions[code], node));
}

/* Returns the density - 1 of a node's populations, and their momentum. */
KF_FUNCTION double kf_sum_node(const kf_real f[27], double momentum[3]) {
    double density = 0.0;
    momentum[0] = momentum[1] = momentum[2] = 0.0;
    KF_UNROLL
    for (int code = 0; code < 27; code++) {
        const double one = (double)f[code] * KF_BACK;
        density += one;
        momentum[0] += (code % 3 - 1) * one;
        momentum[1] += (code / 3 % 3 - 1) * one;
        momentum[2] += (code / 9 - 1) * one;
    }
    return density;
}

KF_FUNCTION double kf_dot(const double one[3], const double other[3]) {
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}
/* Removes the component along the normal from a vector. */
KF_FUNCTION void kf_lay_along(const double normal[3], double vector[3]) {
    const double out = vector[0] * normal[0] + vector[1] * normal[1] + vector[2] * normal[2];
    for (int i = 0; i < 3; i++)
        vector[i] -= out * normal[i];
}

#if KF_LAYERS
#include "layer.h"
#endif

/* Applies the law to the velocity at the node that it reads: share, friction velocity, direction and speed.
 */
KF_FUNCTION void kf_find_friction(const kf_wall_arguments *a, int x) {
    double along[3];
    kf_real f[27];
    const double normal[3] = {kf_surface(a, x, 0), kf_surface(a, x, 1), kf_surface(a, x, 2)};
    kf_load_node(a, ((const kf_index *)a->wall.seen)[x], f);
    const double density = 1.0 + kf_sum_node(f, along);
    kf_lay_along(normal, along);
    const double momentum = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]),
                 height = kf_surface(a, x, 4), speed = momentum / density;
    const double y_plus = kf_law_height(speed * height / a->wall.viscosity);
    *kf_found(a, x, 0) = kf_law_share(y_plus);
    *kf_found(a, x, 1) = height > 0.0 ? y_plus * a->wall.viscosity / height : 0.0;
    for (int i = 0; i < 3; i++)
        *kf_found(a, x, 2 + i) = momentum > 0.0 ? along[i] / momentum : 0.0;
    *kf_found(a, x, 5) = speed;
#if KF_LAYERS
    kf_follow_layer(a, x);
#endif
}

/* Returns the number of warps that the nodes take. */
KF_FUNCTION int kf_turns(const kf_wall_arguments *a) {
    return (a->wall.count + KF_LINK_LANES - 1) / KF_LINK_LANES;
}

/* The part that depends only on the last step: evaluates the law at the nodes beside the surface, and does
 * what reflect_links does. Warps of nodes and of their links take turns, because they read the same lines of
 * memory. */
KF_SCALAR_KERNEL(reflect_and_find, kf_wall_arguments) {
    (void)y, (void)z;
    const int warp = x / KF_LINK_LANES, lane = x % KF_LINK_LANES, turn = warp / a->wall.turn,
              place = warp % a->wall.turn, turns = kf_turns(a);
    if (turn >= turns) {
        kf_rest_node(a, x - turns * a->wall.turn * KF_LINK_LANES);
    } else if (place == 0) {
        const int wall = turn * KF_LINK_LANES + lane;
        if (wall < a->wall.count) kf_find_friction(a, wall);
    } else {
        const int link = (turn * (a->wall.turn - 1) + place - 1) * KF_LINK_LANES + lane;
        if (link < a->links.count)
            ((kf_real *)a->links.value)[link] =
                kf_reflect_link(a, link, kf_load_constant(a->links.code + link));
    }
}

/* Sums over the cut links of a node. */
typedef struct kf_exchange {
    /* Over all cut links: force on the solid beyond that of the fluid at rest; sum of 6 w c. */
    double force[3], area[3];
    double mass;  /* mass that the wall's velocity adds */
    unsigned cut; /* a bit for each direction, by code */
} kf_exchange;

KF_FUNCTION double kf_weight_of(const int c[3]) {
    return (double)KF_WEIGHT(c[0], c[1], c[2]);
}
KF_FUNCTION double kf_dot_link(const int c[3], const double vector[3]) {
    return c[0] * vector[0] + c[1] * vector[1] + c[2] * vector[2];
}

/* Returns a node's link with that number, or -1 if it has none. */
KF_FUNCTION int kf_link_of_node(const kf_wall_arguments *a, int wall, int number) {
    const kf_link_row *row = a->wall.rows + (long long)(wall / KF_LINK_LANES) * KF_LINK_ROWS + number;
    const unsigned nodes = kf_load_constant(&row->nodes), before = (1U << wall % KF_LINK_LANES) - 1;
    return nodes & (before + 1) ? kf_load_constant(&row->first) + kf_count_bits(nodes & before) : -1;
}

/* KF_LINKS_TOGETHER of a node's links, whose loads are in flight together, and the indices of the next ones.
 */
typedef struct kf_few_links {
    int link[KF_LINKS_TOGETHER], next[KF_LINKS_TOGETHER]; /* -1: none */
    int word[KF_LINKS_TOGETHER];
    kf_real share[KF_LINKS_TOGETHER], mean[KF_LINKS_TOGETHER]; /* links.share, links.memory */
    kf_real value[KF_LINKS_TOGETHER], pair[KF_LINKS_TOGETHER]; /* links.value */
} kf_few_links;
KF_FUNCTION void kf_find_links(const kf_wall_arguments *a, int wall, int number,
                               int link[KF_LINKS_TOGETHER]) {
    KF_UNROLL
    for (int i = 0; i < KF_LINKS_TOGETHER; i++)
        link[i] = kf_link_of_node(a, wall, number + i);
}
/* Loads the node's links from that number on, which few->next has, and finds the next ones. */
KF_FUNCTION void kf_load_links(const kf_wall_arguments *a, int wall, int number, kf_few_links *few) {
    const kf_real *memory = (const kf_real *)a->links.memory, *value = (const kf_real *)a->links.value;
    KF_UNROLL
    for (int i = 0; i < KF_LINKS_TOGETHER; i++) {
        const int link = few->link[i] = few->next[i];
        if (link < 0) continue;
        few->word[i] = kf_load_constant(a->links.code + link);
        few->share[i] = kf_load_constant((const kf_real *)a->links.share + link);
        few->mean[i] = memory[link];
        few->value[i] = value[link];
        few->pair[i] = value[a->links.count + link];
    }
    kf_find_links(a, wall, number + KF_LINKS_TOGETHER, few->next);
}
/* Returns the code of a link's direction, and sets the direction. */
KF_FUNCTION int kf_link_direction(int word, int c[3]) {
    const int code = kf_link_code(word, 0);
    c[0] = code % 3 - 1;
    c[1] = code / 3 % 3 - 1;
    c[2] = code / 9 - 1;
    return code;
}

/* Adds a wall's velocity to the reflection of link number i of the few: at once with half-way bounce-back, by
 * its mean over steps with interpolation. */
KF_FUNCTION void kf_move_wall(const kf_wall_arguments *a, const int c[3], const double velocity[3],
                              kf_few_links *few, int i, kf_exchange *sum) {
    const int link = few->link[i];
    const double q = (double)few->share[i], moved = 6.0 * kf_weight_of(c) * kf_dot_link(c, velocity);
    const int behind = few->word[i] >> (KF_LINK_CODE_BITS * KF_LINK_NODES);
    const double part = behind > 1   ? 2.0 / ((1.0 + q) * (1.0 + q)) - 1.0
                        : behind > 0 ? 2.0 / (1.0 + 2.0 * q) - 1.0
                                     : 0.0;
    const double late = part * moved * (1.0 / KF_LINK_STEPS), all = -moved - late;
    kf_real *value = (kf_real *)a->links.value;
    ((kf_real *)a->links.memory)[link] = few->mean[i] - (kf_real)late;
    value[link] = few->value[i] + (kf_real)(all * KF_UNIT);
    few->pair[i] += (kf_real)(all * KF_UNIT);
    value[a->links.count + link] = few->pair[i];
    sum->mass += all;
}

/* Makes a node's links reflect as at a wall with that velocity, if `moves`, and sums what they exchange. */
KF_FUNCTION void kf_exchange_links(const kf_wall_arguments *a, int wall, int moves, const double velocity[3],
                                   kf_exchange *sum) {
    kf_few_links few;
    for (int i = 0; i < 3; i++)
        sum->force[i] = sum->area[i] = 0.0;
    sum->mass = 0.0;
    sum->cut = 0;
    kf_find_links(a, wall, 0, few.next);
    for (int number = 0; few.next[0] >= 0; number += KF_LINKS_TOGETHER) {
        kf_load_links(a, wall, number, &few);
        KF_UNROLL
        for (int i = 0; i < KF_LINKS_TOGETHER; i++) {
            int c[3];
            if (few.link[i] < 0) break;
            sum->cut |= 1U << kf_link_direction(few.word[i], c);
            if (moves)
                kf_move_wall(a, c, velocity, &few, i, sum);
            else if (!a->links.thin)
                kf_put_back(a, few.word[i], few.link[i], few.value[i]);
            for (int j = 0; j < 3; j++) {
                sum->area[j] += 6.0 * kf_weight_of(c) * c[j];
                sum->force[j] += c[j] * ((double)few.pair[i] * KF_BACK);
            }
        }
    }
}

/* Adds a force and a source of mass to the populations f that leave a node, along links that are not cut. */
KF_FUNCTION void kf_push_node(const kf_wall_arguments *a, kf_index node, const kf_real f[27],
                              const double force[3], double source, unsigned cut) {
    KF_UNROLL
    for (int code = 0; code < 27; code++) {
        const int c[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
        const double more = kf_weight_of(c) * (3.0 * kf_dot_link(c, force) + source);
        if (!(cut >> code & 1))
            *kf_address(a, a->populations.source, kf_directions[code], node) =
                kf_to_store((kf_real)((double)f[code] + more * KF_UNIT));
    }
}

/* Adds them to the returning populations of the others. So the node gains the same momentum, however many of
 * its links are cut. */
KF_FUNCTION void kf_push_links(const kf_wall_arguments *a, int wall, const double force[3], double source) {
    kf_real *value = (kf_real *)a->links.value;
    int link[KF_LINKS_TOGETHER];
    for (int number = 0; number < KF_LINK_ROWS; number += KF_LINKS_TOGETHER) {
        int word[KF_LINKS_TOGETHER];
        kf_real pushed[KF_LINKS_TOGETHER];
        kf_index inner[KF_LINKS_TOGETHER];
        kf_find_links(a, wall, number, link);
        if (link[0] < 0) break;
        KF_UNROLL
        for (int i = 0; i < KF_LINKS_TOGETHER; i++) {
            if (link[i] < 0) continue;
            word[i] = kf_load_constant(a->links.code + link[i]);
            inner[i] = kf_link_node(a, link[i], KF_LINK_NODES - 1);
            pushed[i] = value[link[i]];
        }
        KF_UNROLL
        for (int i = 0; i < KF_LINKS_TOGETHER; i++) {
            int c[3];
            if (link[i] < 0) break;
            (void)kf_link_direction(word[i], c);
            pushed[i] -= (kf_real)(kf_weight_of(c) * (3.0 * kf_dot_link(c, force) - source) * KF_UNIT);
            if (a->links.thin)
                value[link[i]] = pushed[i];
            else
                kf_put_back_at(a, word[i], inner[i], pushed[i]);
        }
    }
}

/* Returns the source of mass that makes what a node's links pass that of an even layer of velocity `layer`.
 * Links that move with `velocity` take its product with their area from the node, and a force on the node
 * takes its own product. The part of a source that goes to the wall comes back and pushes the node. `force`
 * loses the part of this push along the surface, and `out` is set to the part along the normal. */
KF_FUNCTION double kf_even_mass(const double area[3], const double normal[3], const double velocity[3],
                                const double layer[3], double force[3], double out[3]) {
    double along[3] = {area[0], area[1], area[2]};
    kf_lay_along(normal, along);
    const double surplus = kf_dot(area, velocity) - kf_dot(area, layer) + kf_dot(area, force),
                 source = surplus / (1.0 - kf_dot(along, along) / 3.0);
    for (int i = 0; i < 3; i++) {
        force[i] += source / 3.0 * along[i];
        out[i] = -source / 3.0 * (area[i] - along[i]);
    }
    return source;
}

/* Sets the tangential force on the surface at each node to the law's traction, weighted with the law's
 * share. The last warp's nodes come first, which reflect_and_find read last, but a GPU measured no
 * difference to the usual order. */
KF_SCALAR_KERNEL(apply_friction, kf_wall_arguments) {
    (void)y, (void)z;
    x = kf_turns(a) * KF_LINK_LANES - KF_LINK_LANES - x + 2 * (x % KF_LINK_LANES);
    if (x >= a->wall.count) return;
    const kf_index node = kf_load_constant((const kf_index *)a->wall.node + x);
    double along[3], momentum[3], velocity[3], force[3], across[3];
    kf_real f[27];
    kf_exchange sum;
    kf_load_node(a, node, f);
    const double normal[3] = {kf_surface(a, x, 0), kf_surface(a, x, 1), kf_surface(a, x, 2)};
    const double friction_velocity = *kf_found(a, x, 1),
                 traction = friction_velocity * friction_velocity * kf_surface(a, x, 3);
    const double density = kf_sum_node(f, momentum);
    for (int i = 0; i < 3; i++) {
        along[i] = *kf_found(a, x, 2 + i);
        velocity[i] = momentum[i] / (1.0 + density);
    }
    kf_lay_along(normal, velocity);
    const double share = *kf_found(a, x, 0), own = kf_dot(velocity, along), seen = *kf_found(a, x, 5),
                 excess = kf_law_excess(own, seen);
    double aside[3];
    for (int i = 0; i < 3; i++)
        aside[i] = velocity[i] - own * along[i];
    const double own_aside = sqrt(kf_dot(aside, aside)), excess_aside = kf_law_excess_across(own_aside, seen);
    for (int i = 0; i < 3; i++) {
        aside[i] = own_aside > 0.0 ? aside[i] / own_aside : 0.0;
        velocity[i] = share * (velocity[i] - excess * along[i] - excess_aside * aside[i]);
    }
    kf_exchange_links(a, x, share > 0.0, velocity, &sum);
    for (int i = 0; i < 3; i++)
        across[i] = sum.force[i];
    kf_lay_along(normal, sum.force);
    for (int i = 0; i < 3; i++)
        force[i] = share * (sum.force[i] - traction * along[i]);
    const double push = kf_dot(force, along), less = (1.0 - kf_law_push(own, seen, push)) * push,
                 push_aside = kf_dot(force, aside),
                 less_aside =
                     push_aside > 0.0 ? (1.0 - kf_law_push_across(own_aside, seen)) * push_aside : 0.0;
    for (int i = 0; i < 3; i++) {
        force[i] -= less * along[i] + less_aside * aside[i];
        a->wall.force[(long long)(3 + i) * a->wall.count + x] = sum.force[i] - force[i];
    }
    double mass = 0.0, out[3] = {0.0, 0.0, 0.0};
    if (share > 0.0) {
        double slope, pushed[3] = {force[0], force[1], force[2]};
        const double height = KF_LAW_LAYER_AT * friction_velocity / a->wall.viscosity,
                     speed = share * friction_velocity * kf_law_with_slope(height, &slope);
        const double layer[3] = {speed * along[0], speed * along[1], speed * along[2]};
        const double source = kf_even_mass(sum.area, normal, velocity, layer, pushed, out);
        mass = sum.mass - kf_dot(sum.area, pushed) + source;
        kf_push_node(a, node, f, pushed, source, sum.cut);
        kf_push_links(a, x, pushed, source);
    }
    for (int i = 0; i < 3; i++) {
        a->wall.force[(long long)i * a->wall.count + x] = force[i] + out[i];
        a->wall.force[(long long)(6 + i) * a->wall.count + x] = across[i] - sum.force[i] - out[i];
    }
#if KF_TEAM
    if (!kf_is_own(a, node)) mass = 0.0;
#endif
    kf_atomic_add_int64_of_warp((kf_int64 *)a->links.sums + x / 32 % KF_LOAD_SLOTS,
                                fabs(mass) < KF_FORCE_LIMIT ? kf_fixed_point(mass, KF_FORCE_SCALE) : 0);
}

/* Adds the forces of all nodes to a load: those beside what links bring, or friction. */
KF_SCALAR_KERNEL(load_wall, kf_wall_arguments) {
    (void)y, (void)z;
    kf_int64 load[KF_LOAD_SUMS];
    kf_begin_load(load);
    for (int n = x; n < a->wall.count; n += a->extent[0]) {
        int nx, ny, nz;
        double force[3];
        if (!kf_is_own(a, ((const kf_index *)a->wall.node)[n])) continue;
        for (int i = 0; i < 3; i++)
            force[i] = a->wall.force[(long long)(a->wall.friction ? 3 + i : i) * a->wall.count + n] *
                       (a->wall.friction ? -1.0 : 1.0);
        kf_position(a, ((const kf_index *)a->wall.node)[n], &nx, &ny, &nz);
        kf_load_at(a, load, force[0], force[1], force[2], nx, ny, nz);
    }
    kf_add_load(a, x, load);
}
