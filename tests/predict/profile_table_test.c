/* profile_table_test.c - the tables of a profile. */
#include "viewer/tables/profile_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "viewer/tables/table_print.h"

/* Half a second of ten busy, 200 messages of 1,000 bytes there and 100 of
 * 2,500 back, at 1 ms and 1 Mbyte/s: 0.4 s and 0.35 s of comm. */
static predict_profile *known(void)
{
    predict_profile *p = predict_profile_create("known");
    predict_profile_add_place(p, "0", 1);
    predict_profile_add_place(p, "1-2", 2);
    predict_profile_add_node(p, "n0", 0);
    predict_profile_add_node(p, "n1", 1);
    p->wall_ns = 10000000000;
    p->nodes[0].kernel_ns = 5000000000;
    p->nodes[0].probed_ns = 5020000000;
    predict_profile_add_phase(p, 0, (predict_phase){0, 40000000, 10000000});
    predict_profile_add_phase(p, 0, (predict_phase){9, 60000000, 30000000});
    predict_profile_add_link(p, 0, 1);
    p->links[0] =
        (predict_link){.b = 1, .latency_s = 0.001, .bandwidth = 1e6, .busy = 1};
    for (int i = 0; i < 300; i++)
        predict_profile_add_message(p, i % 3
                                           ? (predict_message){i, 1000, 0, 1}
                                           : (predict_message){i, 2500, 1, 0});
    return p;
}

static char *printed(const predict_profile *p, const char *name)
{
    scopes_table *table = viewer_profile_table(p, name);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    cr_assert(table && out);
    check_status(viewer_table_print(table, VIEWER_CSV, out), 0);
    fclose(out);
    scopes_table_destroy(table);
    return text;
}

Test(profile_table, nodes_have_the_columns_of_the_papers, .timeout = 120)
{
    predict_profile *p = known();
    char *text = printed(p, "nodes");
    check_says(text, "node,time_ns,comp,comm,idle,busy_phase_ns,idle_phase_ns,"
                     "messages,message_bytes,");
    /* 0.2 * 2 + 0.1 * 3.5 = 0.75 s of comm, all of it busy. */
    check_says(text, "n0,10000000000,0.425,0.075,0.5,50000000,20000000,300,"
                     "1500,2,5020000000,5000000000,");
    free(text);
    predict_profile_destroy(p);
}

Test(profile_table, links_count_each_way, .timeout = 120)
{
    predict_profile *p = known();
    char *text = printed(p, "links");
    check_says(text, "n0,n1,200,100,200000,250000,1500,1000000,8,1");
    free(text);
    p->links[0].bandwidth = p->links[0].latency_s = NAN;
    text = printed(p, "links");
    check_says(text, "n0,n1,200,100,200000,250000,1500,,,");
    free(text);
    predict_profile_destroy(p);
}

Test(profile_table, phases_and_messages_stand_row_by_row, .timeout = 120)
{
    predict_profile *p = known();
    char *text = printed(p, "phases");
    check_says(text, "n0,0,40000000,10000000");
    check_says(text, "n0,9,60000000,30000000");
    free(text);
    text = printed(p, "messages");
    check_says(text, "0,n1,n0,2500");
    check_says(text, "299,n0,n1,1000");
    free(text);
    predict_profile_destroy(p);
}

Test(profile_table, a_profile_of_nothing_has_tables_too, .timeout = 120)
{
    predict_profile *p = predict_profile_create("");
    const char *names[] = {"nodes", "links", "phases", "messages"};
    for (size_t i = 0; i < 4; i++) {
        scopes_table *table = viewer_profile_table(p, names[i]);
        cr_assert(table);
        cr_assert_eq(scopes_table_rows(table), 0);
        scopes_table_destroy(table);
    }
    cr_assert_null(viewer_profile_table(p, "machines"));
    cr_assert_eq(errno, 0);
    predict_profile_destroy(p);
}
