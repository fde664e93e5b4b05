/* Prints replies for a person, one at a time, whichever thread or process they come from. */
#pragma once
#include "load/load.h"

/* NULL if there is no memory. rows: the bodies are in the text form; otherwise they may be
 * anything. */
struct reply_viewer *reply_printer_open(uint32_t connections, bool rows);
