/* numbers.c - where a place of the sequence is: x[k] = 5^(13 k) x[0], by
 * squaring, in as many steps as k has bits. */
#include "apps/ep/numbers.h"

ep_numbers ep_numbers_at(uint64_t k)
{
    const uint64_t mask = (UINT64_C(1) << EP_NUMBERS_BITS) - 1;
    uint64_t power = EP_NUMBERS_FACTOR, x = EP_NUMBERS_SEED;

    for (; k; k >>= 1) {
        if (k & 1)
            x = x * power & mask;
        power = power * power & mask;
    }
    return (ep_numbers){x};
}
