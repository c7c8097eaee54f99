// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The result of a micro-VM as text or JSON.
#include "tool/vm_print.h"

#include <inttypes.h>
#include <string.h>

#include "util/units.h"

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *latency_name(const struct vmm_result *r)
{
	switch (r->latency_kind) {
	case VMM_LATENCY_LATENESS: break;
	case VMM_LATENCY_ROUND_TRIP: return "round trip";
	case VMM_LATENCY_LOCK: return "wait for the lock";
	}
	return "lateness";
}

static void print_latency(FILE *out, const char *name, const struct vmm_latency *l)
{
	char mean[UNITS_DURATION_BYTES], p50[UNITS_DURATION_BYTES], p99[UNITS_DURATION_BYTES];
	char min[UNITS_DURATION_BYTES], max[UNITS_DURATION_BYTES];

	fprintf(out,
		"          %s mean %s, p50 %s, p99 %s, min %s, max %s (%" PRIu64 " measured)\n",
		name, units_format_duration(l->mean_ns, mean),
		units_format_duration(l->p50_ns, p50), units_format_duration(l->p99_ns, p99),
		units_format_duration(l->min_ns, min), units_format_duration(l->max_ns, max),
		l->count);
}

static void print_kvm(FILE *out, const struct vmm_kvm_stats *k)
{
	char useful[UNITS_DURATION_BYTES], wasted[UNITS_DURATION_BYTES], wait[UNITS_DURATION_BYTES];

	if (!k->valid) {
		fprintf(out, "          KVM gives no statistics of this vCPU\n");
		return;
	}
	fprintf(out,
		"          KVM: %" PRIu64 " halts, polled in %" PRIu64 ", met by polling %" PRIu64
		", invalid %" PRIu64 ", woken %" PRIu64 "\n"
		"          KVM: polling %s useful, %s wasted; blocked %s\n",
		k->halt_exits, k->halt_attempted_poll, k->halt_successful_poll,
		k->halt_poll_invalid, k->halt_wakeup,
		units_format_duration(k->halt_poll_success_ns, useful),
		units_format_duration(k->halt_poll_fail_ns, wasted),
		units_format_duration(k->halt_wait_ns, wait));
}

static void print_polling(FILE *out, const struct vmm_config *c, const struct vmm_vcpu_result *v)
{
	const struct vhalt_waiter_stats *e = &v->engine;
	char useful[UNITS_DURATION_BYTES], wasted[UNITS_DURATION_BYTES], wait[UNITS_DURATION_BYTES];

	if (c->irqchip == VMM_IRQCHIP_USER)
		fprintf(out,
			"          engine: %" PRIu64 " halts, polled in %" PRIu64
			", met by polling %" PRIu64 ", cut %" PRIu64 ", slept first %" PRIu64 "\n"
			"          engine: polling %s useful, %s wasted; blocked %s\n",
			e->halts, e->halt_attempted_poll, e->halt_successful_poll, e->cuts,
			e->sleeps, units_format_duration(e->halt_poll_success_ns, useful),
			units_format_duration(e->halt_poll_fail_ns, wasted),
			units_format_duration(e->halt_wait_ns, wait));
	if (c->guest_polls)
		fprintf(out,
			"          guest: polled %" PRIu64 " times, met %" PRIu64
			"; %s useful, %s wasted\n",
			v->guest.attempted, v->guest.successful,
			units_format_duration(v->guest.success_ns, useful),
			units_format_duration(v->guest.fail_ns, wasted));
}

static void print_vcpu(FILE *out, const struct vmm_config *c, const struct vmm_result *r,
		       unsigned int n)
{
	const struct vmm_vcpu_result *v = &r->vcpus[n];
	char cpu[UNITS_DURATION_BYTES], where[32] = "";

	if (v->cpu >= 0)
		snprintf(where, sizeof(where), " on CPU %d", v->cpu);
	fprintf(out, "  vCPU %u: %" PRIu64 " halts, %" PRIu64 " wake-ups, %" PRIu64 " rounds", n,
		v->halts, v->wakeups, v->rounds);
	if (v->missed)
		fprintf(out, " (%" PRIu64 " periods left out)", v->missed);
	fprintf(out, ", CPU time %s (%.2f %%)%s\n", units_format_duration(v->cpu_ns, cpu),
		percent_of(v->cpu_ns, r->elapsed_ns), where);
	if (v->latency.count)
		print_latency(out, latency_name(r), &v->latency);
	if (v->timers_digest)
		fprintf(out, "          digest of the timers %016" PRIx64 "\n", v->timers_digest);
	print_polling(out, c, v);
	if (c->irqchip == VMM_IRQCHIP_KERNEL)
		print_kvm(out, &v->kvm);
}

static const char *end_text(enum vmm_end end)
{
	switch (end) {
	case VMM_END_DONE: return "all rounds done";
	case VMM_END_TIME: return "time is up";
	case VMM_END_STOPPED: return "stopped";
	case VMM_END_FAILED: return "FAILED";
	case VMM_END_NONE: break;
	}
	return "not run";
}

static const char *policy_name(const struct vhalt_config *config)
{
	return vhalt_policy_get(config->policy)->name;
}

void vm_print_text(FILE *out, const struct vmm_config *config, const struct vmm_result *result)
{
	char elapsed[UNITS_DURATION_BYTES], poll[UNITS_DURATION_BYTES];

	fprintf(out, "%s: %s after %s; ", result->guest, end_text(result->end),
		units_format_duration(result->elapsed_ns, elapsed));
	if (config->irqchip == VMM_IRQCHIP_USER)
		fprintf(out, "halts wait in user space, policy %s", policy_name(&config->policy));
	else
		fprintf(out, "halt-poll ceiling %s",
			config->halt_poll_ns == VMM_HALT_POLL_UNSET
				? "as KVM has it"
				: units_format_exact(config->halt_poll_ns, poll));
	if (config->guest_polls)
		fprintf(out, "; the guest polls by %s", policy_name(&config->guest_policy));
	fprintf(out, "\n");
	if (result->error_text.text[0])
		fprintf(out, "  error: %s\n", result->error_text.text);
	if (result->note.text[0])
		fprintf(out, "  note: %s\n", result->note.text);
	if (result->latency_kind == VMM_LATENCY_LOCK)
		fprintf(out,
			"  %" PRIu64 " acquisitions, preempt_count shared: %s, %" PRIu64
			" resets\n",
			result->acquisitions, vmm_share_name(config->share), result->resets);
	for (unsigned int n = 0; n < result->nr_vcpus; n++)
		print_vcpu(out, config, result, n);
}

/* --- JSON --- */

static json_t *integer(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_string(text) : json_null();
}

static json_t *json_latency(const struct vmm_latency *l)
{
	if (!l->count)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "count", integer(l->count), "mean_ns",
			 integer(l->mean_ns), "p50_ns", integer(l->p50_ns), "p99_ns",
			 integer(l->p99_ns), "min_ns", integer(l->min_ns), "max_ns",
			 integer(l->max_ns));
}

static json_t *json_kvm(const struct vmm_kvm_stats *k)
{
	if (!k->valid)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "halt_exits", integer(k->halt_exits),
			 "halt_successful_poll", integer(k->halt_successful_poll),
			 "halt_attempted_poll", integer(k->halt_attempted_poll),
			 "halt_poll_invalid", integer(k->halt_poll_invalid), "halt_wakeup",
			 integer(k->halt_wakeup), "halt_poll_success_ns",
			 integer(k->halt_poll_success_ns), "halt_poll_fail_ns",
			 integer(k->halt_poll_fail_ns), "halt_wait_ns", integer(k->halt_wait_ns));
}

static json_t *json_digest(uint64_t digest)
{
	char hex[17];

	snprintf(hex, sizeof(hex), "%016" PRIx64, digest);
	return digest ? json_string(hex) : json_null();
}

static json_t *json_hist(const uint32_t hist[VHALT_HIST_BUCKETS])
{
	json_t *all = json_array();

	for (int i = 0; i < VHALT_HIST_BUCKETS; i++)
		json_array_append_new(all, json_integer(hist[i]));
	return all;
}

static json_t *json_engine(const struct vmm_config *c, const struct vhalt_waiter_stats *e)
{
	if (c->irqchip != VMM_IRQCHIP_USER)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
			 "halts", integer(e->halts), "immediate", integer(e->immediate),
			 "halt_attempted_poll", integer(e->halt_attempted_poll),
			 "halt_successful_poll", integer(e->halt_successful_poll), "halt_wakeup",
			 integer(e->halt_wakeup), "deadlines", integer(e->deadlines), "sleeps",
			 integer(e->sleeps), "cuts", integer(e->cuts), "forced", integer(e->forced),
			 "halt_poll_success_ns", integer(e->halt_poll_success_ns),
			 "halt_poll_fail_ns", integer(e->halt_poll_fail_ns), "halt_wait_ns",
			 integer(e->halt_wait_ns), "latency_ns", integer(e->latency_ns),
			 "poll_success_hist", json_hist(e->poll_success_hist), "poll_fail_hist",
			 json_hist(e->poll_fail_hist), "wait_hist", json_hist(e->wait_hist));
}

static json_t *json_guest(const struct vmm_config *c, const struct vmm_guest_stats *g)
{
	if (!c->guest_polls)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o}", "attempted", integer(g->attempted), "successful",
			 integer(g->successful), "success_ns", integer(g->success_ns), "fail_ns",
			 integer(g->fail_ns));
}

static json_t *json_vcpu(const struct vmm_config *c, const struct vmm_result *r, unsigned int n)
{
	const struct vmm_vcpu_result *v = &r->vcpus[n];

	return json_pack(
		"{s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:o,s:o,s:o,s:o,s:o,s:o}", "vcpu", (int)n,
		"tid", v->tid, "cpu", v->cpu < 0 ? json_null() : json_integer(v->cpu), "halts",
		integer(v->halts), "wakeups", integer(v->wakeups), "rounds", integer(v->rounds),
		"missed", integer(v->missed), "cpu_ns", integer(v->cpu_ns), "cpu_pct",
		percent_of(v->cpu_ns, r->elapsed_ns), "latency", json_latency(&v->latency),
		"timers_digest", json_digest(v->timers_digest), "exits", integer(v->exits),
		"engine", json_engine(c, &v->engine), "guest_polling", json_guest(c, &v->guest),
		"kvm", json_kvm(&v->kvm));
}

static json_t *json_vcpus(const struct vmm_config *c, const struct vmm_result *r)
{
	json_t *all = json_array();

	for (unsigned int n = 0; n < r->nr_vcpus; n++)
		json_array_append_new(all, json_vcpu(c, r, n));
	return all;
}

json_t *vm_print_json(const struct vmm_config *config, const struct vmm_result *result)
{
	json_t *poll = config->halt_poll_ns == VMM_HALT_POLL_UNSET ? json_null()
								   : integer(config->halt_poll_ns);
	bool user = config->irqchip == VMM_IRQCHIP_USER;

	return json_pack(
		"{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o}", "guest",
		result->guest, "end", vmm_end_name(result->end), "error",
		text_or_null(result->error_text.text), "note", text_or_null(result->note.text),
		"elapsed_ns", integer(result->elapsed_ns), "tsc_khz", integer(result->tsc_khz),
		"halt_poll_ns", poll, "latency_kind", vmm_latency_kind_name(result->latency_kind),
		"share", vmm_share_name(config->share), "acquisitions",
		integer(result->acquisitions), "resets", integer(result->resets), "irqchip",
		user ? "user" : "kernel", "policy",
		user ? json_string(policy_name(&config->policy)) : json_null(), "guest_policy",
		config->guest_polls ? json_string(policy_name(&config->guest_policy)) : json_null(),
		"vcpus", json_vcpus(config, result));
}
