#include "unit.h"

#include "service/exchange/http_accept.h"

#include <string.h>

static enum format wanted(const char *first, const char *second) {
    struct http_accept accept = {0};
    http_accept_add(&accept, (struct slice){first, strlen(first)});
    http_accept_add(&accept, (struct slice){second, strlen(second)});
    return http_accept_metrics(&accept);
}

TEST(the_preferred_format_is_chosen) {
    static const char *const openmetrics[] = {
        /* Prometheus 2, and 3 */
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
        "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
        "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
        "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
        "application/openmetrics-text",
        "Application/OpenMetrics-Text ; version=1.0.0 ; Q=0.3 , text/plain ; q=0.299",
        "application/openmetrics-text, */*",
        "*/*, text/plain;q=0.5",
        "application/*;q=1.000, text/*;q=0.999",
    };
    static const char *const prometheus[] = {
        "",
        "*/*",
        "text/plain",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8",
        "text/plain, application/openmetrics-text;q=0.5",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;version=1.0.0;q=0, */*",
        "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text;version=2.0.0, text/plain;q=0.1",
        "text/plain, application/openmetrics-text",
        ",;,=;q=,text/plain;q=x",
    };
    for (size_t i = 0; i < sizeof openmetrics / sizeof openmetrics[0]; i++)
        assert_int_equal(wanted(openmetrics[i], ""), FORMAT_OPENMETRICS);
    for (size_t i = 0; i < sizeof prometheus / sizeof prometheus[0]; i++)
        assert_int_equal(wanted(prometheus[i], ""), FORMAT_PROMETHEUS);
    assert_int_equal(wanted("text/plain;q=0.5", "application/openmetrics-text"),
                     FORMAT_OPENMETRICS);
}
