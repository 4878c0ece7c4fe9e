# Compiles kernels quickly for tests of many variants whose times do not matter, as unit tests of many variants do (not
# with KFTUNE_TEST_ALL, nor where the tool is missing, as in a bundle). Tests source it. One that takes thousands of
# steps says kernel_level=-O2 first.
quick_compiler=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")/tools/quick_compiler.sh
[ -n "${KFTUNE_TEST_ALL+set}" ] || [ ! -x "$quick_compiler" ] ||
    export KFTUNE_CC=${KFTUNE_CC:-${kernel_level:+"'"}$quick_compiler${kernel_level:+"' $kernel_level"}}
