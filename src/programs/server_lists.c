#include "programs/server_lists.h"

#include "base/text.h"
#include "programs/server_rights.h"
#include "server/designs/design_table.h"

#include <stdio.h>

void server_list_designs(bool as_json) {
    if (as_json)
        putchar('[');
    for (const struct design *const *design = designs; *design != NULL; design++) {
        const char *missing = design_missing(*design);
        if (as_json)
            printf("%s{\"name\": \"%s\", \"summary\": \"%s\", \"pool\": %s, "
                   "\"serves\": \"%s\", \"missing\": %s%s%s}",
                   design == designs ? "" : ",\n ", (*design)->name, (*design)->summary,
                   (*design)->workers != NO_POOL ? "true" : "false", design_serves(*design),
                   missing != NULL ? "\"" : "", missing != NULL ? missing : "null",
                   missing != NULL ? "\"" : "");
        else
            printf("%-18s  %s%s%s%s\n", (*design)->name, (*design)->summary,
                   missing != NULL ? " (not here: " : "", missing != NULL ? missing : "",
                   missing != NULL ? ")" : "");
    }
    if (as_json)
        puts("]");
}

struct sandbox_options server_options_sandbox(const struct server_command *command) {
    const struct options *options = &command->options;
    return (struct sandbox_options){.is_on = command->has_sandbox,
                                    .user = command->user,
                                    .uses_rings = options->design->rings != RINGS_NONE,
                                    .passes_clients = options->design->passes_clients,
                                    .uses_bpf = command->source != SOURCE_PROCFS,
                                    .has_secret = options->access.admission.token.length > 0};
}

int server_list_sandbox(const struct server_command *command, bool as_json) {
    char space[2048];
    struct text out = text_fixed(space, sizeof space);
    struct sandbox sandbox;
    const struct sandbox_options wanted = server_options_sandbox(command);
    int status = server_enter_sandbox(command, &wanted, &sandbox);
    if (status != 0)
        return status;
    sandbox_list(&sandbox, as_json, &out);
    fwrite(out.bytes, 1, out.length, stdout);
    return server_check_sandbox(command, &sandbox);
}
