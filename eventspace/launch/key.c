/* key.c - the key of a run, in a file for processes that are started
 * separately: 64 hex digits and a newline. Only its owner may have access to
 * it: a key that others can read proves nothing. */
#include "eventspace/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/launch/launch_internal.h"
#include "pastset/status.h"

#define HEX_DIGITS (2 * EVENTSPACE_KEY_BYTES)

static int fail_file(const char *file)
{
    int error = errno;
    return pastset_fail(
        error == EEXIST ? PASTSET_EEXIST : PASTSET_EIO,
        "%s: cannot %s the key: %s%s", file,
        error == EEXIST || error == ENOSPC ? "write" : "open", strerror(error),
        error == EEXIST ? ": use it, or remove it to make a new one" : "");
}

int eventspace_key_create(const char *file)
{
    uint8_t key[EVENTSPACE_KEY_BYTES];
    char text[HEX_DIGITS + 1];
    int err = 0;
    int fd;

    if (sodium_init() < 0)
        return pastset_fail(PASTSET_EIO, "no source of random numbers");
    fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_file(file);
    randombytes_buf(key, sizeof(key));
    sodium_bin2hex(text, sizeof(text), key, sizeof(key));
    text[HEX_DIGITS] = '\n';
    errno = ENOSPC; /* when less than all is written */
    if (write(fd, text, sizeof(text)) != (ssize_t)sizeof(text))
        err = fail_file(file);
    if (close(fd) != 0 && !err)
        err = fail_file(file);
    if (err)
        unlink(file);
    sodium_memzero(key, sizeof(key));
    sodium_memzero(text, sizeof(text));
    return err;
}

/* Looked at when it is open, so that it is the file that is read. */
static int check_owner_only(int fd, const char *file)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return fail_file(file);
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return pastset_fail(
            PASTSET_EAUTH,
            "%s: others than its owner have access to this key (mode %04o): "
            "run `chmod 600 %s`, or make a new key if they may have read it",
            file, (unsigned)status.st_mode & 07777, file);
    return 0;
}

int eventspace_key_load(uint8_t key[EVENTSPACE_KEY_BYTES], const char *file)
{
    char text[HEX_DIGITS + 2]; /* a newline, and what must not be there */
    size_t used = 0, key_bytes = 0;
    ssize_t got = 1;
    int err;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO? */

    if (fd < 0)
        return fail_file(file);
    err = check_owner_only(fd, file);
    while (!err && got > 0 && used < sizeof(text)) {
        got = read(fd, text + used, sizeof(text) - used);
        if (got < 0)
            err = fail_file(file);
        else
            used += (size_t)got;
    }
    close(fd);
    if (!err && used > 0 && text[used - 1] == '\n')
        used--;
    if (!err && (used != HEX_DIGITS ||
                 sodium_hex2bin(key, EVENTSPACE_KEY_BYTES, text, used, NULL,
                                &key_bytes, NULL) != 0 ||
                 key_bytes != EVENTSPACE_KEY_BYTES))
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s: not a key: it has %s%zu characters, and not "
                           "just %d hex digits; make one with `eventspace key "
                           "FILE`",
                           file, used == sizeof(text) ? "at least " : "", used,
                           HEX_DIGITS);
    sodium_memzero(text, sizeof(text));
    return err;
}
