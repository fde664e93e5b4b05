/* Accepting from the listener: what every design needs of it and no strategy.
 *
 * A connection that cannot be served (no descriptor left, a limit reached) is told so and closed:
 * load is shed, and no design spins on an accept that fails. */
#pragma once

struct server;

/* A new connection's descriptor, of a socket that blocks; -EAGAIN if none waits and the listener is
 * nonblocking, or if a stop was requested and all who waited then are accepted, or none of them is
 * this worker's to accept. Everything else that can go wrong is counted and dealt with here. */
int listener_accept(struct server *server);

/* Counts a connection that was accepted by other means (uring), and returns its descriptor; -EACCES
 * if its address is not among those that may ask: then it was told so and closed. */
int listener_welcome(struct server *server, int fd);

/* Answers that the server is full, and closes. */
void listener_refuse(struct server *server, int fd);
