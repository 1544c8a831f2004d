/* contract_print.c - a contract as a text, such that what is read of it is the
 * same. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "contracts/contract/contract.h"
#include "pastset/status.h"

static void numbers_print(const double *numbers, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%.9g", i ? ", " : "(", numbers[i]);
    fputc(')', out);
}

static void class_print(const contracts_contract *c, const contracts_class *k,
                        FILE *out)
{
    fprintf(out, "class %s of ", contracts_kind_names[k->kind]);
    fprintf(out, k->process ? "\"%s\" " : "%s",
            k->process ? k->process : "all ");
    numbers_print(k->centroid, c->sizes[k->kind], out);
    fputs(" deviates ", out);
    numbers_print(k->deviation, c->sizes[k->kind], out);
    fprintf(out, " seen %zu", k->seen);
    if (k->has_with)
        fputs(k->with_count ? " with" : " with none", out);
    for (size_t i = 0; i < k->with_count; i++)
        fprintf(out, "%s %zu", i ? "," : "", k->with[i]);
    fputs(";\n", out);
}

static void settings_print(const contracts_contract *c, FILE *out)
{
    fprintf(out, "interval %.9g;\ntolerance %.9g;\nviolated %u;\n",
            c->interval_s, c->tolerance, c->violated);
    if (c->rules_file)
        fprintf(out, "rules \"%s\";\n", c->rules_file);
    if (c->cluster_file)
        fprintf(out, "cluster \"%s\";\n", c->cluster_file);
    if (c->histories_file)
        fprintf(out, "histories \"%s\";\n", c->histories_file);
    for (size_t i = 0; i < contracts_metrics_count(c->metrics); i++)
        fprintf(out, "metric %s %s = %s;\n",
                contracts_metric_is_intrinsic(c->metrics, i) ? "intrinsic"
                                                             : "performance",
                contracts_metric_name(c->metrics, i),
                contracts_metric_text(c->metrics, i));
}

static void group_print(const contracts_group *group, FILE *out)
{
    fprintf(out, "group \"%s\" of", group->name);
    for (size_t i = 0; i < group->member_count; i++)
        fprintf(out, "%s \"%s\"", i ? "," : "", group->members[i]);
    fputs(";\n", out);
}

static void usual_print(const contracts_usual *usual, FILE *out)
{
    fprintf(out, "usual \"%s\"", usual->process);
    for (int k = 0; k < CONTRACTS_PARTS; k++)
        if (!isnan(usual->parts[k]))
            fprintf(out, " %s %.9g", contracts_part_names[k], usual->parts[k]);
    fputs(";\n", out);
    for (size_t i = 0; i < usual->peer_count; i++)
        fprintf(out, "usual \"%s\" with \"%s\" waiting %.9g transfer %.9g;\n",
                usual->process, usual->peers[i].name, usual->peers[i].waiting,
                usual->peers[i].transfer);
}

int contracts_contract_print(const contracts_contract *c, FILE *out)
{
    settings_print(c, out);
    for (size_t i = 0; i < c->group_count; i++)
        group_print(&c->groups[i], out);
    for (size_t i = 0; i < c->class_count; i++)
        class_print(c, &c->classes[i], out);
    for (size_t i = 0; i < c->projection_count; i++)
        fprintf(out, "project \"%s\" %s by %.9g;\n", c->projections[i].process,
                contracts_metric_name(c->metrics, c->projections[i].metric),
                c->projections[i].factor);
    for (size_t i = 0; i < c->usual_count; i++)
        usual_print(&c->usual[i], out);
    return ferror(out)
               ? pastset_fail(PASTSET_EIO, "cannot write a contract: %s",
                              strerror(errno))
               : 0;
}
