/* contract_read.c - contracts in files. */
#include <stdlib.h>

#include "contracts/contract/contract_internal.h"
#include "contracts/text/tokens.h"

/* What a run without any statement of its own is judged by. Metrics that are
 * of one operation hardly depend on where an interval begins. */
static const char usual_metrics[] =
    "metric intrinsic operation_bytes = bytes / operations;\n"
    "metric intrinsic message_share = (messages + rounds) / operations;\n"
    "metric performance operation_rate = operations / seconds;\n";

int contracts_contract_read(contracts_contract **out, const char *file)
{
    const char *name;
    char *text;
    int err = contracts__text_read(&text, &name, file, "a contract");

    *out = NULL;
    if (!err)
        err = contracts__contract_parse(out, text, name);
    free(text);
    return err;
}

int contracts_contract_metrics(contracts_contract **out, const char *file)
{
    return file ? contracts_contract_read(out, file)
                : contracts__contract_parse(out, usual_metrics,
                                            "the usual metrics");
}
