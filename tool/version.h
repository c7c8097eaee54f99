/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The version of this tree. */
#ifndef VHALT_TOOL_VERSION_H
#define VHALT_TOOL_VERSION_H

#define VHALT_VERSION "0.1.0"

#endif
