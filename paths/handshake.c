/* handshake.c - both sides prove that they know the key of the run. */
#include <sodium.h>
#include <string.h>

#include "paths/wire_internal.h"
#include "pastset/status.h"

#define CHALLENGE_BYTES 32
#define WIRE_VERSION 1u

_Static_assert(crypto_auth_BYTES == 32, "a proof has 32 bytes");
_Static_assert(crypto_auth_KEYBYTES == 32, "the key has 32 bytes");

/* The letter tells the directions apart, so that nobody's proof can be sent
 * back to him as the answer. */
static void tag(unsigned char out[32], char letter, const uint8_t key[32],
                const unsigned char first[CHALLENGE_BYTES],
                const unsigned char second[CHALLENGE_BYTES])
{
    unsigned char text[1 + 2 * CHALLENGE_BYTES];

    text[0] = (unsigned char)letter;
    memcpy(text + 1, first, CHALLENGE_BYTES);
    memcpy(text + 1 + CHALLENGE_BYTES, second, CHALLENGE_BYTES);
    crypto_auth(out, text, sizeof(text), key);
}

static bool equal(const unsigned char *a, const unsigned char *b)
{
    return sodium_memcmp(a, b, 32) == 0;
}

void handshake_greet(unsigned char greeting[GREETING_BYTES],
                     unsigned char challenge[CHALLENGE_BYTES])
{
    uint32_t version = WIRE_VERSION;

    randombytes_buf(challenge, CHALLENGE_BYTES);
    memcpy(greeting, "EVSP", 4);
    memcpy(greeting + 4, &version, 4);
    memcpy(greeting + 8, challenge, CHALLENGE_BYTES);
}

int handshake_prove(const uint8_t key[32],
                    const unsigned char greeting[GREETING_BYTES],
                    unsigned char challenge[CHALLENGE_BYTES],
                    unsigned char proof[PROOF_BYTES])
{
    uint32_t version;

    memcpy(&version, greeting + 4, 4);
    if (memcmp(greeting, "EVSP", 4) != 0)
        return pastset_fail(PASTSET_EPROTO,
                            "what listens there is not a host of EventSpace");
    if (version != WIRE_VERSION)
        return pastset_fail(PASTSET_EPROTO,
                            "it speaks version %u of the protocol (or has the "
                            "other byte order), this host speaks %u",
                            version, WIRE_VERSION);
    randombytes_buf(challenge, CHALLENGE_BYTES);
    memcpy(proof, challenge, CHALLENGE_BYTES);
    tag(proof + CHALLENGE_BYTES, 'c', key, greeting + 8, challenge);
    return 0;
}

int handshake_check(const uint8_t key[32],
                    const unsigned char challenge[CHALLENGE_BYTES],
                    const unsigned char proof[PROOF_BYTES],
                    unsigned char answer[ANSWER_BYTES])
{
    unsigned char expected[32];

    tag(expected, 'c', key, challenge, proof);
    if (!equal(expected, proof + CHALLENGE_BYTES))
        return pastset_fail(PASTSET_EAUTH, "%s",
                            pastset_status_text(PASTSET_EAUTH));
    tag(answer, 's', key, proof, challenge);
    return 0;
}

int handshake_confirm(const uint8_t key[32],
                      const unsigned char greeting[GREETING_BYTES],
                      const unsigned char challenge[CHALLENGE_BYTES],
                      const unsigned char answer[ANSWER_BYTES])
{
    unsigned char expected[32];

    tag(expected, 's', key, challenge, greeting + 8);
    if (!equal(expected, answer))
        return pastset_fail(PASTSET_EAUTH, "%s",
                            pastset_status_text(PASTSET_EAUTH));
    return 0;
}
