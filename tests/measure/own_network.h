/* own_network.h - a loopback for this test alone.
 *
 * What others send over the machine's loopback would be captured too: it fills
 * the ring, so that packets are dropped, and its ports may be taken. */
#ifndef TESTS_MEASURE_OWN_NETWORK_H
#define TESTS_MEASURE_OWN_NETWORK_H

/* This test and what it starts get a network namespace with nothing but a
 * loopback that is up. Who may not make one stays where it is. */
void own_network(void);

#endif
