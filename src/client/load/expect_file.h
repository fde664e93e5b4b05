/* A file of what the replies must be (docs/formats.md): a line for each request of the load, in
 * their order. */
#pragma once
#include "client/reply/expectation.h"

#include <stddef.h>

enum { EXPECT_FILE_LIMIT = 4 << 20 /* bytes */, EXPECT_PROBLEM_LIMIT = 160 };

struct expect_list {
    struct expectation *each;
    uint32_t count;
    struct byte_range *ranges; /* of all of them */
};

/* Reads the content of such a file. Returns 0, or -errno and what is wrong, with the number of the
 * line; release the list in either case. */
int expect_list_parse(const char *bytes, size_t length, struct expect_list *list,
                      char problem[EXPECT_PROBLEM_LIMIT]);

/* Reads the file. Returns the same. */
int expect_file_read(const char *path, struct expect_list *list,
                     char problem[EXPECT_PROBLEM_LIMIT]);

void expect_list_release(struct expect_list *list);
