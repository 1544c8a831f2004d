/* calls.c - a function for each call of MPI, made of calls.def and words.h. */
#include "mpi/words.h"

/* Some of them are said to be old by the libraries that have them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define CALL(name, parameters, arguments, word, roles)                         \
    __attribute__((visibility("default"))) int name parameters                 \
    {                                                                          \
        mpi_call this_call;                                                    \
        int outcome;                                                           \
        bool is_on = mpi__call_begin(&this_call, MPI__CALL_##name,             \
                                     __builtin_return_address(0));             \
        BEFORE_##word roles outcome = P##name arguments;                       \
        if (is_on) {                                                           \
            mpi__call_end(&this_call);                                         \
            AFTER_##word roles mpi__call_leave(&this_call);                    \
        }                                                                      \
        return outcome;                                                        \
    }
#define OWN(name)
#define OLD(name)

#include "mpi/calls.def"
