/* Implements terminal.h. */
#include "config.h"

#include "plot/terminal.h"

#include "base/decimal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TERMINAL_COLUMNS_DEFAULT 80

/* The columns of the terminal that is open as `file`; 0: it is none, or does not know. */
static unsigned terminal_window(int file)
{
    struct winsize window;

    return ioctl(file, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

static unsigned terminal_columns(bool is_standard_output)
{
    const char *text = getenv("COLUMNS");
    uint64_t columns = is_standard_output ? terminal_window(STDOUT_FILENO) : 0;
    struct stat status;

    if (columns == 0 && text && !decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &columns))
        columns = 0;
    if (columns == 0 && is_standard_output && fstat(STDOUT_FILENO, &status) == 0 &&
        S_ISFIFO(status.st_mode)) { /* a pipe, perhaps to a pager */
        columns = terminal_window(STDERR_FILENO);
        columns = columns > 0 ? columns : terminal_window(STDIN_FILENO);
    }
    if (columns == 0)
        columns = TERMINAL_COLUMNS_DEFAULT;
    return columns < TERMINAL_COLUMNS_MAX ? (unsigned)columns : TERMINAL_COLUMNS_MAX;
}

bool terminal_can_redraw(void)
{
    const char *name = getenv("TERM");

    return isatty(STDOUT_FILENO) && name && *name && strcmp(name, "dumb") != 0;
}

struct terminal terminal_describe(bool is_standard_output)
{
    const char *no_colour = getenv("NO_COLOR");
    struct terminal terminal = {
        .columns = terminal_columns(is_standard_output),
        .has_colour = is_standard_output && !(no_colour && *no_colour) && terminal_can_redraw(),
    };
    /* The user's locale is read without setting it: nothing else in the program depends on it. */
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

    if (locale) {
        terminal.has_unicode = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
        freelocale(locale);
    }
    return terminal;
}
