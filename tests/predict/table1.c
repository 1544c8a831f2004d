#include "tests/predict/table1.h"

#include <math.h>

/* clang-format off */
const table1_row table1[TABLE1_COUNT] = {
    {"CG", 25.6, 49.6, 23.1, 27.3, 60.8, 22.8, 1264, 18.4,
     1.455, 1.454, 1.454, 3.008, 15.948, 1.623,
     6.0411, 2.1645, 3.5407, 2.6999, 2.1645, 13.1708},
    {"IS", 40.1, 43.4, 38.1, 18.5, 2510.6, 531.4, 11, 2117.5,
     1.651, 1.630, 1.630, 3.132, 15.972, 1.3983,
     6.9901, 3.2822, 4.3904, 2.4266, 3.2822, 16.6936},
    {"MG", 43.9, 71.8, 14.4, 13.8, 1113.4, 183.0, 228, 55.0,
     1.718, 1.724, 1.724, 2.564, 8.599, 1.1959,
     6.6410, 1.8123, 2.5908, 2.1157, 1.8123, 8.9271},
    {"SP", 619.5, 73.7, 19.7, 6.6, 635.8, 44.8, 1606, 102.4,
     1.868, 1.868, 1.868, 2.526, 112.769, 1.1820,
     6.8017, 2.1429, 2.5258, 2.2321, 2.1429, 8.6294},
    {"LU", 563.5, 88.1, 4.0, 7.9, 1494.0, 66.0, 15752, 3.8,
     1.915, 1.842, 1.842, 2.238, 41.045, 1.0728,
     4.1233, 1.1249, 1.3717, 1.9877, 1.8420, 3.7247},
    {"BT", 898.3, 89.6, 2.7, 7.7, 2126.0, 64.0, 806, 117.1,
     1.942, 1.846, 1.846, 2.208, 64.720, 1.0720,
     6.8259, 1.1573, 1.6059, 1.9901, 1.8460, 4.6316},
    {"EP", 1046, 94.1, 0, 5.9, 98420.0, 618.0, 0, 0,
     1.988, 1.882, 1.882, 2.118, 0, 1,
     1, 1, 1, 1.882, 1.882, 2.118},
};
/* clang-format on */

predict_times table1_times(const table1_row *row)
{
    double percent_s = row->wall_s / 100;
    return (predict_times){row->comp * percent_s, row->comm * percent_s,
                           row->idle * percent_s};
}

static void add_node(predict_profile *p, const table1_row *row, uint32_t node)
{
    predict_times t = table1_times(row);
    predict_profile_add_place(p, node ? "1" : "0", 1);
    if (predict_profile_add_node(p, node ? "n1" : "n0", node) != node)
        return;
    p->nodes[node].kernel_ns = llround((t.comp_s + t.comm_s) * 1e9);
    p->nodes[node].end_ns = p->wall_ns;
    p->nodes[node].threads = 1;
    for (int64_t j = 0; j < 9; j++)
        predict_profile_add_phase(
            p, node,
            (predict_phase){j * 1000000000000,
                            llround(row->busy_phase_ms * 1e6),
                            llround(row->idle_phase_ms * 1e6)});
}

predict_profile *table1_profile(const table1_row *row)
{
    predict_profile *p = predict_profile_create(row->name);
    uint64_t bytes = (uint64_t)llround(row->kbytes * 1000);
    if (!p)
        return NULL;
    p->wall_ns = llround(row->wall_s * 1e9);
    for (uint32_t i = 0; i < 2; i++)
        add_node(p, row, i);
    if (row->messages > 0 && predict_profile_add_link(p, 0, 1) == 0) {
        p->links[0].bandwidth = TABLE1_OLD.bandwidth;
        p->links[0].latency_s = table1_times(row).comm_s / row->messages -
                                (double)bytes / TABLE1_OLD.bandwidth;
        p->links[0].busy = 1;
    }
    for (int64_t j = 0; j < (int64_t)row->messages; j++)
        predict_profile_add_message(
            p, (predict_message){j * 1000, bytes, j % 2, !(j % 2)});
    return p;
}
