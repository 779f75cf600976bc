#include "config.h"

#include "progress.h"

#include "status.h"

static double progress_gigabytes_per_second(uint64_t bytes, double seconds)
{
    return seconds > 0 ? (double)bytes / seconds / 1e9 : 0;
}

/* The share of `part` in all the workers' time, in percent. */
static double progress_percent(const struct pipeline_report *report, double part)
{
    double all = report->pull_seconds + report->busy_seconds + report->wait_seconds;
    return all > 0 ? part / all * 100 : 0;
}

/* The stage that the workers spent most of their time in. */
static const char *progress_limit(const struct pipeline_report *report)
{
    if (report->pull_seconds >= report->busy_seconds &&
        report->pull_seconds >= report->wait_seconds)
        return "input";
    return report->busy_seconds >= report->wait_seconds ? "counting" : "device";
}

void progress_print_stats(const struct pipeline_report *report)
{
    status_print("%llu elements, %llu bytes in %.4f s: %.2f GB/s",
                 (unsigned long long)report->elements, (unsigned long long)report->bytes,
                 report->seconds, progress_gigabytes_per_second(report->bytes, report->seconds));
    status_print("%s: %u worker%s, ready after %.4f s, then %.4f s: %.2f GB/s", report->engine,
                 report->workers, report->workers == 1 ? "" : "s", report->open_seconds,
                 report->run_seconds,
                 progress_gigabytes_per_second(report->bytes, report->run_seconds));
    status_print("%s: input %.0f%%, counting %.0f%%, waiting for a device %.0f%%; limit: %s",
                 report->engine, progress_percent(report, report->pull_seconds),
                 progress_percent(report, report->busy_seconds),
                 progress_percent(report, report->wait_seconds), progress_limit(report));
}

void progress_print_used(const struct pipeline_report *report)
{
    status_print("engine %s was used, with %u worker%s", report->engine, report->workers,
                 report->workers == 1 ? "" : "s");
}

void progress_print_unusable(const char *engine, const char *reason)
{
    status_print("engine %s is not used: %s", engine, reason);
}
