#include "service/exchange/http_accept.h"

#include <string.h>

enum { ANYTHING = 1, ANY_OF_TYPE, NAMED, NAMED_WITH_VERSION };

/* "0.75" becomes 750. A malformed value counts as a missing one: 1000. */
static uint16_t to_thousandths(struct slice text) {
    const char *bytes = text.bytes;
    const size_t length = text.length;
    unsigned value = 0, digits = 0;
    if (length == 0 || length > 5 || (bytes[0] != '0' && bytes[0] != '1') ||
        (length > 1 && bytes[1] != '.'))
        return 1000;
    for (size_t i = 0; i < length; i++) {
        if (i == 1)
            continue;
        if (bytes[i] < '0' || bytes[i] > '9')
            return 1000;
        value = value * 10 + (unsigned)(bytes[i] - '0');
        digits++;
    }
    for (; digits < 4; digits++)
        value *= 10;
    return (uint16_t)(value < 1000 ? value : 1000);
}

/* One media range: "text/plain;version=0.0.4;q=0.5". */
struct range {
    struct slice type, version; /* NULL bytes: no version */
    uint16_t thousandths;
};

static struct range next_range(struct slice *ranges) {
    struct slice text = slice_next(ranges, ',');
    struct range range = {.type = slice_trim(slice_next(&text, ';')), .thousandths = 1000};
    while (text.length > 0) {
        struct slice parameter = slice_trim(slice_next(&text, ';'));
        if (slice_starts_any_case(parameter, "version="))
            range.version = slice_after(parameter, strlen("version="));
        else if (slice_starts_any_case(parameter, "q="))
            range.thousandths = to_thousandths(slice_after(parameter, strlen("q=")));
    }
    return range;
}

/* A media type that we offer. */
struct offer {
    const char *type, *version, *any_of_type;
};

static uint8_t specificity_of(const struct range *range, const struct offer *offer) {
    if (slice_equals(range->type, "*/*"))
        return ANYTHING;
    if (slice_equals_any_case(range->type, offer->any_of_type))
        return ANY_OF_TYPE;
    if (!slice_equals_any_case(range->type, offer->type))
        return 0;
    if (range->version.bytes == NULL)
        return NAMED;
    return slice_equals(range->version, offer->version) ? NAMED_WITH_VERSION : 0;
}

static void weigh(struct preference *preference, const struct range *range,
                  const struct offer *offer) {
    uint8_t specific = specificity_of(range, offer);
    if (specific > preference->specificity ||
        (specific != 0 && specific == preference->specificity &&
         range->thousandths > preference->thousandths))
        *preference = (struct preference){range->thousandths, specific};
}

void http_accept_add(struct http_accept *accept, struct slice value) {
    static const struct offer prometheus = {"text/plain", "0.0.4", "text/*"};
    static const struct offer openmetrics = {"application/openmetrics-text", "1.0.0",
                                             "application/*"};
    while (value.length > 0) {
        const struct range range = next_range(&value);
        weigh(&accept->prometheus, &range, &prometheus);
        weigh(&accept->openmetrics, &range, &openmetrics);
    }
}

enum format http_accept_metrics(const struct http_accept *accept) {
    const struct preference *plain = &accept->prometheus, *open = &accept->openmetrics;
    bool is_open = open->thousandths != plain->thousandths
                       ? open->thousandths > plain->thousandths
                       : open->specificity > plain->specificity && open->thousandths > 0;
    return is_open ? FORMAT_OPENMETRICS : FORMAT_PROMETHEUS;
}

enum format http_accept_page(struct slice value, enum format otherwise) {
    while (value.length > 0) {
        const struct range range = next_range(&value);
        if (range.thousandths == 0)
            continue;
        if (slice_equals_any_case(range.type, "application/json"))
            return FORMAT_JSON;
        if (slice_equals_any_case(range.type, "text/plain") || slice_equals(range.type, "*/*"))
            return FORMAT_TEXT;
    }
    return otherwise;
}
