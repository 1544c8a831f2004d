/* channel_test.c - encrypted connections: that what is said comes as it was
 * said, whatever the socket takes; that a stranger sees nothing of it; and that
 * nothing he does to it is taken. Records are held against a computation of
 * their own, from the ciphers' plain functions. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/net/channel_internal.h"
#include "paths/net/records_internal.h"
#include "tests/support/check.h"

#define BYTES 300000

/* The ends of a connection on which both sides have agreed on `seals`. */
static void pair_make(channel ends[2], int fds[2], uint8_t seals)
{
    handshake h = {.seals = seals};

    cr_assert_geq(sodium_init(), 0);
    memset(h.dialler.key, 1, sizeof(h.dialler.key));
    memset(h.process.key, 2, sizeof(h.process.key));
    for (int i = 0; i < 2; i++) {
        ends[i] = (channel){.fd = fds[i]};
        check_status(paths__channel_begin(&ends[i], &h, i == 0), 0);
        cr_assert_eq(ends[i].seals != NULL, (seals & HANDSHAKE_SEALED) != 0);
    }
}

static void connect_both(int fds[2])
{
    int small = 4096;

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
}

static uint8_t best(void)
{
    return HANDSHAKE_SEALED | (paths__records_have_aes() ? HANDSHAKE_AES : 0);
}

/* Says bytes in two parts of any sizes. */
static size_t say(channel *c, const unsigned char *data, size_t left)
{
    size_t first = (size_t)rand() % (left + 1);
    size_t second = (size_t)rand() % (left - first + 1);
    struct iovec parts[2] = {{(void *)(uintptr_t)data, first},
                             {(void *)(uintptr_t)(data + first), second}};
    ssize_t sent = paths__channel_send(c, parts, 2, MSG_NOSIGNAL);

    cr_assert(sent >= 0 || errno == EAGAIN, "%s", strerror(errno));
    return sent > 0 ? (size_t)sent : 0;
}

static void comes_as_it_was_said(uint8_t seals, unsigned seed)
{
    static unsigned char said[2][BYTES], heard[2][BYTES];
    size_t sent[2] = {0}, got[2] = {0};
    channel ends[2];
    int fds[2];

    srand(seed);
    connect_both(fds);
    pair_make(ends, fds, seals);
    randombytes_buf(said, sizeof(said));
    while (got[0] < BYTES || got[1] < BYTES) {
        int i = rand() % 2;
        if (rand() % 2) {
            sent[i] += say(&ends[i], said[i] + sent[i], BYTES - sent[i]);
        } else if (got[i] < sent[1 - i]) {
            size_t room = BYTES - got[i], wanted = 1 + (size_t)rand() % 40000;
            bool has = paths__channel_has(&ends[i]);
            ssize_t r = paths__channel_receive(
                &ends[i], heard[i] + got[i], wanted < room ? wanted : room, 0);
            cr_assert(r > 0 || (r < 0 && errno == EAGAIN && !has), "%zd: %s", r,
                      strerror(errno));
            got[i] += r > 0 ? (size_t)r : 0;
        }
    }
    for (int i = 0; i < 2; i++) {
        cr_assert(!paths__channel_owes(&ends[i]));
        cr_assert(!paths__channel_has(&ends[i]));
        cr_assert_arr_eq(heard[i], said[1 - i], BYTES);
    }
    paths__channel_close(&ends[0]);
    cr_assert_eq(paths__channel_receive(&ends[1], heard, 1, 0), 0, "the end");
    paths__channel_close(&ends[1]);
    paths__channel_close(&ends[1]); /* there is none any more */
}

Test(channel, brings_what_was_said, .timeout = 300)
{
    for (unsigned seed = 0; seed < 10; seed++) {
        comes_as_it_was_said(0, seed);
        comes_as_it_was_said(HANDSHAKE_SEALED, seed);
        comes_as_it_was_said(best(), seed);
    }
}

/* --- a stranger --- */

#define RECORDS 6
#define TEXT_BYTES 100

static const char secret[] = "nobody but us shall read this tuple";

/* What goes over the wire for some records of a text; one for each send. */
static size_t overheard(unsigned char *out, size_t room, uint8_t seals,
                        bool is_dialler)
{
    channel ends[2];
    int fds[2];
    ssize_t bytes;

    connect_both(fds);
    pair_make(ends, fds, seals);
    for (int i = 0; i < RECORDS; i++) {
        unsigned char text[TEXT_BYTES];
        struct iovec part = {text, sizeof(text)};
        memset(text, i, sizeof(text));
        memcpy(text, secret, sizeof(secret));
        cr_assert_eq(
            paths__channel_send(&ends[!is_dialler], &part, 1, MSG_NOSIGNAL),
            TEXT_BYTES);
    }
    bytes = recv(fds[is_dialler], out, room, 0);
    cr_assert_eq(bytes, RECORDS * (TEXT_BYTES + RECORD_EXTRA_BYTES));
    paths__channel_close(&ends[0]);
    paths__channel_close(&ends[1]);
    return (size_t)bytes;
}

/* How many of the records are taken before the connection is at its end, and
 * how that was: 0 or an errno value. */
static int taken(int *why, const unsigned char *wire, size_t bytes,
                 uint8_t seals)
{
    unsigned char text[TEXT_BYTES];
    channel ends[2];
    int fds[2], count = 0;
    ssize_t got;

    connect_both(fds);
    pair_make(ends, fds, seals);
    cr_assert_eq(send(fds[0], wire, bytes, 0), (ssize_t)bytes);
    shutdown(fds[0], SHUT_WR);
    while ((got = paths__channel_receive(&ends[1], text, sizeof(text), 0)) >
           0) {
        cr_assert_eq(got, TEXT_BYTES);
        cr_assert_eq(memcmp(text, secret, sizeof(secret)), 0);
        cr_assert_eq(text[TEXT_BYTES - 1], count, "record %d", count);
        count++;
    }
    *why = got < 0 ? errno : 0;
    if (got < 0) { /* and so it stays */
        cr_assert(strstr(paths__channel_error(errno), "its seal is broken"));
        cr_assert_lt(paths__channel_receive(&ends[1], text, 1, 0), 0);
        cr_assert_eq(errno, EBADMSG);
    }
    paths__channel_close(&ends[0]);
    paths__channel_close(&ends[1]);
    return count;
}

static void is_not_taken(const unsigned char *wire, size_t bytes, uint8_t seals,
                         int count, const char *what)
{
    int why, got = taken(&why, wire, bytes, seals);

    cr_expect_eq(got, count, "%s: %d", what, got);
    cr_expect_eq(why, EBADMSG, "%s: %s", what, strerror(why));
}

/* Behind a good record comes what cannot be one: nobody has to wait for more of
 * it. */
static void is_told_at_once(const unsigned char *wire, size_t bytes,
                            uint8_t seals)
{
    unsigned char text[TEXT_BYTES];
    channel ends[2];
    int fds[2];

    connect_both(fds);
    pair_make(ends, fds, seals);
    cr_assert_eq(send(fds[0], wire, bytes, 0), (ssize_t)bytes);
    cr_assert_eq(paths__channel_receive(&ends[1], text, sizeof(text), 0),
                 TEXT_BYTES);
    cr_assert(paths__channel_has(&ends[1]));
    cr_assert_eq(paths__channel_receive(&ends[1], text, sizeof(text), 0), -1);
    cr_assert_eq(errno, EBADMSG);
    paths__channel_close(&ends[0]);
    paths__channel_close(&ends[1]);
}

static void is_closed_to_strangers(uint8_t seals)
{
    enum { WHOLE = TEXT_BYTES + RECORD_EXTRA_BYTES, ALL = RECORDS * WHOLE };
    unsigned char wire[ALL + WHOLE], changed[ALL + WHOLE], other[ALL];
    int why;

    overheard(wire, ALL, seals, true);
    cr_assert(!memmem(wire, ALL, secret, 8), "it is in clear");
    cr_assert_eq(taken(&why, wire, ALL, seals), RECORDS);
    cr_assert_eq(why, 0);
    for (int i = 0; i < ALL * 8; i += 1 + i % 3) { /* any bit */
        int record = i / 8 / WHOLE, count;
        memcpy(changed, wire, ALL);
        changed[i / 8] ^= (unsigned char)(1 << i % 8);
        count = taken(&why, changed, ALL, seals);
        cr_expect_eq(count, record, "bit %d: %d", i, count);
        /* One that says it is longer than all that comes has not come whole. */
        cr_expect(why == EBADMSG || (why == 0 && i / 8 % WHOLE < 4),
                  "bit %d: %s", i, strerror(why));
    }
    memcpy(changed, wire, WHOLE);
    memcpy(changed + WHOLE, wire, ALL);
    is_not_taken(changed, ALL + WHOLE, seals, 1, "repeated");
    memcpy(changed, wire + WHOLE, ALL - WHOLE);
    is_not_taken(changed, ALL - WHOLE, seals, 0, "left out");
    memcpy(changed, wire, ALL);
    memcpy(changed + WHOLE, wire + 2 * WHOLE, WHOLE);
    memcpy(changed + 2 * WHOLE, wire + WHOLE, WHOLE);
    is_not_taken(changed, ALL, seals, 1, "exchanged");
    overheard(other, ALL, seals, false); /* what the other side says */
    is_not_taken(other, ALL, seals, 0, "brought back");
    cr_assert_eq(taken(&why, wire, ALL - 1, seals), RECORDS - 1);
    cr_assert_eq(why, 0, "it has only ended");
    memset(changed, 0, WHOLE);
    is_not_taken(changed, WHOLE, seals, 0, "nothing");
    memcpy(changed, wire, WHOLE);
    memset(changed + WHOLE, 0xff, 4);
    is_told_at_once(changed, WHOLE + 4, seals);
}

Test(channel, is_closed_to_strangers, .timeout = 300)
{
    is_closed_to_strangers(HANDSHAKE_SEALED);
    is_closed_to_strangers(best());
}

/* --- records --- */

static void nonce_fill(uint8_t nonce[12], uint64_t number)
{
    memset(nonce, 0, 12);
    memcpy(nonce + 4, &number, 8);
}

/* The next key is what ChaCha20-Poly1305 makes of 32 zeros with the nonce 2^64
 * - 1, without the seal. */
static void rekey(uint8_t key[32])
{
    uint8_t zeros[32] = {0}, sealed[48], nonce[12];

    nonce_fill(nonce, UINT64_MAX);
    crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, zeros, 32, NULL, 0,
                                              NULL, nonce, key);
    memcpy(key, sealed, 32);
}

static void records_are_as_computed(bool is_aes)
{
    noise_cipher session = {.nonce = 1};
    unsigned char sealed[100 + RECORD_EXTRA_BYTES], expected[116], text[100];
    uint8_t key[32], nonce[12];
    uint32_t length;
    records *to, *from;

    cr_assert_geq(sodium_init(), 0);
    memset(session.key, 7, sizeof(session.key));
    memcpy(key, session.key, sizeof(key));
    check_status(paths__records_create(&to, &session, is_aes, true), 0);
    check_status(paths__records_create(&from, &session, is_aes, false), 0);
    for (uint64_t i = 0; i < RECORD_REKEY + 3; i++) {
        bool is_looked_at = i < 3 || i + 3 > RECORD_REKEY;
        size_t bytes = is_looked_at ? 1 + i % 100 : 1;
        memset(text, (int)i, bytes);
        if (i % RECORD_REKEY == 0)
            rekey(key);
        cr_assert_eq(paths__record_seal(to, sealed, text, bytes), 0);
        if (is_looked_at) {
            nonce_fill(nonce, i % RECORD_REKEY);
            if (is_aes)
                crypto_aead_aes256gcm_encrypt(expected, NULL, text, bytes, NULL,
                                              0, NULL, nonce, key);
            else
                crypto_aead_chacha20poly1305_ietf_encrypt(
                    expected, NULL, text, bytes, NULL, 0, NULL, nonce, key);
            memcpy(&length, sealed, sizeof(length));
            cr_assert_eq(length, bytes);
            cr_assert_arr_eq(sealed + 4, expected, bytes + 16, "record %llu",
                             (unsigned long long)i);
        }
        cr_assert_eq(paths__record_length(sealed, 3), 0);
        cr_assert_eq(paths__record_length(sealed, 4),
                     (int)bytes + RECORD_EXTRA_BYTES);
        cr_assert_eq(paths__record_open(from, text, sealed), 0);
        cr_assert_eq(text[bytes - 1], (unsigned char)i);
    }
    paths__records_destroy(to);
    paths__records_destroy(from);
}

Test(channel, has_records_as_they_are_described, .timeout = 600)
{
    records_are_as_computed(false);
    if (paths__records_have_aes())
        records_are_as_computed(true);
}

Test(channel, is_sealed_where_it_leaves_the_machine)
{
    int fds[2];

    connect_both(fds);
    cr_assert(!paths__channel_is_exposed(fds[0], NULL));
    cr_assert(!paths__channel_is_exposed(fds[0], "auto"));
    cr_assert(!paths__channel_is_exposed(fds[0], "never"));
    cr_assert(paths__channel_is_exposed(fds[0], "always"));
    cr_assert(paths__channel_is_exposed(-1, "auto"), "nobody knows where to");
    close(fds[0]);
    close(fds[1]);
}
