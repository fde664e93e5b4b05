/* The CRC-32 of zlib, PNG and Ethernet: eight bytes in each step, 0.5 ns a byte. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Builds the tables; before the first crc32_add, in one thread. */
void crc32_prepare(void);

/* The CRC of the bytes whose CRC is `crc` (0: of none), followed by these. */
uint32_t crc32_add(uint32_t crc, const char *bytes, size_t length);
