#include "programs/watch_help.h"

#include <errno.h>
#include <stdio.h>

static const char HELP[] =
    "Usage: regatta-client --watch [OPTIONS] [HOST[:PORT]...]\n"
    "\n"
    "Shows which processes use the most CPU on each host, side by side, refreshed every two\n"
    "seconds. Each host must run regatta-server; the default is 127.0.0.1:7342.\n"
    "\n"
    "Examples:\n"
    "  regatta-client --watch alpha beta gamma\n"
    "                                       three hosts; q quits, h shows all keys\n"
    "  regatta-client --watch --group unit --window 60 alpha\n"
    "                                       systemd units by their use in the last minute\n"
    "  regatta-client --watch --count 1 --by total -n 20 alpha beta > report.txt\n"
    "                                       one table of each host, as text\n"
    "  regatta-client --watch --json --interval 10 alpha | jq .processes[0].name\n"
    "                                       one JSON object a line, for each host and refresh\n"
    "\n"
    "What to ask:\n"
    "  -n, --top N        rows of each host, 1 to 64 (as many as fit on the screen, else 10);\n"
    "                     a last row has everything else\n"
    "      --by B         recent: percent of one CPU within the window, short-lived processes\n"
    "                     included in the last row; total: seconds since each process started\n"
    "                     (recent)\n"
    "      --window S     recent: the last S seconds, 1 to 60 (10)\n"
    "      --group G      none; name, unit (systemd) or cgroup: sums of processes (none)\n"
    "\n"
    "How:\n"
    "      --interval S   seconds between refreshes, 0.1 to 3600 (2)\n"
    "      --count N      exit after this many refreshes (no limit)\n"
    "      --timeout MS   time for a host to answer (5000); one that fails is asked again at\n"
    "                     growing intervals, up to 30 s, without delaying the others\n"
    "      --token-file FILE\n"
    "                     the servers' token, in a file that only its owner may read; the same\n"
    "                     for all hosts\n"
    "      --json         one JSON object a line, for each host and refresh\n"
    "      --help         show this help and exit\n"
    "      --version      show the version and exit\n"
    "\n"
    "Without a terminal, or with TERM=dumb, each refresh is a table of plain text.\n"
    "\n"
    "Keys:\n"
    "  q quit          t recent or total            g next group: none, name, unit, cgroup\n"
    "  space pause     1 to 9 window of 1, 2, 5, 10, 15, 20, 30, 45, 60 s\n"
    "  h all keys      + - more or fewer rows       r ask now, also those that failed\n"
    "  up, down: other hosts, where not all fit\n"
    "\n"
    "Exit status: 0 you quit, or --count is reached; 1 no host ever answered; 2 an option is\n"
    "wrong; 130 Ctrl-C, 143 SIGTERM, 129 the terminal was closed.\n";

int watch_help_print(void) {
    fputs(HELP, stdout);
    return fflush(stdout) == 0 ? 0 : -errno;
}
