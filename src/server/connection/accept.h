/* Accepting connections, for every design and free of strategy.
 *
 * A connection that cannot be served (no descriptor left, a limit reached) gets an answer that says
 * so and is closed: load is shed. No design spins on a failing accept: after an error that may
 * persist it pauses before the next attempt. */
#pragma once

struct server;

/* Returns a new connection, a blocking socket; -EAGAIN if none is waiting and the listener is
 * nonblocking, or if a stop was requested and this worker has no more clients to accept. All other
 * errors are counted and handled here. */
int listener_accept(struct server *server);

/* For a connection accepted by other means (uring): counts it and returns its descriptor; -EACCES
 * if its address is not allowed: it has then been answered and closed. */
int listener_admit(struct server *server, int fd);

/* For a connection that was accepted with the reserve descriptor because no other was left: opens a
 * new reserve, and refuses the client if there is none. fd: the connection, or -errno. Returns a
 * connection that can be served, or -EAGAIN, after a pause if accept failed. */
int listener_restore_reserve(struct server *server, int fd);

/* Answers that the server is full, and closes the connection. */
void listener_refuse(struct server *server, int fd);
