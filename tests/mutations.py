#!/usr/bin/env python3
"""Mutation testing: mutations of one place each; the tests named with each must find it.

    mutations.py [--only PATTERN] [--wide] [--list] [--keep DIRECTORY]

The tree is copied to a scratch directory and built there. Then each mutation is applied, the
program is built, and the tests of its row run until one fails: the mutation is killed. It
survives if all pass; with --wide, all unit tests then run. Ends with status 1 if more than two survive.

A test is a file of tests/unit, without the machine's types of tests, or of Bats: NAME.bats, or
NAME.bats:PATTERN for only the tests whose names match the pattern.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

SURVIVORS_MAX = 2

# A test that takes longer hangs: the mutation is killed.
SECONDS = 120

# Mutations that change only time are omitted, because no test asserts it: when another thread reads a
# pipe, when a partition is compacted, and the failure of a part of a compressed file, which is then
# read in order.
# (file, a string that occurs once, its replacement, tests)
MUTATIONS = [
    # Mutations that once passed all tests.
    ("src/lib/table_spill.c", "max - 2 * (max / TABLE_SPILL_SHARE);", "max;", "table"),
    ("src/lib/table_partition.c", "    partition->only = 0;\n", "", "table"),
    ("src/lib/table_hot.c", "slot->count += is_found;",
     "slot->count = (uint32_t)(slot->count + is_found);", "table"),
    ("src/aggregate/accumulator.c", "return wide_compare(&scaled, &min) >= 0 &&",
     "return wide_compare(&scaled, &min) >= -1 &&", "state"),
    ("src/aggregate/accumulator.c", "wide_compare(&squares, &max) <= 0;",
     "wide_compare(&squares, &max) <= 1;", "state"),
    ("src/aggregate/growing_window.c", "    if (first > end - bins)\n        first = end - bins;\n", "",
     "growing_histogram uniq.bats:ends of the type"),
    ("src/input/parts.c", "turn.is_cut || (turn.is_corrupt && is_divided)", "turn.is_cut",
     "division.bats:damaged"),
    ("src/lib/decoder_bzip2.c", "is_wrong ? ~crc : crc", "crc", "compressed_damage.bats:bzip2"),
    ("src/input/parts.c", "part->found.begin + (part->found.shift > 0)", "part->found.begin",
     "compressed_damage.bats:bzip2"),
    ("src/input/parts.c", "const size_t bytes = file->overlaps[next].skipped_bytes;",
     "const size_t bytes = file->overlaps[next].skipped_bytes - 1;",
     "division.bats compressed_damage.bats:bzip2"),
    ("src/engine/cpu_counter_partitioned.c", "            self->buffers[region].next += n;\n", "", "counter"),
    ("src/lib/table_order.c", "!table_order_insert(entries, n))", "!table_order_insert(entries, n) && false)",
     "table"),
    ("src/aggregate/histogram.c", "    region->staged += region->staged < histogram->staged_limit;\n", "", "counter"),
    ("src/text/text_rows.c", "{{INT64_MAX, 0}, of->element.bytes}", "{{UINT64_MAX, 0}, of->element.bytes}",
     "weight.bats:invalid"),
    ("src/lib/decoder_zstd.c", "if (begins && ZSTD_isError(result)) {",
     "if (begins && ZSTD_isError(result) && false) {", "division.bats:damaged"),
    ("src/lib/decoder_internal.h", "const size_t bytes = wanted > between ? wanted - between : wanted;",
     "const size_t bytes = wanted + between + (1 << 20);",
     "division.bats:damaged"),
    ("src/lib/decoder_gzip.c", "            if (bytes < held)\n                return STATUS_OK;\n",
     "", "division.bats:damaged"),
    ("src/lib/decoder_lz4.c", "if (decoder_xxh_digest(&lz4->xxh) != lz4->last)", "if (false)",
     "decoder.bats:wrong checksums"),
    ("src/lib/decoder_lz4.c", "flags & DECODER_LZ4_CONTENT_CHECK && !has_checksums;",
     "flags & DECODER_LZ4_CONTENT_CHECK;", "decoder.bats:wrong checksums"),
    ("src/lib/decoder_lz4.c", "in_bytes > 4 ? in_bytes - 4 : 0;",
     "in_bytes > 4 ? in_bytes - 4 : in_bytes;", "decoder.bats:short lengths"),
    ("src/lib/temporary.c", "    temporary_begin(&before);\n    unlink(name);\n",
     "    temporary_begin(&before);\n    pthread_sigmask(SIG_SETMASK, &before, NULL);\n"
     "    unlink(name);\n",
     "temporary"),
    ("src/lib/temporary.c", "number == SIGTTOU || number == SIGURG ||", "number == SIGTTOU ||",
     "temporary"),
    ("src/aggregate/quantiles.c", "} else if (value->rank > before) {",
     "} else if (value->rank >= before) {", "formats.bats:quantiles"),
    ("src/aggregate/state.c", "    state_write_number(state, 0);\n    state->start = 0;\n",
     "    state_write_number(state, 0);\n", "state"),
    ("src/aggregate/state.c", " ||\n            (shift > 0 && byte == 0))", ")", "state"),

    # A pipe: when a chunk is passed on, and the admitted threads.
    ("src/input/source.c", ".wait = pull->wait && chunk->whole == 0,", ".wait = pull->wait,",
     "source"),
    ("src/input/source.c", "    if (is_unread)\n        relay_let_join(&source->relay, 1);\n", "",
     "source"),
    ("src/input/source.c", "source->was_awaited ? 0 : gap;", "now - source->pull_ends;", "source"),

    # Conditions.
    ("src/value/predicate.c", "(relation == PREDICATE_EQ || relation == PREDICATE_NE)",
     "(relation == PREDICATE_EQ)", "count.bats"),
    ("src/value/predicate.c", "keys[count - 1] - keys[0] == count - 1",
     "keys[count - 1] - keys[0] <= count", "count.bats"),
    ("src/value/predicate.c", "else if (sorted[i].high > sorted[joined - 1].high)", "else",
     "column_kinds.bats:--where of"),
    ("src/value/predicate.c", "holds = text->bytes <= bytes && memcmp(data, text->data, text->bytes)",
     "holds = text->bytes < bytes && memcmp(data, text->data, text->bytes)",
     "column_kinds.bats:--where of"),
    ("src/value/predicate.c",
     "return order != 0 ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);",
     "return order;", "column_kinds.bats:--where of"),

    # Groups in the table.
    ("src/lib/table_writer.c", "if (layout.has_zeros && table_row_count(layout, row) == 0)\n"
     "                table_slots_mark(layout, local, copy);", "", "table"),
    ("src/lib/table_writer.c", "        local->used = old.used;\n", "", "table"),
    ("src/lib/table_writer.c", "if (is_end || kept == TABLE_FILLED_MAX)", "if (is_end)",
     "table"),
    ("src/lib/table_writer.c", "            block->next = filling->filled;\n"
     "            filling->filled = block;\n            kept++;", "            kept++;", "table"),
    ("src/lib/table_writer.c", "to[input_words - 1] = weights[i];",
     "to[input_words - 1] = weights[0];", "table weight.bats"),
    ("src/lib/table_writer.c", "to[layout.key_words] = values[i];",
     "to[layout.key_words] = values[0];", "table"),
    ("src/lib/table_writer.c", "memset(local->rows, 0, table_slots_bytes(&layout, local->bits));",
     ";", "table"),
    ("src/lib/table_partition.c", "    partition->total = total;\n", "", "table"),
    ("src/lib/table_partition.c", "if (layout.has_zeros && table_row_count(layout, row) == 0)\n"
     "                    table_slots_mark(layout, &slots, row);", "", "table"),
    ("src/lib/table_partition.c", "            total += weight;\n", "            total++;\n",
     "table weight.bats"),
    ("src/lib/table_rows.h", "(layout->has_zeros ? slots / 8 : 0)",
     "(layout->has_zeros ? slots / 128 : 0)", "table"),
    ("src/lib/table_rows.h", "if (layout.has_zeros && *count == 0)", "if (false)", "table"),

    ("src/engine/store_groups.c", "value >= element_limit(element)", "value > element_limit(element)",
     "by.bats:damaged states"),
    ("src/engine/store_groups.c", "value < element_min(element) ||", "value < element_min(element) - 1 ||",
     "by.bats:damaged states"),

    # The dictionary.
    ("src/text/dictionary.c", "if (!table || shard->entries >= table->count / 4 * 3)",
     "if (!table || shard->entries >= table->count)", "dictionary"),
    ("src/text/dictionary.c", "    if (!status && !*entry) {", "    if (!status) {", "dictionary"),
    ("src/text/dictionary.c", "    table->older = old;\n", "    free(old);\n", "dictionary"),
    ("src/text/dictionary.c", "return bits - DICTIONARY_SEGMENT_BITS + 1;",
     "return bits - DICTIONARY_SEGMENT_BITS;", "dictionary"),
    ("src/text/dictionary.c", "    atomic_fetch_sub(&dictionary->memory, bytes);\n", "",
     "dictionary"),

    # Quotes and the states of the scanner.
    ("src/text/text_scan.c", "if (c == '\"' && state != TEXT_SCAN_PLAIN)",
     "if (c == '\"' && state != TEXT_SCAN_FIELD)", "text_scan"),
    ("src/text/text_scan.c", ".closed = state == TEXT_SCAN_CLOSED,", ".closed = false,",
     "text_scan"),
    ("src/text/text_scan.c", "call->data[at - 1] == '\\n' ? TEXT_SCAN_ROW",
     "call->data[at - 1] == '\\n' ? TEXT_SCAN_FIELD", "text_scan"),
    ("src/text/text_scan.c", "quote[-1] == (char)rules->delimiter ||\n", "false ||\n", "text_scan"),
    ("src/text/text_scan.c", "(rules->has_comments || *state == TEXT_SCAN_INSIDE ||",
     "(rules->has_comments ||", "text_scan"),

    # Timestamps and IP addresses.
    ("src/value/kind_time_read.h", "nanoseconds += parts->has_rest; /* at most 10^9 */", "", "kind_time"),
    ("src/value/kind_time_internal.h", "hours > 23 || minutes > 59 ?", "hours > 24 || minutes > 59 ?",
     "kind_time"),
    ("src/value/kind_time_read.h", "is_clock && offset >= -12 * 3600", "is_clock && offset >= -24 * 3600", "kind_time"),
    ("src/value/kind_time_read.h", "parts->offset >= -12 * 3600", "parts->offset >= -24 * 3600", "kind_time"),
    ("src/value/kind_time_read.h", "59u + (parts->minute == 59)", "59u", "kind_time"),
    ("src/value/kind_ip.c", "key.high == 0 && key.low <= KIND_IP_MAPPED_LAST;",
     "key.high == 0 && key.low < KIND_IP_MAPPED_LAST;", "kind_ip"),
    ("src/value/kind_ip.c", "if (run > longest)", "if (run >= longest)", "kind_ip"),
    ("src/value/kind_ip.c", "!address.is_v4 && bits >= 96 &&", "!address.is_v4 && bits > 96 &&",
     "kind_ip"),
    ("src/value/kind_ip.c", "if (gap < none ? count == 8 : count != 8)",
     "if (gap < none ? false : count != 8)", "kind_ip"),

    # JSON Lines, and logfmt.
    ("src/text/logfmt.c", "end && memchr(", "end || memchr(", "logfmt.bats"),
    ("src/text/logfmt.c", "return *at == end || text_line_is_blank(data[*at]) ?", "return true ?",
     "logfmt.bats"),
    ("src/text/json_lines.c", "if (*code >= 0xdc00 || bytes < 12", "if (bytes < 12",
     "json_lines.bats:surrogate"),
    ("src/text/json_lines.c", "continue; /* the second half of a surrogate pair */", ";",
     "json_lines"),
    ("src/text/json_lines.c", "|= (uint64_t)1 << (bytes < 63 ? bytes : 63);",
     "|= (uint64_t)1 << (bytes & 63);", "json_lines.bats:keys of many"),
    ("src/text/json_lines.c", "return is_equal && matched == key_bytes;",
     "return is_equal;", "json_lines"),
    ("src/text/json_lines.c", "(bytes > 8 && memcmp(nodes[child].key + 8,",
     "(bytes > 9 && memcmp(nodes[child].key + 8,", "json_lines.bats:keys of many"),

    # Mutations that later passed the quick tests.
    ("src/aggregate/groups.c", "groups->count + 1 >= capacity", "groups->count >= capacity", "array_bounds"),
    ("src/result/result.c", "g < store_of(plan)->groups(aggregate) && status",
     "(g == 0 || g < store_of(plan)->groups(aggregate)) && status",
     "by.bats:header alone"),
    ("src/input/npy.c", "npy->is_column_major && npy->rows > 1 &&", "npy->is_column_major &&", "npy.bats:of one row"),
    ("src/aggregate/groups.c", "plan->binning.bins + 2;", "plan->binning.bins + 3;", "by.bats:damaged states"),
    ("src/result/print_text.c", ".quoted = \",\\\"\\r\\n\",", ".quoted = \",\\\"\\n\",", "csv.bats:newline of any kind"),
    ("src/engine/memory_plan.c", "(plan_has_strings(plan) ? 2 : 1);", "1;", "memory_plan"),
    ("src/cli/options_columns.c", "is_inside ^= is_quoted && text[length]", "is_inside ^= text[length]",
     "laws.bats:quote within"),
    ("src/cli/options_columns.c", "decimals > kind->decimals_max || kind->decimals_max == 0",
     "decimals > kind->decimals_max", "laws.bats:kinds and widths"),
    ("src/engine/store_columns.c", "if (own > elements)", "if (own > elements + 1)", "by.bats:damaged states"),
    ("src/engine/store_columns.c", "if (elements > 0)", "if (elements > 1)", "by.bats:damaged states"),
    ("src/result/print_heat.c", ">= (__int128)axis->known * PRINT_HEAT_APART",
     "> (__int128)axis->known * PRINT_HEAT_APART", "heat.bats:one in four"),

    # Kinds, found kinds, sorted groups, axes of timestamps, one large gzip file, zones, states of version 5.
    ("src/value/kind_unit.c", "has_rest = has_rest || part % 10 != 0;",
     "has_rest = part % 10 != 0;", "units.bats:whole"),
    ("src/value/kind_unit.c", "nanoseconds >= last ||", "nanoseconds > last ||", "units.bats:whole"),
    ("src/value/kind_unit.c", "text->at[1] > '5' ||", "text->at[1] > '6' ||", "units.bats:whole"),
    ("src/value/kind_unit.c", "factor, factor > 1, &magnitude)", "factor, true, &magnitude)", "units.bats:whole"),
    ("src/value/kind_find.c", "(leading > point) + exponent", "exponent", "rounded.bats"),
    ("src/value/kind_find.c", "found->reads_on |= used > text->bytes;", "", "found_kinds.bats:two kinds"),
    ("src/result/axis.c", "memcmp(time - 2, \"01\", 2) != 0;", "false;", "screen.bats"),
    ("src/text/logfmt.c", "\"\\\"\\\\ntru\", data[*at + 1], 6)",
     "\"\\\"\\\\ntru\", data[*at + 1], 5)", "logfmt.bats"),
    ("src/text/logfmt.c", "        row->values[i].kind = ROW_MISSING;",
     "        (void)row->values[i].kind;", "logfmt.bats"),
    ("src/input/gzip_group.c", "deflate_combine(group->crc, end_of->piece_crc, bytes) != end_of->crc ||",
     "", "gzip_group"),
    ("src/input/gzip_group.c", "    group->length += rest;\n", "", "gzip_group"),
    ("src/value/kind_time_zone.c", "(change->day >= 60 &&", "(change->day > 60 &&", "zones.bats:days of a rule"),
    ("src/value/kind_time_zone.c", "day -= day >= next ? 7 : 0;", "day -= day > next ? 7 : 0;", "zones.bats:days of a rule"),
    ("src/text/text_rows.c", "        } else if (column->otherwise) {\n            column = column->otherwise;\n",
     "", "laws.bats:where"),
    ("src/value/percentage.c", "(rest == missing && rounded % 2 == 1)", "rest == missing",
     "formats.bats:every selection"),
    ("src/engine/store_groups.c", "if (plan_keeps_zeros(plan))\n            count--;",
     "if (plan_keeps_zeros(plan) && count > 1)\n            count--;", "weight.bats"),
    ("src/value/kind_unit.c", "*rest.at == ':' && !has_fraction)", "*rest.at == ':')", "units.bats:whole"),
    ("src/value/kind_unit.c", "if (letter && *letter) {", "if (letter) {", "units.bats:NUL"),
    ("src/value/kind_find.c", "whole > 1 && text[sign] == '0'",
     "whole > 0 && text[sign] == '0'", "found_kinds.bats:limits"),
    ("src/value/kind_find.c", "found->fraction < KIND_TIME_DIGITS_MAX ? found->fraction : KIND_TIME_DIGITS_MAX",
     "found->fraction", "found_kinds.bats:limits"),
    ("src/value/kind_find.c", " &&\n        memcmp(written, text->data, text->bytes) == 0)",
     ")", "found_kinds.bats:limits"),
    ("src/value/kind_find.c", "found->numbers + found->exponents == found->values &&",
     "found->numbers + found->exponents > 0 &&", "found_kinds.bats:limits"),
    ("src/cli/find_kinds.c", "if (is_list && (loses_something || is_of_placeholders))", "if (loses_something)", "found_kinds.bats:limits"),
    ("src/cli/find_kinds.c", "most <= TEXT_DECIMALS_MAX && most > found->decimals",
     "most < TEXT_DECIMALS_MAX && most > found->decimals", "found_kinds.bats:limits"),
    ("src/cli/find_kinds.c", "if (lists_is_file(condition->value) || !is_of_numbers || strcmp(kind, \"text\") == 0)",
     "if (!is_of_numbers)", "found_kinds.bats:limits"),
    ("src/result/axis.c", "return begin >= value ?", "return begin > value ?", "svg.bats:axes of times"),
    ("src/result/axis.c", "time + strlen(\"T00:00:00\"), \"123456789\");",
     "time + strlen(\"T00:00:00\"), \"12346789\");", "svg.bats:axes of times"),
    ("src/result/print_order.c", "return y->has_value - x->has_value;",
     "return x->has_value - y->has_value;", "laws.bats:without a value"),
    ("src/result/print_order.c", "return (x->group > y->group) - (x->group < y->group);",
     "return (x->group < y->group) - (x->group > y->group);", "laws.bats:without a value"),
    ("src/result/print_order.c", "if (items[i].rows >= options->min_count && !items[i].is_taken",
     "if (items[i].rows > options->min_count && !items[i].is_taken", "laws.bats:without a value"),
    ("src/result/print_order.c", "if (items[group].rows >= options->min_count)",
     "if (items[group].rows > options->min_count)", "laws.bats:without a value"),
    ("src/input/gzip_group.c", "end_of->crc ||\n                          (uint32_t)(group->length + bytes) != end_of->length;",
     "end_of->crc;", "gzip_group"),
    ("src/value/kind_time_zone.c", "if (indexes[i] >= counts->types ||",
     "if (indexes[i] > counts->types ||", "zones.bats:damaged"),
    ("src/value/kind_time_zone.c", "if (*c == '.' && (c == name || c[-1] == '/'))",
     "if (*c == '.' && c == name)", "zones.bats:damaged"),
    ("src/text/text_rows.c", "rows->missing += rows->last_missing != rows->offset;",
     "rows->missing++;", "missing.bats:several"),
    ("src/engine/store_window.c", "if (width != power)", "if (false)", "growing_histogram.bats:least value"),
    ("src/engine/store_window.c", "keys[n] = (uint64_t)(value < min ? min : value);",
     "keys[n] = (uint64_t)value;", "growing_histogram.bats:least value"),
    ("src/result/print_html.c", "code >= 0xa0 && (code & 0xfffe) != 0xfffe &&", "code >= 0xa0 &&", "html.bats"),
    ("src/value/kind_time_bucket.c", "seconds.width % KIND_TIME_DAY == 0;", "false;", "zones.bats:two midnights"),

    # Windows, automatic ranges, states.
    ("src/engine/pipeline.c", "window->moves++ % window->capacity",
     "window->moves % window->capacity", "window.bats"),
    ("src/engine/pipeline.c", "    free(oldest->data);\n    *oldest = newest;",
     "    if (newest.data)\n        *oldest = newest;", "window.bats"),
    ("src/value/kind.c", "key[1] = kind_ip_first_v4(key[1], column->element.prefix.v4);", "",
     "column_kinds.bats"),
    ("src/aggregate/uniq_window.c", "kind->next(column, 0) > UNIQ_WINDOW_WIDTH_MAX",
     "kind->next(column, 0) >= UNIQ_WINDOW_WIDTH_MAX", "uniq_windows"),
    ("src/text/text_rows.c", "column->is_refined = column->width > 1 || column->rules.is_found;",
     "column->is_refined = column->width > 1;", "found_kinds.bats"),
    ("src/aggregate/range_histogram.c", "*low = has_values && *low < batch[i].low ? *low : batch[i].low;",
     "*low = has_values ? *low : batch[i].low;", "advice.bats"),
    ("src/aggregate/state.c", "gap > STATE_GAP_MAX || run->n + gap >= STATE_RUN_BINS",
     "gap > STATE_GAP_MAX || run->n + gap > STATE_RUN_BINS", "state"),
    ("src/aggregate/state.c", "n > bins - state->start - skipped)", "n > bins - state->start)",
     "state"),
    # Ranks of strings, words in place of numbers, arrays of any dimensions, dashes of web logs.
    ("src/lib/table_order.c", "if (sort->ranks->is_ranked[w])", "if (w + 1 == sort->table->layout.key_words)",
     "laws.bats:runs of its groups"),
    ("src/lib/table_order.c", "if (copies && has_ranks)", "if (copies && has_ranks && at % 3)", "table"),
    ("src/lib/table_read.c", "if (table->spill.count > 0 || table_is_too_large(table) ||", "if (", "table"),
    ("src/value/kind_find.c", "        found->placeholders++;\n", "", "found_kinds.bats"),
    ("src/cli/find_kinds.c", "placeholders == items.count;", "true;", "advice.bats"),
    ("src/input/npy.c", "&lengths[*count > 0]", "&lengths[*count]",
     "npy.bats:without columns, an array"),
    ("src/text/clf.c", "value.kind = ROW_DASH;", "value.kind = ROW_NULL;", "clf.bats"),
    ("src/text/text_rows.c", "column->takes_dash = column->is_text || of->find;", "column->takes_dash = column->is_text;",
     "clf.bats"),
    ("src/value/kind_time_bucket.c", " ||\n        memchr(text + used, ' ', bytes - used))", ")", "kind_time"),
    ("src/text/text_reason.c", 'condition->negated ? "!" : ""', '""', "advice.bats"),
]


def run(command, directory, seconds=None, environment=None):
    """Returns whether the command succeeds, and its output."""
    process = subprocess.Popen(command, cwd=directory, env=environment, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        return False, output + f"takes more than {seconds} s\n"
    return process.returncode == 0, output


def must(command, directory):
    fine, output = run(command, directory)
    if not fine:
        sys.exit(f"mutations.py: {' '.join(command)}: {output[-2000:]}")


class Tree:
    """A copy of the tree, and its build."""

    def __init__(self, source, scratch):
        self.source = os.path.join(scratch, "source")
        self.build = os.path.join(scratch, "build")
        os.makedirs(self.build)
        names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=source,
                               check=True, capture_output=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            target = os.path.join(self.source, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(os.path.join(source, name), target, follow_symlinks=False)
        must(["./bootstrap"], self.source)
        compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
        must([os.path.join(self.source, "configure"), "--with-cuda=no", "-q", "CC=" + compiler,
              "CFLAGS=-O1 -w"], self.build)

    def write(self, name, text):
        with open(os.path.join(self.source, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.source, name), encoding="utf-8") as file:
            return file.read()

    def make(self, tests):
        """Builds the programs of the tests. Returns the error, or None."""
        targets = {"tests/unit/" + test for test in tests if ".bats" not in test}
        for test in tests:
            if ".bats" in test: # with the programs that it runs
                script = self.read("tests/" + test.partition(":")[0])
                targets.update(re.findall(r"tests/unit/\w+", script))
        plans = f"-j{os.cpu_count()}"
        fine, output = run(["make", "-s", plans, "gpuhist", *targets], self.build)
        return None if fine else output

    def fails(self, test):
        """Runs a test. Returns its first line of a failure, or None."""
        environment = dict(os.environ, GPUHIST=os.path.join(self.build, "gpuhist"),
                           srcdir=self.source, GPUHIST_TEST_SHARE="8")
        if ".bats" in test:
            name, _, pattern = test.partition(":")
            command = ["bats", "--tap"]
            command += ["-f", pattern] if pattern else ["--filter-tags", "!slow,!plain"]
            command.append(os.path.join(self.source, "tests", name))
        else:
            command = [os.path.join("tests/unit", test)]
        fine, output = run(command, self.build, SECONDS, environment)
        wrong = [line for line in output.splitlines() if line.startswith(("not ok", "Bail out!"))]
        if fine and not wrong:
            return None
        return f"{test}: {wrong[0] if wrong else output.strip()[-60:] or 'ends by a signal'}"


def split_tests(text):
    """The tests of a row: a pattern may have blanks."""
    tests = []
    for word in text.split():
        if tests and ":" in tests[-1] and ".bats" not in word:
            tests[-1] += " " + word
        else:
            tests.append(word)
    return tests


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="rows of which FILE: TEXT has this")
    parser.add_argument("--wide", action="store_true", help="survivors: all unit tests")
    parser.add_argument("--list", action="store_true", help="checks the rows, and ends")
    parser.add_argument("--keep", help="a scratch directory that is used, and stays")
    options = parser.parse_args()
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

    rows = [row for row in MUTATIONS if re.search(options.only, row[0] + ": " + row[1])]
    for name, text, _, _ in rows:
        with open(os.path.join(source, name), encoding="utf-8") as file:
            found = file.read().count(text)
        if found != 1:
            sys.exit(f"mutations.py: {name} has {found} times, not once: {text}")
    for test in sorted({test for row in rows for test in split_tests(row[3])}):
        name = test.partition(":")[0] if ".bats" in test else f"unit/{test}.c"
        if not os.path.exists(os.path.join(source, "tests", name)):
            sys.exit(f"mutations.py: there is no tests/{name}")
    if options.list:
        return 0

    scratch = options.keep or tempfile.mkdtemp(prefix="mutations.")
    survivors = []
    try:
        tree = Tree(source, scratch)
        tests = sorted({test for row in rows for test in split_tests(row[3])})
        wide = sorted(name[:-2] for name in os.listdir(os.path.join(source, "tests/unit"))
                      if name.endswith(".c") and not name.startswith("cuda"))
        broken = tree.make(tests)
        if broken:
            sys.exit(f"mutations.py: {broken[-2000:]}")
        for test in tests:
            wrong = tree.fails(test)
            if wrong:
                sys.exit(f"mutations.py: without a mutation: {wrong}")
        for number, (name, text, other, row_tests) in enumerate(rows, 1):
            original = tree.read(name)
            tree.write(name, original.replace(text, other))
            tests = split_tests(row_tests)
            killer = None
            if tree.make(tests):
                killer = "it does not compile"
            for test in tests:
                killer = killer or tree.fails(test)
            if not killer and options.wide:
                tree.make(wide)
                for test in wide:
                    killer = killer or tree.fails(test)
            tree.write(name, original)
            if not killer or killer == "it does not compile":
                survivors.append(number)
            first = " ".join(text.split())
            print(f"{number:2} {'killed  ' if killer else 'SURVIVED'} {name}: {first[:60]}"
                  f"{'  | ' + killer[:90] if killer else ''}", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch)
    print(f"{len(rows)} mutations, {len(survivors)} survived: {survivors}")
    return 1 if len(survivors) > SURVIVORS_MAX else 0


if __name__ == "__main__":
    sys.exit(main())
