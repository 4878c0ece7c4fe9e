/* Stands for HIP's header, of which device code that is CUDA C too needs nothing. */
