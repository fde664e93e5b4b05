/* What each request passes through, for the linker to put together: a process that was forked just
 * now, or that runs after another, has to find each page anew. */
#pragma once

#define HOT __attribute__((hot))
