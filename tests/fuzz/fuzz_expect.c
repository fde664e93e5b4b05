/* A file of expected replies: what it accepts has its ranges in order.
 *
 * Input: the file. */
#include "fuzz.h"

#include "client/load/expect_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct expect_list list;
    char problem[EXPECT_PROBLEM_LIMIT] = "";
    int outcome = expect_list_parse((const char *)bytes, length, &list, problem);
    MUST(outcome == 0 || problem[0] != '\0');
    for (uint32_t i = 0; outcome == 0 && i < list.count; i++) {
        const struct expectation *found = &list.each[i];
        uint64_t end = 0;
        MUST(found->status >= 200 && found->low <= found->high);
        for (uint32_t j = 0; j < found->varying_count; end = found->varying[j++].to)
            MUST(found->varying[j].from >= end && found->varying[j].to > found->varying[j].from);
    }
    expect_list_release(&list);
    return 0;
}
