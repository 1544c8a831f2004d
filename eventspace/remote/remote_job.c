/* remote_job.c - the rounds of a job (job.h) over the lines of remote tasks:
 * both sides of
 *
 *     a task says          and hears
 *     put KEY TEXT
 *     fence                go, when all have said it
 *     get RANK KEY         = TEXT
 *     leave
 *
 * Texts are in hexadecimal digits: an error may have several lines. Tasks are
 * heard one after the other, each up to its fence: nobody has to wait for
 * another but there. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/launch/job_internal.h"
#include "eventspace/remote/remote_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define KEY_BYTES 48
#define DIGITS (2 * EVENTSPACE_JOB_TEXT) /* of a text, with a 0 */

_Static_assert(DIGITS + KEY_BYTES + 8 < EVENTSPACE_REMOTE_LINE,
               "a text has room in a line");

/* --- the task --- */

static struct {
    FILE *in, *to;
    uint32_t rank, size;
} line;

static int lines_open(uint32_t *rank, uint32_t *size)
{
    *rank = line.rank;
    *size = line.size;
    return 0;
}

static int gone(void)
{
    return pastset_fail(PASTSET_EHOST,
                        "whoever has started this task is gone, or the "
                        "connection to it");
}

static int said(void)
{
    return fflush(line.to) == 0 ? 0 : gone();
}

static int hear(char text[EVENTSPACE_REMOTE_LINE])
{
    if (!fgets(text, EVENTSPACE_REMOTE_LINE, line.in))
        return gone();
    text[strcspn(text, "\n")] = '\0';
    return 0;
}

static int lines_put(uint32_t rank, const char *key, const char *text)
{
    char digits[DIGITS];

    (void)rank;
    sodium_bin2hex(digits, sizeof(digits), (const unsigned char *)text,
                   strnlen(text, EVENTSPACE_JOB_TEXT - 1));
    fprintf(line.to, "put %s %s\n", key, digits);
    return said();
}

static int lines_fence(void)
{
    char text[EVENTSPACE_REMOTE_LINE];
    int err;

    fputs("fence\n", line.to);
    err = said();
    if (!err)
        err = hear(text);
    return err || strcmp(text, "go") == 0 ? err : gone();
}

static int lines_get(uint32_t rank, const char *key,
                     char text[EVENTSPACE_JOB_TEXT])
{
    char heard[EVENTSPACE_REMOTE_LINE];
    size_t bytes = 0;
    int err;

    fprintf(line.to, "get %u %s\n", rank, key);
    err = said();
    if (!err)
        err = hear(heard);
    if (err)
        return err;
    if (strncmp(heard, "= ", 2) != 0 ||
        sodium_hex2bin((unsigned char *)text, EVENTSPACE_JOB_TEXT - 1,
                       heard + 2, strlen(heard + 2), NULL, &bytes, NULL) != 0)
        return pastset_fail(PASTSET_EPROTO,
                            "cannot read what another task has said");
    text[bytes] = '\0';
    return 0;
}

static void lines_close(void)
{
    fputs("leave\n", line.to);
    fflush(line.to);
}

static const job_server lines = {.open = lines_open,
                                 .put = lines_put,
                                 .fence = lines_fence,
                                 .get = lines_get,
                                 .close = lines_close,
                                 .apart = true};

int eventspace_remote_job_open(eventspace_job **out, FILE *in, FILE *to,
                               uint32_t rank, uint32_t size)
{
    line.in = in;
    line.to = to;
    line.rank = rank;
    line.size = size;
    return eventspace__job_open_at(out, &lines, 0);
}

/* --- who serves them --- */

typedef struct entry {
    char key[KEY_BYTES], digits[DIGITS];
} entry;

/* A task, and what it has put. */
typedef struct served {
    eventspace_remote *task;
    entry *entries;
    size_t count;
    bool left;
} served;

typedef struct service {
    served *tasks;
    uint32_t count;
    int64_t until_ns;
} service;

static entry *entry_find(const served *of, const char *key)
{
    for (size_t i = of->count; i-- > 0;)
        if (strcmp(of->entries[i].key, key) == 0)
            return &of->entries[i];
    return NULL;
}

static int entry_put(served *of, const char *key, const char *digits)
{
    entry *e = entry_find(of, key);

    if (!e) {
        entry *more = pastset_array_grow(of->entries, of->count, sizeof(*more));
        if (!more)
            return pastset_no_memory("for what tasks have said");
        of->entries = more;
        e = &more[of->count++];
        snprintf(e->key, sizeof(e->key), "%s", key);
    }
    snprintf(e->digits, sizeof(e->digits), "%s", digits);
    return 0;
}

/* A line of a task. */
static int take(const service *s, served *from, const char *text)
{
    char key[KEY_BYTES], digits[DIGITS] = "";
    const entry *found;
    uint32_t of;

    if (sscanf(text, "put %47s %959[0-9a-f]", key, digits) >= 1)
        return entry_put(from, key, digits);
    if (sscanf(text, "get %u %47s", &of, key) != 2 || of >= s->count)
        return pastset_fail(PASTSET_EPROTO,
                            "%s says \"%.60s\": is it of another version of "
                            "EventSpace?",
                            eventspace__remote_name(from->task), text);
    found = entry_find(&s->tasks[of], key);
    return eventspace_remote_say(from->task, "= %s\n",
                                 found ? found->digits : "");
}

/* Up to the next fence, or to its leave. */
static int task_hear(const service *s, served *from)
{
    char text[EVENTSPACE_REMOTE_LINE];
    int err = 0;

    while (!err) {
        err = eventspace_remote_line(from->task, text, s->until_ns);
        if (err || strcmp(text, "fence") == 0)
            break;
        from->left = strcmp(text, "leave") == 0;
        if (from->left)
            break;
        err = take(s, from, text);
    }
    return err;
}

/* `*on`: there is another one; else all have left. */
static int round_serve(service *s, bool *on)
{
    int err = 0;

    *on = false;
    for (uint32_t i = 0; i < s->count && !err; i++)
        if (!s->tasks[i].left)
            err = task_hear(s, &s->tasks[i]);
    for (uint32_t i = 0; i < s->count && !err; i++) {
        if (s->tasks[i].left)
            continue;
        *on = true;
        err = eventspace_remote_say(s->tasks[i].task, "go\n");
    }
    return err;
}

int eventspace_remote_serve(eventspace_remote *const *tasks, uint32_t count,
                            int64_t until_ns)
{
    service s = {.count = count, .until_ns = until_ns};
    bool on = true;
    int err = 0;

    s.tasks = calloc((size_t)count + 1, sizeof(*s.tasks));
    if (!s.tasks)
        return pastset_no_memory("for %u tasks", count);
    for (uint32_t i = 0; i < count; i++)
        s.tasks[i].task = tasks[i];
    while (!err && on)
        err = round_serve(&s, &on);
    for (uint32_t i = 0; i < count; i++)
        free(s.tasks[i].entries);
    free(s.tasks);
    return err;
}
