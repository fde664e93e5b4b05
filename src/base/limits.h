/* Every limit of the two programs, in one place. Nothing grows without one of these.
 * A limit that a user may change is an option; these are what the options may not exceed,
 * and what has no option. */
#pragma once

enum {
    NAME_LIMIT = 64,  /* bytes of a process's name: the kernel's longest, of a kernel worker */
    TOP_LIMIT = 64,   /* rows of a reply at most */
    TOP_DEFAULT = 2,  /* rows of a reply when not asked for a number */
    LINE_LIMIT = 128, /* bytes of a request in the line dialect */
    REQUEST_LINE_LIMIT = 1024, /* bytes of the first line of an HTTP head; longer is 414 */
    HEAD_LIMIT = 8192,         /* bytes of an HTTP head; longer is 431 */
    REPLY_LIMIT = 32 * 1024,   /* bytes of a reply's body: 64 rows of JSON with the worst names */
    OUTPUT_LIMIT = 96 * 1024,  /* bytes of replies that wait to be sent, for each connection */
    WORKER_LIMIT = 1024,       /* workers of a pool */
    CONNECTION_LIMIT = 1 << 20,
    ACCEPT_BATCH = 64, /* connections that an event loop accepts before it serves again */
    DRAIN_LIMIT_MS = 5000,
    RETRY_PAUSE_MS = 50, /* of a closed load, after a failure, before it connects again */
    PORT_LIMIT = 65535,
    SAMPLE_LIMIT = 1 << 26,  /* requests of one load: 2 GiB of samples, reserved and not used up */
    ADDRESS_TEXT_LIMIT = 64, /* "[IPv6%scope]:port" */
};
