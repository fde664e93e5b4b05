/* What the user can do about failed requests, from the first failure and the load's options. */
#include "client/results/advice.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The server wants a token, or another one. */
static bool is_token_refused(const char *problem) {
    static const char *const refusals[] = {"refused: \"HTTP/1.1 401", "refused: \"HTTP/1.0 401",
                                           "refused: \"error: this server requires a token",
                                           "refused: \"error: wrong token"};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (begins(problem, refusals[i]))
            return true;
    return false;
}

/* A reply that a regatta-server does not give. */
static bool is_foreign(const char *problem) {
    return begins(problem, "malformed: ") || begins(problem, "refused: \"HTTP/1.1 404") ||
           begins(problem, "refused: \"HTTP/1.0 404");
}

void failure_advice(const struct load *load, const struct summary *summary,
                    char advice[ADVICE_LIMIT]) {
    const char *problem = summary->problem != NULL ? summary->problem : "";
    bool is_http = load->dialect == DIALECT_HTTP;
    const char *say = NULL;
    if (is_token_refused(problem))
        say = load->token.length > 0 ? "the token of --token-file is not this server's"
                                     : "this server requires a token: give --token-file FILE";
    else if (strstr(problem, "the server's certificate: ") != NULL)
        say = "name who signed it with --cafile FILE, or accept any with --insecure";
    else if (summary->answered == 0 && load->top > 0 && is_foreign(problem))
        say = is_http ? "the reply is not Regatta's: for another server give --path / (in a study: "
                        "path = \"/\")"
                      : "the reply is not Regatta's: for another server give --request TEXT or "
                        "--dialect http (in a study: request or dialect)";
    if (say != NULL) {
        snprintf(advice, ADVICE_LIMIT, "%s", say);
        return;
    }
    /* Only a connection that was made can be waited on for a reply, or get one. */
    bool reached =
        summary->outcomes[OUTCOME_CONNECT] + summary->outcomes[OUTCOME_CLOSED] < summary->requests;
    snprintf(advice, ADVICE_LIMIT, "%s %s",
             reached ? "check the server at" : "check that a regatta-server runs at", load->target);
}
