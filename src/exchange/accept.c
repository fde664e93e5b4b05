#include "exchange/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { ANYTHING = 1, ANY_OF_TYPE, NAMED, NAMED_WITH_VERSION };

struct piece {
    const char *bytes;
    size_t length;
};

/* Cuts the first part, up to `mark` or the end, off *rest, without the blanks around it. */
static struct piece cut(struct piece *rest, char mark) {
    const char *at = memchr(rest->bytes, mark, rest->length);
    size_t length = at == NULL ? rest->length : (size_t)(at - rest->bytes);
    struct piece piece = {rest->bytes, length};
    rest->bytes += length + (at != NULL);
    rest->length -= length + (at != NULL);
    while (piece.length > 0 && (piece.bytes[0] == ' ' || piece.bytes[0] == '\t')) {
        piece.bytes++;
        piece.length--;
    }
    while (piece.length > 0 &&
           (piece.bytes[piece.length - 1] == ' ' || piece.bytes[piece.length - 1] == '\t'))
        piece.length--;
    return piece;
}

static bool is(struct piece piece, const char *word) {
    return piece.length == strlen(word) && strncasecmp(piece.bytes, word, piece.length) == 0;
}

static bool starts(struct piece piece, const char *word) {
    return piece.length >= strlen(word) && strncasecmp(piece.bytes, word, strlen(word)) == 0;
}

/* "0.75" is 750; what is no such number counts as not said, which is 1000. */
static uint16_t to_thousandths(const char *bytes, size_t length) {
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
    struct piece type, version; /* version without bytes: none was named */
    uint16_t thousandths;
};

static struct range parse_range(struct piece text) {
    struct range range = {.type = cut(&text, ';'), .thousandths = 1000};
    while (text.length > 0) {
        struct piece parameter = cut(&text, ';');
        if (starts(parameter, "version="))
            range.version = (struct piece){parameter.bytes + 8, parameter.length - 8};
        else if (starts(parameter, "q="))
            range.thousandths = to_thousandths(parameter.bytes + 2, parameter.length - 2);
    }
    return range;
}

/* A media type that we have. */
struct offer {
    const char *type, *version, *any_of_type;
};

static uint8_t closeness(const struct range *range, const struct offer *offer) {
    if (is(range->type, "*/*"))
        return ANYTHING;
    if (is(range->type, offer->any_of_type))
        return ANY_OF_TYPE;
    if (!is(range->type, offer->type))
        return 0;
    if (range->version.bytes == NULL)
        return NAMED;
    return is(range->version, offer->version) ? NAMED_WITH_VERSION : 0;
}

static void weigh(struct preference *preference, const struct range *range,
                  const struct offer *offer) {
    uint8_t close = closeness(range, offer);
    if (close > preference->closeness || (close != 0 && close == preference->closeness &&
                                          range->thousandths > preference->thousandths))
        *preference = (struct preference){range->thousandths, close};
}

void accept_add(struct accept *accept, const char *value, size_t length) {
    static const struct offer prometheus = {"text/plain", "0.0.4", "text/*"};
    static const struct offer openmetrics = {"application/openmetrics-text", "1.0.0",
                                             "application/*"};
    struct piece rest = {value, length};
    while (rest.length > 0) {
        const struct range range = parse_range(cut(&rest, ','));
        weigh(&accept->prometheus, &range, &prometheus);
        weigh(&accept->openmetrics, &range, &openmetrics);
    }
}

enum format accept_metrics(const struct accept *accept) {
    const struct preference *plain = &accept->prometheus, *open = &accept->openmetrics;
    bool is_open = open->thousandths != plain->thousandths
                       ? open->thousandths > plain->thousandths
                       : open->closeness > plain->closeness && open->thousandths > 0;
    return is_open ? FORMAT_OPENMETRICS : FORMAT_PROMETHEUS;
}
