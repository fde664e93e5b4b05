#include "base/crc32.h"

enum { STEP = 8 };

/* tables[i][byte]: what a byte contributes that i bytes follow. */
static uint32_t tables[STEP][256];

void crc32_prepare(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xEDB88320 & -(crc & 1));
        tables[0][byte] = crc;
    }
    for (int i = 1; i < STEP; i++)
        for (int byte = 0; byte < 256; byte++)
            tables[i][byte] = tables[i - 1][byte] >> 8 ^ tables[0][tables[i - 1][byte] & 0xFF];
}

uint32_t crc32_add(uint32_t crc, const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes;
    crc = ~crc;
    for (; length >= STEP; at += STEP, length -= STEP)
        crc = tables[7][(crc ^ at[0]) & 0xFF] ^ tables[6][(crc >> 8 ^ at[1]) & 0xFF] ^
              tables[5][(crc >> 16 ^ at[2]) & 0xFF] ^ tables[4][crc >> 24 ^ at[3]] ^
              tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
    for (; length > 0; at++, length--)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xFF];
    return ~crc;
}
