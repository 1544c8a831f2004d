/* hostile_peer_test.c - who does not know the key, but sits where a process's
 * connections pass: reflects, relays, replays, cuts off, floods. Nothing of
 * the map is seen, nobody is believed, and the run goes on, or ends with a
 * text of its own. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/paths/net/hostile_relay.h"
#include "tests/paths/net/hostile_run.h"
#include "tests/support/check.h"
#include "tests/support/command.h"

#define WITHOUT(process) (1u << (process))
#define ALL_BUT(process) (7u & ~(1u << (process)))

TestSuite(hostile_peer, .timeout = 600);

/* --- reflection: it has bound the address of one that is not there --- */

/* What `victim` says to the process at the door goes to the port of `to`; what
 * comes back from there goes to the victim, and at last a forged failure. */
static void brings_it_to(int door, int victim, int to, bool forges)
{
    relay_talk talk = {.fds = {accept(hostile_run.doors[door], NULL, NULL),
                               attacker_dial(hostile_run.ports[to])},
                       .forges = forges};

    relay_pass(&talk);
    cr_expect_gt(talk.counts[0], 0, "%s said something", hostile_names[victim]);
    cr_expect_eq(talk.counts[1], 0, "%s answers what is not for it",
                 hostile_names[to]);
    hostile_is_secret(talk.said[0], talk.counts[0]);
    hostile_is_secret(talk.said[1], talk.counts[1]);
    if (forges)
        relay_forge(talk.fds[0]);
    close(talk.fds[0]);
    close(talk.fds[1]);
}

static void ends_with_its_own_text(int victim, const char *text)
{
    processes_wait(&hostile_run, 60);
    cr_expect_null(strstr(hostile_run.results[victim].text, RELAY_FORGERY),
                   "it was believed: %s", hostile_run.results[victim].text);
    hostile_run_ends_with(victim, text);
}

Test(hostile_peer, cannot_bring_a_members_words_back_to_it)
{
    hostile_run_start(hostile_play, ALL_BUT(LIGHTHOUSE), WITHOUT(HARBOUR));
    brings_it_to(HARBOUR, LIGHTHOUSE, LIGHTHOUSE, true);
    ends_with_its_own_text(LIGHTHOUSE,
                           "cannot join process harbour: what listens "
                           "there is not a process of EventSpace");
}

Test(hostile_peer, cannot_bring_a_members_words_back_and_leave)
{
    hostile_run_start(hostile_play, ALL_BUT(LIGHTHOUSE), WITHOUT(HARBOUR));
    brings_it_to(HARBOUR, LIGHTHOUSE, LIGHTHOUSE, false);
    ends_with_its_own_text(LIGHTHOUSE,
                           "cannot join process harbour: it did not "
                           "accept this process's key");
}

Test(hostile_peer, cannot_bring_a_threads_words_back_to_its_process)
{
    hostile_run_start(hostile_play, ALL_BUT(HARBOUR), WITHOUT(LIGHTHOUSE));
    brings_it_to(LIGHTHOUSE, HARBOUR, HARBOUR, true);
    ends_with_its_own_text(HARBOUR, "cannot join process lighthouse");
}

Test(hostile_peer, cannot_bring_the_words_of_a_process_to_a_third)
{
    hostile_run_start(hostile_play, WITHOUT(LIGHTHOUSE), WITHOUT(LIGHTHOUSE));
    brings_it_to(LIGHTHOUSE, HARBOUR, ISLAND, true);
    ends_with_its_own_text(HARBOUR, "cannot join process lighthouse");
}

/* --- listening, and saying it again --- */

static relay overheard;

#define DIALLER_BYTES (HANDSHAKE_MESSAGE_BYTES + HANDSHAKE_PROOF_BYTES)
#define OVERHEARD 3 /* two members, and a thread of lighthouse */

/* A run in which all that the coordinator is told passes through our hands. */
static void run_overhear(void)
{
    hostile_run_start(hostile_play, 0, WITHOUT(HARBOUR));
    relay_start(&overheard, hostile_run.doors[HARBOUR],
                hostile_run.ports[HARBOUR]);
    for (int i = 0; i < OVERHEARD; i++) {
        while (overheard.count <= i ||
               overheard.talks[i].counts[0] < DIALLER_BYTES ||
               overheard.talks[i].counts[1] <= HANDSHAKE_MESSAGE_BYTES)
            poll(NULL, 0, 1);
    }
    hostile_run_goes_on();
}

Test(hostile_peer, sees_nothing_of_the_map_in_a_handshake)
{
    run_overhear();
    for (int i = 0; i < OVERHEARD; i++) {
        relay_talk *talk = &overheard.talks[i];
        hostile_is_secret(talk->said[0], DIALLER_BYTES);
        hostile_is_secret(talk->said[1], HANDSHAKE_MESSAGE_BYTES);
    }
    hostile_run_ends_well();
    relay_stop(&overheard);
}

/* The first message is answered, as it may be a new one; nobody can go on
 * from there. */
static void says_it_again(const relay_talk *talk)
{
    unsigned char answer[HANDSHAKE_MESSAGE_BYTES];
    int fd = attacker_dial(hostile_run.ports[HARBOUR]);

    attacker_say(fd, talk->said[0], HANDSHAKE_MESSAGE_BYTES);
    cr_assert(attacker_hear(fd, answer, sizeof(answer)));
    cr_expect_neq(memcmp(answer, talk->said[1], sizeof(answer)), 0);
    hostile_is_secret(answer, sizeof(answer));
    attacker_say(fd, talk->said[0] + HANDSHAKE_MESSAGE_BYTES,
                 HANDSHAKE_PROOF_BYTES);
    cr_expect_not(attacker_hear(fd, answer, 1), "it was believed");
    close(fd);
}

Test(hostile_peer, is_not_believed_when_it_repeats_what_it_has_heard)
{
    run_overhear();
    for (int i = 0; i < OVERHEARD; i++)
        says_it_again(&overheard.talks[i]);
    hostile_run_goes_on();
    hostile_run_ends_well();
    relay_stop(&overheard);
}

/* In a later run with the same key, into which these processes come late: had
 * one of the old messages been taken for a process, it would be refused. */
Test(hostile_peer, takes_nobodys_place_with_what_it_has_heard_before)
{
    run_overhear();
    hostile_run_ends_well();
    relay_stop(&overheard);
    hostile_run_start(hostile_play, ALL_BUT(HARBOUR), 0);
    for (int i = 0; i < OVERHEARD; i++)
        says_it_again(&overheard.talks[i]);
    processes_start_late(&hostile_run, LIGHTHOUSE);
    processes_start_late(&hostile_run, ISLAND);
    hostile_run_goes_on();
    hostile_run_ends_well();
}

/* As a process, to one that connects. */
static void answers(int length, const void *data, const char *text)
{
    int fd;

    hostile_run_start(hostile_play, ALL_BUT(LIGHTHOUSE), WITHOUT(HARBOUR));
    fd = accept(hostile_run.doors[HARBOUR], NULL, NULL);
    attacker_say(fd, data, (size_t)length);
    shutdown(fd, SHUT_WR);
    attacker_is_closed(fd);
    hostile_run_ends_with(LIGHTHOUSE, text);
}

Test(hostile_peer, is_not_believed_when_it_repeats_the_answer_of_a_process)
{
    run_overhear();
    hostile_run_ends_well();
    relay_stop(&overheard);
    for (int i = 0; i < OVERHEARD; i++)
        answers(HANDSHAKE_MESSAGE_BYTES, overheard.talks[i].said[1],
                "cannot join process harbour: the peer does not know the key");
}

/* --- one that never comes --- */

static int nothing(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

/* It stands at the door, and has said so much, before the process begins to
 * wait. `answered`: so many bytes. */
static void waits_in_vain(const char *text, void (*come)(int fd),
                          size_t answered)
{
    static const process_program programs[] = {{"*", nothing, NULL},
                                               {NULL, NULL, NULL}};
    processes h = {.map_text = "digraph g { subgraph cluster_here {\n"
                               "e [kind=element, type=i64, capacity=1];\n"
                               "t0 [kind=thread, number=0]; }\n"
                               "subgraph cluster_there { up [kind=proxy];\n"
                               "t1 [kind=thread, number=1]; }\n"
                               "t0 -> e; t1 -> up; up -> e; }\n",
                   .programs = programs,
                   .connect_timeout_ms = 2000,
                   .absent = 3};
    char answer[HANDSHAKE_MESSAGE_BYTES];
    int fd;

    signal(SIGPIPE, SIG_IGN);
    processes_start(&h);
    fd = attacker_dial(h.ports[0]);
    come(fd);
    processes_start_late(&h, 0);
    cr_assert(attacker_hear(fd, answer, answered));
    attacker_is_closed(fd);
    processes_wait(&h, 60);
    cr_expect_eq(h.exit_codes[0], 1);
    check_says(h.results[0].text, text);
    processes_free(&h);
}

static void without_the_key(int fd)
{
    unsigned char message[HANDSHAKE_MESSAGE_BYTES] = {0};

    paths__handshake_opening(message);
    attacker_say(fd, message, sizeof(message));
}

static void with_another_version(int fd)
{
    unsigned char opening[HANDSHAKE_OPENING_BYTES];

    paths__handshake_opening(opening);
    opening[4]++;
    attacker_say(fd, opening, sizeof(opening));
}

Test(hostile_peer, is_told_of_where_a_process_is_waited_for_in_vain)
{
    waits_in_vain("process there did not join within 2 s; refused: 1, the "
                  "last because it does not know the key",
                  without_the_key, 0);
}

Test(hostile_peer, of_another_version_is_told_of_where_a_process_is_waited_for)
{
    waits_in_vain("process there did not join within 2 s; refused: 1, the "
                  "last because it speaks another protocol, or another version",
                  with_another_version, HANDSHAKE_OPENING_BYTES);
}

/* --- other answers to a process that connects --- */

Test(hostile_peer, is_told_apart_from_a_process)
{
    static const char page[] = "HTTP/1.1 400 Bad Request\r\n\r\n";

    answers(sizeof(page) - 1, page, "is not a process of EventSpace");
}

Test(hostile_peer, is_told_apart_from_a_process_of_another_version)
{
    unsigned char answer[HANDSHAKE_OPENING_BYTES];
    char text[40];

    paths__handshake_opening(answer);
    snprintf(text, sizeof(text), "it speaks version %d", ++answer[4]);
    answers(sizeof(answer), answer, text);
}

Test(hostile_peer, is_told_apart_from_who_knows_the_key)
{
    unsigned char answer[HANDSHAKE_MESSAGE_BYTES] = {0};

    paths__handshake_opening(answer);
    answers(sizeof(answer), answer, "the peer does not know the key");
}

/* A process that cannot join tries again for a while: they wait together. */
typedef struct cut {
    int bytes;
    char text[40];
} cut;

ParameterizedTestParameters(hostile_peer, ends_a_run_in_clear_words_if_cut_off)
{
    static cut cuts[] = {
        {0, "it did not accept this process's key"},
        {7, "it did not accept this process's key"},
        {8, "it closed the connection"},
        {HANDSHAKE_MESSAGE_BYTES - 1, "it closed the connection"},
    };

    return cr_make_param_array(cut, cuts, sizeof(cuts) / sizeof(cuts[0]));
}

ParameterizedTest(cut *c, hostile_peer, ends_a_run_in_clear_words_if_cut_off)
{
    unsigned char answer[HANDSHAKE_MESSAGE_BYTES] = {0};

    paths__handshake_opening(answer);
    answers(c->bytes, answer, c->text);
}

/* --- cut off, at each byte --- */

Test(hostile_peer, leaves_nothing_behind_wherever_it_is_cut_off)
{
    handshake_claim claim;
    unsigned char first[HANDSHAKE_MESSAGE_BYTES];

    hostile_run_start(hostile_play, 0, 0);
    claim = hostile_claim(ROLE_MEMBER, LIGHTHOUSE, HARBOUR);
    for (size_t bytes = 0; bytes <= sizeof(first); bytes++) {
        int fd = attacker_dial(hostile_run.ports[HARBOUR]);
        handshake h;
        check_status(paths__handshake_begin(&h, hostile_run.key, &claim, first),
                     0);
        attacker_say(fd, first, bytes);
        close(fd);
    }
    hostile_run_goes_on();
    hostile_run_ends_well();
}

/* Nor in the middle of the proof, with another one, or with a request instead
 * of it. */
Test(hostile_peer, is_not_let_in_without_the_whole_proof)
{
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    wire_request request = {.kind = WIRE_REQUEST, .verb = PASTSET_WRITE};
    handshake_claim claim;

    hostile_run_start(hostile_play, 0, 0);
    claim = hostile_claim(ROLE_THREAD, LIGHTHOUSE, HARBOUR);
    request.proxy = hostile_node("q");
    for (size_t bytes = 0; bytes < 2 * sizeof(proof) + 1; bytes++) {
        int fd = attacker_dial(hostile_run.ports[HARBOUR]);
        handshake h;

        check_status(
            paths__handshake_begin(&h, hostile_run.key, &claim, message), 0);
        attacker_say(fd, message, sizeof(message));
        cr_assert(attacker_hear(fd, message, sizeof(message)));
        check_status(paths__handshake_finish(&h, &claim, message, proof), 0);
        if (bytes < sizeof(proof)) {
            attacker_say(fd, proof, bytes);
            shutdown(fd, SHUT_WR);
        } else if (bytes < 2 * sizeof(proof)) {
            proof[bytes % sizeof(proof)] ^= 1;
            attacker_say(fd, proof, sizeof(proof));
        } else {
            attacker_say(fd, &request, sizeof(request));
        }
        cr_expect_not(attacker_hear(fd, message, 1), "let in");
        close(fd);
    }
    hostile_run_goes_on();
    hostile_run_ends_well();
}

/* --- a flood --- */

#define FLOOD 700 /* more than a process lets wait */

/* Keeps the door oversubscribed until it is killed. */
static void flood(const relay_talk *heard)
{
    static int fds[FLOOD];
    unsigned char rubbish[HANDSHAKE_MESSAGE_BYTES];
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    randombytes_buf(rubbish, sizeof(rubbish));
    paths__handshake_opening(rubbish);
    for (unsigned i = 0;; i++) {
        int *fd = &fds[i % FLOOD];
        if (i >= FLOOD)
            close(*fd);
        *fd = attacker_dial(hostile_run.ports[HARBOUR]);
        if (i % 4 == 1)
            attacker_say(*fd, rubbish, sizeof(rubbish));
        else if (i % 4 == 2)
            attacker_say(*fd, heard->said[0], HANDSHAKE_MESSAGE_BYTES);
        else if (i % 4 == 3)
            attacker_say(*fd, heard->said[0], HANDSHAKE_MESSAGE_BYTES - 1);
    }
}

Test(hostile_peer, keeps_no_process_out_by_a_flood)
{
    pid_t flooder;

    run_overhear();
    hostile_run_ends_well();
    relay_stop(&overheard);
    hostile_run_start(hostile_play, ALL_BUT(HARBOUR), 0);
    flooder = fork();
    if (flooder == 0)
        flood(&overheard.talks[0]);
    /* It has been through the door once when the eldest of those that came
     * before it was sent away. */
    attacker_is_closed(attacker_dial(hostile_run.ports[HARBOUR]));
    processes_start_late(&hostile_run, LIGHTHOUSE);
    processes_start_late(&hostile_run, ISLAND);
    hostile_run_goes_on();
    kill(flooder, SIGKILL);
    cr_expect_eq(child_wait(flooder, 10), -SIGKILL);
    hostile_run_ends_well();
}
