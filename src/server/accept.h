/* Accepting from the listener: what every design needs, free of strategy.
 *
 * A connection that cannot be served (no descriptor left, a limit reached) gets an answer that says
 * so and is closed: load is shed. No design spins on a failing accept: after an error that may last
 * it is tried again a moment later. */
#pragma once

struct server;

/* Returns a new connection, a blocking socket; -EAGAIN if none waits and the listener is
 * nonblocking, or if a stop was requested and this worker has no more clients to accept. All other
 * errors are counted and handled here. */
int listener_accept(struct server *server);

/* For a connection accepted by other means (uring): counts it and returns its descriptor; -EACCES
 * if its address is not allowed: then it was told so and closed. */
int listener_welcome(struct server *server, int fd);

/* For a connection that was taken when no descriptor was left, in place of the reserve: keeps a
 * reserve again, for which the client may have to be refused. fd: the connection, or -errno.
 * Returns a connection that can be served, or -EAGAIN, after a pause if there is none. */
int listener_keep_reserve(struct server *server, int fd);

/* Tells the client that the server is full, and closes. */
void listener_refuse(struct server *server, int fd);
