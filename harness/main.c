#include <unistd.h>

#include "harness/cli/command.h"

int main(int argc, char **argv) {
    const int status = kf_main(argc, argv);
    /* A library's exit handler that stumbles over what a fault left half done would end the program with a
     * signal, and that would be all that a script sees. All output is flushed by now. */
    if (status == KF_MACHINE) _exit(status);
    return status;
}
