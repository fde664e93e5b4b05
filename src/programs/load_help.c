#include "programs/help.h"

#include "engines/engines.h"

#include <stdio.h>

static const char HELP[] =
    "Usage: regatta-client [OPTIONS] [HOST[:PORT]]\n"
    "\n"
    "Asks a regatta-server which processes use the most CPU time, over one or many connections,\n"
    "checks every reply and times every request. The default is 127.0.0.1:7342.\n"
    "\n"
    "Examples:\n"
    "  regatta-client                       ask once and print the reply\n"
    "  regatta-client -c 5 -n 10            five connections at once, ten processes each\n"
    "  regatta-client -c 100 --rounds 20 --engine thread --quiet\n"
    "                                       twenty bursts of a hundred threads, the summary only\n"
    "  regatta-client -c 50 --load closed --duration 10 --dialect http\n"
    "                                       keep fifty HTTP connections busy for ten seconds\n"
    "  regatta-client -c 50 --load closed --per-connection 1 --json > result.json\n"
    "                                       a new connection for each request, result as JSON\n"
    "  regatta-client -c 100 --load open --rate 5000 --arrivals poisson --dialect http\n"
    "                                       5000 requests a second at random moments, whether or\n"
    "                                       not earlier ones were answered: what users see\n"
    "  regatta-client -c 100 --load closed --idle 10000\n"
    "                                       what ten thousand idle clients cost the busy ones\n"
    "  regatta-client -c 20 --load open --rate 500 --slow 50\n"
    "                                       what fifty slow clients cost the others\n"
    "  regatta-client --watch alpha beta    show the top of several hosts, side by side:\n"
    "                                       see --watch --help\n"
    "\n"
    "What to ask:\n"
    "  -c, --connections N   concurrent connections (1)\n"
    "  -n, --top N           processes in each reply, 1 to 64 (2)\n"
    "      --dialect D       line or http (line)\n"
    "      --request TEXT    line dialect: send this line, to any server; the reply is complete "
    "at\n"
    "                        an empty line or the end of the connection, and not checked else\n"
    "      --path P          HTTP: request this path, of any server; only the status and the\n"
    "                        body's length are checked, not its content\n"
    "      --token-file FILE the server's token, in a file that only its owner may read; sent\n"
    "                        once on each connection, in HTTP with each request\n"
    "      --timeout MS      fail a request, connecting included, after this time (10000)\n"
    "\n"
    "How:\n"
    "      --load L          burst: all connect at once, ask once, close (default)\n"
    "                        closed: each connection asks again as soon as it is answered\n"
    "                        open: requests start at a fixed rate, whatever the server does; one\n"
    "                        that finds no free connection waits, and its latency counts from\n"
    "                        its intended start\n"
    "      --rounds R        burst: number of bursts, one after the other (1)\n"
    "      --duration S      closed, open: seconds, with a fraction if need be (5)\n"
    "      --per-connection K\n"
    "                        closed, open: reconnect after K requests; 0: keep connections (0)\n"
    "      --rate R          open: requests a second, over all connections\n"
    "      --arrivals A      open: even, or poisson: at random, as from many users (even)\n"
    "      --seed N          poisson: seed of the random moments (1)\n"
    "      --idle N          additional idle connections (0)\n"
    "      --slow N          additional connections that send and read a byte every 10 ms (0)\n"
    "      --engine E        what makes the connections (epoll):\n";

static const char HELP_END[] =
    "      --sources A,B-C   local addresses to connect from, in turn, so that ports do not run\n"
    "                        out (on loopback many connections spread by themselves)\n"
    "      --cpus LIST       pin this program to CPUs such as 1, 0,2 or 1-3\n"
    "\n"
    "What to print and keep:\n"
    "      --quiet           the summary only (as closed and open loads do anyway)\n"
    "      --json            the summary as one JSON object, and nothing else\n"
    "      --samples FILE    every request's start, first byte and end (docs/formats.md)\n"
    "      --gate-fd FD      start and stop the load over this socket (docs/formats.md)\n"
    "      --help            show this help and exit\n"
    "      --version         show the version and exit\n"
    "\n"
    "Exit status: 0 every request was answered correctly; 1 one was not, or something failed;\n"
    "2 an option is wrong, and nothing was started.\n";

void load_help(void) {
    fputs(HELP, stdout);
    for (const struct engine *const *engine = engines; *engine != NULL; engine++)
        printf("                        %-6s  %s\n", (*engine)->name, (*engine)->summary);
    fputs(HELP_END, stdout);
}
