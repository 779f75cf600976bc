/* gpuhist: count the integers of a stream, on every core and the GPU. */
#include "config.h"

#include "app/monitor.h"
#include "app/options.h"
#include "app/run.h"
#include "base/status.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct failure failure;
    struct options options;
    bool is_thread_left = false;

    /*
     * Descriptors 0, 1 and 2 must be taken, or the first files opened would become standard output.
     * Each gets /dev/null in the direction that it is not used in, so that using it fails.
     */
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit is an error like any other */
    enum status status = options_parse(&options, argc, argv, &failure);
    if (status == STATUS_OK)
        status = run_options(&options, &is_thread_left, &failure);
    if (status == STATUS_USAGE) {
        const char *word = options_help_word(&options);
        status_print("%s (see gpuhist%s%s --help)", failure.message, *word ? " " : "", word);
    } else if (status != STATUS_OK) {
        status_print("%s", failure.message);
    } else if (ferror(stderr)) { /* of a closed one none was wanted, and none is lost */
        const int flags = fcntl(STDERR_FILENO, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
            status = STATUS_DATA;
    }
    options_destroy(&options);
    monitor_end_process();
    if (is_thread_left) /* all is written, and destructors are not for a library that is in use */
        _exit((int)status);
    return (int)status;
}
