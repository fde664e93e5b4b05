/* Prints replies for a person, one at a time, from any thread or process. */
#pragma once
#include "client/load/load.h"

/* Returns NULL if memory ran out. rows: the bodies are in the text form; otherwise they are printed
 * line by line. */
struct reply_viewer *reply_printer_open(uint32_t connections, bool rows);
