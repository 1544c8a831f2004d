/* records.c - see records_internal.h. The ciphers are OpenSSL's, which takes
 * half the time of libsodium's for what is long (4 GB/s instead of 1.9 on an
 * EPYC), and 0.2 us more for a short record. Its library is loaded with the
 * first connection that is encrypted: most processes have none, and would take
 * 3.5 ms longer to start. */
#include "paths/net/records_internal.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include "pastset/status.h"

struct records {
    EVP_CIPHER_CTX *cipher;
    noise_cipher session; /* its nonce is the number of the next record */
    bool seals;           /* else it opens */
};

/* --- OpenSSL --- */

#define LIBRARY "libcrypto.so." OPENSSL_MSTR(OPENSSL_SHLIB_VERSION)

static struct {
    EVP_CIPHER_CTX *(*make)(void);
    void (*destroy)(EVP_CIPHER_CTX *cipher); /* wipes its key */
    int (*control)(EVP_CIPHER_CTX *cipher, int what, int number, void *at);
    const EVP_CIPHER *(*aes)(void);
    const EVP_CIPHER *(*chacha)(void);
    int (*begin)(EVP_CIPHER_CTX *cipher, const EVP_CIPHER *type,
                 const unsigned char *key, const unsigned char *nonce,
                 int seals, const OSSL_PARAM *parameters);
    int (*pass)(EVP_CIPHER_CTX *cipher, unsigned char *out, int *done,
                const unsigned char *in, int bytes);
    int (*end)(EVP_CIPHER_CTX *cipher, unsigned char *out, int *done);
} evp;

static char missing[256]; /* why it cannot be used; "": it can */

static void library_load(void)
{
    static const struct {
        const char *name;
        void *pointer;
    } symbols[] = {{"EVP_CIPHER_CTX_new", &evp.make},
                   {"EVP_CIPHER_CTX_free", &evp.destroy},
                   {"EVP_CIPHER_CTX_ctrl", &evp.control},
                   {"EVP_aes_256_gcm", &evp.aes},
                   {"EVP_chacha20_poly1305", &evp.chacha},
                   {"EVP_CipherInit_ex2", &evp.begin},
                   {"EVP_CipherUpdate", &evp.pass},
                   {"EVP_CipherFinal_ex", &evp.end}};
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!handle)
        snprintf(missing, sizeof(missing),
                 "install the package libssl3 (%s), or say encrypt=never in "
                 "the map",
                 dlerror());
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols) && !*missing;
         i++) {
        void *at = dlsym(handle, symbols[i].name);
        if (!at)
            snprintf(missing, sizeof(missing), "%s has no function %s", LIBRARY,
                     symbols[i].name);
        memcpy(symbols[i].pointer, &at, sizeof(at));
    }
}

static int library_need(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, library_load);
    return *missing
               ? pastset_fail(PASTSET_ENOENT,
                              "a connection cannot be encrypted: %s", missing)
               : 0;
}

/* --- keys --- */

/* Without them AES takes longer than the other cipher, and its tables give the
 * key away to who can watch the cache. */
bool paths__records_have_aes(void)
{
#ifdef __aarch64__
    unsigned long needed = HWCAP_AES | HWCAP_PMULL;

    return (getauxval(AT_HWCAP) & needed) == needed;
#else
    return sodium_runtime_has_aesni() && sodium_runtime_has_pclmul();
#endif
}

static bool key_next(records *r)
{
    paths__noise_rekey(&r->session);
    return evp.begin(r->cipher, NULL, r->session.key, NULL, r->seals, NULL) ==
           1;
}

int paths__records_create(records **out, const noise_cipher *session,
                          bool is_aes, bool seals)
{
    records *r = NULL;
    int err = library_need();

    *out = NULL;
    if (err)
        return err;
    *out = r = calloc(1, sizeof(*r));
    if (r)
        r->cipher = evp.make();
    if (!r || !r->cipher)
        return pastset_no_memory("for an encrypted connection");
    r->session = *session;
    r->seals = seals;
    if (evp.begin(r->cipher, is_aes ? evp.aes() : evp.chacha(), NULL, NULL,
                  seals, NULL) != 1 ||
        !key_next(r))
        return pastset_fail(PASTSET_EIO, "OpenSSL cannot begin %s",
                            is_aes ? "AES-256-GCM" : "ChaCha20-Poly1305");
    return 0;
}

void paths__records_destroy(records *r)
{
    if (!r)
        return;
    evp.destroy(r->cipher);
    sodium_memzero(r, sizeof(*r));
    free(r);
}

/* --- records --- */

/* To the next record. */
static bool nonce_next(records *r)
{
    uint8_t nonce[NOISE_NONCE_BYTES];

    if (r->session.nonce == RECORD_REKEY && !key_next(r))
        return false;
    paths__noise_nonce(&r->session, nonce);
    return evp.begin(r->cipher, NULL, NULL, nonce, r->seals, NULL) == 1;
}

/* All of the text, from `in` to `out`, which may be the same. */
static bool text_pass(const records *r, void *out, const void *in, size_t bytes)
{
    int done;

    return evp.pass(r->cipher, out, &done, in, (int)bytes) == 1 &&
           evp.end(r->cipher, (unsigned char *)out + done, &done) == 1;
}

int paths__record_seal(records *r, unsigned char *sealed, const void *text,
                       size_t bytes)
{
    uint32_t length = (uint32_t)bytes;
    unsigned char *to = sealed + RECORD_HEAD_BYTES;

    memcpy(sealed, &length, RECORD_HEAD_BYTES);
    return nonce_next(r) && text_pass(r, to, text, bytes) &&
                   evp.control(r->cipher, EVP_CTRL_AEAD_GET_TAG,
                               NOISE_SEAL_BYTES, to + bytes) == 1
               ? 0
               : -1;
}

int paths__record_length(const unsigned char *sealed, size_t there)
{
    uint32_t bytes;

    if (there < RECORD_HEAD_BYTES)
        return 0;
    memcpy(&bytes, sealed, sizeof(bytes));
    return bytes == 0 || bytes > RECORD_TEXT_BYTES
               ? -1
               : (int)(bytes + RECORD_EXTRA_BYTES);
}

int paths__record_open(records *r, void *text, const unsigned char *sealed)
{
    unsigned char seal[NOISE_SEAL_BYTES];
    const unsigned char *from = sealed + RECORD_HEAD_BYTES;
    uint32_t bytes;

    memcpy(&bytes, sealed, sizeof(bytes));
    memcpy(seal, from + bytes, sizeof(seal));
    return nonce_next(r) &&
                   evp.control(r->cipher, EVP_CTRL_AEAD_SET_TAG,
                               NOISE_SEAL_BYTES, seal) == 1 &&
                   text_pass(r, text, from, bytes)
               ? 0
               : -1;
}
