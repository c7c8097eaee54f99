// SPDX-License-Identifier: GPL-2.0-only OR MIT
// ACPI tables of the nested machine: processors, IO-APIC, power-off; nothing else.
//
// Layouts are those of the ACPI 6.3 specification. The FADT says "hardware-reduced", so that there
// is no timer, no event block and no SCI to emulate: power-off is one write to the sleep control
// register.
#include "vmm.h"

#include <string.h>

#define HEADER_BYTES 36
#define FADT_BYTES   276

/* FADT: flags and boot architecture */
#define FADT_WBINVD	(1u << 0)
#define FADT_HW_REDUCED (1u << 20)
#define FADT_NO_VGA	(1u << 2)
#define FADT_NO_RTC	(1u << 5)

static void put16(uint8_t *at, uint16_t v)
{
	memcpy(at, &v, sizeof(v));
}
static void put32(uint8_t *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}
static void put64(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* The byte that makes the sum of all zero. */
static uint8_t checksum(const uint8_t *p, size_t bytes)
{
	uint8_t sum = 0;

	while (bytes--)
		sum += *p++;
	return -sum;
}

/* Header of a table whose body is in place; returns the address behind the table. */
static uint64_t finish(uint8_t *ram, uint64_t at, const char *signature, uint8_t revision,
		       uint32_t bytes)
{
	uint8_t *t = ram + at;

	memcpy(t, signature, 4);
	put32(t + 4, bytes);
	t[8] = revision;
	memcpy(t + 10, "VHALT ", 6);
	memcpy(t + 16, "NESTED  ", 8);
	put32(t + 24, 1);
	memcpy(t + 28, "VHLT", 4);
	put32(t + 32, 1);
	t[9] = checksum(t, bytes);
	return (at + bytes + 15) & ~15ull;
}

/* \_S5: Package { 5, 5 }, what to write into the sleep control register. */
static uint64_t write_dsdt(uint8_t *ram, uint64_t at)
{
	static const uint8_t aml[] = {0x08, '_', 'S', '5', '_', 0x12, 0x06, 0x02, 0x0a, 5, 0x0a, 5};

	memcpy(ram + at + HEADER_BYTES, aml, sizeof(aml));
	return finish(ram, at, "DSDT", 2, HEADER_BYTES + sizeof(aml));
}

/* A generic address: one byte of I/O space. */
static void put_port(uint8_t *at, uint16_t port)
{
	at[0] = 1; /* system I/O */
	at[1] = 8; /* bits */
	at[3] = 1; /* byte access */
	put64(at + 4, port);
}

static uint64_t write_fadt(uint8_t *ram, uint64_t at, uint64_t dsdt)
{
	uint8_t *t = ram + at;

	put32(t + 40, dsdt);
	put16(t + 109, FADT_NO_VGA | FADT_NO_RTC);
	put32(t + 112, FADT_WBINVD | FADT_HW_REDUCED);
	t[131] = 3; /* minor version */
	put64(t + 140, dsdt);
	put_port(t + 244, NESTED_PORT_SLEEP);
	put_port(t + 256, NESTED_PORT_SLEEP + 1);
	return finish(ram, at, "FACP", 6, FADT_BYTES);
}

static uint64_t write_madt(uint8_t *ram, uint64_t at, unsigned int cpus)
{
	uint8_t *t = ram + at, *e = t + 44;

	put32(t + 36, 0xfee00000);
	for (unsigned int n = 0; n < cpus; n++, e += 8) {
		e[0] = 0; /* local APIC */
		e[1] = 8;
		e[2] = n;
		e[3] = n;
		put32(e + 4, 1); /* enabled */
	}
	e[0] = 1; /* IO-APIC: number behind the processors', pins from 0 */
	e[1] = 12;
	e[2] = cpus;
	put32(e + 4, 0xfec00000);
	put32(e + 8, 0);
	e += 12;
	return finish(ram, at, "APIC", 5, e - t);
}

uint64_t nested_write_acpi(uint8_t *ram, uint64_t at, unsigned int cpus)
{
	uint64_t rsdp = at, xsdt = at + 64, dsdt = at + 128, fadt, madt;
	uint8_t *t = ram + rsdp;

	fadt = write_dsdt(ram, dsdt);
	madt = write_fadt(ram, fadt, dsdt);
	write_madt(ram, madt, cpus);
	put64(ram + xsdt + HEADER_BYTES, fadt);
	put64(ram + xsdt + HEADER_BYTES + 8, madt);
	finish(ram, xsdt, "XSDT", 1, HEADER_BYTES + 16);
	memcpy(t, "RSD PTR ", 8);
	memcpy(t + 9, "VHALT ", 6);
	t[15] = 2;
	put32(t + 20, 36);
	put64(t + 24, xsdt);
	t[8] = checksum(t, 20);
	t[32] = checksum(t, 36);
	return rsdp;
}
