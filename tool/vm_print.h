/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The result of a micro-VM as text or JSON. */
#ifndef VHALT_TOOL_VM_PRINT_H
#define VHALT_TOOL_VM_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "vmm/vmm.h"

/** vm_print_text - what happened, for people, on @out. */
void vm_print_text(FILE *out, const struct vmm_config *config, const struct vmm_result *result);

/**
 * vm_print_json - the same as an object with stable keys, see vhalt-vm(1).
 * Return: a new reference, or NULL when memory is out.
 */
json_t *vm_print_json(const struct vmm_config *config, const struct vmm_result *result);

#endif
