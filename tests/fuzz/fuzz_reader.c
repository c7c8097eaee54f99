// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: any bytes as a recording, through recognition and whatever reader that picks.
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	fuzz_read(fuzz_file(data, nr), NULL);
	return 0;
}
