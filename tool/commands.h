/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The subcommands of vhalt: each is one file cmd_<name>.c. */
#ifndef VHALT_TOOL_COMMANDS_H
#define VHALT_TOOL_COMMANDS_H

/*
 * argv[0] is the subcommand's own name. Return: the exit code, 0 ok, 1 failed, 2 usage.
 */
int cmd_advise(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_lint(int argc, char **argv);
int cmd_policies(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_suite(int argc, char **argv);
int cmd_vm(int argc, char **argv);

#endif
