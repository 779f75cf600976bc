/* The rows of the table of kinds are complete: they have each member that other code uses. */
#include "config.h"

#include "tap.h"
#include "value/element.h"
#include "value/kind.h"

#include <string.h>

/* The members that a row needs because of its other members. */
static void check_row(enum kind_id id)
{
    const struct kind *kind = &kind_rows[id];
    const bool is_typed = id < KINDS; /* the row after them is the unknown kind */
    const bool has_order = kind->scale != KIND_NAMES;
    const bool is_parsed =
        kind->notation == TEXT_TIME || kind->notation == TEXT_IP || kind->notation == TEXT_OTHER;
    const char *name = kind->name && *kind->name ? kind->name : "no name";

    tap_ok(!is_typed || kind->name, "kind %u, %s: a name", id, name);
    tap_ok(kind->noun && (has_order || kind->nouns), "%s: what messages call its values", name);
    tap_ok(kind->words == 1 || kind->words == 2, "%s: words of a key", name);
    tap_ok(!kind->needs_decimals || kind->decimals_max > 0, "%s: decimals", name);
    tap_ok(!kind->is_rounded || kind->needs_decimals, "%s: it is rounded to decimals", name);
    /* the parser and the printers read and write strings in a dictionary */
    tap_ok(kind->write || kind->has_dictionary, "%s: values are written", name);
    tap_ok(!is_parsed || kind->parse, "%s: values are read", name);
    tap_ok(!has_order ||
               (kind->read && kind->next && kind->value && kind->hint && kind->pair && kind->list),
           "%s: bounds are read, and expected in words", name);
    tap_ok(!is_typed || kind->has_dictionary || kind->read, "%s: conditions read a value", name);
    tap_ok(!kind->read || kind->value, "%s: a bound is expected in words", name);
    tap_ok(!kind->parse_width == !kind->format_width, "%s: widths are read and written", name);
}

/* All distinct names, separated by blanks. */
static void check_names(void)
{
    char names[KIND_LIST_SIZE];
    char with_blanks[KIND_LIST_SIZE + 2];

    memset(names, 'x', sizeof(names));
    kind_list_all(names);
    if (!tap_ok(memchr(names, '\0', sizeof(names) - 1), "the names of all kinds have room"))
        return;
    snprintf(with_blanks, sizeof(with_blanks), " %s ", names);
    for (unsigned id = 0; id < KINDS; id++) {
        char name[KIND_LIST_SIZE];
        snprintf(name, sizeof(name), " %s%s ", kind_rows[id].name,
                 kind_rows[id].needs_decimals ? ".N" : "");
        const char *at = strstr(with_blanks, name);
        tap_ok(at && !strstr(at + 1, name), "\"%s\" is named once", name);
    }
}

int main(void)
{
    for (unsigned id = 0; id <= KINDS; id++)
        check_row((enum kind_id)id);
    check_names();
    return tap_done();
}
