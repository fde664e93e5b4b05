/* Marks code that runs for every request, so that the linker places it together: a process just
 * forked or switched to must fault in every page again. */
#pragma once

#define HOT __attribute__((hot))
