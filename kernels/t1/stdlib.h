/* Stands for the host's header, of which device code needs nothing. */
