/* memory_stress.c - threads that take, resize and give back pieces of memory
 * while the trimmer takes all pages out, as the limit is one byte.
 *
 *     memory_stress [ROUNDS]
 *
 * Each thread knows what it has written into its pieces, and what is in the
 * file that it has mapped and lets be watched. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

#define THREADS 4
#define PIECES 6
#define STEPS 300
#define LARGE 4096
#define MOST (64u * 1024)
#define MAPPED (16u * 1024)

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "memory_stress: %s: %s\n", what, pastset_error());
    exit(1);
}

/* --- one thread --- */

typedef struct piece {
    unsigned char *bytes;
    size_t count;
    unsigned char seed;
} piece;

typedef struct worker {
    pthread_t thread;
    unsigned state; /* of a linear congruence */
    unsigned char *mapped;
    piece pieces[PIECES];
} worker;

static unsigned drawn(worker *w, unsigned below)
{
    w->state = w->state * 1664525u + 1013904223u;
    return (w->state >> 8) % below;
}

static unsigned char byte_at(const piece *p, size_t i)
{
    return (unsigned char)(p->seed + i * 31);
}

static void fill(piece *p, size_t from)
{
    for (size_t i = from; i < p->count; i++)
        p->bytes[i] = byte_at(p, i);
}

static void check(const piece *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        must(p->bytes[i] == byte_at(p, i), "what is in a piece");
}

static void give_back(piece *p)
{
    check(p, p->count);
    scopes__free(p->bytes);
    *p = (piece){0};
}

static void resize(worker *w, piece *p)
{
    size_t before = p->count, count = 1 + drawn(w, MOST);

    p->bytes = scopes__resize(p->bytes, count);
    must(p->bytes, "a piece");
    if (before == 0)
        p->seed = (unsigned char)drawn(w, 256);
    check(p, before < count ? before : count);
    p->count = count;
    fill(p, before < count ? before : count);
}

static void look(worker *w)
{
    must(scopes__memory_watch(w->mapped, MAPPED), "a watched mapping");
    scopes__memory_look();
    for (size_t i = 0; i < MAPPED; i++)
        must(w->mapped[i] == (unsigned char)i, "what is in a file");
    scopes__memory_unwatch(w->mapped);
}

static void *work(void *context)
{
    worker *w = context;

    for (unsigned i = 0; i < STEPS; i++) {
        piece *p = &w->pieces[drawn(w, PIECES)];
        unsigned what = drawn(w, 8);
        if (what == 0)
            look(w);
        else if (what < 3)
            give_back(p);
        else
            resize(w, p);
    }
    for (unsigned i = 0; i < PIECES; i++)
        give_back(&w->pieces[i]);
    return NULL;
}

/* --- all of them --- */

static unsigned char *file_map(int fd)
{
    void *mapped = mmap(NULL, MAPPED, PROT_READ, MAP_SHARED, fd, 0);

    must(mapped != MAP_FAILED, "a mapping");
    return mapped;
}

static void round_of(int fd, unsigned number, uint64_t limit)
{
    worker all[THREADS] = {{0}};

    must(!scopes__memory_limit(limit, LARGE), "the limit");
    for (unsigned i = 0; i < THREADS; i++) {
        all[i].state = number * THREADS + i;
        all[i].mapped = file_map(fd);
        must(!pthread_create(&all[i].thread, NULL, work, &all[i]), "a thread");
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        munmap(all[i].mapped, MAPPED);
    }
}

int main(int argc, char **argv)
{
    /* All in the file and no spares, most of it, and some of it; the process is
     * always too large for the first two. */
    static const uint64_t limits[] = {1, MOST * 8, MOST * 64};
    int rounds = argc > 1 ? atoi(argv[1]) : 12;
    FILE *file = tmpfile();

    must(file, "a file");
    for (unsigned i = 0; i < MAPPED; i++)
        putc((int)(i & 255), file);
    must(fflush(file) == 0, "a file");
    for (unsigned i = 0; i < (unsigned)rounds; i++)
        round_of(fileno(file), i, limits[i % 3]);
    must(!scopes__memory_limit(0, 0), "the end of the limit");
    fclose(file);
    return 0;
}
