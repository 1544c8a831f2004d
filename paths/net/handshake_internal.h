/* handshake_internal.h - two processes prove to each other that they know the
 * key of the run, who they are, and what their connection is for.
 *
 * It is Noise_NNpsk0 (noise_internal.h) with the run's key, and not a design of
 * our own: it is published and analysed, needs no keys but the one that we
 * have, binds all that is said into what follows, and yields a key for each
 * direction that stays secret also from who learns the run's key later. The
 * process that connects speaks first:
 *
 *   1  dialler -> process  opening(8) e(32) sealed claim(224 + 16)
 *   2  process -> dialler  opening(8) e(32) sealed claim(224 + 16)
 *   3  dialler -> process  the seal of nothing, by the dialler's new key (16)
 *
 * The opening, "EVSP" and the version, is the only thing that is in clear; it
 * is the prologue, too. A claim says from whom to whom, in which role, and
 * with which map:
 *
 *    0  u64 digest of the map      16  from, filled with zeros (104)
 *    8  u16 role                  120  to, filled with zeros (104)
 *   10  u8 seals, 5 zeros
 *
 * A process answers only what is sent to it by name, so that nobody's message
 * can be brought back to him, or to a third. The answer says the same with the
 * names exchanged. Anybody can send a first message again that he has heard:
 * hence it makes nothing happen but an answer, and only the third one, which
 * takes the secret of an ephemeral key, proves that the dialler is there now.
 *
 * handshake.pml is a model of this, with an attacker between the processes. */
#ifndef PATHS_HANDSHAKE_INTERNAL_H
#define PATHS_HANDSHAKE_INTERNAL_H

#include "paths/net/noise_internal.h"

#define HANDSHAKE_NAME_BYTES 104 /* a process's name has at most 100 */
#define HANDSHAKE_OPENING_BYTES 8
#define HANDSHAKE_CLAIM_BYTES (16 + 2 * HANDSHAKE_NAME_BYTES)
#define HANDSHAKE_MESSAGE_BYTES                                                \
    (HANDSHAKE_OPENING_BYTES + NOISE_MESSAGE_BYTES + HANDSHAKE_CLAIM_BYTES)
#define HANDSHAKE_PROOF_BYTES NOISE_SEAL_BYTES

/* What a connection is for: operations of a thread, those of the loop,
 * membership, a way on to another process (relay_internal.h). */
enum { ROLE_THREAD = 1, ROLE_LOOP, ROLE_MEMBER, ROLE_RELAY };

/* What comes behind the handshake: in sealed records (records_internal.h), and
 * by which cipher. It is sealed if either side says so; the answer has what
 * both can do. */
enum { HANDSHAKE_SEALED = 1, HANDSHAKE_AES = 2, HANDSHAKE_SEALS_ALL = 3 };

typedef struct handshake_claim {
    uint64_t digest; /* of the map */
    uint16_t role;
    uint8_t seals;
    char from[HANDSHAKE_NAME_BYTES], to[HANDSHAKE_NAME_BYTES];
} handshake_claim;

typedef struct handshake {
    noise noise;
    /* The session's keys, of what the dialler and the process say. */
    noise_cipher dialler, process;
    handshake_claim claim; /* the other side's */
    uint8_t seals;         /* that both have agreed on */
} handshake;

void paths__handshake_opening(unsigned char opening[HANDSHAKE_OPENING_BYTES]);
/* Errors: PASTSET_EPROTO (no process of EventSpace, or another version). */
int paths__handshake_opening_check(
    const unsigned char opening[HANDSHAKE_OPENING_BYTES]);

/* Dialler: the first message. Errors: PASTSET_EAUTH. */
int paths__handshake_begin(handshake *h, const uint8_t key[32],
                           const handshake_claim *own,
                           unsigned char first[HANDSHAKE_MESSAGE_BYTES]);
/* Process: answers a first message that is for it; `seals` is what this side
 * would have. It proves nothing yet.
 * Errors: PASTSET_EAUTH, PASTSET_EPROTO. */
int paths__handshake_answer(handshake *h, const uint8_t key[32],
                            const char *self, uint64_t digest, uint8_t seals,
                            const unsigned char first[HANDSHAKE_MESSAGE_BYTES],
                            unsigned char second[HANDSHAKE_MESSAGE_BYTES]);
/* Dialler: looks at the answer, and makes the proof. Whether the claim's map is
 * its own is for the caller to see. Errors: PASTSET_EAUTH, PASTSET_EPROTO. */
int paths__handshake_finish(handshake *h, const handshake_claim *own,
                            const unsigned char second[HANDSHAKE_MESSAGE_BYTES],
                            unsigned char proof[HANDSHAKE_PROOF_BYTES]);
/* Process: from here on the claim is the dialler's; so is the map.
 * Errors: PASTSET_EAUTH. */
int paths__handshake_check(handshake *h,
                           const unsigned char proof[HANDSHAKE_PROOF_BYTES]);
void paths__handshake_wipe(handshake *h);

/* As maps that differ are told by either side. */
#define HANDSHAKE_OTHER_MAP                                                    \
    "the two processes were started with different path maps; give all the "   \
    "same file"

#endif
