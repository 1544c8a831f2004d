/* status.h - the one table of status codes, and the text behind a failure.
 *
 * Every function of every layer that can fail returns 0 or one of these
 * negative codes. What failed, and what to do about it, is said in a text
 * that the failing call leaves behind for its thread. The codes of the upper
 * layers stand here too, so that a number means the same everywhere: in a
 * return value, on the wire, and in the status of a trace tuple.
 *
 * Threads: the text belongs to the calling thread. */
#ifndef PASTSET_STATUS_H
#define PASTSET_STATUS_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(code, name, text) */
#define PASTSET_STATUS_MAP(X)                                                  \
    X(-1, EINVAL, "invalid argument")                                          \
    X(-2, ENOMEM, "out of memory")                                             \
    X(-3, ENOSPC, "no space left in the space, its file or its disk")          \
    X(-4, EIO, "input or output failed")                                       \
    X(-5, EAGAIN, "would have to wait")                                        \
    X(-6, ETIMEDOUT, "the deadline passed")                                    \
    X(-7, EEXPIRED, "the tuple was dropped before it was read")                \
    X(-8, EDELETED, "the element was deleted")                                 \
    X(-9, EEXIST, "the name is taken")                                         \
    X(-10, ENOENT, "no such thing")                                            \
    X(-11, ETYPE, "the tuple does not fit the element's type")                 \
    X(-12, EROOM, "the buffer is too small for the tuple")                     \
    X(-13, EFULL, "the element has grown to its limit")                        \
    X(-14, ECANCELED, "the operation was canceled")                            \
    X(-15, ENOTSUP, "not supported here")                                      \
    X(-16, EFORMAT, "the file is damaged or of another kind or version")       \
    X(-17, EMAP, "the path map is wrong")                                      \
    X(-18, EHOST, "a process has died or cannot be reached")                   \
    X(-19, EAUTH, "the peer does not know the key of this run")                \
    X(-20, EPROTO, "the peer broke the protocol")                              \
    X(-21, ELIMIT, "a limit of this process was reached")                      \
    X(-22, EAPP, "a thread of the application failed")                         \
    X(-23, EPERM, "the path map does not allow it")

enum pastset_status {
    PASTSET_OK = 0,
#define PASTSET_X(code, name, text) PASTSET_##name = (code),
    PASTSET_STATUS_MAP(PASTSET_X)
#undef PASTSET_X
};

/* The name of a code ("PASTSET_EINVAL") and its general text. Never NULL. */
const char *pastset_status_name(int status);
const char *pastset_status_text(int status);

/* The text of the calling thread's last failure; "" when there was none.
 * Valid until this thread's next failing call. */
const char *pastset_error(void);

/* Stores a text for the calling thread and returns `status`, so that a
 * failing function can end with `return pastset_fail(PASTSET_EINVAL, ...)`.
 * Texts longer than 1,000 bytes are cut. */
int pastset_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts one more sentence in front of the present text: what was being done
 * when it failed. Returns `status`. */
int pastset_fail_while(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fails with PASTSET_ENOMEM and the text "no memory " and what for:
 * `pastset_no_memory("for %u processes", count)`. */
int pastset_no_memory(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* The code for a value of errno. */
int pastset_status_from_errno(int error);

/* Fails with what errno says of a file: "NAME: text". Never 0. */
int pastset_fail_errno(const char *name);

#ifdef __cplusplus
}
#endif

#endif
