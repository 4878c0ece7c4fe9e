/* Runs code in a child and catches what it writes to stdout or stderr. */
#ifndef KF_TESTS_UNIT_CAUGHT_CHILD_H
#define KF_TESTS_UNIT_CAUGHT_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct caught_child {
    pid_t process; /* 0 in the child itself */
    int output;
} caught_child;

/* Forks. What the child writes to this stream, which is STDOUT_FILENO or STDERR_FILENO, comes to the parent.
 */
static inline caught_child fork_caught(int stream) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    (void)fflush(NULL);
    const caught_child child = {fork(), ends[0]};
    assert_true(child.process >= 0);
    if (child.process == 0) {
        (void)dup2(ends[1], stream);
        (void)close(ends[0]);
    }
    (void)close(ends[1]);
    return child;
}

/* Reads what the child writes, of which `said` keeps size - 1 bytes, and waits for its end. Returns its
 * status as of waitpid. */
static inline int end_caught(caught_child child, char *said, size_t size) {
    size_t length = 0;
    int status = -1;
    for (ssize_t more = 1; more > 0; length += more > 0 ? (size_t)more : 0)
        more = read(child.output, said + length, size - 1 - length);
    said[length] = '\0';
    (void)close(child.output);
    assert_int_equal(waitpid(child.process, &status, 0), child.process);
    return status;
}

#endif
