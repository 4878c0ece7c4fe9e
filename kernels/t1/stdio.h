/* Replaces the host's header. NVRTC has printf without it. */
