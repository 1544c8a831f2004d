/* call_lines.c - which line of the program each path's calls stand in: see
 * waiting_internal.h. The names of recorded calls of MPI end in it, and have
 * with whom they communicate in between: "MPI_Send to rank_3 at ring.c:240".
 * Ranks that run one program share its lines, but not their paths. */
#include "scopes/waiting/waiting_internal.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/status.h"

#define AT " at "

typedef struct line {
    uint32_t number;
    bool *failed;
    UT_hash_handle hh;
    char text[]; /* the call and where it stands */
} line;

static int no_memory(void)
{
    return pastset_no_memory("for the lines of calls");
}

/* Where it stands, in a name; NULL: it does not say. */
static const char *place_in(const char *name)
{
    const char *place = NULL;

    if (strncmp(name, "MPI_", 4) != 0)
        return NULL;
    while ((name = strstr(name, AT)))
        place = name++;
    return place;
}

static int line_add(line **lines, const char *text, size_t length, line **out)
{
    bool failed = false;
    line *l = malloc(sizeof(*l) + length);

    if (!l)
        return no_memory();
    l->number = HASH_COUNT(*lines);
    l->failed = &failed;
    memcpy(l->text, text, length);
    HASH_ADD_KEYPTR(hh, *lines, l->text, length, l);
    if (failed) {
        free(l);
        return no_memory();
    }
    *out = l;
    return 0;
}

static int line_find(line **lines, const char *name, uint32_t *number)
{
    const char *place = place_in(name);
    size_t call, length;
    char *text;
    line *found;
    int err = 0;

    if (!place)
        return 0;
    call = strcspn(name, " ");
    length = call + strlen(place);
    text = malloc(length);
    if (!text)
        return no_memory();
    memcpy(text, name, call);
    memcpy(text + call, place, length - call);
    HASH_FIND(hh, *lines, text, length, found);
    if (!found)
        err = line_add(lines, text, length, &found);
    free(text);
    if (!err)
        *number = found->number;
    return err;
}

static void lines_free(line **lines)
{
    line *l, *next;

    HASH_ITER(hh, *lines, l, next)
    {
        HASH_DEL(*lines, l);
        free(l);
    }
}

static int callers_make(scopes__waiting *w)
{
    const scopes_topology *topology = w->in.topology;

    w->callers =
        calloc((size_t)w->line_count * topology->thread_count / 8 + 1, 1);
    if (!w->callers)
        return no_memory();
    for (uint32_t i = 0; i < topology->top_count; i++) {
        size_t bit = (size_t)w->lines[i] * topology->thread_count +
                     topology->tops[i].thread;
        if (w->lines[i] != SCOPES_MISSING)
            w->callers[bit / 8] |= (uint8_t)(1 << (bit % 8));
    }
    return 0;
}

int scopes__waiting_lines(scopes__waiting *w)
{
    const scopes_topology *topology = w->in.topology;
    line *lines = NULL;
    int err = 0;

    w->lines = malloc(((size_t)topology->top_count + 1) * sizeof(*w->lines));
    if (!w->lines)
        return no_memory();
    for (uint32_t i = 0; i < topology->top_count && !err; i++) {
        w->lines[i] = SCOPES_MISSING;
        err = line_find(&lines, topology->tops[i].name, &w->lines[i]);
    }
    w->line_count = HASH_COUNT(lines);
    lines_free(&lines);
    return err ? err : callers_make(w);
}
