/* text.c - see text.h. */
#include "pastset/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef struct text {
    char **out;
    size_t *out_bytes;
    char *data; /* room for a zero byte more */
    size_t bytes, room;
    bool failed;
} text;

static bool grow(text *t, size_t more)
{
    size_t room = t->room;
    char *data;

    while (room - t->bytes < more)
        room *= 2;
    if (room == t->room)
        return true;
    data = realloc(t->data, room + 1);
    if (!data)
        return false;
    t->data = data;
    t->room = room;
    return true;
}

/* A text that lacks something is not gone on with. */
static ssize_t text_write(void *cookie, const char *data, size_t bytes)
{
    text *t = cookie;

    t->failed = t->failed || !grow(t, bytes);
    if (t->failed)
        return 0;
    memcpy(t->data + t->bytes, data, bytes);
    t->bytes += bytes;
    return (ssize_t)bytes;
}

static int text_close(void *cookie)
{
    text *t = cookie;
    bool failed = t->failed;

    t->data[t->bytes] = '\0';
    *t->out = t->data;
    *t->out_bytes = t->bytes;
    free(t);
    return failed ? -1 : 0;
}

FILE *pastset_text_begin(char **out, size_t *bytes)
{
    static const cookie_io_functions_t functions = {.write = text_write,
                                                    .close = text_close};
    text *t = calloc(1, sizeof(*t));
    FILE *file = NULL;

    *out = NULL;
    *bytes = 0;
    if (!t)
        return NULL;
    *t = (text){.out = out, .out_bytes = bytes, .room = 255};
    t->data = malloc(t->room + 1);
    if (t->data)
        file = fopencookie(t, "w", functions);
    if (!file) {
        free(t->data);
        free(t);
    }
    return file;
}

bool pastset_text_end(FILE *file)
{
    bool failed = ferror(file) != 0;

    return fclose(file) == 0 && !failed;
}
