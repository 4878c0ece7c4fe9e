#include "harness/cli/command.h"

int main(int argc, char **argv) {
    return kf_main(argc, argv);
}
