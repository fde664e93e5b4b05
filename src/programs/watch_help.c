#include "programs/watch_help.h"

#include <errno.h>
#include <stdio.h>

static const char HELP[] =
    "Usage: regatta-client --watch [OPTIONS] [HOST[:PORT]...]\n"
    "\n"
    "Shows which processes use the most CPU on each host, side by side, and again every two\n"
    "seconds. A regatta-server must run on each; the default is 127.0.0.1:7342.\n"
    "\n"
    "Examples:\n"
    "  regatta-client --watch alpha beta gamma\n"
    "                                       three hosts; q ends, h shows all keys\n"
    "  regatta-client --watch --group unit --window 60 alpha\n"
    "                                       systemd units by their use in the last minute\n"
    "  regatta-client --watch --count 1 --by total -n 20 alpha beta > report.txt\n"
    "                                       one table of each host, as text\n"
    "  regatta-client --watch --json --interval 10 alpha | jq .processes[0].name\n"
    "                                       one JSON object a line, for each host and refresh\n"
    "\n"
    "What to ask:\n"
    "  -n, --top N        rows of each host, 1 to 64 (on a screen as many as there is room for,\n"
    "                     else 10); a last row has everything else\n"
    "      --by B         recent: percent of one CPU within the window, short-lived processes\n"
    "                     included in the last row; total: seconds since each process started\n"
    "                     (recent)\n"
    "      --window S     recent: look back so many seconds, 1 to 60 (10)\n"
    "      --group G      none; name, unit (systemd) or cgroup: sums of processes (none)\n"
    "\n"
    "How:\n"
    "      --interval S   seconds between refreshes, 0.1 to 3600 (2)\n"
    "      --count N      end after so many refreshes (without end)\n"
    "      --timeout MS   a host fails if it has not answered by then (5000); it is asked again,\n"
    "                     later and later, up to every 30 s, and holds up no other\n"
    "      --token-file FILE\n"
    "                     the token that the servers ask for, in a file that only its owner may\n"
    "                     read; all hosts are told the same one\n"
    "      --json         one JSON object a line, for each host and refresh\n"
    "      --help         this text\n"
    "      --version      the version\n"
    "\n"
    "Without a terminal, or with TERM=dumb, each refresh is a table of plain text.\n"
    "\n"
    "Keys:\n"
    "  q quit          t recent or total            g next group: none, name, unit, cgroup\n"
    "  space pause     1 to 9 window of 1, 2, 5, 10, 15, 20, 30, 45, 60 s\n"
    "  h all keys      + - more or fewer rows       r ask now, also those that failed\n"
    "  up, down: other hosts, where not all find room\n"
    "\n"
    "Exit status: 0 you quit, or --count is reached; 1 no host ever answered; 2 an option is\n"
    "wrong; 130 Ctrl-C, 143 SIGTERM, 129 the terminal went away.\n";

int watch_help_print(void) {
    fputs(HELP, stdout);
    return fflush(stdout) == 0 ? 0 : -errno;
}
