#include "exchange/line.h"

#include "base/limits.h"
#include "base/number.h"

#include <string.h>

void line_parse(const char *bytes, size_t length, struct request *request) {
    static const char word[] = "top";
    const size_t word_length = sizeof word - 1;
    *request = (struct request){.kind = REQUEST_TOP, .rows = TOP_DEFAULT, .status = STATUS_OK};
    if (length > 0 && bytes[length - 1] == '\r')
        length--;
    if (length < word_length || memcmp(bytes, word, word_length) != 0 ||
        (length > word_length && bytes[word_length] != ' ')) {
        *request = (struct request){.kind = REQUEST_INVALID,
                                    .status = STATUS_BAD_REQUEST,
                                    .problem = "unknown request; say: top N"};
        return;
    }
    if (length == word_length)
        return;
    uint64_t rows;
    if (number_parse_bytes(bytes + word_length + 1, length - word_length - 1, 1, TOP_LIMIT,
                           &rows) == 0)
        request->rows = (unsigned)rows;
    else
        *request = (struct request){.kind = REQUEST_INVALID,
                                    .status = STATUS_BAD_REQUEST,
                                    .problem = "N must be a number from 1 to 64; say: top N"};
}
