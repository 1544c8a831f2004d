/* rules_read.c - rulebases in files, and the usual one. */
#include <stdlib.h>

#include "contracts/rules/rules_internal.h"
#include "contracts/text/tokens.h"

const char contracts_rules_usual[] = "var distance(0, 10) {\n"
                                     "  set trapez SHORT (0, 3, 0, 3);\n"
                                     "  set trapez LONG (6, 10, 3, 0);\n"
                                     "}\n"
                                     "var contract(-1, 2) {\n"
                                     "  set triangle OK (0, 1, 1);\n"
                                     "  set triangle VIOLATED (1, 1, 1);\n"
                                     "}\n"
                                     "if ( distance == SHORT )\n"
                                     "  { contract = OK; }\n"
                                     "if ( distance == LONG )\n"
                                     "  { contract = VIOLATED; }\n";

int contracts_rules_read(contracts_rules **out, const char *file)
{
    const char *name;
    char *text;
    int err;

    if (!file)
        return contracts__rules_parse(out, contracts_rules_usual,
                                      "the usual rulebase");
    *out = NULL;
    err = contracts__text_read(&text, &name, file, "a rulebase");
    if (!err)
        err = contracts__rules_parse(out, text, name);
    free(text);
    return err;
}
