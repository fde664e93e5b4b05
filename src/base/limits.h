/* Limits that several files or users need to know; a limit of a single file is at its top.
 * Everything that grows has a limit. Where an option sets the limit, this is the option's maximum.
 */
#pragma once

enum {
    NAME_LIMIT = 64,           /* bytes of a process name: the longest that the kernel makes */
    TOP_LIMIT = 64,            /* rows of a reply */
    TOP_DEFAULT = 2,           /* rows of a reply by default */
    THREADED_LIMIT = 16,       /* rows of a reply with threads */
    LINE_LIMIT = 128,          /* bytes of a request in the line dialect */
    REQUEST_LINE_LIMIT = 1024, /* bytes of the first line of an HTTP head; longer is 414 */
    HEAD_LIMIT = 8192,         /* bytes of an HTTP head; longer is 431 */
    REPLY_LIMIT = 96 * 1024,   /* bytes of a reply body: JSON with the longest names and commands */
    OUTPUT_LIMIT = 192 * 1024, /* bytes of unsent replies per connection */
    OUTPUT_MIB_LIMIT = 1 << 20, /* ... of all connections */
    CONNECTION_LIMIT = 1 << 20,
    WORKER_LIMIT = 4096,    /* processes or threads of a pool */
    ACCEPT_BATCH = 64,      /* connections that an event loop accepts in one turn */
    REQUEST_BATCH = 16,     /* pipelined requests that it answers in one turn of a connection */
    TURN_US = 1000,         /* time that all queued connections together have in one turn */
    SPARE_DESCRIPTORS = 32, /* not used for connections, in server and client */
    DRAIN_LIMIT_S = 5,      /* from the stop signal to the exit, whatever clients do */
    HEARING_S = 1,          /* ... during which requests are still read */
    RETRY_PAUSE_MS = 50,    /* after a failed request of a closed load */
    PORT_LIMIT = 65535,
    SAMPLE_LIMIT = 1 << 26, /* requests of one load: 2 GiB of samples, reserved but not allocated */
    ADDRESS_TEXT_LIMIT = 64, /* "[IPv6]:port" */
};
