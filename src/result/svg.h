/*
 * Shared by all SVG images (SVG 1.1): the page, its style and text. All lengths are integers, in
 * tenths of a pixel. Colours follow the reader's choice of light or dark.
 *
 * The writer records write errors. Not thread-safe.
 */
#ifndef GPUHIST_SVG_H
#define GPUHIST_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;
struct writer;

#define SVG_PIXEL 10
#define SVG_WIDTH 9600
#define SVG_LEFT  700 /* minimum x coordinate of the diagram, left of which are labels */
#define SVG_TOP   880
#define SVG_FOOT  550 /* height below the diagram, for labels and the axis name */

/* Width of a character of a label in the widest usual fonts, and the space around a label. */
#define SVG_CHARACTER 80
#define SVG_SPACE     160
#define SVG_LINE      150 /* the height of a label */

/* Writes text of the input as XML. Replaces unprintable bytes by '?'. */
void svg_write_escaped(struct writer *writer, const char *text);

/* Like svg_write_escaped, but leaves out the middle of a text wider than `columns` columns. */
void svg_write_cut(struct writer *writer, const char *text, size_t columns);

/* Writes a number, if it is not 0, between two strings; "; " precedes all notes except the first.
 */
void svg_write_note(struct writer *writer, bool *has_notes, const char *before, uint64_t number,
                    const char *after);

/* Writes "; ", a text and a count of the plan's result, if it is not 0. */
void svg_write_count(struct writer *writer, const struct plan *plan, const char *before,
                     uint64_t count);

/* Writes a text, which is XML, at a point. `class`: "end", "middle" or "". */
void svg_write_text(struct writer *writer, const char *class, unsigned x, unsigned y,
                    const char *text);

/*
 * Writes a label below an axis at `y`, and its tick unless the label is tilted, within the image.
 */
void svg_write_label(struct writer *writer, bool is_tilted, unsigned y, unsigned x,
                     const char *label);

/* Writes a second line below such a label that is not tilted: a date. */
void svg_write_date(struct writer *writer, unsigned y, unsigned x, const char *date);

/* Size of a buffer for the summary of an image, which may include a name of the input. */
#define SVG_SUMMARY_SIZE 512

/*
 * Writes the number of values, or the sum of their weights: "5003 values", "12,480 (sum of bytes)".
 * Returns the length, at most 300.
 */
size_t svg_format_total(char out[SVG_SUMMARY_SIZE], const struct plan *plan, uint64_t total);

/*
 * Begins an image of that height: the style, the background and the title, a text of the user,
 * whose upper line begins at `left`. A long title is made smaller.
 */
void svg_begin(struct writer *writer, unsigned height, unsigned left, const char *title);

#endif
