// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Telling text from what could drive a terminal or break JSON.
#include "util/utf8.h"

size_t utf8_printable(const uint8_t *p, size_t left)
{
	static const uint32_t least[] = {0, 0x20, 0xa0, 0x800, 0x10000};
	size_t nr = *p < 0x80 ? 1 : *p >= 0xf0 && *p < 0xf8 ? 4 : *p >= 0xe0 ? 3 : 2;
	uint32_t code = nr == 1 ? *p : *p & (0x7fU >> nr);

	if (nr > left || *p >= 0xf8 || (*p & 0xc0) == 0x80 || *p == 0x7f)
		return 0;
	for (size_t i = 1; i < nr; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	return code >= least[nr] && code <= 0x10ffff && (code & ~0x7ffU) != 0xd800 ? nr : 0;
}
