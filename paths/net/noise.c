/* noise.c - see noise_internal.h; the names of the specification's functions
 * stand beside ours. The primitives are libsodium's. */
#include "paths/net/noise_internal.h"

#include <sodium.h>
#include <string.h>

static const char protocol[] = "Noise_NNpsk0_25519_ChaChaPoly_SHA256";

_Static_assert(crypto_hash_sha256_BYTES == 32 &&
                   crypto_auth_hmacsha256_BYTES == 32,
               "a hash has 32 bytes");
_Static_assert(crypto_scalarmult_curve25519_BYTES == NOISE_KEY_BYTES &&
                   crypto_aead_chacha20poly1305_ietf_KEYBYTES ==
                       NOISE_KEY_BYTES,
               "a key has 32 bytes");
_Static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == NOISE_SEAL_BYTES &&
                   crypto_aead_chacha20poly1305_ietf_NPUBBYTES ==
                       NOISE_NONCE_BYTES,
               "a seal has 16 bytes, a nonce 12");

/* --- ciphers --- */

/* ENCRYPT() and DECRYPT() of ChaChaPoly: four zeros and the nonce, its least
 * significant byte first. */
void paths__noise_nonce(noise_cipher *cipher, uint8_t nonce[NOISE_NONCE_BYTES])
{
    uint64_t number = cipher->nonce++;

    memset(nonce, 0, 4);
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> 8 * i);
}

static void seal(noise_cipher *cipher, const void *data, size_t bytes,
                 const uint8_t *with, size_t with_bytes, uint8_t *sealed)
{
    uint8_t nonce[NOISE_NONCE_BYTES];

    paths__noise_nonce(cipher, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(
        sealed, NULL, data, bytes, with, with_bytes, NULL, nonce, cipher->key);
}

static int unseal(noise_cipher *cipher, void *data, size_t bytes,
                  const uint8_t *with, size_t with_bytes, const uint8_t *sealed)
{
    uint8_t nonce[NOISE_NONCE_BYTES];

    paths__noise_nonce(cipher, nonce);
    return crypto_aead_chacha20poly1305_ietf_decrypt(
        data, NULL, NULL, sealed, bytes + NOISE_SEAL_BYTES, with, with_bytes,
        nonce, cipher->key);
}

void paths__noise_seal(noise_cipher *cipher, const void *data, size_t bytes,
                       uint8_t *sealed)
{
    seal(cipher, data, bytes, NULL, 0, sealed);
}

int paths__noise_open(noise_cipher *cipher, void *data, size_t bytes,
                      const uint8_t *sealed)
{
    return unseal(cipher, data, bytes, NULL, 0, sealed);
}

/* REKEY(): what the last of all nonces makes of zeros. */
void paths__noise_rekey(noise_cipher *cipher)
{
    static const uint8_t zeros[NOISE_KEY_BYTES];
    uint8_t sealed[NOISE_KEY_BYTES + NOISE_SEAL_BYTES];

    cipher->nonce = UINT64_MAX;
    seal(cipher, zeros, sizeof(zeros), NULL, 0, sealed);
    memcpy(cipher->key, sealed, sizeof(cipher->key));
    cipher->nonce = 0;
    sodium_memzero(sealed, sizeof(sealed));
}

/* --- the symmetric state --- */

static void hmac(uint8_t out[32], const uint8_t key[32], const void *data,
                 size_t bytes, uint8_t number)
{
    crypto_auth_hmacsha256_state state;

    crypto_auth_hmacsha256_init(&state, key, 32);
    crypto_auth_hmacsha256_update(&state, data, bytes);
    if (number)
        crypto_auth_hmacsha256_update(&state, &number, 1);
    crypto_auth_hmacsha256_final(&state, out);
    sodium_memzero(&state, sizeof(state));
}

/* HKDF() with three outputs, of which the last may go unused. `first` may be
 * the chaining key itself. */
static void derive(const uint8_t chain[32], const void *data, size_t bytes,
                   uint8_t first[32], uint8_t second[32], uint8_t third[32])
{
    uint8_t key[32];

    hmac(key, chain, data, bytes, 0);
    hmac(first, key, NULL, 0, 1);
    hmac(second, key, first, 32, 2);
    hmac(third, key, second, 32, 3);
    sodium_memzero(key, sizeof(key));
}

/* MixHash() */
static void mix_hash(noise *n, const void *data, size_t bytes)
{
    crypto_hash_sha256_state state;

    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, n->hash, sizeof(n->hash));
    crypto_hash_sha256_update(&state, data, bytes);
    crypto_hash_sha256_final(&state, n->hash);
}

/* MixKey() */
static void mix_key(noise *n, const uint8_t data[32])
{
    uint8_t unused[32];

    derive(n->chain, data, 32, n->chain, n->cipher.key, unused);
    n->cipher.nonce = 0;
    sodium_memzero(unused, sizeof(unused));
}

/* MixKeyAndHash() */
static void mix_key_and_hash(noise *n, const uint8_t data[32])
{
    uint8_t hash[32];

    derive(n->chain, data, 32, n->chain, hash, n->cipher.key);
    n->cipher.nonce = 0;
    mix_hash(n, hash, sizeof(hash));
    sodium_memzero(hash, sizeof(hash));
}

/* --- messages --- */

/* Token e, which with a common key is also mixed into the cipher's. */
static void mix_ephemeral(noise *n, const uint8_t open[NOISE_KEY_BYTES])
{
    mix_hash(n, open, NOISE_KEY_BYTES);
    mix_key(n, open);
}

/* Token ee. A key of the few that give zero whatever the secret is an error:
 * the specification leaves that to us, and nobody honest sends one. */
static int mix_both(noise *n)
{
    uint8_t shared[NOISE_KEY_BYTES];
    int err = crypto_scalarmult_curve25519(shared, n->secret, n->theirs);

    if (!err)
        mix_key(n, shared);
    sodium_memzero(shared, sizeof(shared));
    return err ? -1 : 0;
}

/* EncryptAndHash() behind the ephemeral key. */
static void payload_write(noise *n, const void *payload, size_t bytes,
                          uint8_t *message)
{
    uint8_t *sealed = message + NOISE_KEY_BYTES;

    memcpy(message, n->open, NOISE_KEY_BYTES);
    seal(&n->cipher, payload, bytes, n->hash, sizeof(n->hash), sealed);
    mix_hash(n, sealed, bytes + NOISE_SEAL_BYTES);
}

/* DecryptAndHash() */
static int payload_read(noise *n, void *payload, size_t bytes,
                        const uint8_t *message)
{
    const uint8_t *sealed = message + NOISE_KEY_BYTES;

    if (unseal(&n->cipher, payload, bytes, n->hash, sizeof(n->hash), sealed))
        return -1;
    mix_hash(n, sealed, bytes + NOISE_SEAL_BYTES);
    return 0;
}

void paths__noise_begin(noise *n, const void *prologue, size_t prologue_bytes,
                        const uint8_t psk[NOISE_KEY_BYTES],
                        const uint8_t secret[NOISE_KEY_BYTES])
{
    memset(n, 0, sizeof(*n));
    /* Initialize(): the name is longer than a hash, and so hashed. */
    crypto_hash_sha256(n->hash, (const uint8_t *)protocol, strlen(protocol));
    memcpy(n->chain, n->hash, sizeof(n->chain));
    mix_hash(n, prologue, prologue_bytes);
    mix_key_and_hash(n, psk); /* token psk: the first of the first message */
    memcpy(n->secret, secret, NOISE_KEY_BYTES);
}

/* The token e, written and read. */
static int ephemeral_write(noise *n)
{
    if (crypto_scalarmult_curve25519_base(n->open, n->secret) != 0)
        return -1;
    mix_ephemeral(n, n->open);
    return 0;
}

static void ephemeral_read(noise *n, const uint8_t *message)
{
    memcpy(n->theirs, message, NOISE_KEY_BYTES);
    mix_ephemeral(n, n->theirs);
}

int paths__noise_first_write(noise *n, const void *payload, size_t bytes,
                             uint8_t *message)
{
    if (ephemeral_write(n) != 0)
        return -1;
    payload_write(n, payload, bytes, message);
    return 0;
}

/* Nothing of the curve is computed here: whoever does not know the key costs
 * a few hashes. */
int paths__noise_first_read(noise *n, void *payload, size_t bytes,
                            const uint8_t *message)
{
    ephemeral_read(n, message);
    return payload_read(n, payload, bytes, message);
}

int paths__noise_second_write(noise *n, const void *payload, size_t bytes,
                              uint8_t *message)
{
    if (ephemeral_write(n) != 0 || mix_both(n) != 0)
        return -1;
    payload_write(n, payload, bytes, message);
    return 0;
}

int paths__noise_second_read(noise *n, void *payload, size_t bytes,
                             const uint8_t *message)
{
    ephemeral_read(n, message);
    if (mix_both(n) != 0)
        return -1;
    return payload_read(n, payload, bytes, message);
}

void paths__noise_split(noise *n, noise_cipher *initiator,
                        noise_cipher *responder)
{
    uint8_t unused[32];

    derive(n->chain, NULL, 0, initiator->key, responder->key, unused);
    initiator->nonce = responder->nonce = 0;
    sodium_memzero(unused, sizeof(unused));
}
