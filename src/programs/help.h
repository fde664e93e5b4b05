/* What --help prints, on stdout. */
#pragma once

void load_help(void);
void server_help(void);
void watch_help(void);
