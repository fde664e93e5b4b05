# For the build scripts: `need PROGRAM COMMAND` leaves the contender out if the program is missing, with
# the command that installs it. That is no error: the others are built.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

leave_out() {
    printf '%s is left out: %s\n' "${PWD##*/}" "$1"
    exit 0
}

need() {
    command -v "$1" >/dev/null || leave_out "$1 is missing; run: $2"
}
