/* Replaces the host's header. Device code needs nothing from it. */
