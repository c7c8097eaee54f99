// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The rig's ways out to the host, which need no driver: a debug console, and shared memory.
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int rig_port_init(void)
{
	return ioperm(RIG_PORT_VERDICT, 1, 1) ? -errno : 0;
}

void rig_say(const char *fmt, ...)
{
	char line[RIG_LINE_BYTES + 64];
	const char *from = line;
	size_t bytes;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	bytes = (size_t)n < sizeof(line) - 1 ? (size_t)n : sizeof(line) - 1;
	line[bytes++] = '\n';
	__asm__ volatile("rep outsb"
			 : "+S"(from), "+c"(bytes)
			 : "d"((uint16_t)RIG_PORT_VERDICT)
			 : "memory");
}

/* Make the device answer to its memory region: the firmware may have left that off. */
static int enable_device(void)
{
	int fd = open(RIG_FILES_DEVICE "/enable", O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

/* Fill @memory with what @fd gives until its end. */
static ssize_t fill(uint8_t *memory, size_t room_bytes, int fd)
{
	size_t done = 0;

	for (;;) {
		ssize_t n;

		/* Room is left after the last byte, so that the end is seen as the end. */
		if (done == room_bytes)
			return -EFBIG;
		n = read(fd, memory + done, room_bytes - done);
		if (n == 0)
			return done;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += n;
	}
}

ssize_t rig_files_send(int fd)
{
	struct stat st;
	ssize_t ret;
	void *memory;
	int device;

	ret = enable_device();
	if (ret)
		return ret;
	device = open(RIG_FILES_DEVICE "/resource2", O_RDWR | O_CLOEXEC);
	if (device < 0)
		return -errno;
	if (fstat(device, &st)) {
		ret = -errno;
		goto err_close;
	}
	memory = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	if (memory == MAP_FAILED) {
		ret = -errno;
		goto err_close;
	}
	ret = fill(memory, st.st_size, fd);
	munmap(memory, st.st_size);
err_close:
	close(device);
	return ret;
}
