/* Marks the code that each request runs, so that the linker puts it together: a process that was
 * just forked, or has just been switched to, faults in every page again. */
#pragma once

#define HOT __attribute__((hot))
