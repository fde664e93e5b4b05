#include "base/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* systemd passes secrets in a folder that only the service can enter, and sets access control lists
 * on the files, so that their mode bits mean nothing. */
static bool is_credential(const char *path) {
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    size_t length = folder != NULL ? strlen(folder) : 0;
    return length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/' &&
           strchr(path + length + 1, '/') == NULL;
}

/* Returns 0 or -errno. */
static int check_file(const char *path, int fd, char problem[TOKEN_PROBLEM_LIMIT]) {
    struct stat file;
    if (fstat(fd, &file) != 0) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT, "%s", strerrordesc_np(errno));
        return -errno;
    }
    if (!S_ISREG(file.st_mode)) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT, "not a regular file; pass a file with the token");
        return -EINVAL;
    }
    if ((file.st_mode & (S_IRWXG | S_IRWXO)) != 0 && !is_credential(path)) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT,
                 "accessible to other users (mode %04o); run: chmod 600 FILE, and create a "
                 "new token if they may have read it",
                 (unsigned)file.st_mode & 07777U);
        return -EACCES;
    }
    return 0;
}

/* Reads up to `room` bytes or the end of the file. Returns how many, or -errno. */
static ssize_t read_all(int fd, char *bytes, size_t room) {
    size_t length = 0;
    while (length < room) {
        ssize_t got = read(fd, bytes + length, room - length);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -errno;
        length += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)length;
}

/* Takes the token from the content of the file. Returns 0, or -EINVAL and `problem`. */
static int take(const char *bytes, size_t length, struct token *token,
                char problem[TOKEN_PROBLEM_LIMIT]) {
    if (length > 0 && bytes[length - 1] == '\n')
        length--;
    if (length > 0 && bytes[length - 1] == '\r')
        length--;
    if (length == 0) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT,
                 "the file is empty; create a token with: openssl rand -hex 32");
        return -EINVAL;
    }
    for (size_t i = 0; i < length; i++)
        if (bytes[i] <= ' ' || bytes[i] > '~') {
            snprintf(problem, TOKEN_PROBLEM_LIMIT,
                     "the token must be one line of printable ASCII without blanks");
            return -EINVAL;
        }
    if (length < TOKEN_LENGTH_MIN || length > TOKEN_LIMIT) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT,
                 "the token must have %d to %d characters; create one with: openssl rand -hex 32",
                 TOKEN_LENGTH_MIN, TOKEN_LIMIT);
        return -EINVAL;
    }
    *token = (struct token){.length = (uint16_t)length};
    memcpy(token->bytes, bytes, length);
    return 0;
}

int token_read(const char *path, struct token *token, char problem[TOKEN_PROBLEM_LIMIT]) {
    char bytes[TOKEN_LIMIT + 3]; /* with CR LF, and one more byte to notice a longer token */
    /* O_NONBLOCK: opening a pipe must not block. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT, "%s", strerrordesc_np(errno));
        return -errno;
    }
    int error = check_file(path, fd, problem);
    ssize_t length = error == 0 ? read_all(fd, bytes, sizeof bytes) : 0;
    close(fd);
    if (error != 0)
        return error;
    if (length < 0) {
        snprintf(problem, TOKEN_PROBLEM_LIMIT, "%s", strerrordesc_np((int)-length));
        return (int)length;
    }
    error = take(bytes, (size_t)length, token, problem);
    explicit_bzero(bytes, sizeof bytes);
    return error;
}

bool token_is(const struct token *token, const char *bytes, size_t length) {
    char padded[TOKEN_LIMIT] = {0};
    memcpy(padded, bytes, length < TOKEN_LIMIT ? length : TOKEN_LIMIT);
    /* volatile: the compiler must not make the loop end early. */
    volatile unsigned char differs = length != token->length;
    for (size_t i = 0; i < TOKEN_LIMIT; i++)
        differs |= (unsigned char)(padded[i] ^ token->bytes[i]);
    return differs == 0 && token->length > 0;
}
