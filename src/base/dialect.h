/* The two dialects of the wire (docs/formats.md, "The wire"). */
#pragma once

enum dialect { DIALECT_UNKNOWN, DIALECT_LINE, DIALECT_HTTP };
