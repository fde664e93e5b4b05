/* regatta-dial: connects descriptor 3 to a socket in the working directory, then becomes a program.
 *
 * A program in a container cannot inherit a descriptor of the lab's. So it finds, in a folder that
 * both see, a socket that the lab listens on: usage: regatta-dial SOCKET PROGRAM [ARGUMENT...] */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINE_FD = 3, EXIT_USAGE = 2, EXIT_CANNOT_RUN = 127 };

static int complain(const char *what, const char *name, int status) {
    fprintf(stderr, "regatta-dial: %s %s: %s\n", what, name, strerror(errno));
    return status;
}

int main(int count, char *arguments[]) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (count < 3 || strlen(arguments[1]) >= sizeof address.sun_path) {
        fputs("usage: regatta-dial SOCKET PROGRAM [ARGUMENT...]\n", stderr);
        return EXIT_USAGE;
    }
    memcpy(address.sun_path, arguments[1], strlen(arguments[1]));
    int line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (line < 0 || connect(line, (const struct sockaddr *)&address, sizeof address) != 0)
        return complain("cannot connect to", arguments[1], EXIT_CANNOT_RUN);
    if (line != LINE_FD && (dup2(line, LINE_FD) != LINE_FD || close(line) != 0))
        return complain("cannot hand over", arguments[1], EXIT_CANNOT_RUN);
    execv(arguments[2], arguments + 2);
    return complain("cannot run", arguments[2], EXIT_CANNOT_RUN);
}
