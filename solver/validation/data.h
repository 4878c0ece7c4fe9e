/* Reference values of validation cases. */
#ifndef KF_SOLVER_VALIDATION_DATA_H
#define KF_SOLVER_VALIDATION_DATA_H

/* The Taylor-Green vortex at Re 1600: mean kinetic energy over V0^2 at t = 0, 0.25, ... in units of L / V0.
 * Spectral method on 512^3, case C3.5 of the High-Order CFD Workshop (DLR; file spectral_Re1600_512.gdiag of
 * barbagroup/PetIBM, sha256 60bfeaee...). */
enum { KF_TAYLOR_GREEN_ROWS = 53 };
extern const double kf_taylor_green_energy[KF_TAYLOR_GREEN_ROWS];

/* A velocity over the lid's speed, at a place along a centre line, in units of the cavity's edge. The lid is
 * at y = 1 and moves to +x. u is along x = 1/2, v along y = 1/2. */
typedef struct kf_profile_point {
    double place, velocity;
} kf_profile_point;

/* Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II. The last five points of their v at Re
 * 1000, beyond x = 0.9, are up to 0.0185 off the spectral solution below: their grid did not resolve the
 * boundary layer. */
enum { KF_GHIA_U = 15, KF_GHIA_V = 15, KF_GHIA_V_1000_GOOD = 10 };
extern const kf_profile_point kf_ghia_u_100[KF_GHIA_U], kf_ghia_u_1000[KF_GHIA_U];
extern const kf_profile_point kf_ghia_v_100[KF_GHIA_V], kf_ghia_v_1000[KF_GHIA_V];

/* Botella & Peyret, Computers & Fluids 27 (1998) 421, tables 9 and 10: a Chebyshev method that subtracts the
 * singularities of the corners. Turned so that the lid moves to +x, and given at Ghia's places. */
enum { KF_BOTELLA_U = 15, KF_BOTELLA_V = 15 };
extern const kf_profile_point kf_botella_u_1000[KF_BOTELLA_U], kf_botella_v_1000[KF_BOTELLA_V];

/* Albensoeder & Kuhlmann, J. Comput. Phys. 206 (2005) 536, cubic cavity at Re 1000, turned so that the lid is
 * at y = 1. */
enum { KF_ALBENSOEDER_U = 17, KF_ALBENSOEDER_V = 15 };
extern const kf_profile_point kf_albensoeder_u_1000[KF_ALBENSOEDER_U];
extern const kf_profile_point kf_albensoeder_v_1000[KF_ALBENSOEDER_V];

/* The tip, in m, of a column of water 1 m wide and 2 m high that is suddenly released, every
 * KF_DAM_BREAK_SECONDS from 0 on. Without friction, g = 9.81 m/s^2: potential flow by boundary elements.
 * tests/unit/test_dam_break_tip.c describes the method; nodes are 5 mm apart at the tip, and with 10 mm the
 * result is the same to 2 mm. */
#define KF_DAM_BREAK_SECONDS 0.02
enum { KF_DAM_BREAK_TIPS = 36 };
extern const double kf_dam_break_tip[KF_DAM_BREAK_TIPS];

#endif
