/* records_internal.h - the records of an encrypted connection.
 *
 * What one side says is cut into records, each of them sealed by the session's
 * key of that direction (noise_internal.h) and the number of the record:
 *
 *    0 u32 bytes   of the text, 1 to RECORD_TEXT_BYTES; the only thing in clear
 *    4             the text, encrypted
 *      16          the seal: of the text, and so of all that its number, its
 *                  key and its length are
 *
 * A record that was changed, repeated, left out, or moved to another place or
 * connection does not open. The cipher is AES-256-GCM where both processors
 * have instructions for it, and else ChaCha20-Poly1305. A direction goes on to
 * a new key, as the Noise framework's Rekey() makes it, before the first record
 * and after each RECORD_REKEY of them, so that a key that becomes known does
 * not open what was said before.
 *
 * Threads:   one at a time for each direction.
 * Ownership: create gives, destroy takes back, and wipes the key. */
#ifndef PATHS_RECORDS_INTERNAL_H
#define PATHS_RECORDS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths/net/noise_internal.h"

#define RECORD_TEXT_BYTES 16384
#define RECORD_HEAD_BYTES 4
#define RECORD_EXTRA_BYTES (RECORD_HEAD_BYTES + NOISE_SEAL_BYTES)
#define RECORD_BYTES (RECORD_TEXT_BYTES + RECORD_EXTRA_BYTES)
#define RECORD_REKEY (UINT64_C(1) << 20)

typedef struct records records; /* of one direction */

/* Has this processor instructions for AES that are used here? */
bool paths__records_have_aes(void);

/* `seals`: else it opens what the other side has sealed. `*out` is for the
 * caller to destroy, also after an error. Errors: PASTSET_ENOMEM, PASTSET_EIO
 * (there is no such cipher), PASTSET_ENOENT (OpenSSL is missing). */
int paths__records_create(records **out, const noise_cipher *session,
                          bool is_aes, bool seals);
/* NULL is allowed. */
void paths__records_destroy(records *r);

/* Seals `bytes` of `text`, which may be where it goes: `sealed` +
 * RECORD_HEAD_BYTES. `sealed` gets RECORD_EXTRA_BYTES more. -1: it cannot, and
 * nothing more can be said. */
int paths__record_seal(records *r, unsigned char *sealed, const void *text,
                       size_t bytes);

/* How long the record is that begins here, of which `there` bytes have come. 0:
 * that cannot be seen yet; -1: no record begins like this. */
int paths__record_length(const unsigned char *sealed, size_t there);
/* Opens one that is there whole; `text` has room for all of it, and may be
 * where it is: `sealed` + RECORD_HEAD_BYTES. -1: its seal is broken. */
int paths__record_open(records *r, void *text, const unsigned char *sealed);

#endif
