/* load_changes_test.c - what is measured of links and places, in a cluster
 * file. */
#include "measure/load/load_changes.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/load_internal.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "predict/cluster/cluster_internal.h"

/* The text of the file without blanks and quotes. */
static char *plain_text(const char *file)
{
    char *text = file_read(file, NULL), *to = text;
    for (const char *at = text; *at; at++)
        if (!strchr(" \t\n\"", *at))
            *to++ = *at;
    *to = 0;
    return text;
}

static void write_link(const char *file, double rate)
{
    measure_changes list = {0};
    measure_link link = {.latency_s = 9e-6,
                         .bandwidth = 13e6 / 8,
                         .rate = rate,
                         .burst = 1599.7,
                         .alone_s = 20.25e-6};
    check_status(measure_changes_link(&list, "n0", "n1", &link), 0);
    check_status(measure_changes_write(&list, file), 0);
    measure_changes_clear(&list);
}

Test(load_changes, leave_no_flow_of_a_link_that_has_none_now,
     .init = scratch_make, .fini = scratch_remove, .timeout = 120)
{
    const char *file = scratch_file("cluster.dot");
    predict_cluster *cluster;
    char *text;
    write_link(file, 9.6e6 / 8);
    text = plain_text(file);
    check_says(text, "rate=9.600mbit");
    check_says(text, "burst=1600");
    check_says(text, "alone=20.25us");
    free(text);
    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_float_eq(cluster->flows[1].rate, 1.2e6, 1);
    predict_cluster_destroy(cluster);
    write_link(file, 0);
    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_null(cluster->flows);
    cr_assert_float_eq(cluster->wires[1].bandwidth, 13e6 / 8, 1);
    predict_cluster_destroy(cluster);
}

/* --- places --- */

static void check_place(const char *boot, const char *processors,
                        const char *want)
{
    char got[MEASURE_PLACE_BYTES], copy[64], *state = NULL;
    cpu_set_t set;
    CPU_ZERO(&set);
    snprintf(copy, sizeof(copy), "%s", processors);
    for (char *at = strtok_r(copy, " ", &state); at;
         at = strtok_r(NULL, " ", &state))
        CPU_SET(atoi(at), &set);
    measure__place_name(got, boot, &set);
    cr_assert_str_eq(got, want);
}

#define BOOT "5a01c7d2-e34b-4111-8222-333344445555\n"

Test(place, is_named_by_boot_and_processors, .timeout = 120)
{
    check_place(BOOT, "0", "boot-5a01c7d2e34b-0");
    check_place(BOOT, "0 1", "boot-5a01c7d2e34b-0-1");
    check_place(BOOT, "0 2 3 4 1023", "boot-5a01c7d2e34b-0,2-4,1023");
    check_place("6a01c7d2-e34b-4111", "0", "boot-6a01c7d2e34b-0");
    check_place("", "0", "");
    check_place("none\n", "0", "");
    check_place(BOOT, "", "");
}

Test(place, of_many_processors_is_told_apart_too, .timeout = 120)
{
    char even[MEASURE_PLACE_BYTES], odd[MEASURE_PLACE_BYTES];
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < 200; i += 2)
        CPU_SET(i, &set);
    measure__place_name(even, BOOT, &set);
    CPU_CLR(198, &set);
    CPU_SET(199, &set);
    measure__place_name(odd, BOOT, &set);
    cr_assert_eq(strncmp(even, "boot-5a01c7d2e34b-h", 19), 0, "%s", even);
    cr_assert_eq(strlen(even), 19 + 16);
    cr_assert_str_neq(even, odd);
}

Test(place, is_written_unless_the_user_wrote_one, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    const char *file = scratch_write(
        "cluster.dot", "digraph { a [place=rack]; b [place=\"boot-1-0\"]; "
                       "d [place=other]; }\n");
    const char *const machines[] = {"a", "b", "c", "d"};
    const char *const places[] = {"boot-2-0", "boot-2-0", "boot-2-0", ""};
    predict_cluster *cluster;
    measure_changes list = {0};
    uint32_t a, b, c;
    char *text;
    for (int i = 0; i < 4; i++) {
        measure_load load = {.load = 1, .processors = 1};
        strcpy(load.place, places[i]);
        check_status(measure_changes_machine(&list, machines[i], &load, NULL),
                     0);
    }
    check_status(measure_changes_write(&list, file), 0);
    measure_changes_clear(&list);
    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_eq(cluster->place_count, 3);
    a = predict_cluster_find(cluster, "a");
    b = predict_cluster_find(cluster, "b");
    c = predict_cluster_find(cluster, "c");
    cr_assert_eq(cluster->machines[b].place, cluster->machines[c].place);
    cr_assert_neq(cluster->machines[a].place, cluster->machines[b].place);
    cr_assert_eq(cluster->machines[predict_cluster_find(cluster, "d")].load, 1);
    predict_cluster_destroy(cluster);
    text = plain_text(file);
    check_says(text, "place=rack");
    check_says(text, "place=other");
    free(text);
}
