/* set_wire.h - one link of a profile is set. */
#ifndef TESTS_SET_WIRE_H
#define TESTS_SET_WIRE_H

#include <stdlib.h>

#include "pastset/status.h"
#include "predict/profile/profile.h"

static inline int set_wire(predict_profile *profile, uint32_t link,
                           double latency_s, double bandwidth,
                           predict_flow flow)
{
    predict_setting *settings =
        calloc(profile->link_count + 1, sizeof(*settings));
    int err = settings ? 0 : PASTSET_ENOMEM;

    if (!err) {
        settings[link] = (predict_setting){true, latency_s, bandwidth, flow};
        err = predict_profile_set_wires(profile, settings);
    }
    free(settings);
    return err;
}

#endif
