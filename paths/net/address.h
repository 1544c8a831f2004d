/* address.h - where a process listens: the `address` attribute of the map.
 *
 * An address is numeric, `127.0.0.1`, `10.0.0.4:7000`, `::1` or `[::1]:7000`;
 * the port is 0, for any free one, when it is absent. */
#ifndef PATHS_ADDRESS_H
#define PATHS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PATHS_ADDRESS_TEXT 64 /* longest text, with its 0 */
#define PATHS_ADDRESS_LOOPBACK "127.0.0.1"

typedef struct paths_address {
    struct sockaddr_storage socket; /* zero behind its `bytes` */
    socklen_t bytes;
    uint16_t port; /* 0: any free one */
} paths_address;

/* Errors: PASTSET_EINVAL with a text that says how one is written. */
int paths_address_parse(paths_address *out, const char *text);

void paths_address_set_port(paths_address *address, uint16_t port);
/* Does it lead to no other machine? */
bool paths_address_is_loopback(const struct sockaddr_storage *address);

/* Opens a listening socket at an address (NULL: loopback, any free port), or
 * with its port at all addresses of this machine, and stores the address with
 * the port that it really got in `actual`.
 * Errors: PASTSET_EINVAL, PASTSET_EIO, PASTSET_ELIMIT. */
int paths_address_listen(int *fd, const char *text, bool everywhere,
                         char actual[PATHS_ADDRESS_TEXT]);

#endif
