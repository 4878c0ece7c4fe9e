/* Replaces HIP's header. Device code that is also CUDA C needs nothing from it. */
