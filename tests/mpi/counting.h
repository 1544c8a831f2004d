/* counting.h - how programs of MPI count their calls and messages, for
 * counts_test.mjs.
 *
 * FOLDER/RANK.counts has a line for each name of a call ("call NAME COUNT
 * BYTES"), and for each peer ("sent PEER MESSAGES BYTES", "received PEER
 * MESSAGES BYTES"). BYTES of a call are -1 where a program does not count them.
 */
#ifndef COUNTING_H
#define COUNTING_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 700, PEERS = 16 };

static struct {
    const char *name;
    long count, bytes;
} calls[CALLS];
static struct {
    long messages, bytes;
} sent[PEERS], received[PEERS];
static int rank, size;
static const char *folder;

static void done_with(const char *name, int result, long bytes)
{
    int i = 0;

    if (result != MPI_SUCCESS) {
        fprintf(stderr, "%s: %d\n", name, result);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (calls[i].name && strcmp(calls[i].name, name) != 0)
        i++;
    calls[i].name = name;
    calls[i].count++;
    calls[i].bytes = bytes < 0 ? -1 : calls[i].bytes + bytes;
}

static inline void note_sent(int peer, long bytes)
{
    sent[peer].messages++;
    sent[peer].bytes += bytes;
}

static inline void note_received(int peer, long bytes)
{
    received[peer].messages++;
    received[peer].bytes += bytes;
}

static void write_down(void)
{
    char name[4096];
    FILE *out;

    snprintf(name, sizeof(name), "%s/%d.counts", folder, rank);
    out = fopen(name, "w");
    if (!out)
        return;
    for (int i = 0; calls[i].name; i++)
        fprintf(out, "call %s %ld %ld\n", calls[i].name, calls[i].count,
                calls[i].bytes);
    for (int i = 0; i < size; i++) {
        fprintf(out, "sent %d %ld %ld\n", i, sent[i].messages, sent[i].bytes);
        fprintf(out, "received %d %ld %ld\n", i, received[i].messages,
                received[i].bytes);
    }
    fclose(out);
}

#endif
