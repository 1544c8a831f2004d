/* handshake.c - see handshake_internal.h. */
#include "paths/net/handshake_internal.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#include "pastset/status.h"

#define WIRE_VERSION 5u

/* --- openings --- */

void paths__handshake_opening(unsigned char opening[HANDSHAKE_OPENING_BYTES])
{
    uint32_t version = WIRE_VERSION;

    memcpy(opening, "EVSP", 4);
    memcpy(opening + 4, &version, 4);
}

int paths__handshake_opening_check(
    const unsigned char opening[HANDSHAKE_OPENING_BYTES])
{
    uint32_t version;

    memcpy(&version, opening + 4, 4);
    if (memcmp(opening, "EVSP", 4) != 0)
        return pastset_fail(
            PASTSET_EPROTO,
            "what listens there is not a process of EventSpace");
    if (version != WIRE_VERSION)
        return pastset_fail(PASTSET_EPROTO,
                            "it speaks version %u of the protocol (or has the "
                            "other byte order), this process speaks %u",
                            version, WIRE_VERSION);
    return 0;
}

/* --- claims --- */

static void claim_put(unsigned char out[HANDSHAKE_CLAIM_BYTES],
                      const handshake_claim *claim)
{
    memset(out, 0, HANDSHAKE_CLAIM_BYTES);
    memcpy(out, &claim->digest, 8);
    memcpy(out + 8, &claim->role, 2);
    out[10] = claim->seals;
    memcpy(out + 16, claim->from, strnlen(claim->from, HANDSHAKE_NAME_BYTES));
    memcpy(out + 16 + HANDSHAKE_NAME_BYTES, claim->to,
           strnlen(claim->to, HANDSHAKE_NAME_BYTES));
}

/* A name, and nothing but zeros behind it. */
static bool name_take(char out[HANDSHAKE_NAME_BYTES], const unsigned char *from)
{
    size_t length = strnlen((const char *)from, HANDSHAKE_NAME_BYTES);

    memcpy(out, from, HANDSHAKE_NAME_BYTES);
    return length > 0 && length < HANDSHAKE_NAME_BYTES &&
           sodium_is_zero(from + length, HANDSHAKE_NAME_BYTES - length);
}

static bool claim_take(handshake_claim *out,
                       const unsigned char from[HANDSHAKE_CLAIM_BYTES])
{
    memcpy(&out->digest, from, 8);
    memcpy(&out->role, from + 8, 2);
    out->seals = from[10];
    return out->role >= ROLE_THREAD && out->role <= ROLE_RELAY &&
           out->seals <= HANDSHAKE_SEALS_ALL && sodium_is_zero(from + 11, 5) &&
           name_take(out->from, from + 16) &&
           name_take(out->to, from + 16 + HANDSHAKE_NAME_BYTES);
}

static handshake_claim claim_turned(const handshake_claim *claim)
{
    handshake_claim out = *claim;

    memcpy(out.from, claim->to, sizeof(out.from));
    memcpy(out.to, claim->from, sizeof(out.to));
    return out;
}

/* Sealed if one of them says so, by AES if both have it. */
static uint8_t seals_agreed(uint8_t a, uint8_t b)
{
    return (uint8_t)(((a | b) & HANDSHAKE_SEALED) | (a & b & HANDSHAKE_AES));
}

/* --- messages --- */

static int unknown(void)
{
    return pastset_fail(PASTSET_EAUTH, "%s",
                        pastset_status_text(PASTSET_EAUTH));
}

static void begin(handshake *h, const uint8_t key[32])
{
    unsigned char opening[HANDSHAKE_OPENING_BYTES];
    uint8_t secret[NOISE_KEY_BYTES];

    memset(h, 0, sizeof(*h));
    paths__handshake_opening(opening);
    randombytes_buf(secret, sizeof(secret));
    paths__noise_begin(&h->noise, opening, sizeof(opening), key, secret);
    sodium_memzero(secret, sizeof(secret));
}

int paths__handshake_begin(handshake *h, const uint8_t key[32],
                           const handshake_claim *own,
                           unsigned char first[HANDSHAKE_MESSAGE_BYTES])
{
    unsigned char claim[HANDSHAKE_CLAIM_BYTES];

    begin(h, key);
    claim_put(claim, own);
    paths__handshake_opening(first);
    if (paths__noise_first_write(&h->noise, claim, sizeof(claim),
                                 first + HANDSHAKE_OPENING_BYTES) != 0)
        return unknown();
    return 0;
}

int paths__handshake_answer(handshake *h, const uint8_t key[32],
                            const char *self, uint64_t digest, uint8_t seals,
                            const unsigned char first[HANDSHAKE_MESSAGE_BYTES],
                            unsigned char second[HANDSHAKE_MESSAGE_BYTES])
{
    unsigned char claim[HANDSHAKE_CLAIM_BYTES];
    handshake_claim own;

    begin(h, key);
    if (paths__noise_first_read(&h->noise, claim, sizeof(claim),
                                first + HANDSHAKE_OPENING_BYTES) != 0)
        return unknown();
    if (!claim_take(&h->claim, claim))
        return pastset_fail(PASTSET_EPROTO, "an invalid claim");
    if (strcmp(h->claim.to, self) != 0 || strcmp(h->claim.from, self) == 0)
        return pastset_fail(PASTSET_EAUTH, "it is for process %s", h->claim.to);
    own = claim_turned(&h->claim);
    own.digest = digest;
    own.seals = h->seals = seals_agreed(h->claim.seals, seals);
    claim_put(claim, &own);
    paths__handshake_opening(second);
    if (paths__noise_second_write(&h->noise, claim, sizeof(claim),
                                  second + HANDSHAKE_OPENING_BYTES) != 0)
        return unknown();
    paths__noise_split(&h->noise, &h->dialler, &h->process);
    return 0;
}

int paths__handshake_finish(handshake *h, const handshake_claim *own,
                            const unsigned char second[HANDSHAKE_MESSAGE_BYTES],
                            unsigned char proof[HANDSHAKE_PROOF_BYTES])
{
    unsigned char claim[HANDSHAKE_CLAIM_BYTES];
    handshake_claim want = claim_turned(own);

    if (paths__noise_second_read(&h->noise, claim, sizeof(claim),
                                 second + HANDSHAKE_OPENING_BYTES) != 0)
        return unknown();
    if (!claim_take(&h->claim, claim) || h->claim.role != want.role ||
        strcmp(h->claim.from, want.from) != 0 ||
        strcmp(h->claim.to, want.to) != 0 ||
        h->claim.seals != seals_agreed(h->claim.seals, own->seals))
        return pastset_fail(PASTSET_EPROTO,
                            "its answer does not fit the question");
    h->seals = h->claim.seals;
    paths__noise_split(&h->noise, &h->dialler, &h->process);
    paths__noise_seal(&h->dialler, NULL, 0, proof);
    return 0;
}

int paths__handshake_check(handshake *h,
                           const unsigned char proof[HANDSHAKE_PROOF_BYTES])
{
    unsigned char nothing[1];

    if (paths__noise_open(&h->dialler, nothing, 0, proof) != 0)
        return unknown();
    return 0;
}

void paths__handshake_wipe(handshake *h)
{
    sodium_memzero(h, sizeof(*h));
}
