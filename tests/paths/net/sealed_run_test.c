/* sealed_run_test.c - a run whose connections are encrypted, and somebody where
 * they pass, who sees nothing and can change nothing without being noticed. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "paths/net/channel_internal.h"
#include "paths/net/records_internal.h"
#include "tests/paths/net/hostile_relay.h"
#include "tests/paths/net/hostile_run.h"
#include "tests/support/check.h"
#include "tests/support/command.h"

#define WITHOUT(process) (1u << (process))
#define ALL_BUT(process) (7u & ~(1u << (process)))
#define DIALLER_BYTES (HANDSHAKE_MESSAGE_BYTES + HANDSHAKE_PROOF_BYTES)
#define TALKS 3    /* two members, and a thread of lighthouse */
#define ENOUGH 600 /* bytes, of the game */

TestSuite(sealed_run, .timeout = 600);

static relay between;

/* All that harbour is told passes through our hands. */
static void run_begin(bool is_sealed)
{
    hostile_run_is_sealed = is_sealed;
    hostile_run_start(hostile_play, 0, WITHOUT(HARBOUR));
    relay_start(&between, hostile_run.doors[HARBOUR],
                hostile_run.ports[HARBOUR]);
}

/* Until the game, which is all that goes on after the beginning, has said so
 * much. */
static const relay_talk *game_of(void)
{
    for (;;) {
        for (int i = 0; i < between.count; i++) {
            relay_talk *talk = &between.talks[i];
            if (talk->counts[0] > DIALLER_BYTES + ENOUGH &&
                talk->counts[1] > HANDSHAKE_MESSAGE_BYTES + ENOUGH)
                return talk;
        }
        poll(NULL, 0, 1);
    }
}

/* Frames have rows of zeros, as encrypted text has none. */
static bool has_zeros(const unsigned char *bytes, size_t count)
{
    static const unsigned char zeros[8];

    return memmem(bytes, count, zeros, sizeof(zeros)) != NULL;
}

static void is_heard(bool is_sealed)
{
    static const size_t begins[2] = {DIALLER_BYTES, HANDSHAKE_MESSAGE_BYTES};
    const relay_talk *game;

    run_begin(is_sealed);
    game = game_of();
    for (int side = 0; side < 2; side++) {
        const unsigned char *at = game->said[side] + begins[side];
        size_t left = game->counts[side] - begins[side];
        hostile_is_secret(game->said[side], game->counts[side]);
        cr_expect_eq(has_zeros(at, left), !is_sealed, "side %d", side);
        while (is_sealed && left > RECORD_HEAD_BYTES) {
            int length = paths__record_length(at, left);
            cr_assert_gt(length, 0, "side %d: no record begins there", side);
            if ((size_t)length > left)
                break;
            at += length;
            left -= (size_t)length;
        }
    }
    hostile_run_goes_on();
    hostile_run_ends_well();
    relay_stop(&between);
}

Test(sealed_run, is_heard_in_clear_on_loopback)
{
    is_heard(false);
}

Test(sealed_run, is_not_heard_in_clear_if_the_map_says_so)
{
    is_heard(true);
}

/* Harbour notices it in what lighthouse says, lighthouse in the answers. */
static const char *const noticed[2] = {
    "process harbour: from process lighthouse, what came was changed",
    "process harbour died: what came was changed, repeated or left out on the "
    "way: its seal is broken"};

typedef struct deed {
    relay_deed deed;
    int side;
} deed;

ParameterizedTestParameters(sealed_run, ends_where_somebody_changes_it)
{
    static deed deeds[] = {
        {RELAY_FLIP, 0},   {RELAY_FLIP, 1},       {RELAY_REPEAT, 0},
        {RELAY_REPEAT, 1}, {RELAY_BRING_BACK, 0}, {RELAY_BRING_BACK, 1},
    };

    return cr_make_param_array(deed, deeds, sizeof(deeds) / sizeof(*deeds));
}

ParameterizedTest(deed *d, sealed_run, ends_where_somebody_changes_it)
{
    bool is_back = d->deed == RELAY_BRING_BACK;

    run_begin(true);
    game_of();
    between.deed_side = d->side;
    between.deed_at = DIALLER_BYTES + ENOUGH;
    atomic_store(&between.deed, d->deed);
    processes_wait(&hostile_run, 60);
    hostile_run_ends_with(LIGHTHOUSE, noticed[is_back ? 1 - d->side : d->side]);
    relay_stop(&between);
}

/* --- what comes with the welcome --- */

/* Says both frames at once, as one record or as two that arrive together. */
static void welcome_and_fail(int fd, bool is_one)
{
    static const char text[] = "the run has failed, says harbour";
    unsigned char first[HANDSHAKE_MESSAGE_BYTES];
    unsigned char second[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    wire_header welcome = {.kind = WIRE_WELCOME};
    wire_header failed = {.kind = WIRE_FAILED, .bytes = sizeof(text) - 1};
    unsigned char frames[2 * sizeof(welcome) + sizeof(text) - 1];
    struct iovec parts[2] = {
        {frames, sizeof(welcome)},
        {frames + sizeof(welcome), sizeof(frames) - sizeof(welcome)}};
    channel c = {.fd = fd};
    int on = 1, off = 0;
    handshake h;

    memcpy(frames, &welcome, sizeof(welcome));
    memcpy(frames + sizeof(welcome), &failed, sizeof(failed));
    memcpy(frames + 2 * sizeof(welcome), text, sizeof(text) - 1);
    cr_assert(attacker_hear(fd, first, sizeof(first)));
    check_status(paths__handshake_answer(&h, hostile_run.key, "harbour",
                                         paths_map_digest(hostile_run.map),
                                         HANDSHAKE_SEALED, first, second),
                 0);
    attacker_say(fd, second, sizeof(second));
    cr_assert(attacker_hear(fd, proof, sizeof(proof)));
    check_status(paths__handshake_check(&h, proof), 0);
    check_status(paths__channel_begin(&c, &h, false), 0);
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
    if (is_one) {
        cr_assert_eq(paths__channel_send(&c, parts, 2, MSG_NOSIGNAL),
                     (ssize_t)sizeof(frames));
    } else {
        for (int i = 0; i < 2; i++)
            cr_assert_eq(paths__channel_send(&c, &parts[i], 1, MSG_NOSIGNAL),
                         (ssize_t)parts[i].iov_len);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_CORK, &off, sizeof(off));
    hostile_run_ends_with(LIGHTHOUSE, text);
    paths__channel_close(&c);
}

Test(sealed_run, takes_what_comes_with_the_welcome)
{
    for (int is_one = 0; is_one < 2; is_one++) {
        hostile_run_is_sealed = true;
        hostile_run_start(hostile_idle, ALL_BUT(LIGHTHOUSE), WITHOUT(HARBOUR));
        welcome_and_fail(accept(hostile_run.doors[HARBOUR], NULL, NULL),
                         is_one);
    }
}
