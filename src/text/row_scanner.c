/* The table of row_scanner.h, and its row for lines of fields. */
#include "config.h"

#include "text/row_scanner.h"

/* In CSV, quotes inside a field are doubled. */
static size_t row_lines_decode(const char *text, size_t bytes, char *decoded)
{
    size_t length = 0;

    for (size_t i = 0; i < bytes; i++) {
        decoded[length++] = text[i];
        i += text[i] == '"';
    }
    return length;
}

static const struct row_scanner row_lines = {.decode = row_lines_decode};

const struct row_scanner *const row_scanners[ROW_SCANNERS] = {
    [ROW_LINES] = &row_lines,
    [ROW_JSON] = &json_scanner,
    [ROW_LOGFMT] = &logfmt_scanner,
    [ROW_CLF] = &clf_scanner,
};
