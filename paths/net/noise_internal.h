/* noise_internal.h - a handshake of the Noise protocol framework, revision 34:
 * Noise_NNpsk0_25519_ChaChaPoly_SHA256.
 *
 *   -> psk, e        the initiator's message, sealed by the common key
 *   <- e, ee         the responder's, sealed by that and by the secret of
 *                    both ephemeral keys
 *
 * and then two ciphers, one for each direction, that nobody else can know,
 * also if the common key becomes known later. Each message begins with the
 * sender's ephemeral public key and ends with its payload and a seal over all
 * that was said before. It knows nothing of processes: handshake.c says what
 * the payloads are.
 *
 * Threads:   one at a time for each state.
 * Ownership: states are the caller's, who wipes them.
 * Errors:    0, or -1: the peer does not know the key, or its message is not
 *            an answer to what was said; the state is then good for nothing. */
#ifndef PATHS_NOISE_INTERNAL_H
#define PATHS_NOISE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define NOISE_KEY_BYTES 32
#define NOISE_SEAL_BYTES 16
#define NOISE_NONCE_BYTES 12
/* What a message of the handshake has besides its payload. */
#define NOISE_MESSAGE_BYTES (NOISE_KEY_BYTES + NOISE_SEAL_BYTES)

typedef struct noise_cipher {
    uint8_t key[NOISE_KEY_BYTES];
    uint64_t nonce; /* of the next message */
} noise_cipher;

typedef struct noise {
    uint8_t chain[32];   /* the framework's ck */
    uint8_t hash[32];    /* h: of all that was said */
    noise_cipher cipher; /* of the handshake */
    uint8_t secret[NOISE_KEY_BYTES], open[NOISE_KEY_BYTES]; /* e */
    uint8_t theirs[NOISE_KEY_BYTES];                        /* re */
} noise;

/* Both sides: `prologue` is what they must agree on without saying it, `psk`
 * the common key, `secret` the ephemeral one, which must be random (but for
 * tests that look whether the right bytes come out). */
void paths__noise_begin(noise *n, const void *prologue, size_t prologue_bytes,
                        const uint8_t psk[NOISE_KEY_BYTES],
                        const uint8_t secret[NOISE_KEY_BYTES]);
/* The messages, of NOISE_MESSAGE_BYTES more than their payloads. */
int paths__noise_first_write(noise *n, const void *payload, size_t bytes,
                             uint8_t *message);
int paths__noise_first_read(noise *n, void *payload, size_t bytes,
                            const uint8_t *message);
int paths__noise_second_write(noise *n, const void *payload, size_t bytes,
                              uint8_t *message);
int paths__noise_second_read(noise *n, void *payload, size_t bytes,
                             const uint8_t *message);
/* After both: the ciphers of what the initiator and the responder say. */
void paths__noise_split(noise *n, noise_cipher *initiator,
                        noise_cipher *responder);

/* `sealed` has NOISE_SEAL_BYTES more than `data`. */
void paths__noise_seal(noise_cipher *cipher, const void *data, size_t bytes,
                       uint8_t *sealed);
int paths__noise_open(noise_cipher *cipher, void *data, size_t bytes,
                      const uint8_t *sealed);

/* For other ciphers with the same key: the nonce of the next message; and to go
 * on to another key, whose first nonce is 0. */
void paths__noise_nonce(noise_cipher *cipher, uint8_t nonce[NOISE_NONCE_BYTES]);
void paths__noise_rekey(noise_cipher *cipher);

#endif
