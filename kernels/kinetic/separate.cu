/* The unfused plans: `baseline` (section 3.2 of the paper) and `paper` (its Algorithm 2). Streaming,
 * macroscopic fields and collision are separate passes. The collision is one kernel (KF_SPLIT 1), or
 * KF_SPLIT kernels (2 to 4) that each compute a part of the populations from stored moments. */
#include "arguments.h"
typedef kf_flow_arguments kf_module_arguments; /* the headers' functions take this type */

#include "collision.h"

#define KF_COPY_PULL(i, name, cx, cy, cz)                                                                    \
    kf_set_population(a, a->populations.target, i, k,                                                        \
                      kf_population(a, a->populations.source, i, k - kf_offset(a, cx, cy, cz)));

KF_KERNEL(stream, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_EACH_VELOCITY(KF_COPY_PULL)
}

#define KF_STORE_STATE                                                                                       \
    ((kf_real *)a->fields.density)[k] = deviation;                                                           \
    kf_set_component(a, a->fields.velocity, 0, k, ux);                                                       \
    kf_set_component(a, a->fields.velocity, 1, k, uy);                                                       \
    kf_set_component(a, a->fields.velocity, 2, k, uz);

/* Computes density and velocity of the streamed populations (source), before any force of the solid. */
KF_KERNEL(macroscopic, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_EACH_VELOCITY(KF_LOAD_HERE)
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    KF_STORE_STATE
}

/* Does the same, and sets the force to zero for the scatter that follows. */
KF_KERNEL(macroscopic_reset, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_EACH_VELOCITY(KF_LOAD_HERE)
    KF_DECLARE_STATE(KF_BODY_X, KF_BODY_Y, KF_BODY_Z)
    KF_STORE_STATE
    kf_set_component(a, a->fields.force, 0, k, KF_R(0.0));
    kf_set_component(a, a->fields.force, 1, k, KF_R(0.0));
    kf_set_component(a, a->fields.force, 2, k, KF_R(0.0));
}

/* Declares the state at a node from the stored fields and the force on it. */
#define KF_LOAD_STATE                                                                                        \
    const kf_real deviation = ((const kf_real *)a->fields.density)[k];                                       \
    const kf_real gx = kf_component(a, a->fields.force, 0, k), gy = kf_component(a, a->fields.force, 1, k),  \
                  gz = kf_component(a, a->fields.force, 2, k);                                               \
    const kf_real half_per_density = KF_R(0.5) / (KF_R(1.0) + deviation);                                    \
    const kf_real ux = kf_component(a, a->fields.velocity, 0, k) + gx * half_per_density,                    \
                  uy = kf_component(a, a->fields.velocity, 1, k) + gy * half_per_density,                    \
                  uz = kf_component(a, a->fields.velocity, 2, k) + gz * half_per_density;                    \
    const kf_real Fx = KF_BODY_X + gx, Fy = KF_BODY_Y + gy, Fz = KF_BODY_Z + gz;

#if KF_SPLIT == 1
/* Collides the streamed populations (source) into target. */
KF_KERNEL(collide, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_ASK_LAYER
    KF_LOAD_STATE
    KF_EACH_VELOCITY(KF_LOAD_HERE)
    KF_COLLIDE(1);
    KF_EACH_VELOCITY(KF_STORE_TARGET)
}

#define KF_STORE_CHANGE(i, name, cx, cy, cz)                                                                 \
    kf_set_population(a, a->populations.target, i, k,                                                        \
                      f_##name - kf_population(a, a->populations.source, i, k));
#define KF_ADD_CHANGE(i, name, cx, cy, cz)                                                                   \
    kf_set_population(a, a->populations.target, i, k,                                                        \
                      kf_population(a, a->populations.target, i, k) +                                        \
                          kf_population(a, a->populations.source, i, k));

/* Computes the collision terms Omega + G alone, for the plan baseline. */
KF_KERNEL(collision_terms, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_ASK_LAYER
    KF_LOAD_STATE
    KF_EACH_VELOCITY(KF_LOAD_HERE)
    KF_COLLIDE(1);
    KF_EACH_VELOCITY(KF_STORE_CHANGE)
}

/* Adds these terms to the populations. */
KF_KERNEL(update, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_EACH_VELOCITY(KF_ADD_CHANGE)
}
#else

#if KF_COLLISION == KF_BGK_COLLISION
/* BGK has no moments to store, so each part relaxes its own populations from the stored fields. */
#define KF_PART_BEGIN                                                                                        \
    const kf_real omega = KF_PARAMETER(a, shear_rate), source = KF_R(1.0) - KF_R(0.5) * omega;               \
    KF_EQUILIBRIUM_FACTORS(x, ux)                                                                            \
    KF_EQUILIBRIUM_FACTORS(y, uy)                                                                            \
    KF_EQUILIBRIUM_FACTORS(z, uz)
#define KF_PART(i, name, cx, cy, cz)                                                                         \
    if (KF_PART_OF(i) == KF_PART_NUMBER) {                                                                   \
        kf_real f_##name = kf_population(a, a->populations.source, i, k);                                    \
        KF_RELAX_BGK(i, name, cx, cy, cz)                                                                    \
        KF_ADD_BGK_SOURCE(i, name, cx, cy, cz)                                                               \
        kf_set_population(a, a->populations.target, i, k, f_##name);                                         \
    }
#else
/* Computes the moments after relaxation, and stores them in place of populations in target. */
KF_KERNEL(moments, kf_module_arguments) {
    KF_IN_PART
    const kf_index k = kf_node(a, x, y, z);
    KF_ASK_LAYER
    KF_LOAD_STATE
    KF_EACH_VELOCITY(KF_LOAD_HERE)
    KF_TO_MOMENTS(ux, uy, uz)
    KF_RELAX_MOMENTS;
    KF_EACH_VELOCITY(KF_STORE_TARGET)
}
#define KF_PART_BEGIN                                                                                        \
    (void)Fx, (void)Fy, (void)Fz, (void)deviation;                                                           \
    KF_EACH_VELOCITY(KF_LOAD_HERE)                                                                           \
    KF_FROM_MOMENTS(ux, uy, uz)
#define KF_PART(i, name, cx, cy, cz)                                                                         \
    if (KF_PART_OF(i) == KF_PART_NUMBER) kf_set_population(a, a->populations.target, i, k, f_##name);
#endif

/* Returns the part that has population i: i n / 27 of n parts. With two parts these are Omega_0 ..
 * Omega_13 and Omega_14 .. Omega_26. */
#define KF_PART_OF(i) ((i)*KF_SPLIT / 27)
#define KF_COLLIDE_PART                                                                                      \
    KF_IN_PART                                                                                               \
    const kf_index k = kf_node(a, x, y, z);                                                                  \
    KF_LOAD_STATE                                                                                            \
    KF_PART_BEGIN                                                                                            \
    KF_EACH_VELOCITY(KF_PART)
#define KF_PART_NUMBER 0
KF_KERNEL(collide_part_1, kf_module_arguments) {
    KF_COLLIDE_PART
}
#undef KF_PART_NUMBER
#define KF_PART_NUMBER 1
KF_KERNEL(collide_part_2, kf_module_arguments) {
    KF_COLLIDE_PART
}
#if KF_SPLIT > 2
#undef KF_PART_NUMBER
#define KF_PART_NUMBER 2
KF_KERNEL(collide_part_3, kf_module_arguments) {
    KF_COLLIDE_PART
}
#endif
#if KF_SPLIT > 3
#undef KF_PART_NUMBER
#define KF_PART_NUMBER 3
KF_KERNEL(collide_part_4, kf_module_arguments) {
    KF_COLLIDE_PART
}
#endif
#endif
