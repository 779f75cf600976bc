/*
 * main() of tests/unit/seeds_NAME, which are fuzz targets without a fuzzer. Each runs the seeds in
 * tests/fuzz/seeds/NAME once. A target that finds a fault aborts; the last comment names the seed.
 */
#include "config.h"

#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Gives the target one seed; false if it cannot be read. */
static bool take_seed(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    size_t bytes = fread(data, 1, sizeof data, file);
    bool is_whole = bytes < sizeof data && !ferror(file);
    fclose(file);
    printf("# %s\n", path);
    fflush(stdout);
    return is_whole && LLVMFuzzerTestOneInput(data, bytes) == 0;
}

int main(int argc, char **argv)
{
    const char *srcdir = getenv("srcdir");
    const char *name = strrchr(argv[0], '_');
    char path[4096];
    DIR *directory;
    struct dirent *entry;

    snprintf(path, sizeof path, "%s/tests/fuzz/seeds/%s", srcdir ? srcdir : ".",
             argc > 0 && name ? name + 1 : "");
    size_t length = strlen(path);
    directory = opendir(path);
    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path + length, sizeof path - length, "/%s", entry->d_name);
        tap_ok(take_seed(path), "%s", entry->d_name);
    }
    tap_ok(directory && tap_count > 0, "there are seeds");
    if (directory)
        closedir(directory);
    return tap_done();
}
