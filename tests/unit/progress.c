/* The contents of the progress line. */
#include "config.h"

#include "cli/progress.h"

#include "tap.h"

#include <string.h>

struct row {
    uint64_t bytes;
    double seconds;
    uint64_t size;
    double rate;
    const char *text;
};

static const struct row rows[] = {
    {0, 0, SOURCE_SIZE_UNKNOWN, 0, "0 B in 0:00, 0 B/s"},
    {999, 0.99, SOURCE_SIZE_UNKNOWN, 999.4, "999 B in 0:00, 999 B/s"},
    {1000, 1, SOURCE_SIZE_UNKNOWN, 999.5, "1.00 kB in 0:01, 1.00 kB/s"},
    {9994, 59.9, SOURCE_SIZE_UNKNOWN, 9996, "9.99 kB in 0:59, 10.0 kB/s"},
    {99940, 60, SOURCE_SIZE_UNKNOWN, 99960, "99.9 kB in 1:00, 100 kB/s"},
    {999499, 3599, SOURCE_SIZE_UNKNOWN, 999501, "999 kB in 59:59, 1.00 MB/s"},
    {123456789012, 3600, SOURCE_SIZE_UNKNOWN, 34e6, "123 GB in 1:00:00, 34.0 MB/s"},
    {UINT64_MAX - 1, 360000, SOURCE_SIZE_UNKNOWN, 5e13, "18.4 EB in 100:00:00, 50.0 TB/s"},
    {0, 1, 1000, 0, "0 B in 0:01, 0 B/s, 0%, ? left"},
    {500, 1, 1000, 100, "500 B in 0:01, 100 B/s, 50%, 0:05 left"},
    {999, 1, 1000, 1e-300, "999 B in 0:01, 0 B/s, 99%, ? left"},
    {1000, 2, 1000, 500, "1.00 kB in 0:02, 500 B/s, 100%, 0:00 left"},
    {0, 0, 0, 0, "0 B in 0:00, 0 B/s, 100%, ? left"},
    {1001, 2, 1000, 500, "1.00 kB in 0:02, 500 B/s"}, /* the file grew */
    {500, 1, 1000, 100, "500 B in 0:01, 100 B/s (compressed), 50%, 0:05 left"},
};

int main(void)
{
    bool right = true;
    bool cut = true;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        const struct pipeline_live live = {.file_bytes = row->bytes,
                                           .is_compressed = strstr(row->text, "compressed") != NULL,
                                           .seconds = row->seconds};
        char text[100];
        progress_format(text, sizeof text, &live, row->size, row->rate);
        if (strcmp(text, row->text) != 0)
            right = tap_note("'%s', not '%s'", text, row->text);
        for (size_t size = 1; size <= strlen(row->text); size++) {
            memset(text, 'x', sizeof text);
            progress_format(text, size, &live, row->size, row->rate);
            if (strlen(text) != size - 1 || strncmp(text, row->text, size - 1) != 0)
                cut = tap_note("'%s' in %zu bytes", row->text, size);
        }
    }
    tap_ok(right, "format: bytes, time, rate, share and time left");
    tap_ok(cut, "format: cut where there is no room");
    return tap_done();
}
