/* Limits that several files need, or that a user should know; a limit of one file stands at its
 * top. Everything that grows has one. For a limit that is an option, this is the option's maximum.
 */
#pragma once

enum {
    NAME_LIMIT = 64,           /* bytes of a process's name: the longest that the kernel makes */
    TOP_LIMIT = 64,            /* rows of a reply at most */
    TOP_DEFAULT = 2,           /* rows of a reply by default */
    THREADED_LIMIT = 16,       /* rows of a reply with threads */
    LINE_LIMIT = 128,          /* bytes of a request in the line dialect */
    REQUEST_LINE_LIMIT = 1024, /* bytes of the first line of an HTTP head; longer is 414 */
    HEAD_LIMIT = 8192,         /* bytes of an HTTP head; longer is 431 */
    REPLY_LIMIT = 96 * 1024,   /* bytes of a reply's body: JSON with the worst names and commands */
    OUTPUT_LIMIT = 192 * 1024, /* bytes of replies that wait to be sent, for each connection */
    OUTPUT_MIB_LIMIT = 1 << 20, /* ... for all connections of a process together */
    CONNECTION_LIMIT = 1 << 20,
    WORKER_LIMIT = 4096,    /* processes or threads of a pool */
    ACCEPT_BATCH = 64,      /* connections that an event loop accepts before it serves again */
    REQUEST_BATCH = 16,     /* pipelined requests that it answers before it serves others */
    TURN_US = 1000,         /* ... and how long it does so, of all connections together */
    SPARE_DESCRIPTORS = 32, /* reserved, not for connections, in server and client */
    DRAIN_LIMIT_S = 5,      /* from the stop to the end, whatever clients do */
    HEARING_S = 1,          /* ... of which they are heard: a request on its way is answered */
    RETRY_PAUSE_MS = 50,    /* of a closed load after a failure */
    PORT_LIMIT = 65535,
    SAMPLE_LIMIT = 1 << 26, /* requests of one load: 2 GiB of samples, reserved but not allocated */
    ADDRESS_TEXT_LIMIT = 64, /* "[IPv6]:port" */
};
