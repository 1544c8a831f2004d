/* remote_fuzz.c - two tasks on other machines say anything at all, the first up
 * to a byte of 255 and the second behind it: that ends in an error, or well if
 * both have left; and what is said to them is made of lines of its own. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "eventspace/remote/remote_internal.h"
#include "pastset/waiter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { BYTES_MAX = 1024 }; /* what they get for it has room in a socket */

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static int task_make(eventspace_remote **task, const uint8_t *data,
                     size_t bytes)
{
    int ends[2];

    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there is a socket");
    must(write(ends[1], data, bytes) == (ssize_t)bytes, "it has room");
    shutdown(ends[1], SHUT_WR);
    must(eventspace__remote_of(task, "n1", ends[0]) == 0, "there is memory");
    return ends[1];
}

static void heard_check(int fd)
{
    char line[EVENTSPACE_REMOTE_LINE];
    FILE *heard = fdopen(fd, "r");

    while (fgets(line, sizeof(line), heard))
        must(strcmp(line, "go\n") == 0 ||
                 (strncmp(line, "= ", 2) == 0 &&
                  line[2 + strspn(line + 2, "0123456789abcdef")] == '\n'),
             "lines are of ours");
    fclose(heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const uint8_t *cut = bytes ? memchr(data, 255, bytes) : NULL;
    size_t first = cut ? (size_t)(cut - data) : bytes;
    eventspace_remote *tasks[2];
    int others[2];
    int err;

    if (bytes > BYTES_MAX)
        return 0;
    others[0] = task_make(&tasks[0], data, first);
    others[1] = task_make(&tasks[1], data + first + (cut != NULL),
                          bytes - first - (cut != NULL));
    err = eventspace_remote_serve(tasks, 2, pastset_now_ns() + 1000000000);
    must(err || (memmem(data, first, "leave\n", 6) && cut &&
                 memmem(cut, bytes - first, "leave\n", 6)),
         "it ends well when both have left");
    for (int i = 0; i < 2; i++) {
        eventspace_remote_end(tasks[i]);
        heard_check(others[i]);
    }
    return 0;
}
