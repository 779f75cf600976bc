/* Progress and statistics on standard error. */
#include "config.h"

#include "cli/progress.h"

#include "lib/parallel.h"
#include "lib/status.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Seconds between redraws, between lines, and until the first line that was not requested. */
#define PROGRESS_DRAWN_SECONDS 0.2
#define PROGRESS_LINES_SECONDS 1.0
#define PROGRESS_LATE_SECONDS  1.0

/* Longer estimates (100 hours) are shown as unknown. */
#define PROGRESS_LEFT_SECONDS_MAX 360000.0

/* The time constant of the moving average of the rate. */
#define PROGRESS_RATE_SECONDS 3.0

#define PROGRESS_TEXT_MAX   160
#define PROGRESS_CLEAR_LINE "\r\033[K"

static double progress_gigabytes_per_second(uint64_t bytes, double seconds)
{
    return seconds > 0 ? (double)bytes / seconds / 1e9 : 0;
}

void progress_print_stats(const struct pipeline_report *report)
{
    char name[ENGINE_NAME_MAX];

    status_print("%llu elements, %llu bytes in %.4f s: %.2f GB/s",
                 (unsigned long long)report->elements, (unsigned long long)report->bytes,
                 report->seconds, progress_gigabytes_per_second(report->bytes, report->seconds));
    for (size_t i = 0; i < report->worker_pool_count; i++) {
        const struct worker_pool_report *pool = &report->pools[i];
        const double pull = pool->pull_seconds;
        const double busy = pool->busy_seconds;
        const double wait = pool->wait_seconds;
        const double percent = pull + busy + wait > 0 ? 100 / (pull + busy + wait) : 0;
        char waiting[80] = "";
        if (pool->workers == 0)
            continue;
        engine_write_name(name, pool->engine, pool->device);
        status_print("%s: %u worker%s, %llu bytes, ready after %.4f s, then %.4f s: %.2f GB/s",
                     name, pool->workers, pool->workers == 1 ? "" : "s",
                     (unsigned long long)pool->bytes, pool->open_seconds, pool->run_seconds,
                     progress_gigabytes_per_second(pool->bytes, pool->run_seconds));
        if (pool->has_devices)
            snprintf(waiting, sizeof waiting, ", waiting for a device %.4f s (%.0f%%)", wait,
                     wait * percent);
        status_print("%s: input %.4f s (%.0f%%), counting %.4f s (%.0f%%)%s; limit: %s", name, pull,
                     pull * percent, busy, busy * percent, waiting,
                     pull >= busy && pull >= wait ? "input"
                     : busy >= wait               ? "counting"
                                                  : "device");
    }
    status_print("after the end of the input: %.4f s: counting %.4f s, merging %.4f s, finalizing "
                 "%.4f s",
                 report->after_seconds, report->leave_seconds, report->merge_seconds,
                 report->finalize_seconds);
}

void progress_print_so_far(const struct pipeline *pipeline, const struct pipeline_live *live,
                           size_t element_bytes)
{
    char engines[PIPELINE_ENGINES_SIZE];
    char elements[40] = "";

    pipeline_write_engines(pipeline, engines);
    if (element_bytes > 0)
        snprintf(elements, sizeof elements, "%llu elements, ",
                 (unsigned long long)(live->counted / element_bytes));
    status_print("so far: %s%llu bytes in %.4f s: %.2f GB/s, engine %s", elements,
                 (unsigned long long)live->bytes, live->seconds,
                 progress_gigabytes_per_second(live->bytes, live->seconds), engines);
}

void progress_print_engines(const struct pipeline_report *report, bool has_result)
{
    for (size_t i = 0; i < report->worker_pool_count; i++) {
        const struct worker_pool_report *pool = &report->pools[i];
        char name[ENGINE_NAME_MAX];
        engine_write_name(name, pool->engine, pool->device);
        if (pool->workers == 0)
            status_print("engine %s is not used: %s", name, pool->reason);
        else if (has_result)
            status_print("engine %s was used, with %u worker%s, from %.4f s on", name,
                         pool->workers, pool->workers == 1 ? "" : "s", pool->open_seconds);
    }
}

void progress_begin(struct progress *progress, bool is_wanted, bool is_asked, uint64_t size)
{
    const char *terminal = getenv("TERM");
    pid_t foreground = tcgetpgrp(STDERR_FILENO); /* -1: not our controlling terminal */
    const bool can_draw = isatty(STDERR_FILENO) && terminal && *terminal &&
                          strcmp(terminal, "dumb") != 0 &&
                          (foreground < 0 || foreground == getpgrp());

    *progress = (struct progress){.size = size, .due = INFINITY};
    clock_gettime(CLOCK_MONOTONIC, &progress->start);
    progress->is_of_lines = is_asked && !can_draw;
    if (progress->is_of_lines)
        progress->due = PROGRESS_LINES_SECONDS;
    else if (is_wanted && can_draw)
        progress->due = is_asked ? PROGRESS_DRAWN_SECONDS : PROGRESS_LATE_SECONDS;
}

/* Writes a number of bytes with three digits and a decimal unit. */
static void progress_format_bytes(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;

    while (bytes >= 999.5 && unit < sizeof units / sizeof *units - 1) {
        bytes /= 1000;
        unit++;
    }
    int decimals = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(text, size, "%.*f %s", decimals, bytes, units[unit]);
}

/* Writes whole seconds as minutes and seconds, from one hour with hours. */
static void progress_format_time(char *text, size_t size, double seconds)
{
    unsigned long long all = (unsigned long long)seconds;

    if (all < 3600)
        snprintf(text, size, "%llu:%02llu", all / 60, all % 60);
    else
        snprintf(text, size, "%llu:%02llu:%02llu", all / 3600, all / 60 % 60, all % 60);
}

void progress_format(char *text, size_t size, const struct pipeline_live *live, uint64_t input_size,
                     double rate)
{
    char bytes[32];
    char time[32];
    char speed[32];
    char left[32] = "?";

    progress_format_bytes(bytes, sizeof bytes, (double)live->file_bytes);
    progress_format_time(time, sizeof time, live->seconds);
    progress_format_bytes(speed, sizeof speed, rate);
    int length = snprintf(text, size, "%s in %s, %s/s%s", bytes, time, speed,
                          live->is_compressed ? " (compressed)" : "");
    if (input_size == SOURCE_SIZE_UNKNOWN || live->file_bytes > input_size ||
        (size_t)length >= size)
        return;
    double seconds_left = rate > 0 ? (double)(input_size - live->file_bytes) / rate : INFINITY;
    if (seconds_left < PROGRESS_LEFT_SECONDS_MAX)
        progress_format_time(left, sizeof left, seconds_left + 0.5);
    double share = input_size > 0 ? (double)live->file_bytes / (double)input_size : 1;
    snprintf(text + length, size - (size_t)length, ", %d%%, %s left", (int)(share * 100), left);
}

/* Prints a text, or replaces the drawn text by it. */
static void progress_draw(struct progress *progress, const char *text)
{
    char line[PROGRESS_TEXT_MAX + 32];
    struct winsize window;

    if (progress->is_of_lines) {
        status_print("%s", text);
        return;
    }
    snprintf(line, sizeof line, "gpuhist: %s", text);
    size_t columns = 79; /* a terminal line less its last column */
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        columns = window.ws_col - 1u;
    if (columns < sizeof line)
        line[columns] = '\0';
    fprintf(stderr, PROGRESS_CLEAR_LINE "%s", line);
    progress->is_drawn = true;
}

void progress_show(struct progress *progress, const struct pipeline_live *live)
{
    const double seconds = live->seconds - progress->last_seconds;
    const bool is_first = progress->last_seconds <= 0;
    char text[PROGRESS_TEXT_MAX];

    if (seconds > 0) { /* the rate is a moving average in which older samples count less */
        double weight = is_first ? 1 : seconds / (seconds + PROGRESS_RATE_SECONDS);
        double rate = (double)(live->file_bytes - progress->last_bytes) / seconds;
        progress->rate += weight * (rate - progress->rate);
        progress->last_bytes = live->file_bytes;
        progress->last_seconds = live->seconds;
    }
    progress_format(text, sizeof text, live, progress->size, progress->rate);
    progress_draw(progress, text);
    progress->due =
        live->seconds + (progress->is_of_lines ? PROGRESS_LINES_SECONDS : PROGRESS_DRAWN_SECONDS);
}

void progress_clear(struct progress *progress)
{
    if (progress->is_drawn)
        fputs(PROGRESS_CLEAR_LINE, stderr);
    progress->is_drawn = false;
}

/* Shows the stage until it is over, for the first time when it is due, or soon. */
static void *progress_run_stage(void *context)
{
    struct progress *progress = context;
    const double interval = progress->is_of_lines ? PROGRESS_LINES_SECONDS : PROGRESS_DRAWN_SECONDS;
    struct timespec at = progress->start;
    double due = progress->due;
    char text[PROGRESS_TEXT_MAX];
    char bytes[32];

    pthread_mutex_lock(&progress->lock);
    while (!progress->is_over) {
        at.tv_sec = progress->start.tv_sec + (time_t)due;
        at.tv_nsec = progress->start.tv_nsec + (long)((due - (double)(time_t)due) * 1e9);
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&progress->over, &progress->lock, &at) != ETIMEDOUT)
            continue;
        const char *name = atomic_load(&progress->stage->name);
        const uint64_t done = atomic_load(&progress->stage->done);
        const uint64_t total = atomic_load(&progress->stage->total);
        progress_format_bytes(bytes, sizeof bytes, (double)done);
        if (total > 0)
            snprintf(text, sizeof text, "%s %.0f%%", name,
                     done < total ? (double)done * 100 / (double)total : 100);
        else
            snprintf(text, sizeof text, done > 0 ? "%s, %s" : "%s", name, bytes);
        if (name)
            progress_draw(progress, text);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        due = (double)(now.tv_sec - progress->start.tv_sec) +
              (double)(now.tv_nsec - progress->start.tv_nsec) * 1e-9 + interval;
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void progress_begin_stage(struct progress *progress, const struct stage *stage)
{
    pthread_condattr_t attributes;

    if (isinf(progress->due))
        return;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->over, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&progress->lock, NULL);
    progress->is_over = false;
    progress->stage = stage;
    if (parallel_start_thread(&progress->thread, progress_run_stage, progress) == 0)
        return;
    pthread_cond_destroy(&progress->over);
    pthread_mutex_destroy(&progress->lock);
    progress->stage = NULL;
}

void progress_end_stage(struct progress *progress)
{
    if (!progress->stage)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->is_over = true;
    pthread_cond_signal(&progress->over);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->over);
    pthread_mutex_destroy(&progress->lock);
    progress->stage = NULL;
    progress_clear(progress);
}
