/* Socket activation, as systemd and others do it (sd_listen_fds(3)): whoever starts the server may
 * have opened its listener. */
#pragma once

/* Returns the socket that was given, -ENOENT if none was, -E2BIG if several were. The variables
 * that tell of it are taken out of the environment: they are told to nobody else. */
int activation_socket(void);
