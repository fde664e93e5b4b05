/* Token files. Input: the kind of file; its content. */
#include "fuzz.h"

#include "base/token.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind {
    OWN,        /* only its owner can read it */
    SHARED,     /* others can too */
    CREDENTIAL, /* ... but not enter its folder */
    FOLDER,
    NONE,
    UNREADABLE, /* opens, but reading fails */
    KINDS
};

static char path[32];

/* As few system calls as possible, for speed. */
static void make(const struct input *content, enum kind kind) {
    static int file = -1;
    static size_t written;
    if (file < 0) {
        file = memfd_create("token", MFD_CLOEXEC);
        MUST(file >= 0);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    MUST(fchmod(file, kind == OWN ? 0600 : 0644) == 0);
    MUST(pwrite(file, content->at, content->left, 0) == (ssize_t)content->left);
    if (content->left < written)
        MUST(ftruncate(file, (off_t)content->left) == 0);
    written = content->left;
    if (kind == CREDENTIAL)
        setenv("CREDENTIALS_DIRECTORY", "/proc/self/fd", 1);
    else
        unsetenv("CREDENTIALS_DIRECTORY");
    static const char *const others[KINDS] = {
        [FOLDER] = "/", [NONE] = "/none", [UNREADABLE] = "/proc/self/mem"};
    if (others[kind] != NULL)
        snprintf(path, sizeof path, "%s", others[kind]);
}

/* Length of the token in the content; 0: not a valid token. */
static size_t length_of(const struct input *content) {
    size_t length = content->left;
    length -= length > 0 && content->at[length - 1] == '\n';
    length -= length > 0 && content->at[length - 1] == '\r';
    for (size_t i = 0; i < length; i++)
        if (content->at[i] <= ' ' || content->at[i] > '~')
            return 0;
    return length >= TOKEN_LENGTH_MIN && length <= TOKEN_LIMIT ? length : 0;
}

/* The token equals itself, and nothing with a byte changed, missing or added. */
static void check_is(const struct token *token, unsigned changed) {
    char other[TOKEN_LIMIT + 1] = {0};
    memcpy(other, token->bytes, token->length);
    MUST(token_is(token, other, token->length));
    MUST(!token_is(token, other, token->length - 1U));
    MUST(!token_is(token, other, token->length + 1U));
    other[changed % token->length] ^= 1;
    MUST(!token_is(token, other, token->length));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    unsigned choice = input_choice(&input);
    enum kind kind = (enum kind)(choice % KINDS);
    char problem[TOKEN_PROBLEM_LIMIT] = "";
    struct token token = {.length = 0};
    make(&input, kind);
    size_t expected = kind == OWN || kind == CREDENTIAL ? length_of(&input) : 0;
    int error = token_read(path, &token, problem);
    MUST((error == 0) == (expected > 0) && token.length == expected);
    MUST((error == 0) == (problem[0] == '\0') && strchr(problem, '\n') == NULL);
    if (error != 0) {
        MUST(!token_is(&token, input.at, input.left < TOKEN_LIMIT ? input.left : TOKEN_LIMIT));
        return 0;
    }
    MUST(memcmp(token.bytes, input.at, expected) == 0);
    check_is(&token, choice);
    return 0;
}
