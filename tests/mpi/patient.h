/* patient.h - a slow link: see patient.c. */
#ifndef TESTS_MPI_PATIENT_H
#define TESTS_MPI_PATIENT_H

#include <stdbool.h>
#include <stdint.h>

/* From now on messages of this rank to `to` arrive that much later. MPI must
 * have been initialised for several threads. */
void patient_delay(int to, int64_t ns);
/* All are delivered, and no more are delayed. */
void patient_end(void);

#endif
