/* Implements reductions.h: names, and lists of them. */
#include "config.h"

#include "job/reductions.h"

#include <stddef.h>
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

/* Finds the reduction named text[0..length). Returns false if there is none. */
static bool reductions_find(const char *text, size_t length, enum reduction_id *id)
{
    for (unsigned i = 0; i < REDUCTION_IDS; i++) {
        const char *name = reductions_rows[i].name;
        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            *id = (enum reduction_id)i;
            return true;
        }
    }
    return false;
}

static bool reductions_contain(const struct reductions *reductions, enum reduction_id id)
{
    for (unsigned i = 0; i < reductions->count; i++) {
        if (reductions->ids[i] == id)
            return true;
    }
    return false;
}

static void reductions_append(struct reductions *reductions, enum reduction_id id)
{
    reductions->ids[reductions->count++] = id;
    reductions->needs |= reductions_rows[id].needs;
}

enum reductions_parsed reductions_parse(const char *text, struct reductions *reductions)
{
    struct reductions found = {0};
    bool twice = false;

    for (const char *part = text;; part++) {
        size_t length = strcspn(part, ",");
        enum reduction_id id;
        if (!reductions_find(part, length, &id))
            return REDUCTIONS_NO_LIST;
        if (reductions_contain(&found, id))
            twice = true;
        else
            reductions_append(&found, id);
        part += length;
        if (*part == '\0')
            break;
    }
    if (twice)
        return REDUCTIONS_TWICE;
    *reductions = found;
    return REDUCTIONS_LIST;
}

void reductions_all(struct reductions *reductions)
{
    *reductions = (struct reductions){0};
    for (unsigned i = 0; i < REDUCTION_IDS; i++)
        reductions_append(reductions, (enum reduction_id)i);
}
