/* What the program trace writes and regatta-trace passes on; the lab reads the same
 * (regatta/measure/accounts/requests.py). Include a header with the kernel's types first. */
#pragma once

enum {
    TRACE_CPUS = 1024,      /* as many as CPU_SETSIZE */
    TRACE_BYTES = 32 << 20, /* of the ring: 460,000 events between two readings */
};

enum trace_kind {
    TRACE_LOST,      /* so many events (length) had no room */
    TRACE_SWITCH,    /* from `task`, which could still run (flag) or not, to `next` (name) */
    TRACE_WAKEUP,    /* `next` (name) can run; for the first time (flag) */
    TRACE_CONNECTED, /* a client's call that connects has begun */
    TRACE_REACHED,   /* data has reached a socket */
    TRACE_SENT,      /* `task` has sent `length` bytes; it called at `began`, if that is known */
    TRACE_RECEIVED,  /* `task` has received `length` bytes */
    TRACE_ACCEPTED,  /* `task` has accepted it */
};

struct trace_event {
    __u64 at, began;  /* ns of CLOCK_MONOTONIC */
    __u64 socket;     /* its address in the kernel, which later sockets may have too */
    __u64 client;     /* the client's address, 32 bits of it, and its port */
    __s32 task, next; /* thread ids */
    __u32 length;     /* bytes */
    __u16 cpu;        /* on which it happened */
    __u8 kind, flag;  /* flag: of a socket: it is the client's end */
    char name[16];
};
