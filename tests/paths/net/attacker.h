/* attacker.h - what a hostile peer of a run does over bare sockets. */
#ifndef TESTS_PATHS_ATTACKER_H
#define TESTS_PATHS_ATTACKER_H

#include "paths/net/wire_internal.h"

/* To a port of this machine. */
int attacker_dial(int port);
/* Sends what the other side still takes. */
void attacker_say(int fd, const void *data, size_t bytes);
void attacker_say_frame(int fd, wire_header header, const void *payload);
/* False: it was closed before all of it came. */
bool attacker_hear(int fd, void *data, size_t bytes);
/* The other side closes it within its time, whatever it says before. */
void attacker_is_closed(int fd);

/* What is said in a handshake. */
handshake_claim attacker_claim(uint16_t role, const char *from, const char *to,
                               uint64_t digest);
/* As whoever knows `key`, up to and with the proof. False: it was closed. */
bool attacker_shake_hands(int fd, const uint8_t key[32],
                          const handshake_claim *claim);
/* And is let in. */
bool attacker_is_welcome(int fd);
/* As the process that was called: up to and with the dialler's proof. */
bool attacker_answer(int fd, const uint8_t key[32], const char *self,
                     uint64_t digest);

#endif
