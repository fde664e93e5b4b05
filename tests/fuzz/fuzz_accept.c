/* Accept headers. Input: the value of one. */
#include "fuzz.h"

#include "service/exchange/http_accept.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct input input = input_of(bytes, length);
    struct slice value = {input.at, input.left}, rest = value;
    struct http_accept whole = {0}, split = {0};
    enum format text = http_accept_page(value, FORMAT_TEXT),
                json = http_accept_page(value, FORMAT_JSON);
    MUST(text == json || (text == FORMAT_TEXT && json == FORMAT_JSON));

    /* A list in one header is the same list in several (RFC 9110, 5.3). */
    http_accept_add(&whole, value);
    while (rest.length > 0)
        http_accept_add(&split, slice_next(&rest, ','));
    MUST(whole.prometheus.thousandths == split.prometheus.thousandths);
    MUST(whole.openmetrics.thousandths == split.openmetrics.thousandths);
    MUST(whole.prometheus.specificity == split.prometheus.specificity);
    MUST(whole.openmetrics.specificity == split.openmetrics.specificity);
    MUST(whole.prometheus.thousandths <= 1000 && whole.openmetrics.thousandths <= 1000);
    enum format metrics = http_accept_metrics(&whole);
    MUST(metrics == FORMAT_OPENMETRICS || metrics == FORMAT_PROMETHEUS);
    MUST(metrics == FORMAT_PROMETHEUS || whole.openmetrics.thousandths > 0);
    return 0;
}
