/* Implements terminal.h. */
#include "config.h"

#include "result/terminal.h"

#include "lib/decimal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Default size of a terminal. */
#define TERMINAL_COLUMNS_DEFAULT 80
#define TERMINAL_LINES_DEFAULT   24

/* Returns the columns or lines of the terminal open as `file`; 0: it is not one, or unknown. */
static unsigned terminal_window(int file, bool is_lines)
{
    struct winsize window;

    return ioctl(file, TIOCGWINSZ, &window) != 0 ? 0 : is_lines ? window.ws_row : window.ws_col;
}

static unsigned terminal_size(bool is_standard_output, bool is_lines)
{
    const char *text = getenv(is_lines ? "LINES" : "COLUMNS");
    const unsigned max = is_lines ? TERMINAL_LINES_MAX : TERMINAL_COLUMNS_MAX;
    uint64_t size = is_standard_output ? terminal_window(STDOUT_FILENO, is_lines) : 0;
    struct stat status;

    if (size == 0 && text && !decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &size))
        size = 0;
    /* It is a pipe, perhaps to a pager, or closed after the result. */
    if (size == 0 && is_standard_output &&
        (fstat(STDOUT_FILENO, &status) != 0 || S_ISFIFO(status.st_mode))) {
        size = terminal_window(STDERR_FILENO, is_lines);
        size = size > 0 ? size : terminal_window(STDIN_FILENO, is_lines);
    }
    if (size == 0)
        size = is_lines ? TERMINAL_LINES_DEFAULT : TERMINAL_COLUMNS_DEFAULT;
    return size < max ? (unsigned)size : max;
}

bool terminal_can_redraw(void)
{
    const char *name = getenv("TERM");

    return isatty(STDOUT_FILENO) && name && *name && strcmp(name, "dumb") != 0;
}

/* Returns whether the name of the user's locale ends in UTF-8, before a modifier
 * (de_DE.UTF-8@euro). Does not load the locale: a static program finds none, and a machine may lack
 * that of a remote user. */
static bool terminal_is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);

        if (locale && *locale)
            return strcasestr(locale, ".UTF-8") || strcasestr(locale, ".UTF8");
    }
    return false;
}

struct terminal terminal_describe(bool is_standard_output)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *depth = getenv("COLORTERM");
    struct terminal terminal = {
        .columns = terminal_size(is_standard_output, false),
        .lines = terminal_size(is_standard_output, true),
        .has_true_colour =
            depth && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0),
        .has_unicode = terminal_is_utf8(),
        .has_colour = is_standard_output && !(no_colour && *no_colour) && terminal_can_redraw(),
    };

    return terminal;
}

uint64_t terminal_lines_beside(bool is_standard_output, uint64_t others, uint64_t min, uint64_t max)
{
    const uint64_t lines = terminal_size(is_standard_output, true);

    return lines < others + min ? min : lines - others < max ? lines - others : max;
}
