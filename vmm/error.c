// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Small helpers of the micro-VMM: error sentences, guest memory access, clock, events.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "util/clock.h"
#include "vmm/internal.h"

int vmm_error_set(struct vmm_error *error, int err, const char *format, ...)
{
	va_list args;

	if (error) {
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	return err;
}

void *vmm_ram_at(const struct vmm *vm, uint64_t gpa, size_t bytes)
{
	if (gpa > VMM_ABI_RAM_BYTES || bytes > VMM_ABI_RAM_BYTES - gpa)
		return NULL;
	return vm->ram + gpa;
}

void vmm_event_signal(int fd)
{
	const uint64_t one = 1;
	int saved = errno;

	/* Fails only when the counter is full, and then the event is there already. */
	if (write(fd, &one, sizeof(one)) < 0)
		errno = saved;
}
