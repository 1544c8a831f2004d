/* choose_files.c - writes what the test of the command needs into a folder:
 * ring.profile, of two nodes. */
#include <stdio.h>

#include "pastset/status.h"
#include "predict/profile/profile.h"

#define ROUNDS 20

static predict_profile *profile_make(void)
{
    predict_profile *p = predict_profile_create("ring");

    p->wall_ns = ROUNDS * 3000000;
    p->interval_ns = 20000000;
    for (uint32_t i = 0; i < 2; i++) {
        predict_profile_add_place(p, i ? "1" : "0", 1);
        predict_profile_add_node(p, i ? "h1" : "h0", i);
        p->nodes[i].threads = 1;
        p->nodes[i].end_ns = p->wall_ns;
        p->nodes[i].kernel_ns = p->nodes[i].probed_ns = ROUNDS * 2000000;
    }
    predict_profile_add_link(p, 0, 1);
    for (uint32_t i = 0; i < 2 * ROUNDS; i++)
        predict_profile_add_message(
            p, (predict_message){i / 2 * 3000000, 1000, i % 2, 1 - i % 2});
    for (uint32_t i = 0; i < 2; i++) {
        predict_profile_add_actor(p, i, 0);
        for (uint32_t k = 0; k < ROUNDS; k++) {
            predict_profile_add_step(
                p, (predict_step){PREDICT_COMPUTE, PREDICT_NONE, 2000000});
            predict_profile_add_step(
                p, (predict_step){PREDICT_SEND, 2 * k + i, 0});
            predict_profile_add_step(
                p, (predict_step){PREDICT_RECEIVE, 2 * k + 1 - i, 0});
        }
    }
    return p;
}

int main(int argc, char **argv)
{
    char file[4096];
    predict_profile *profile = profile_make();
    int err;

    snprintf(file, sizeof(file), "%s/ring.profile", argc > 1 ? argv[1] : ".");
    err = predict_profile_save(profile, file);
    if (err)
        fprintf(stderr, "%s\n", pastset_error());
    predict_profile_destroy(profile);
    return err != 0;
}
