/* Implements terminal.h. */
#include "config.h"

#include "print/terminal.h"

#include "base/decimal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TERMINAL_COLUMNS_DEFAULT 80

static unsigned terminal_columns(bool is_terminal)
{
    const char *text = getenv("COLUMNS");
    uint64_t columns = 0;
    struct winsize window;

    if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
        columns = window.ws_col;
    if (columns == 0 && text && !decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &columns))
        columns = 0;
    if (columns == 0)
        columns = TERMINAL_COLUMNS_DEFAULT;
    return columns < TERMINAL_COLUMNS_MAX ? (unsigned)columns : TERMINAL_COLUMNS_MAX;
}

/* Reads the user's locale without setting it: nothing else in the program depends on it. */
static bool terminal_has_unicode(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    bool has_unicode = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return has_unicode;
}

static bool terminal_has_escapes(void)
{
    const char *name = getenv("TERM");

    return name && *name && strcmp(name, "dumb") != 0;
}

static bool terminal_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");

    return !(no_colour && *no_colour) && terminal_has_escapes();
}

bool terminal_can_redraw(void)
{
    return isatty(STDOUT_FILENO) && terminal_has_escapes();
}

struct terminal terminal_describe(bool is_standard_output)
{
    bool is_terminal = is_standard_output && isatty(STDOUT_FILENO);

    return (struct terminal){
        .columns = terminal_columns(is_terminal),
        .has_unicode = terminal_has_unicode(),
        .has_colour = is_terminal && terminal_has_colour(),
    };
}
