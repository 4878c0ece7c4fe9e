/* The direction from which a solid is seen, for smoke and for its surface. */
#ifndef KF_SOLVER_PICTURE_VIEWPOINT_H
#define KF_SOLVER_PICTURE_VIEWPOINT_H

typedef struct kf_viewpoint {
    /* In degrees: 0 from ahead (upstream), 90 from the side, 180 from behind, -90 from the other side. */
    double azimuth;
    double elevation; /* degrees above the horizon, -80 to 80 */
    double zoom;      /* 2: twice as near */
} kf_viewpoint;

/* The default viewpoint, somewhat from the front and from above. */
#define KF_VIEWPOINT_USUAL ((kf_viewpoint){.azimuth = 54.5, .elevation = 17.2, .zoom = 1.0})

#endif
