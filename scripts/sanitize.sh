#!/bin/bash
# Runs test programs that were built with sanitizers. usage: scripts/sanitize.sh BUILD PROGRAM... [--alone PROGRAM...]
# Takes what scripts/run-tests.sh takes. Leaks of libraries are listed, with reasons, in tests/sanitizers/leaks.supp.
set -u
root=$(realpath "$(dirname "$0")/..")
export ASAN_OPTIONS=strict_string_checks=1:check_initialization_order=1
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/leaks.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
export KFTUNE_CC=${KFTUNE_CC:-$root/tests/tools/quick_compiler.sh}
export KFTUNE_TEST_LIMIT=${KFTUNE_TEST_LIMIT:-600}
# ThreadSanitizer wants its addresses where they were when it was built.
exec setarch -R bash "$root/scripts/run-tests.sh" "$@"
