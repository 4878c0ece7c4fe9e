# Kernels of many variants, of which only who makes what counts: compiled quickly, as unit tests of many variants have them (not
# with KFTUNE_TEST_ALL, nor where the tool is not, as in a bundle). Sourced by scripts that ask for it, not run; one that takes
# thousands of steps says kernel_level=-O2 first.
quick_compiler=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")/tools/quick_compiler.sh
[ -n "${KFTUNE_TEST_ALL+set}" ] || [ ! -x "$quick_compiler" ] ||
    export KFTUNE_CC=${KFTUNE_CC:-${kernel_level:+"'"}$quick_compiler${kernel_level:+"' $kernel_level"}}
