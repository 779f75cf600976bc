/* Implements reductions.h: names, and lists of them. */
#include "config.h"

#include "value/reductions.h"

#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned needs;
} reductions_rows[REDUCTION_IDS] = {
#define REDUCTIONS_ROW(id, name, needs) [REDUCTION_##id] = {name, needs},
    REDUCTIONS(REDUCTIONS_ROW)
#undef REDUCTIONS_ROW
};

const char *reductions_name(enum reduction_id id)
{
    return reductions_rows[id].name;
}

bool reductions_gives_value(enum reduction_id id)
{
    return reductions_rows[id].needs & REDUCTIONS_GIVE_VALUE;
}

bool reductions_find(const char *text, size_t length, struct reduction *found)
{
    static const char *const aliases[][2] = {{"avg", "mean"},
                                             {"pvar", "variance"},
                                             {"pstdev", "stddev"}};

    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (length == strlen(aliases[i][0]) && memcmp(text, aliases[i][0], length) == 0)
            return reductions_find(aliases[i][1], strlen(aliases[i][1]), found);
    }
    for (unsigned i = 0; i < REDUCTION_IDS; i++) {
        const char *name = reductions_rows[i].name;
        const size_t known = strlen(name);
        *found = (struct reduction){.id = (enum reduction_id)i};
        found->percentage.digits = i == REDUCTION_Q1 ? 25 : i == REDUCTION_Q3 ? 75 : 50;
        if (length < known || memcmp(name, text, known) != 0)
            continue;
        memcpy(found->name, name, known);
        if (i != REDUCTION_QUANTILE && length == known)
            return true;
        if (i == REDUCTION_QUANTILE &&
            percentage_parse(&found->percentage, text + known, length - known)) {
            percentage_write(found->name + known, &found->percentage);
            return true;
        }
    }
    return false;
}

static void reductions_append(struct reductions *reductions, const struct reduction *reduction)
{
    reductions->list[reductions->count++] = *reduction;
    reductions->needs |= reductions_rows[reduction->id].needs;
}

size_t reductions_split(const char **text, const char **part)
{
    *part = *text + strspn(*text, " ");
    const char *end = *part + strcspn(*part, ",");
    *text = *end ? end + 1 : NULL;
    while (end > *part && end[-1] == ' ')
        end--;
    return (size_t)(end - *part);
}

enum reductions_parsed reductions_parse(const char *text, struct reductions *reductions)
{
    enum reductions_parsed parsed = REDUCTIONS_LIST;
    struct reductions found = {0};

    for (const char *part; text;) {
        const size_t length = reductions_split(&text, &part);
        struct reduction reduction;
        bool is_known = false;
        if (!reductions_find(part, length, &reduction))
            return REDUCTIONS_NO_LIST;
        for (unsigned i = 0; i < found.count; i++)
            is_known = is_known || strcmp(found.list[i].name, reduction.name) == 0;
        if (is_known)
            parsed = REDUCTIONS_TWICE;
        else if (found.count < REDUCTIONS_MAX)
            reductions_append(&found, &reduction);
        else if (parsed == REDUCTIONS_LIST)
            parsed = REDUCTIONS_TOO_MANY;
    }
    if (parsed == REDUCTIONS_LIST)
        *reductions = found;
    return parsed;
}

void reductions_default(struct reductions *reductions, unsigned except)
{
    *reductions = (struct reductions){0};
    for (unsigned i = 0; i < REDUCTION_IDS; i++) {
        struct reduction reduction;
        const char *name = reductions_rows[i].name;
        if (!(reductions_rows[i].needs &
              (REDUCTIONS_NEED_TABLE | REDUCTIONS_NEED_NAMING | except)) &&
            reductions_find(name, strlen(name), &reduction))
            reductions_append(reductions, &reduction);
    }
}
