#include <unistd.h>

#include "harness/cli/command.h"

int main(int argc, char **argv) {
    const int status = kf_main(argc, argv);
    /* After a fault a library's exit handler may stumble over what was left half done. The program would end
     * with a signal, and a script would see nothing else. All output is flushed by now. */
    if (status == KF_MACHINE) _exit(status);
    return status;
}
