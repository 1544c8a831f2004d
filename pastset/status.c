/* status.c - the table of codes, and a text buffer per thread. */
#include "pastset/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 1001

static _Thread_local char last_text[TEXT_BYTES];

const char *pastset_status_name(int status)
{
    switch (status) {
    case 0:
        return "PASTSET_OK";
#define X(code, name, text)                                                    \
    case code:                                                                 \
        return "PASTSET_" #name;
        PASTSET_STATUS_MAP(X)
#undef X
    default:
        return "PASTSET_UNKNOWN";
    }
}

const char *pastset_status_text(int status)
{
    switch (status) {
    case 0:
        return "no error";
#define X(code, name, text)                                                    \
    case code:                                                                 \
        return text;
        PASTSET_STATUS_MAP(X)
#undef X
    default:
        return "an unknown error";
    }
}

const char *pastset_error(void)
{
    return last_text;
}

int pastset_fail(int status, const char *format, ...)
{
    char text[TEXT_BYTES]; /* the arguments may point into last_text */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    strcpy(last_text, text);
    return status;
}

int pastset_fail_while(int status, const char *format, ...)
{
    char front[TEXT_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(front, sizeof(front), format, arguments);
    va_end(arguments);
    return pastset_fail(status, "%s: %s", front, last_text);
}

int pastset_no_memory(const char *format, ...)
{
    char what[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return pastset_fail(PASTSET_ENOMEM, "no memory %s", what);
}

int pastset_fail_errno(const char *name)
{
    int error = errno;
    int status = pastset_status_from_errno(error);

    return pastset_fail(status ? status : PASTSET_EIO, "%s: %s", name,
                        strerror(error));
}

int pastset_status_from_errno(int error)
{
    switch (error) {
    case 0:
        return 0;
    case ENOMEM:
        return PASTSET_ENOMEM;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return PASTSET_ENOSPC;
    case EEXIST:
        return PASTSET_EEXIST;
    case ENOENT:
        return PASTSET_ENOENT;
    case EINVAL:
        return PASTSET_EINVAL;
    case EAGAIN:
        return PASTSET_EAGAIN;
    case ETIMEDOUT:
        return PASTSET_ETIMEDOUT;
    case EMFILE:
    case ENFILE:
        return PASTSET_ELIMIT;
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENOTCONN:
        return PASTSET_EHOST;
    default:
        return PASTSET_EIO;
    }
}
